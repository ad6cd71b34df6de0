//! A call on its way to an upstream and back. What the gate has checked is sent, and what comes back is
//! handed to the gate, which checks it.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use contract::{Mirror, codes};
use gate::{
    BoxFuture, InputCapabilities, LogLevel, OutputPayload, Provider, RunningCall, ToolError,
    ToolOutput,
};
use rand::RngExt;
use serde_json::{Map, Value, json};
use tokio::sync::OwnedSemaphorePermit;

use crate::{
    admission::{Admitted, Returns},
    answer::{self, Came},
    connection::{Flight, Happening, Reply, Request, RequestError},
    host::{Member, Unreachable},
    parking::{self, Parked},
};

/// The pause before a call is made again, doubled each time.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// By how much longer a request may take than the call that it is made for: the gate ends calls, and says
/// so in the same words whatever runs them.
const SPARE_TIME: Duration = Duration::from_secs(5);

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
    /// How long a question may be open.
    patience: Duration,
}

/// Why an attempt came to nothing.
struct Failed {
    error: ToolError,
    /// Whether the server never saw the call.
    unseen: bool,
    /// Whether it is about the connection, so that another attempt may do better.
    passing: bool,
    shows: Shows,
}

/// What a failure shows about the server.
enum Shows {
    /// It answers.
    Life,
    /// It does not, or not in the protocol.
    Trouble,
    /// Nothing: nobody waited for it any more.
    Nothing,
}

impl Relay {
    /// What the server itself calls the tool.
    pub(crate) fn own_name(&self) -> &str {
        &self.tool
    }

    pub(crate) fn new(member: &Arc<Member>, admitted: &Admitted) -> Self {
        Self {
            member: Arc::downgrade(member),
            tool: admitted.own_name.clone(),
            returns: admitted.returns,
            repeatable: admitted.repeatable,
            require_is_error: member.settings.require_is_error,
            mirrors: contract::mirror::mirrors(&admitted.contract.input_schema).unwrap_or_default(),
            retries: member.settings.retries,
            patience: Duration::from_millis(member.settings.question_timeout_ms),
        }
    }

    /// Whether it runs the tool in the same way as an admission would have it.
    pub(crate) fn is_for(&self, admitted: &Admitted) -> bool {
        (&self.tool, self.returns, self.repeatable)
            == (&admitted.own_name, admitted.returns, admitted.repeatable)
    }

