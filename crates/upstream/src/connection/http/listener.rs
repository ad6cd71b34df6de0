//! What a legacy server says beside requests, by a stream of its own.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use rand::RngExt;
use tokio::time::Instant;

use super::{
    core::Core,
    reading::Reading,
    refusal::{self, ContentType},
    said::{self, Said},
};
use crate::connection::Event;

/// How long a server may take to begin its stream. Some say nothing at all until there is something
/// to say.
const PATIENCE: Duration = Duration::from_hours(1);
/// How long we wait before the next attempt, at first and at most.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// How often, at most, we say that everything may have changed because nobody listened.
const UNHEARD_EVERY: Duration = Duration::from_mins(1);

/// What became of an attempt.
enum Ended {
    /// There is no such stream.
    Never,
    /// There was one, and something came by it; wait so long before the next attempt.
    Over(Option<Duration>),
    /// Nothing came of it.
    Failed,
}

/// How long we wait until the server knows that we are ready. Some take a stream before that amiss.
const READY_WITHIN: Duration = Duration::from_secs(5);

/// Listens until the connection ends, or the server has no such stream.
pub(super) async fn listen(core: Arc<Core>) {
    let _ = tokio::time::timeout(READY_WITHIN, core.ready.notified()).await;
    let mut heard = Heard::default();
    let mut wait = FIRST_WAIT;
    loop {
        let ended = tokio::select! {
            biased;
            () = core.stop.cancelled() => return,
            ended = attempt(&core, &mut heard) => ended,
        };
        let pause = match ended {
            Ended::Never => {
                core.listening.store(false, Ordering::Relaxed);
                return;
            }
            Ended::Over(wanted) => {
                wait = FIRST_WAIT;
                wanted.unwrap_or(FIRST_WAIT)
            }
            Ended::Failed => {
                let pause = wait.mul_f64(rand::rng().random_range(0.5..1.0));
                wait = (wait * 2).min(LONGEST_WAIT);
                pause
            }
        };
        tokio::select! {
            biased;
            () = core.stop.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// What was heard until now.
#[derive(Default)]
struct Heard {
    /// The last event, after which the server can go on.
    last_event: Option<String>,
    /// When we last said that something may not have been heard.
    unheard: Option<Instant>,
}

impl Heard {
    /// A stream begins. What was told before it, to nobody, may be lost.
    fn begin(&mut self, core: &Core) {
        let lately = self.unheard.is_some_and(|when| when.elapsed() < UNHEARD_EVERY);
        if self.last_event.is_none() && !lately {
            self.unheard = Some(Instant::now());
            for event in [Event::ToolsChanged, Event::PromptsChanged, Event::ResourcesChanged] {
                core.teller.tell(event);
            }
        }
    }
}

async fn attempt(core: &Arc<Core>, heard: &mut Heard) -> Ended {
    let answer = match core.get(heard.last_event.as_deref(), PATIENCE).await {
        Ok(answer) => answer,
        Err(error) => {
            tracing::debug!(%error, "no stream of an MCP server's notifications");
            return Ended::Failed;
        }
    };
    let streams = refusal::content_type(&answer.headers) == ContentType::Events;
    if !answer.status.is_success() || !streams {
        let status = answer.status;
        answer.body.leave();
        // Also 404: many servers have nothing at all for GET, and a session that is over is told
        // by the next request.
        let later = status.is_server_error() || matches!(status.as_u16(), 408 | 409 | 429);
        return if later && status.as_u16() != 501 { Ended::Failed } else { Ended::Never };
    }
    heard.begin(core);
    let mut reading = Reading::new(answer.body, core.max_bytes);
    reading.set_patience(None);
    loop {
        match reading.message().await {
            Ok(Some(message)) => take(core, &message),
            Ok(None) => break,
            Err(error) => {
                tracing::debug!(%error, "the stream of an MCP server's notifications broke off");
                break;
            }
        }
    }
    let (id, retry) = reading.place();
    if let Some(id) = id {
        heard.last_event = Some(id.to_owned());
    }
    if reading.heard || retry.is_some() { Ended::Over(retry) } else { Ended::Failed }
}

fn take(core: &Arc<Core>, message: &bytes::Bytes) {
    let said = match said::read(message) {
        Ok(said) => said,
        Err(why) => return core.odd.garbage(message, &why),
    };
    for one in said {
        match one {
            Said::Changed(event) => core.teller.tell(event),
            // Answers come by their own streams.
            Said::Answer(..) => core.odd.unexpected(),
            other => {
                if let Some(reply) = core.running.hand_on(other, &core.odd) {
                    core.tell_later(reply);
                }
            }
        }
    }
}
