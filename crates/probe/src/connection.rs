//! The conversation with a server that is tested. It may go away at any call, and is then begun anew.

use std::{fmt, mem, time::Duration};

use guard::process::Spawner;
use mcp::Response;
use serde_json::Value;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::{Check, Finding, ProbeError, report::told, rules};
use upstream::connection::{
    ConnectOptions, Connection, DiscardedMessages, Listing, RequestError, RequestEvent,
    RequestOptions, ServerDescription, Target, connect,
};

/// Why nothing more is asked.
#[derive(Debug, Clone)]
pub(crate) enum Over {
    /// We were told to stop.
    Stopped,
    /// The time in all is up.
    OutOfTime(Duration),
    /// The server went away and did not come back.
    Gone(String),
}

impl Over {
    /// Why the server cannot be reached any more.
    pub(crate) fn gone(&self) -> Option<&str> {
        match self {
            Over::Gone(why) => Some(why),
            _ => None,
        }
    }
}

impl fmt::Display for Over {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Over::Stopped => formatter.write_str("it was stopped"),
            Over::OutOfTime(limit) => {
                let limit = limit.as_millis();
                write!(formatter, "it was not done within {limit} ms (total_timeout_ms)")
            }
            Over::Gone(why) => write!(formatter, "the server did not come back: {why}"),
        }
    }
}

/// What became of one request.
pub(crate) struct Attempt {
    /// How it ended.
    pub ended: Result<Response, RequestError>,
    /// Whether the server asked something meanwhile.
    pub asked: bool,
    /// How long it took.
    pub took: Duration,
    /// Why the connection was gone before it was sent, if it was.
    pub gone_before: Option<String>,
}

/// The conversation.
pub(crate) struct Session<'a> {
    target: &'a Target,
    options: ConnectOptions,
    spawner: &'a Spawner,
    stop: &'a CancellationToken,
    limit: Duration,
    deadline: Instant,
    server: ServerDescription,
    connection: Option<Connection>,
    /// What was odd about connections that are over.
    discarded: DiscardedMessages,
}

impl<'a> Session<'a> {
    /// Begins it.
    pub(crate) async fn open(
        target: &'a Target,
        options: ConnectOptions,
        spawner: &'a Spawner,
        limit: Duration,
        stop: &'a CancellationToken,
    ) -> Result<Session<'a>, ProbeError> {
        let deadline = Instant::now() + limit;
        let connected = tokio::select! {
            biased;
            () = stop.cancelled() => return Err(ended(&Over::Stopped)),
            () = sleep_until(deadline) => return Err(ended(&Over::OutOfTime(limit))),
            connected = connect(target, &options, spawner) => connected,
        };
        let connection = connected.map_err(ProbeError::Connect)?;
        Ok(Session {
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

    /// Who is on the other side.
    pub(crate) fn server(&self) -> &ServerDescription {
        &self.server
    }

    /// How long one call may take.
    pub(crate) fn call_timeout(&self) -> Duration {
        self.options.limits.request_timeout
    }

    /// Comes back when nothing more is to be asked.
    pub(crate) async fn over(&self) -> Over {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Over::Stopped,
            () = sleep_until(self.deadline) => Over::OutOfTime(self.limit),
        }
    }

    /// Whether nothing more is to be asked.
    pub(crate) fn is_over(&self) -> Option<Over> {
        match (self.stop.is_cancelled(), Instant::now() >= self.deadline) {
            (true, _) => Some(Over::Stopped),
            (false, true) => Some(Over::OutOfTime(self.limit)),
            (false, false) => None,
        }
    }

    /// Everything that it lists now.
    pub(crate) async fn list(&mut self) -> Result<Listing, ProbeError> {
        let listed = self.list_again().await.map_err(|over| ended(&over))?;
        listed.map_err(ProbeError::List)
    }

    /// The same, for who knows that it did before.
    pub(crate) async fn list_again(&mut self) -> Result<Result<Listing, RequestError>, Over> {
        let connection = self.connected().await?;
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Err(Over::Stopped),
            () = sleep_until(self.deadline) => Err(Over::OutOfTime(self.limit)),
            listed = connection.list("tools/list", "tools") => Ok(listed),
        }
    }

