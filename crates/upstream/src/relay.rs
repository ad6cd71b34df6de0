//! A call on its way to an upstream and back. What the gate has checked is sent, and what comes back is
//! handed to the gate, which checks it.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use contract::{Mirror, codes};
use gate::{Answer, BoxFuture, CanAsk, LogLevel, Payload, Provider, Running, ToolError};
use rand::RngExt;
use serde_json::{Map, Value};

use crate::{
    admission::{Admitted, Returns},
    answer::{self, Came},
    connection::{Asked, Flight, Happening, Reply, Request, RequestError},
    host::{Member, Unreachable},
    parking::{self, Held, Parked},
};

/// The pause before a call is made again, doubled each time.
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// Runs a tool of an upstream.
pub(crate) struct Relay {
    /// Weak, because a member holds its tools.
    member: Weak<Member>,
    tool: String,
    returns: Returns,
    repeatable: bool,
    require_is_error: bool,
    mirrors: Vec<Mirror>,
    retries: u32,
}

/// Why an attempt came to nothing.
struct Failed {
    error: ToolError,
    /// Whether the server never saw the call.
    unseen: bool,
    /// Whether it is about the connection, so that another attempt may do better.
    passing: bool,
}

impl Relay {
    pub(crate) fn new(member: &Arc<Member>, admitted: &Admitted) -> Self {
        Self {
            member: Arc::downgrade(member),
            tool: admitted.own_name.clone(),
            returns: admitted.returns,
            repeatable: admitted.repeatable,
            require_is_error: member.settings.require_is_error,
            mirrors: contract::mirror::mirrors(&admitted.contract.input_schema).unwrap_or_default(),
            retries: member.settings.retries,
        }
    }

    async fn answer(&self, call: &Running) -> Result<Answer, ToolError> {
        let Some(member) = self.member.upgrade() else {
            return Err(ToolError::new(codes::UNAVAILABLE.code, "the upstream is gone"));
        };
        let mut again = Map::new();
        match member.parking.take(call.replies()) {
            Some((Parked::Open { flight, asked, held }, mut replies)) => {
                if let Some(reply) = replies.remove(parking::OPEN) {
                    asked.answer(reply);
                }
                let ended = self.follow(&member, call, flight, held).await;
                return ended.map_err(|failed| failed.error);
            }
            Some((Parked::Closed { state }, replies)) => {
                again.insert("inputResponses".into(), Value::Object(replies));
                if let Some(state) = state {
                    again.insert("requestState".into(), Value::String(state));
                }
            }
            None => {}
        }
        let mut attempt = 0;
        loop {
            let failed = match self.attempt(&member, call, &again).await {
                Ok(answer) => return Ok(answer),
                Err(failed) => failed,
            };
            let may = failed.passing && (failed.unseen || self.repeatable);
            if !may || attempt >= self.retries {
                return Err(failed.error);
            }
            let pause = FIRST_PAUSE * 2_u32.pow(attempt);
            attempt += 1;
            tokio::select! {
                () = call.stop.cancelled() => return Err(failed.error),
                () = tokio::time::sleep(pause.mul_f64(rand::rng().random_range(0.5..1.5))) => {}
            }
        }
    }

    /// Sends the call once.
    async fn attempt(
        &self,
        member: &Arc<Member>,
        call: &Running,
        again: &Map<String, Value>,
    ) -> Result<Answer, Failed> {
        let leave = member.breaker.enter().map_err(|wait| {
            let message =
                format!("the upstream `{}` failed too often and is left alone", member.id);
            out_of_reach(&Unreachable { message, retry_after: Some(wait) })
        })?;
        let reached = async {
            let place = member.places.clone().acquire_owned().await;
            let place = place.map_err(|_| member.unreachable("it is closed"))?;
            Ok::<_, Unreachable>((member.connection().await?, place))
        };
        let (connection, place) = tokio::select! {
            biased;
            () = call.stop.cancelled() => return Err(stopped()),
            reached = reached => reached.map_err(|unreachable| out_of_reach(&unreachable))?,
        };
        let params = self.params(&call.input, again);
        let flight = connection.begin(Request {
            name: Some(&self.tool),
            headers: self.headers(&call.input),
            wants_progress: call.is_watched(),
            capabilities: Some(capabilities(call.can_ask())),
            // The gate knows how long a call may take, and stops it.
            ..Request::new("tools/call", &params, Duration::from_millis(call.limits.timeout_ms))
        });
        let held = (place, member.calling(call.caller.name()));
        let ended = self.follow(member, call, flight, held).await;
        match &ended {
            Err(failed) if failed.passing => leave.failed(),
            _ => leave.answered(),
        }
        ended
    }

    /// Listens to a call until it is over.
    async fn follow(
        &self,
        member: &Member,
        call: &Running,
        mut flight: Box<dyn Flight>,
        held: Held,
    ) -> Result<Answer, Failed> {
        loop {
            let happening = tokio::select! {
                biased;
                happening = flight.next() => happening,
                () = call.stop.cancelled() => return Err(stopped()),
            };
            match happening {
                Happening::Progress { progress, total, message } => {
                    let fraction = total.filter(|total| *total > 0.0).map(|total| progress / total);
                    call.progress(fraction, message.as_deref().unwrap_or_default());
                }
                Happening::Log { level, data } => {
                    call.log(LogLevel::parse(&level).unwrap_or(LogLevel::Info), data);
                }
                Happening::Asked(asked) => {
                    if !can_ask(call, &asked) || !member.callers.is_one() {
                        // Dropped, it is answered: nobody can be asked.
                        continue;
                    }
                    if let Some(questions) = member.parking.open(flight, asked, held) {
                        return Err(Failed::of(ToolError::asks(questions)));
                    }
                    let message = "the upstream asks something that cannot be passed on";
                    return Err(Failed::of(ToolError::internal(message, message)));
                }
                Happening::Done(Ok(reply)) => return self.judge(member, &reply),
                Happening::Done(Err(error)) => return failed(member, call, &error),
            }
        }
    }

