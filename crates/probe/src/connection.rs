//! The connection to a probed server. When it is lost, the next request connects again.

use std::{fmt, mem, time::Duration};

use guard::process::Spawner;
use mcp::Response;
use serde_json::Value;
use tokio::{
    sync::mpsc,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{Check, ProbeError, ProbeFinding, report::shown_text, rules};
use upstream::connection::{
    ConnectOptions, Connection, DiscardedMessages, InterimMessage, Listing, RequestError,
    RequestOptions, ServerDescription, Target, connect,
};

/// The number of messages before a response that may wait to be counted.
const MAX_INTERIM_MESSAGES: usize = 64;

/// The reason why a probe ends early.
#[derive(Debug, Clone)]
pub(crate) enum ProbeEnd {
    Stopped,
    /// The total timeout has passed.
    Timeout(Duration),
    /// The server cannot be reached any more.
    Gone(String),
}

impl ProbeEnd {
    /// The reason why the server cannot be reached any more.
    pub(crate) fn gone(&self) -> Option<&str> {
        match self {
            ProbeEnd::Gone(why) => Some(why),
            _ => None,
        }
    }
}

impl fmt::Display for ProbeEnd {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProbeEnd::Stopped => formatter.write_str("stopped"),
            ProbeEnd::Timeout(limit) => {
                let limit = limit.as_millis();
                write!(formatter, "not done within {limit} ms (total_timeout_ms)")
            }
            ProbeEnd::Gone(why) => write!(formatter, "cannot reach the server any more: {why}"),
        }
    }
}

/// One request and its response.
pub(crate) struct RequestAttempt {
    pub ended: Result<Response, RequestError>,
    /// True if the server sent an input request meanwhile.
    pub asked: bool,
    pub took: Duration,
    /// The reason why the connection was lost before the request, if it was.
    pub gone_before: Option<String>,
}

pub(crate) struct ProbeConnection<'a> {
    target: &'a Target,
    options: ConnectOptions,
    spawner: &'a Spawner,
    stop: &'a CancellationToken,
    limit: Duration,
    deadline: Instant,
    server: ServerDescription,
    connection: Option<Connection>,
    /// The protocol violations of earlier connections.
    discarded: DiscardedMessages,
}

