//! A request over Streamable HTTP, from when it is sent to when it is over.

use std::{
    collections::VecDeque,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use bytes::Bytes;
use futures_util::stream::{FuturesUnordered, StreamExt};
use gate::BoxFuture;
use tokio::time::Instant;

use super::{
    core::{Core, spawn},
    post::Got,
    reading::{Broken, Reading},
    resume,
    running::{Aside, Place},
    said::{self, Opened, Said},
};
use crate::connection::{Era, Flight, Happening, Reply, RequestError, outgoing, questions};

/// How long we wait before a stream that broke off is taken up again, unless the server says how long.
const RESUME_AFTER: Duration = Duration::from_secs(1);
/// How often that is done although nothing came of it.
const MAX_RESUMES_IN_VAIN: usize = 5;
/// How many questions of a server may be open at once, for one request.
const MAX_OPEN_QUESTIONS: usize = 16;

pub(super) type Sending = BoxFuture<'static, Result<Got, RequestError>>;

/// A request on its way. Nothing is sent before it is first asked what happens.
pub(super) struct Post {
    core: Arc<Core>,
    id: u64,
    timeout: Duration,
    /// When its time is over. Time does not pass while a question is open.
    deadline: Instant,
    legacy: bool,
    stage: Stage,
    /// Whether anything may have been sent.
    begun: bool,
    /// Whether the server has to be told if nobody waits for it any more.
    may_cancel: bool,
    /// What happened and was not told yet.
    waiting: VecDeque<Happening>,
    /// What is said beside its own answer, where the server can.
    place: Option<Place>,
    /// Answers to the server's questions, on their way back to it.
    questions: FuturesUnordered<BoxFuture<'static, ()>>,
    /// How often the stream was taken up again since something came by it.
    in_vain: usize,
}

/// How far it has come.
enum Stage {
    Sending(Sending),
    Streaming(Box<Reading>),
    Resuming(BoxFuture<'static, Result<Reading, RequestError>>),
    /// It went by another wire.
    Elsewhere(Box<dyn Flight>),
    Over,
}

/// What happened first.
enum News {
    Aside(Aside),
    Replied,
    Got(Result<Got, RequestError>),
    Message(Result<Option<Bytes>, Broken>),
    Resumed(Result<Reading, RequestError>),
    Happened(Happening),
}

impl Post {
    pub(super) fn new(
        core: Arc<Core>,
        id: u64,
        method: &'static str,
        timeout: Duration,
        sending: Sending,
    ) -> Self {
        let legacy = core.manner().era != Some(Era::Modern) && method != "server/discover";
        let listening = legacy && core.listening.load(Ordering::Relaxed);
        let place = listening.then(|| core.running.enter(id, method));
        Self {
            core,
            id,
            timeout,
            deadline: Instant::now() + timeout,
            legacy,
            stage: Stage::Sending(sending),
            begun: false,
            // The protocol forbids to cancel this one.
            may_cancel: legacy && method != "initialize",
            waiting: VecDeque::new(),
            place,
            questions: FuturesUnordered::new(),
            in_vain: 0,
        }
    }

    async fn happening(&mut self) -> Happening {
        loop {
            if let Some(happening) = self.waiting.pop_front() {
                if let Happening::Done(ended) = &happening {
                    self.end(matches!(
                        ended,
                        Err(RequestError::Timeout(_) | RequestError::TooLarge(_))
                    ));
                }
                return happening;
            }
            match self.news().await {
                News::Aside(Aside::Note(note)) => self.waiting.push_back(note),
                News::Aside(Aside::Question(opened)) => self.ask(opened),
                News::Aside(Aside::End(ended)) => self.done(ended),
                News::Replied => self.replied(),
                News::Got(Ok(Got::Whole(reply))) => self.done(Ok(reply)),
                News::Got(Ok(Got::Stream(reading))) => self.stream(reading),
                News::Got(Ok(Got::Elsewhere(flight))) => {
                    self.may_cancel = false;
                    self.stage = Stage::Elsewhere(flight);
                }
                News::Got(Ok(Got::Unknown(error)) | Err(error)) | News::Resumed(Err(error)) => {
                    self.done(Err(error));
                }
                News::Message(Ok(Some(message))) => self.take(&message),
                News::Message(Ok(None)) => self.cut(),
                News::Message(Err(broken)) if broken.is_cut() => self.cut(),
                News::Message(Err(broken)) => {
                    if matches!(broken, Broken::TooLarge(_)) {
                        self.core.odd.too_long();
                    }
                    self.done(Err(broken.into_error(self.timeout)));
                }
                News::Resumed(Ok(reading)) => self.stream(Box::new(reading)),
                News::Happened(happening) => self.waiting.push_back(happening),
            }
        }
    }

    async fn news(&mut self) -> News {
        self.begun = true;
        tokio::select! {
            biased;
            aside = next_aside(&mut self.place), if self.place.is_some() => News::Aside(aside),
            Some(()) = self.questions.next(), if !self.questions.is_empty() => News::Replied,
            news = step(&mut self.stage) => news,
        }
    }

    /// The answer comes by a stream.
    fn stream(&mut self, mut reading: Box<Reading>) {
        if !self.questions.is_empty() {
            reading.set_patience(None);
        }
        self.stage = Stage::Streaming(reading);
    }

    /// A message of the stream that the answer comes by.
    fn take(&mut self, message: &Bytes) {
        self.in_vain = 0;
        let said = match said::read(message) {
            Ok(said) => said,
            Err(why) => return self.core.odd.garbage(message, &why),
        };
        for one in said {
            match one {
                // An error without a number is nobody else's, here.
                Said::Answer(id, ended)
                    if id == Some(self.id) || (id.is_none() && ended.is_err()) =>
                {
                    self.done(ended);
                    return;
                }
                Said::Progress(token, note) if token == self.id => self.waiting.push_back(note),
                Said::Answer(..) => self.core.odd.unexpected(),
                Said::Log(note) => self.waiting.push_back(note),
                Said::Changed(event) => self.core.teller.tell(event),
                // In the modern era servers ask in another way.
                Said::Answered(reply) if self.legacy => self.core.tell_later(reply),
                Said::Asked(opened) if self.legacy => self.ask(opened),
                Said::Progress(..) | Said::Answered(_) | Said::Asked(_) => {}
            }
        }
    }

    fn ask(&mut self, opened: Opened) {
        let Opened { id, asked, answer } = opened;
        if self.questions.len() >= MAX_OPEN_QUESTIONS {
            self.core.tell_later(questions::nobody(&id));
            return;
        }
        if let Stage::Streaming(reading) = &mut self.stage {
            reading.set_patience(None);
        }
        let core = self.core.clone();
        self.questions.push(Box::pin(async move {
            let message = questions::answer(&id, answer).await;
            if let Err(error) = core.tell(&core.service, message).await {
                tracing::debug!(error, "an MCP server did not take the answer to its question");
            }
        }));
        self.waiting.push_back(Happening::Asked(asked));
    }

    /// A question was answered. After the last of them the server has all of its time again.
    fn replied(&mut self) {
        if self.questions.is_empty() {
            self.deadline = Instant::now() + self.timeout;
            if let Stage::Streaming(reading) = &mut self.stage {
                reading.set_patience(Some(self.timeout));
            }
        }
    }

    /// The stream ended before the answer. Legacy servers may let us take it up again.
    fn cut(&mut self) {
        let Stage::Streaming(reading) = std::mem::replace(&mut self.stage, Stage::Over) else {
            return;
        };
        let lost = || RequestError::Lost("the stream ended before the answer".to_owned());
        let (id, wait) = reading.place();
        let Some(id) = id.filter(|_| self.legacy && self.in_vain < MAX_RESUMES_IN_VAIN) else {
            self.done(Err(lost()));
            return;
        };
        self.in_vain += 1;
        let place = resume::Place {
            id: id.to_owned(),
            wait: wait.unwrap_or(RESUME_AFTER),
            // Time does not pass now; it may begin to again while we wait.
            deadline: self.questions.is_empty().then_some(self.deadline),
            timeout: self.timeout,
        };
        self.stage = Stage::Resuming(Box::pin(resume::take_up(self.core.clone(), place)));
    }

    fn done(&mut self, ended: Result<Reply, RequestError>) {
        self.waiting.push_back(Happening::Done(ended));
    }

    /// Nothing happens any more; the server is told if it may still work on it.
    fn end(&mut self, cancel: bool) {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Streaming(reading) if !cancel => reading.leave(),
            _ => {}
        }
        if cancel && self.begun && self.may_cancel {
            let message = outgoing::cancelled(self.id, "nobody waits for it any more");
            self.core.tell_later(message);
        }
        self.may_cancel = false;
        if let Some(mut place) = self.place.take() {
            if cancel && self.begun {
                place.abandon();
            }
            place.asides.close();
            while let Ok(aside) = place.asides.try_recv() {
                if let Aside::Question(opened) = aside {
                    self.core.tell_later(questions::nobody(&opened.id));
                }
            }
        }
        // Whoever was asked may still answer, or let go of the question.
        for reply in std::mem::take(&mut self.questions) {
            spawn(reply);
        }
    }
}

/// The next thing that is said beside the answer.
async fn next_aside(place: &mut Option<Place>) -> Aside {
    let Some(place) = place else { return std::future::pending().await };
    match place.asides.recv().await {
        Some(aside) => aside,
        None => std::future::pending().await,
    }
}

/// The next step of the request itself.
async fn step(stage: &mut Stage) -> News {
    match stage {
        Stage::Sending(sending) => News::Got(sending.await),
        Stage::Streaming(reading) => News::Message(reading.message().await),
        Stage::Resuming(resuming) => News::Resumed(resuming.await),
        Stage::Elsewhere(flight) => News::Happened(flight.next().await),
        Stage::Over => std::future::pending().await,
    }
}

impl Flight for Post {
    fn next(&mut self) -> BoxFuture<'_, Happening> {
        Box::pin(self.happening())
    }
}

impl Drop for Post {
    fn drop(&mut self) {
        self.end(true);
    }
}
