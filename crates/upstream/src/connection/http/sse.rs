//! HTTP with server-sent events, as it was in 2024-11-05: messages are posted to an address that the
//! server names on a stream, and everything that it says comes by that stream.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use gate::BoxFuture;
use guard::net::ServiceClient;
use tokio::{
    sync::OnceCell,
    time::{Instant, Sleep, sleep_until, timeout},
};

use super::{
    core::Core,
    events::Kind,
    reading::Reading,
    refusal::{self, ContentType, Refusal, of_net},
    running::{Aside, Place},
    said::{self, Opened, Said},
};
use crate::connection::{
    Era, Flight, Happening, Oddities, Prepared, Reply, RequestError, Wire, outgoing,
    patience::Patience, questions,
};

/// The wire.
pub(super) struct SseWire {
    inner: Arc<Inner>,
    ends_with_drop: bool,
}

struct Inner {
    core: Arc<Core>,
    /// Where messages are posted, once the server has said it.
    post: OnceCell<ServiceClient>,
}

impl SseWire {
    pub(super) fn new(core: Arc<Core>) -> Self {
        let inner = Inner { core, post: OnceCell::new() };
        Self { inner: Arc::new(inner), ends_with_drop: true }
    }

    /// Lets go of it without ending what it shares with another wire.
    pub(super) fn give_up(mut self) {
        self.ends_with_drop = false;
    }

    /// Opens the stream, if that was not done, and waits for what comes first on it.
    pub(super) async fn connect(&self) -> Result<(), RequestError> {
        self.inner.connect().await.map(|_| ())
    }
}

impl Drop for SseWire {
    fn drop(&mut self) {
        if self.ends_with_drop {
            self.inner.core.stop.cancel();
        }
    }
}

impl Inner {
    async fn connect(&self) -> Result<&ServiceClient, RequestError> {
        if self.core.teller.is_closed() {
            return Err(RequestError::NotSent("the connection is over".to_owned()));
        }
        self.post.get_or_try_init(|| self.open()).await
    }

    async fn open(&self) -> Result<ServiceClient, RequestError> {
        let patience = self.core.connect_timeout;
        match timeout(patience, self.first_event(patience)).await {
            Ok(opened) => opened,
            Err(_) => Err(RequestError::NotSent(format!(
                "the server named no endpoint within {} s",
                patience.as_secs_f64()
            ))),
        }
    }

    async fn first_event(&self, patience: Duration) -> Result<ServiceClient, RequestError> {
        let core = &self.core;
        let answer = core.get(None, patience).await;
        let answer = answer.map_err(|error| of_net(error, patience, core.max_bytes))?;
        if !answer.status.is_success() {
            return Err(Refusal::read(answer).await.into_error());
        }
        if refusal::content_type(&answer.headers) != ContentType::Events {
            return Err(refusal::wrong_type(answer.status, &answer.headers));
        }
        let mut reading = Reading::new(answer.body, core.max_bytes);
        loop {
            let event = reading.event().await.map_err(|broken| broken.into_error(patience))?;
            let Some(event) = event else {
                let message = "the stream ended before the server named its endpoint";
                return Err(RequestError::Protocol(message.to_owned()));
            };
            if event.kind != Kind::Endpoint {
                continue;
            }
            let address = std::str::from_utf8(&event.data).unwrap_or_default().trim();
            let service = core.service.at(address).map_err(|error| {
                RequestError::Protocol(format!("the endpoint that the server names: {error}"))
            })?;
            reading.set_patience(None);
            tokio::spawn(read(core.clone(), service.clone(), reading));
            return Ok(service);
        }
    }

    /// Posts a message, whose answer, if it has one, comes by the stream.
    async fn post(&self, message: Bytes, patience: Duration) -> Result<(), RequestError> {
        let service = self.connect().await?;
        let (core, manner) = (&self.core, self.core.manner());
        let answer = core.post(service, &manner, &[], message, patience).await;
        let answer = answer.map_err(|error| of_net(error, patience, core.max_bytes))?;
        if answer.status.is_success() {
            answer.body.leave();
            return Ok(());
        }
        Err(Refusal::read(answer).await.into_error())
    }
}

/// Reads the stream to its end.
async fn read(core: Arc<Core>, post: ServiceClient, mut reading: Reading) {
    let why = loop {
        let message = tokio::select! {
            biased;
            () = core.stop.cancelled() => break "the connection was closed".to_owned(),
            message = reading.message() => message,
        };
        match message {
            Ok(Some(message)) => take(&core, &post, &message),
            Ok(None) => break "the server has closed the stream".to_owned(),
            Err(broken) => break broken.to_string(),
        }
    };
    core.teller.closed(why.clone());
    core.running.end(&RequestError::Lost(why));
}