    async fn answer(&self, call: &RunningCall) -> Result<ToolOutput, ToolError> {
        let Some(member) = self.member.upgrade() else {
            return Err(ToolError::new(codes::UNAVAILABLE.code, "the upstream is gone"));
        };
        let mut again = Map::new();
        match member.parking.take(call)? {
            Some((Parked::Open { flight, asked, place }, mut replies)) => {
                if let Some(reply) = replies.remove(parking::OPEN) {
                    asked.answer(reply);
                }
                let ended = self.follow(&member, call, flight, place).await;
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
        call: &RunningCall,
        again: &Map<String, Value>,
    ) -> Result<ToolOutput, Failed> {
        let leave = member.breaker.enter().map_err(|wait| {
            let message =
                format!("the upstream `{}` failed too often and is left alone", member.id);
            out_of_reach(Unreachable { message, why: String::new(), retry_after: Some(wait) })
        })?;
        let reached = async {
            let place = member.places.clone().acquire_owned().await;
            let place = place.map_err(|_| member.unreachable("it is closed"))?;
            Ok::<_, Unreachable>((member.connection().await?, place))
        };
        let (connection, place) = tokio::select! {
            biased;
            () = call.stop.cancelled() => return Err(stopped(member, call, "")),
            reached = reached => reached.map_err(out_of_reach)?,
        };
        // The server may have been started, or have changed, while it was waited for: what was found in
        // the catalogue may not be what would run.
        if !member.serves(call) {
            return Err(Failed::of(not_served(member, &call.contract.name)));
        }
        let params = self.params(&call.input, again);
        let flight = connection.begin(Request {
            name: Some(&self.tool),
            headers: self.headers(&call.input),
            wants_progress: call.is_watched(),
            // Everything: what a client does not want to read its door leaves out.
            log_level: call.is_heard().then_some("debug"),
            capabilities: Some(capabilities(call.capabilities())),
            ..Request::new(
                "tools/call",
                &params,
                Duration::from_millis(call.limits.timeout_ms) + SPARE_TIME,
            )
        });
        let ended = self.follow(member, call, flight, place).await;
        match ended.as_ref().err().map(|failed| &failed.shows) {
            None | Some(Shows::Life) => leave.answered(),
            Some(Shows::Trouble) => leave.failed(),
            Some(Shows::Nothing) => drop(leave),
        }
        ended
    }

    /// Listens to a call until it is over.
    async fn follow(
        &self,
        member: &Member,
        call: &RunningCall,
        mut flight: Box<dyn Flight>,
        place: OwnedSemaphorePermit,
    ) -> Result<ToolOutput, Failed> {
        loop {
            let happening = tokio::select! {
                biased;
                happening = flight.next() => happening,
                () = call.stop.cancelled() => return Err(stopped(member, call, unknown_effect(call))),
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
                    let question = parking::question(&asked.method, asked.params.clone());
                    // Dropped, it is answered: nobody can be asked.
                    let Some(question) =
                        question.filter(|one| call.capabilities().allows(one.kind))
                    else {
                        continue;
                    };
                    let parked = Parked::Open { flight, asked, place };
                    let asked = member.parking.open(call, parked, question, self.patience);
                    return Err(Failed::of(asked.map_or_else(|error| error, ToolError::asks)));
                }
                Happening::Done(Ok(reply)) => return self.judge(member, call, &reply),
                Happening::Done(Err(error)) => return failed(member, call, &error),
            }
        }
    }

    fn judge(
        &self,
        member: &Member,
        call: &RunningCall,
        reply: &Reply,
    ) -> Result<ToolOutput, Failed> {
        match answer::read(reply.json(), self.returns, self.require_is_error) {
            Came::Answer(answer) => Ok(answer),
            Came::Failed(error) if call.contract.errors.len() > 1 => {
                Err(Failed::of(answer::in_its_word(reply.json(), error, &call.contract)))
            }
            Came::Failed(error) => Err(Failed::of(error)),
            Came::Asks(asks) => {
                let asked = member.parking.closed(call, asks, self.patience);
                Err(Failed::of(asked.map_or_else(|error| error, ToolError::asks)))
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
fn capabilities(can: InputCapabilities) -> &'static str {
    match (can.elicitation, can.sampling, can.roots) {
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

impl Failed {
    /// A failure that another attempt would not mend.
    fn of(error: ToolError) -> Self {
        Self { error, unseen: false, passing: false, shows: Shows::Life }
    }
}

/// The tool that was found is not served any more, for the reason that the catalogue will give as well.
fn not_served(member: &Member, name: &str) -> ToolError {
    let (message, reason) = match member.withheld().remove(name) {
        Some(withheld) => (withheld.message, withheld.reason),
        None => (format!("`{name}` is not offered any more as it was listed"), "changed"),
    };
    let details = Some(json!({ "reason": reason }));
    ToolError { details, ..ToolError::new(codes::CONTRACT_CHANGED.code, message) }
}

/// The call is not waited for any more; the gate says why, and adds what is known of its effect.
fn stopped(member: &Member, call: &RunningCall, effect: &str) -> Failed {
    let error = ToolError::new(codes::CANCELLED.code, effect);
    // A caller who gives a server less time than the tool may take has shown nothing.
    let usual = member.time_of(&call.contract);
    let late = call.is_late() && call.limits.timeout_ms >= usual;
    let shows = if late { Shows::Trouble } else { Shows::Nothing };
    Failed { shows, ..Failed::of(error) }
}

/// What can be said about the effect of a call that was sent and not answered.
fn unknown_effect(call: &RunningCall) -> &'static str {
    if call.contract.effects.changes_the_world() {
        "it may or may not have taken effect"
    } else {
        ""
    }
}

fn out_of_reach(unreachable: Unreachable) -> Failed {
    let mut error = ToolError::new(codes::UNAVAILABLE.code, unreachable.message);
    error.operator = Some(unreachable.why).filter(|why| !why.is_empty());
    error.retry_after = unreachable
        .retry_after
        .map(|wait| u32::try_from(wait.as_secs().max(1)).unwrap_or(u32::MAX));
    Failed { error, unseen: true, passing: true, shows: Shows::Trouble }
}

/// What a request that came to nothing means to the caller. What the server printed, or what stands in the
/// body of a refusal, is for whoever looks after it: a model must not read it, and it may hold secrets.
fn failed(member: &Member, call: &RunningCall, error: &RequestError) -> Result<ToolOutput, Failed> {
    let trouble = |code: &str, what: &str, unseen: bool, passing: bool| {
        let effect = if unseen { "" } else { unknown_effect(call) };
        let between = if effect.is_empty() { "" } else { "; " };
        let message = format!("the upstream `{}` {what}{between}{effect}", member.id);
        let operator = Some(format!("the upstream `{}`: {error}", member.id));
        let error = ToolError { operator, ..ToolError::new(code, message) };
        Err(Failed { error, unseen, passing, shows: Shows::Trouble })
    };
    let unavailable = codes::UNAVAILABLE.code;
    match error {
        RequestError::Rpc(said) => {
            Err(Failed::of(answer::of_rpc_error(&said.to_string(), &call.contract)))
        }
        // Not repeated: it has had all the time that there was.
        RequestError::Timeout(_) => trouble(codes::TIMEOUT.code, "did not answer", false, false),
        RequestError::Protocol(_) => {
            trouble(unavailable, "answered, and not in the protocol", false, false)
        }
        // What came is no result, and the person who looks after it has to see that.
        RequestError::TooLarge(_) => {
            let output = OutputPayload::Broken { text: String::new(), reason: error.to_string() };
            Ok(ToolOutput { output, ..ToolOutput::default() })
        }
        RequestError::Lost(_) => trouble(unavailable, "went away during the call", false, true),
        RequestError::NotSent(_) => trouble(unavailable, "cannot be reached", true, true),
    }
}

impl Provider for Relay {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(self.answer(call))
    }
}