    /// Asks, over a new connection where the old one is gone.
    pub(crate) async fn request(
        &mut self,
        method: &'static str,
        params: &str,
        options: RequestOptions<'_>,
    ) -> Result<Attempt, Over> {
        let first = self.attempt(method, params, options.clone()).await?;
        let Err(RequestError::NotSent(why)) = &first.ended else { return Ok(first) };
        // It went away after the answer before.
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
    ) -> Result<Attempt, Over> {
        let connection = self.connected().await?;
        let began = Instant::now();
        let mut pending = connection.send(method, params, options);
        let mut asked = false;
        let ended = loop {
            let event = tokio::select! {
                biased;
                () = self.stop.cancelled() => return Err(Over::Stopped),
                () = sleep_until(self.deadline) => return Err(Over::OutOfTime(self.limit)),
                event = pending.next() => event,
            };
            match event {
                // Dropped, it is answered: nobody can be asked.
                RequestEvent::InputRequest(_) => asked = true,
                RequestEvent::Progress(_) | RequestEvent::Log(_) => {}
                RequestEvent::Done(ended) => break ended,
            }
        };
        drop(pending);
        let took = began.elapsed();
        // One that does not answer may be stuck, and would then be stuck for the next call too.
        let over = |error: &RequestError| {
            matches!(
                error,
                RequestError::Lost(_) | RequestError::NotSent(_) | RequestError::Timeout(_)
            )
        };
        if ended.as_ref().is_err_and(over) {
            self.close().await;
        }
        Ok(Attempt { ended, asked, took, gone_before: None })
    }

    async fn connected(&mut self) -> Result<Connection, Over> {
        if let Some(over) = self.is_over() {
            return Err(over);
        }
        if let Some(connection) = &self.connection {
            return Ok(connection.clone());
        }
        let connected = tokio::select! {
            biased;
            () = self.stop.cancelled() => return Err(Over::Stopped),
            () = sleep_until(self.deadline) => return Err(Over::OutOfTime(self.limit)),
            connected = connect(self.target, &self.options, self.spawner) => connected,
        };
        let connection = connected.map_err(|error| Over::Gone(told(&whole(&error))))?;
        self.connection = Some(connection.clone());
        Ok(connection)
    }

    /// Ends it.
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

    /// What was odd beside all calls.
    pub(crate) fn remarks(&self) -> Vec<Check> {
        let now = self.connection.as_ref().map(Connection::discarded).unwrap_or_default();
        let malformed = self.discarded.malformed + now.malformed;
        let unexpected = self.discarded.unexpected + now.unexpected;
        let mut findings = Vec::new();
        if malformed > 0 {
            let mut samples = self.discarded.samples.iter().chain(&now.samples);
            let first = samples.next().map(|line| told(line)).unwrap_or_default();
            let message = format!("{malformed} lines, the first: `{first}`");
            findings.push(Finding::new(&rules::STDOUT_NOISE, message));
        }
        if unexpected > 0 {
            let message = format!("{unexpected} answers to nothing that waits for one");
            findings.push(Finding::new(&rules::ANSWERS_UNEXPECTED, message));
        }
        vec![Check::of("says nothing but messages", findings)]
    }
}

fn ended(over: &Over) -> ProbeError {
    ProbeError::Ended(over.to_string())
}

/// An error with everything that is behind it.
fn whole(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut behind = error.source();
    while let Some(error) = behind {
        text = format!("{text}: {error}");
        behind = error.source();
    }
    text
}

/// The parameters of a call.
pub(crate) fn call(name: &str, arguments: &Value) -> String {
    serde_json::json!({ "name": name, "arguments": arguments }).to_string()
}