fn take(core: &Arc<Core>, post: &ServiceClient, message: &Bytes) {
    let said = match said::read(message) {
        Ok(said) => said,
        Err(why) => return core.odd.garbage(message, &why),
    };
    for one in said {
        match one {
            Said::Changed(event) => core.teller.tell(event),
            other => {
                if let Some(reply) = core.running.hand_on(other, &core.odd) {
                    core.tell_later_at(post.clone(), reply);
                }
            }
        }
    }
}

impl Wire for SseWire {
    fn begin(&self, request: Prepared) -> Box<dyn Flight> {
        let inner = self.inner.clone();
        let place = inner.core.running.enter(request.id, request.method);
        let (id, timeout) = (request.id, request.timeout);
        let may_cancel = request.method != "initialize";
        let posting = inner.clone();
        Box::new(SseFlight {
            inner,
            id,
            timeout,
            alarm: Box::pin(sleep_until(Instant::now() + timeout)),
            place,
            posting: Some(Box::pin(async move { posting.post(request.body, timeout).await })),
            patience: Arc::default(),
            begun: false,
            may_cancel,
        })
    }

    fn notify(&self, message: Bytes) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async move {
            let patience = self.inner.core.request_timeout;
            self.inner.post(message, patience).await.map_err(|error| error.to_string())
        })
    }

    fn established(&self, era: Era, version: &str) -> BoxFuture<'_, ()> {
        self.inner.core.establish(era, version);
        Box::pin(async {})
    }

    fn oddities(&self) -> Oddities {
        self.inner.core.odd.so_far()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            // Letting go of the stream is how a session ends here.
            self.inner.core.stop.cancel();
            self.inner.core.service.close();
        })
    }
}

/// A request on its way. Nothing is sent before it is first asked what happens.
struct SseFlight {
    inner: Arc<Inner>,
    id: u64,
    timeout: Duration,
    alarm: std::pin::Pin<Box<Sleep>>,
    patience: Arc<Patience>,
    place: Place,
    posting: Option<BoxFuture<'static, Result<(), RequestError>>>,
    begun: bool,
    may_cancel: bool,
}

impl SseFlight {
    async fn happening(&mut self) -> Happening {
        self.begun = true;
        loop {
            let posting = async {
                match &mut self.posting {
                    Some(posting) => posting.await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                aside = self.place.asides.recv() => match aside {
                    Some(Aside::Note(note)) => return note,
                    Some(Aside::Question(opened)) => return self.ask(opened),
                    Some(Aside::End(ended)) => return self.done(ended, false),
                    None => {
                        let error = RequestError::Lost("the connection is over".to_owned());
                        return self.done(Err(error), false);
                    }
                },
                posted = posting => {
                    self.posting = None;
                    if let Err(error) = posted {
                        return self.done(Err(error), false);
                    }
                }
                () = &mut self.alarm => match self.patience.extended(Instant::now(), self.timeout) {
                    Some(later) => self.alarm.as_mut().reset(later),
                    None => return self.done(Err(refusal::timeout(self.timeout)), true),
                },
            }
        }
    }

    fn ask(&self, opened: Opened) -> Happening {
        let Opened { id, asked, answer } = opened;
        let inner = self.inner.clone();
        let open = self.patience.open();
        tokio::spawn(async move {
            let message = questions::answer(&id, answer).await;
            drop(open);
            if let Err(error) = inner.post(message, inner.core.request_timeout).await {
                tracing::debug!(%error, "an MCP server did not take the answer to its question");
            }
        });
        Happening::Asked(asked)
    }

    fn done(&mut self, ended: Result<Reply, RequestError>, cancel: bool) -> Happening {
        self.end(cancel);
        Happening::Done(ended)
    }

    fn end(&mut self, cancel: bool) {
        let cancel = cancel && self.begun && self.may_cancel;
        self.may_cancel = false;
        let Some(post) = self.inner.post.get() else { return };
        if cancel {
            let message = outgoing::cancelled(self.id, "nobody waits for it any more");
            self.inner.core.tell_later_at(post.clone(), message);
        }
        if cancel {
            self.place.abandon();
        }
        self.place.asides.close();
        while let Ok(aside) = self.place.asides.try_recv() {
            if let Aside::Question(opened) = aside {
                self.inner.core.tell_later_at(post.clone(), questions::nobody(&opened.id));
            }
        }
    }
}

impl Flight for SseFlight {
    fn next(&mut self) -> BoxFuture<'_, Happening> {
        Box::pin(self.happening())
    }
}

impl Drop for SseFlight {
    fn drop(&mut self) {
        self.end(true);
    }
}