impl<'a> ProbeConnection<'a> {
    /// Connects.
    pub(crate) async fn open(
        target: &'a Target,
        options: ConnectOptions,
        spawner: &'a Spawner,
        limit: Duration,
        stop: &'a CancellationToken,
    ) -> Result<ProbeConnection<'a>, ProbeError> {
        let deadline = Instant::now() + limit;
        let connected = tokio::select! {
            biased;
            () = stop.cancelled() => return Err(ended_early(&ProbeEnd::Stopped)),
            () = sleep_until(deadline) => return Err(ended_early(&ProbeEnd::Timeout(limit))),
            connected = connect(target, &options, spawner) => connected,
        };
        let connection = connected.map_err(ProbeError::Connect)?;
        Ok(ProbeConnection {
            target,
            options,
            spawner,
            stop,
            limit,
            deadline,
            server: connection.server().clone(),
            connection: Some(connection),
            discarded: DiscardedMessages::default(),
        })
    }

    pub(crate) fn server(&self) -> &ServerDescription {
        &self.server
    }

    pub(crate) fn call_timeout(&self) -> Duration {
        self.options.limits.request_timeout
    }

    /// Waits for the end of the probe.
    pub(crate) async fn ended(&self) -> ProbeEnd {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => ProbeEnd::Stopped,
            () = sleep_until(self.deadline) => ProbeEnd::Timeout(self.limit),
        }
    }

    /// The end of the probe, if it has come.
    pub(crate) fn end(&self) -> Option<ProbeEnd> {
        match (self.stop.is_cancelled(), Instant::now() >= self.deadline) {
            (true, _) => Some(ProbeEnd::Stopped),
            (false, true) => Some(ProbeEnd::Timeout(self.limit)),
            (false, false) => None,
        }
    }

    /// The tools.
    pub(crate) async fn list(&mut self) -> Result<Listing, ProbeError> {
        let listed = self.list_again().await.map_err(|end| ended_early(&end))?;
        listed.map_err(ProbeError::List)
    }

    /// The tools once more.
    pub(crate) async fn list_again(&mut self) -> Result<Result<Listing, RequestError>, ProbeEnd> {
        let connection = self.connected().await?;
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Err(ProbeEnd::Stopped),
            () = sleep_until(self.deadline) => Err(ProbeEnd::Timeout(self.limit)),
            listed = connection.list("tools/list", "tools") => Ok(listed),
        }
    }

    /// Sends a request, over a new connection where the old one is lost.
    pub(crate) async fn request(
        &mut self,
        method: &'static str,
        params: &str,
        options: RequestOptions<'_>,
    ) -> Result<RequestAttempt, ProbeEnd> {
        let first = self.attempt(method, params, options.clone()).await?;
        let Err(RequestError::NotSent(why)) = &first.ended else { return Ok(first) };
        // The connection was lost after the response before.
        let why = why.clone();
        let mut second = self.attempt(method, params, options).await?;
        second.gone_before = Some(why);
        Ok(second)
    }

    async fn attempt(
        &mut self,
        method: &'static str,
        params: &str,
        options: RequestOptions<'_>,
    ) -> Result<RequestAttempt, ProbeEnd> {
        let connection = self.connected().await?;
        let began = Instant::now();
        let (sender, mut interim) = mpsc::channel(MAX_INTERIM_MESSAGES);
        let options = RequestOptions { interim: Some(sender), ..options };
        let mut response = connection.request(method, params, options);
        let mut asked = false;
        let ended = loop {
            tokio::select! {
                biased;
                () = self.stop.cancelled() => return Err(ProbeEnd::Stopped),
                () = sleep_until(self.deadline) => return Err(ProbeEnd::Timeout(self.limit)),
                // Dropping an input request declines it.
                Some(message) = interim.recv() => {
                    asked |= matches!(message, InterimMessage::InputRequest(_));
                }
                ended = &mut response => break ended,
            }
        };
        drop(response);
        let took = began.elapsed();
        // A server that does not respond may be stuck, and would be stuck for the next call too.
        let over = |error: &RequestError| {
            matches!(
                error,
                RequestError::Lost(_) | RequestError::NotSent(_) | RequestError::Timeout(_)
            )
        };
        if ended.as_ref().is_err_and(over) {
            self.close().await;
        }
        Ok(RequestAttempt { ended, asked, took, gone_before: None })
    }

    async fn connected(&mut self) -> Result<Connection, ProbeEnd> {
        if let Some(over) = self.end() {
            return Err(over);
        }
        if let Some(connection) = &self.connection {
            return Ok(connection.clone());
        }
        let connected = tokio::select! {
            biased;
            () = self.stop.cancelled() => return Err(ProbeEnd::Stopped),
            () = sleep_until(self.deadline) => return Err(ProbeEnd::Timeout(self.limit)),
            connected = connect(self.target, &self.options, self.spawner) => connected,
        };
        let connection = connected
            .map_err(|error| ProbeEnd::Gone(shown_text(&upstream::error_chain(&error))))?;
        self.connection = Some(connection.clone());
        Ok(connection)
    }

    /// Disconnects.
    pub(crate) async fn close(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.close().await;
            let last = connection.discarded();
            self.discarded.malformed += last.malformed;
            self.discarded.unexpected += last.unexpected;
            let samples = mem::take(&mut self.discarded.samples);
            self.discarded.samples = samples.into_iter().chain(last.samples).take(1).collect();
        }
    }

    /// A check for lines and responses outside of the protocol.
    pub(crate) fn remarks(&self) -> Vec<Check> {
        let now = self.connection.as_ref().map(Connection::discarded).unwrap_or_default();
        let malformed = self.discarded.malformed + now.malformed;
        let unexpected = self.discarded.unexpected + now.unexpected;
        let mut findings = Vec::new();
        if malformed > 0 {
            let mut samples = self.discarded.samples.iter().chain(&now.samples);
            let first =
                samples.next().map(|line| shown_text(line.for_programs())).unwrap_or_default();
            let message = format!("{malformed} lines, the first: `{first}`");
            findings.push(ProbeFinding::new(&rules::STDOUT_NOISE, message));
        }
        if unexpected > 0 {
            let message = format!("{unexpected} unexpected responses");
            findings.push(ProbeFinding::new(&rules::ANSWERS_UNEXPECTED, message));
        }
        vec![Check::of("only sends messages", findings)]
    }
}

fn ended_early(end: &ProbeEnd) -> ProbeError {
    ProbeError::Ended(end.to_string())
}

/// The parameters of a call.
pub(crate) fn call(name: &str, arguments: &Value) -> String {
    serde_json::json!({ "name": name, "arguments": arguments }).to_string()
}
