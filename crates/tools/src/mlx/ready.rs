//! Waits until a server that was started really answers: not an open port, but an answer of the model.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use gate::RunningCall;
use guard::{
    net::{HttpClient, HttpRequest, NetRules, RequestLimits},
    process::{DetachedChild, ExitReason, Listener, ProcessIdentity, listeners, log_tail},
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::health::ModelServerHealth;
use super::log::{FatalLogLine, LOG_BYTES, fatal_line};

/// Between two looks at a server that is starting. Readiness is seen this much late at most.
const LOOK_PAUSE: Duration = Duration::from_millis(50);
/// Before a server that answered something else is asked again.
const ASK_PAUSE: Duration = Duration::from_millis(250);
/// Between two words about how it goes.
const PROGRESS_PAUSE: Duration = Duration::from_secs(2);
/// The largest answer to the one question that is asked.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// The reason why a server is not ready and will not be.
pub(super) enum ReadinessError {
    Ended(ExitReason),
    /// It said so itself.
    Logged(FatalLogLine),
    /// Somebody else listens on its port.
    Foreign,
    /// It did not answer in time, and this is what was seen of it last.
    Late(String),
    /// Nobody waits any more.
    Stopped,
}

/// A server that is waited for.
pub(super) struct ReadinessWait<'a> {
    pub(super) call: &'a RunningCall,
    pub(super) port: u16,
    pub(super) log: PathBuf,
    pub(super) target: &'a str,
    pub(super) deadline: Instant,
}

impl ReadinessWait<'_> {
    /// Waits until the server answers.
    pub(super) async fn wait(&self, kept: &mut DetachedChild) -> Result<(), ReadinessError> {
        let identity = kept.identity();
        tokio::select! {
            biased;
            () = self.call.stop.cancelled() => Err(ReadinessError::Stopped),
            ending = kept.ended() => Err(ReadinessError::Ended(ending)),
            seen = self.watch(identity) => seen,
        }
    }

    /// Looks at the server again and again, and asks it once it listens.
    async fn watch(&self, identity: ProcessIdentity) -> Result<(), ReadinessError> {
        let began = Instant::now();
        let mut next_word = began + PROGRESS_PAUSE;
        self.call.progress(None, "started; waiting for it to listen");
        while !self.look(identity).await? {
            if Instant::now() >= self.deadline {
                let port = self.port;
                let seen = tokio::task::spawn_blocking(move || elsewhere(identity, port)).await;
                return Err(ReadinessError::Late(seen.unwrap_or_default()));
            }
            if Instant::now() >= next_word {
                next_word += PROGRESS_PAUSE;
                self.tell(began, "waiting for it to listen");
            }
            sleep(LOOK_PAUSE).await;
        }
        self.call.progress(None, "listening; waiting for the model to answer");
        let asking = ask(self.port, self.deadline);
        tokio::pin!(asking);
        loop {
            tokio::select! {
                answered = &mut asking => return answered.map_err(ReadinessError::Late),
                () = sleep(LOOK_PAUSE) => {}
            }
            // It may find out only now that it has no model, and be silent about it to those who ask.
            self.look(identity).await?;
            if Instant::now() >= next_word {
                next_word += PROGRESS_PAUSE;
                self.tell(began, "waiting for the model to answer");
            }
        }
    }

    fn tell(&self, began: Instant, what: &str) {
        self.call.progress(None, &format!("{what} ({} s)", began.elapsed().as_secs()));
    }

    /// True if the server listens on its port.
    async fn look(&self, identity: ProcessIdentity) -> Result<bool, ReadinessError> {
        let (port, log, target) = (self.port, self.log.clone(), self.target.to_owned());
        let looked = tokio::task::spawn_blocking(move || look(identity, port, &log, &target)).await;
        looked.unwrap_or(Ok(false))
    }
}