    fn judge(&self, member: &Member, reply: &Reply) -> Result<Answer, Failed> {
        match answer::read(reply.json(), self.returns, self.require_is_error) {
            Came::Answer(answer) => Ok(answer),
            Came::Failed(error) => Err(Failed::of(error)),
            Came::Asks(asks) => {
                let questions = member.parking.closed(asks).filter(|all| !all.is_empty());
                Err(Failed::of(match questions {
                    Some(questions) => ToolError::asks(questions),
                    None => {
                        let message = "the upstream asks something that cannot be passed on";
                        ToolError::internal(message, message)
                    }
                }))
            }
        }
    }

    /// The parameters as text: the arguments are printed once.
    fn params(&self, input: &Value, again: &Map<String, Value>) -> String {
        let mut text = Vec::with_capacity(128);
        text.extend_from_slice(b"{\"name\":");
        print(&mut text, &self.tool);
        text.extend_from_slice(b",\"arguments\":");
        print(&mut text, input);
        for (name, value) in again {
            text.push(b',');
            print(&mut text, name);
            text.push(b':');
            print(&mut text, value);
        }
        text.push(b'}');
        String::from_utf8(text).unwrap_or_default()
    }

    /// Arguments that the server wants to see in the head as well.
    fn headers(&self, input: &Value) -> Vec<(String, String)> {
        let Value::Object(arguments) = input else { return Vec::new() };
        let shown = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        self.mirrors
            .iter()
            .filter_map(|mirror| Some((mirror.header.clone(), shown(mirror.value(arguments)?))))
            .collect()
    }
}

/// Appends a value as JSON text.
fn print<T: serde::Serialize + ?Sized>(text: &mut Vec<u8>, value: &T) {
    // Texts and values that came from JSON: there is nothing in it that cannot be printed.
    let _ = serde_json::to_writer(text, value);
}

/// What this caller can do for the server, as JSON.
fn capabilities(can: CanAsk) -> &'static str {
    match (can.person, can.model, can.roots) {
        (false, false, false) => "{}",
        (true, false, false) => r#"{"elicitation":{"form":{},"url":{}}}"#,
        (false, true, false) => r#"{"sampling":{}}"#,
        (false, false, true) => r#"{"roots":{}}"#,
        (true, true, false) => r#"{"elicitation":{"form":{},"url":{}},"sampling":{}}"#,
        (true, false, true) => r#"{"elicitation":{"form":{},"url":{}},"roots":{}}"#,
        (false, true, true) => r#"{"sampling":{},"roots":{}}"#,
        (true, true, true) => r#"{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}"#,
    }
}

fn can_ask(call: &Running, asked: &Asked) -> bool {
    parking::respondent(&asked.method).is_some_and(|who| call.can_ask().can(who))
}

impl Failed {
    /// A failure that another attempt would not mend.
    fn of(error: ToolError) -> Self {
        Self { error, unseen: false, passing: false }
    }
}

fn stopped() -> Failed {
    Failed::of(ToolError::new(codes::CANCELLED.code, ""))
}

fn out_of_reach(unreachable: &Unreachable) -> Failed {
    let mut error = ToolError::new(codes::UNAVAILABLE.code, &*unreachable.message);
    error.retry_after = unreachable
        .retry_after
        .map(|wait| u32::try_from(wait.as_secs().max(1)).unwrap_or(u32::MAX));
    Failed { error, unseen: true, passing: true }
}

/// What a request that came to nothing means to the caller.
fn failed(member: &Member, call: &Running, error: &RequestError) -> Result<Answer, Failed> {
    let words = |text: &str| format!("the upstream `{}`: {text}", member.id);
    let unavailable = |unseen| Failed {
        error: ToolError::new(codes::UNAVAILABLE.code, words(&error.to_string())),
        unseen,
        passing: true,
    };
    match error {
        RequestError::Rpc(said) => {
            Err(Failed::of(answer::of_rpc_error(&said.to_string(), &call.contract)))
        }
        RequestError::Timeout(_) => {
            let error = ToolError::new(codes::TIMEOUT.code, words(&error.to_string()));
            // Not repeated: it has had all the time that there was.
            Err(Failed { error, unseen: false, passing: false })
        }
        // What came is no answer, and the person who looks after it has to see that.
        RequestError::Protocol(reason) => Ok(unreadable(reason)),
        RequestError::TooLarge(_) => Ok(unreadable(&error.to_string())),
        RequestError::Lost(_) => Err(unavailable(false)),
        RequestError::NotSent(_) => Err(unavailable(true)),
    }
}

fn unreadable(reason: &str) -> Answer {
    let output = Payload::Unreadable { text: String::new(), reason: reason.to_owned() };
    Answer { output, ..Answer::default() }
}

impl Provider for Relay {
    fn run<'a>(&'a self, call: &'a Running) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(self.answer(call))
    }
}
