//! The conversation with a server that is tested. It may go away at any call, and is then begun anew.

use std::{fmt, mem, time::Duration};

use guard::process::Spawner;
use serde_json::Value;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::{Check, Finding, ProbeError, report::told, rules};
use upstream::connection::{
    Connection, Happening, Listing, Oddities, Reply, Request, RequestError, Server, Target, Terms,
    connect,
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
    pub ended: Result<Reply, RequestError>,
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
    terms: Terms,
    spawner: &'a Spawner,
    stop: &'a CancellationToken,
    limit: Duration,
    deadline: Instant,
    server: Server,
    connection: Option<Connection>,
    /// What was odd about connections that are over.
    oddities: Oddities,
}

impl<'a> Session<'a> {
    /// Begins it.
    pub(crate) async fn open(
        target: &'a Target,
        terms: Terms,
        spawner: &'a Spawner,
        limit: Duration,
        stop: &'a CancellationToken,
    ) -> Result<Session<'a>, ProbeError> {
        let deadline = Instant::now() + limit;
        let connected = tokio::select! {
            biased;
            () = stop.cancelled() => return Err(ended(&Over::Stopped)),
            () = sleep_until(deadline) => return Err(ended(&Over::OutOfTime(limit))),
            connected = connect(target, &terms, spawner) => connected,
        };
        let connection = connected.map_err(ProbeError::Connect)?;
        Ok(Session {
            target,
            terms,
            spawner,
            stop,
            limit,
            deadline,
            server: connection.server().clone(),
            connection: Some(connection),
            oddities: Oddities::default(),
        })
    }

    /// Who is on the other side.
    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    /// How long one call may take.
    pub(crate) fn call_timeout(&self) -> Duration {
        self.terms.limits.request_timeout
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
    pub(crate) async fn request(&mut self, request: Request<'_>) -> Result<Attempt, Over> {
        let first = self.attempt(request.clone()).await?;
        let Err(RequestError::NotSent(why)) = &first.ended else { return Ok(first) };
        // It went away after the answer before.
        let why = why.clone();
        let mut second = self.attempt(request).await?;
        second.gone_before = Some(why);
        Ok(second)
    }

    async fn attempt(&mut self, request: Request<'_>) -> Result<Attempt, Over> {
        let connection = self.connected().await?;
        let began = Instant::now();
        let mut flight = connection.begin(request);
        let mut asked = false;
        let ended = loop {
            let happening = tokio::select! {
                biased;
                () = self.stop.cancelled() => return Err(Over::Stopped),
                () = sleep_until(self.deadline) => return Err(Over::OutOfTime(self.limit)),
                happening = flight.next() => happening,
            };
            match happening {
                // Dropped, it is answered: nobody can be asked.
                Happening::Asked(_) => asked = true,
                Happening::Progress { .. } | Happening::Log { .. } => {}
                Happening::Done(ended) => break ended,
            }
        };
        drop(flight);
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
            connected = connect(self.target, &self.terms, self.spawner) => connected,
        };
        let connection = connected.map_err(|error| Over::Gone(told(&whole(&error))))?;
        self.connection = Some(connection.clone());
        Ok(connection)
    }

    /// Ends it.
    pub(crate) async fn close(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.close().await;
            let odd = connection.oddities();
            self.oddities.garbage += odd.garbage;
            self.oddities.unexpected += odd.unexpected;
            let seen = mem::take(&mut self.oddities.samples);
            self.oddities.samples = seen.into_iter().chain(odd.samples).take(1).collect();
        }
    }

    /// What was odd beside all calls.
    pub(crate) fn remarks(&self) -> Vec<Check> {
        let now = self.connection.as_ref().map(Connection::oddities).unwrap_or_default();
        let garbage = self.oddities.garbage + now.garbage;
        let unexpected = self.oddities.unexpected + now.unexpected;
        let mut findings = Vec::new();
        if garbage > 0 {
            let mut samples = self.oddities.samples.iter().chain(&now.samples);
            let first = samples.next().map(|line| told(line)).unwrap_or_default();
            let message = format!("{garbage} lines, the first: `{first}`");
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