fn look(
    identity: ProcessIdentity,
    port: u16,
    log: &Path,
    target: &str,
) -> Result<bool, ReadinessError> {
    let log = log_tail(log, LOG_BYTES);
    if let Some(said) = fatal_line(&String::from_utf8_lossy(&log), target, false) {
        return Err(ReadinessError::Logged(said));
    }
    let is_heard = |one: &Listener| one.port == port && one.on_loopback;
    if identity.listeners().iter().any(is_heard) {
        return Ok(true);
    }
    match listeners().iter().any(is_heard) {
        // It may have begun to listen between the two looks.
        true if identity.listeners().iter().any(is_heard) => Ok(true),
        true => Err(ReadinessError::Foreign),
        false => Ok(false),
    }
}

/// A sentence about a server that never listened on its port.
fn elsewhere(identity: ProcessIdentity, port: u16) -> String {
    let others: Vec<String> = identity.listeners().iter().map(|one| one.port.to_string()).collect();
    if others.is_empty() {
        format!("it does not listen on port {port} of 127.0.0.1")
    } else {
        format!("it does not listen on port {port} but on {}", others.join(", "))
    }
}

/// A client that reaches the server on this port and nothing else.
fn client(port: u16, timeout: Duration) -> Result<(HttpClient, String), String> {
    let base = format!("http://127.0.0.1:{port}");
    let rules = NetRules::only(&base).map_err(|error| error.to_string())?;
    let settings = guard::net::HttpClientSettings {
        rules: NetRules { max_redirects: 0, ..rules },
        idle_timeout: timeout,
        // Each server is asked once.
        max_idle_per_host: 0,
        ..guard::net::HttpClientSettings::default()
    };
    Ok((HttpClient::new(&settings), base))
}

/// Asks for one word until there is an answer, or says what came instead.
async fn ask(port: u16, deadline: Instant) -> Result<(), String> {
    let timeout = deadline.saturating_duration_since(Instant::now());
    let (client, base) = client(port, timeout)?;
    let never = CancellationToken::new();
    let question = json!({
        "messages": [{ "role": "user", "content": "hi" }],
        "max_tokens": 1,
        "temperature": 0,
        "stream": false,
    });
    let question = question.to_string();
    loop {
        let total = deadline.saturating_duration_since(Instant::now());
        let limits = RequestLimits { max_body_bytes: MAX_ANSWER_BYTES, total };
        let request =
            HttpRequest::post_json(format!("{base}/v1/chat/completions"), question.clone());
        let met = match client.send(request.within(limits), &never).await {
            Ok(answer) if answer.status.is_success() && is_answer(&answer.body) => return Ok(()),
            Ok(answer) if answer.status.is_success() => "its answer is not a completion".to_owned(),
            Ok(answer) => format!("it answers with status {}", answer.status.as_u16()),
            Err(error) => format!("it listens and does not answer ({})", error.reason.word()),
        };
        let again = Instant::now() + ASK_PAUSE;
        if again >= deadline {
            return Err(met);
        }
        sleep_until(again).await;
    }
}

fn is_answer(body: &[u8]) -> bool {
    let answer: Option<Value> = serde_json::from_slice(body).ok();
    answer.is_some_and(|answer| answer["choices"].as_array().is_some_and(|all| !all.is_empty()))
}

/// Asks a server that was ready for its health.
pub(super) async fn health(port: u16, timeout: Duration) -> ModelServerHealth {
    status_of(port, timeout).await.map_or_else(ModelServerHealth::Silent, ModelServerHealth::Status)
}

/// The status of `/health`, or what failed.
async fn status_of(port: u16, timeout: Duration) -> Result<u16, String> {
    let (client, base) = client(port, timeout)?;
    let limits = RequestLimits { max_body_bytes: MAX_ANSWER_BYTES, total: timeout };
    let request = HttpRequest::get(format!("{base}/health")).within(limits);
    match client.send(request, &CancellationToken::new()).await {
        Ok(answer) => Ok(answer.status.as_u16()),
        Err(error) => Err(error.reason.word().to_owned()),
    }
}
