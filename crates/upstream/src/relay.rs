//! The provider of upstream tools: sends a checked call to its upstream, and returns the result to the gate, which
//! checks it.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use contract::{ParameterHeader, codes};
use gate::{
    BoxFuture, InputCapabilities, InputRequest, InputRequests, LogLevel, OutputPayload, Provider,
    RunningCall, ToolError, ToolOutput,
};
use mcp::{ClientCapabilities, LogMessage, Progress, append_json};
use rand::RngExt;
use serde_json::{Map, Value, json};
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use crate::{
    admission::AdmittedTool,
    connection::{
        InterimMessage, RequestError, RequestOptions, ResponseFuture, ServerInputRequest,
    },
    host::{Unreachable, Upstream},
    paused_calls::{self, PausedCall},
    settings::OutputFormat,
    tool_output::{self, MissingOutput},
};

/// The delay before the first retry, doubled each time.
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(50);
/// The time by which a request outlives its call: the gate ends calls, in the same words whatever runs them.
const REQUEST_GRACE: Duration = Duration::from_secs(5);
/// The number of messages before a response that may wait to be passed on.
const MAX_INTERIM_MESSAGES: usize = 64;

/// Runs one tool of an upstream.
pub(crate) struct Relay {
    /// Weak, because an upstream holds its tools.
    upstream: Weak<Upstream>,
    tool: String,
    output: OutputFormat,
    repeatable: bool,
    require_is_error: bool,
    parameter_headers: Vec<ParameterHeader>,
    retries: u32,
    /// The time for which an input request of the upstream waits.
    input_timeout: Duration,
}

/// The failure of one attempt.
struct AttemptError {
    error: ToolError,
    /// The upstream never got the call.
    not_sent: bool,
    /// The connection failed: another attempt may succeed.
    transient: bool,
    health: UpstreamHealth,
}

/// The state of an upstream that a failed attempt shows.
enum UpstreamHealth {
    /// It responds.
    Up,
    /// It does not respond, or breaks the protocol.
    Failing,
    /// Nobody waited long enough to tell.
    Unknown,
}

impl Relay {
    pub(crate) fn new(upstream: &Arc<Upstream>, admitted: &AdmittedTool) -> Self {
        Self {
            upstream: Arc::downgrade(upstream),
            tool: admitted.own_name.clone(),
            output: admitted.output_format,
            repeatable: admitted.repeatable,
            require_is_error: upstream.settings.require_is_error,
            parameter_headers: contract::parameter_headers::declared(
                &admitted.contract.input_schema,
            )
            .unwrap_or_default(),
            retries: upstream.settings.retries,
            input_timeout: Duration::from_millis(upstream.settings.question_timeout_ms),
        }
    }

    /// The tool's name on the upstream.
    pub(crate) fn own_name(&self) -> &str {
        &self.tool
    }

    /// True if a relay of this admission would do the same.
    pub(crate) fn is_for(&self, admitted: &AdmittedTool) -> bool {
        (&self.tool, self.output, self.repeatable)
            == (&admitted.own_name, admitted.output_format, admitted.repeatable)
    }

    /// Sends the call, again where a retry is safe, or resumes the call that its input responses belong to.
    async fn call(&self, call: &RunningCall) -> Result<ToolOutput, ToolError> {
        let Some(upstream) = self.upstream.upgrade() else {
            return Err(ToolError::new(codes::UNAVAILABLE.code, "the upstream was stopped"));
        };
        let mut resumed = Map::new();
        let paused =
            if call.replies().is_empty() { None } else { upstream.paused_calls.resume(call)? };
        match paused {
            Some((PausedCall::Waiting { response, interim, input_request, slot }, mut replies)) => {
                if let Some(reply) = replies.remove(paused_calls::ONLY_REQUEST) {
                    input_request.respond(reply);
                }
                let ended = self.wait(&upstream, call, response, interim, slot).await;
                return ended.map_err(|failed| failed.error);
            }
            Some((PausedCall::Ended { request_state }, replies)) => {
                resumed.insert("inputResponses".into(), Value::Object(replies));
                if let Some(state) = request_state {
                    resumed.insert("requestState".into(), Value::String(state));
                }
            }
            None => {}
        }
        let mut attempt = 0;
        loop {
            let failed = match self.attempt(&upstream, call, &resumed).await {
                Ok(output) => return Ok(output),
                Err(failed) => failed,
            };
            let may_retry = failed.transient && (failed.not_sent || self.repeatable);
            if !may_retry || attempt >= self.retries {
                return Err(failed.error);
            }
            let delay = FIRST_RETRY_DELAY * 2_u32.pow(attempt);
            attempt += 1;
            tokio::select! {
                () = call.stop.cancelled() => return Err(failed.error),
                () = tokio::time::sleep(delay.mul_f64(rand::rng().random_range(0.5..1.5))) => {}
            }
        }
    }

    /// Sends the call once.
    async fn attempt(
        &self,
        upstream: &Arc<Upstream>,
        call: &RunningCall,
        resumed: &Map<String, Value>,
    ) -> Result<ToolOutput, AttemptError> {
        let permit = upstream.breaker.acquire().map_err(|open| {
            let message = format!("upstream `{}`: {open}", upstream.id);
            let retry_after = Some(open.retry_after);
            unreachable(Unreachable { message, detail: String::new(), retry_after })
        })?;
        let connect = async {
            let slot = upstream.slots.clone().acquire_owned().await;
            let slot = slot.map_err(|_| upstream.unreachable("it is stopped"))?;
            Ok::<_, Unreachable>((upstream.connection().await?, slot))
        };
        let (connection, slot) = tokio::select! {
            biased;
            () = call.stop.cancelled() => return Err(stopped(upstream, call, "")),
            connected = connect => connected.map_err(unreachable)?,
        };
        // The upstream may have been started, or have changed, meanwhile: the tool that was found in the catalogue
        // may not be the one that would run.
        if !upstream.serves(call) {
            return Err(AttemptError::permanent(not_served(upstream, &call.contract.name)));
        }
        let params = self.params(&call.input, resumed);
        let timeout = Duration::from_millis(call.limits.timeout_ms) + REQUEST_GRACE;
        let wants_messages =
            call.is_watched() || call.capabilities() != InputCapabilities::default();
        let channel = wants_messages.then(|| mpsc::channel(MAX_INTERIM_MESSAGES));
        let (sender, interim) = channel.unzip();
        let options = RequestOptions {
            name: Some(&self.tool),
            headers: self.headers(&call.input),
            wants_progress: call.is_watched(),
            // Every level: the door leaves out what its client does not want.
            log_level: call.wants_logs().then_some("debug"),
            capabilities: Some(capabilities(call.capabilities())),
            interim: sender,
            ..RequestOptions::new(timeout)
        };
        let response = connection.request("tools/call", &params, options);
        let ended = self.wait(upstream, call, response, interim, slot).await;
        match ended.as_ref().err().map(|failed| &failed.health) {
            None | Some(UpstreamHealth::Up) => permit.succeeded(),
            Some(UpstreamHealth::Failing) => permit.failed(),
            Some(UpstreamHealth::Unknown) => drop(permit),
        }
        ended
    }

    /// Waits for the response to a request that was sent; passes on its progress, log and input requests.
    async fn wait(
        &self,
        upstream: &Upstream,
        call: &RunningCall,
        mut response: ResponseFuture,
        mut interim: Option<mpsc::Receiver<InterimMessage>>,
        slot: OwnedSemaphorePermit,
    ) -> Result<ToolOutput, AttemptError> {
        let response = loop {
            let message = async {
                match &mut interim {
                    Some(messages) => messages.recv().await,
                    None => None,
                }
            };
            let input_request = tokio::select! {
                biased;
                Some(message) = message => pass_on(call, message),
                response = &mut response => break response,
                () = call.stop.cancelled() => return Err(stopped(upstream, call, unknown_effect(call))),
            };
            let Some((input_request, request)) = input_request else { continue };
            let paused = PausedCall::Waiting { response, interim, input_request, slot };
            let requests = InputRequests::from([(paused_calls::ONLY_REQUEST.to_owned(), request)]);
            let asked = upstream.paused_calls.pause(call, paused, requests, self.input_timeout);
            return Err(asked_for_input(asked));
        };
        // Messages that came with the response; nobody waits for input any more.
        while let Some(Ok(message)) = interim.as_mut().map(mpsc::Receiver::try_recv) {
            pass_on(call, message);
        }
        let response = match response {
            Ok(response) => response,
            Err(error) => return request_failed(upstream, call, &error),
        };
        let errors = &call.contract.errors;
        match tool_output::read(response.json(), self.output, self.require_is_error, errors) {
            Ok(output) => Ok(output),
            Err(MissingOutput::Error(error)) => Err(AttemptError::permanent(*error)),
            Err(MissingOutput::InputRequired(required)) => {
                let asked = upstream.paused_calls.pause_ended(call, required, self.input_timeout);
                Err(asked_for_input(asked))
            }
        }
    }

    /// The parameters of `tools/call` as JSON text: the arguments are printed once.
    fn params(&self, input: &Value, resumed: &Map<String, Value>) -> String {
        let mut text = Vec::with_capacity(128);
        text.extend_from_slice(b"{\"name\":");
        append_json(&mut text, &self.tool);
        text.extend_from_slice(b",\"arguments\":");
        append_json(&mut text, input);
        for (name, value) in resumed {
            text.push(b',');
            append_json(&mut text, name);
            text.push(b':');
            append_json(&mut text, value);
        }
        text.push(b'}');
        String::from_utf8(text).unwrap_or_default()
    }

    /// Arguments that the upstream wants repeated in headers.
    fn headers(&self, input: &Value) -> Vec<(String, String)> {
        let Value::Object(arguments) = input else { return Vec::new() };
        mirror_headers(&self.parameter_headers, arguments)
    }
}

/// Headers that repeat arguments, as the input schema asks for (`x-mcp-header`).
pub fn mirror_headers(
    parameter_headers: &[ParameterHeader],
    arguments: &Map<String, Value>,
) -> Vec<(String, String)> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let repeated = parameter_headers
        .iter()
        .filter_map(|mirror| Some((mirror.header.clone(), text(mirror.value(arguments)?))));
    repeated.collect()
}

/// The capabilities of this caller, as JSON.
fn capabilities(can: InputCapabilities) -> &'static str {
    let InputCapabilities { elicitation, sampling, roots } = can;
    ClientCapabilities { elicitation, sampling, roots, tasks: false }.json()
}

/// Passes a message of the upstream on to the caller. An input request that the caller can answer is returned;
/// any other is declined by dropping it.
fn pass_on(
    call: &RunningCall,
    message: InterimMessage,
) -> Option<(ServerInputRequest, InputRequest)> {
    match message {
        InterimMessage::Progress(Progress { progress, total, message }) => {
            let fraction = total.filter(|total| *total > 0.0).map(|total| progress / total);
            call.progress(fraction, message.as_deref().unwrap_or_default());
        }
        InterimMessage::Log(LogMessage { level, data }) => {
            call.log(LogLevel::parse(&level).unwrap_or(LogLevel::Info), data);
        }
        InterimMessage::InputRequest(asked) => {
            let request = paused_calls::input_request(asked.method, asked.params.clone());
            let request = request.filter(|request| call.capabilities().allows(request.kind))?;
            return Some((asked, request));
        }
    }
    None
}

/// The end of a call that is made again with the responses to input requests.
fn asked_for_input(asked: Result<InputRequests, ToolError>) -> AttemptError {
    AttemptError::permanent(asked.map_or_else(|error| error, ToolError::asks))
}

impl AttemptError {
    /// A failure that a retry would not mend, of an upstream that responds.
    fn permanent(error: ToolError) -> Self {
        Self { error, not_sent: false, transient: false, health: UpstreamHealth::Up }
    }
}

/// The tool that was found is not served any more, for the reason that the catalogue gives as well.
fn not_served(upstream: &Upstream, name: &str) -> ToolError {
    let (message, reason) = match upstream.withheld().remove(name) {
        Some(withheld) => (withheld.message, withheld.reason),
        None => (format!("`{name}` changed on the upstream; list the tools again"), "changed"),
    };
    let details = Some(json!({ "reason": reason }));
    ToolError { details, ..ToolError::new(codes::CONTRACT_CHANGED.code, message) }
}

/// The call was stopped; the gate says why, and adds what is known of its effect.
fn stopped(upstream: &Upstream, call: &RunningCall, effect: &str) -> AttemptError {
    let error = ToolError::new(codes::CANCELLED.code, effect);
    // A caller who gives less time than the tool may take has shown nothing.
    let timeout_ms = upstream.timeout_ms(&call.contract);
    let late = call.is_late() && call.limits.timeout_ms >= timeout_ms;
    let health = if late { UpstreamHealth::Failing } else { UpstreamHealth::Unknown };
    AttemptError { health, ..AttemptError::permanent(error) }
}

/// The effect of a call that was sent and got no result.
fn unknown_effect(call: &RunningCall) -> &'static str {
    if call.contract.effects.changes_the_world() {
        "it may or may not have taken effect"
    } else {
        ""
    }
}

fn unreachable(unreachable: Unreachable) -> AttemptError {
    let mut error = ToolError::new(codes::UNAVAILABLE.code, unreachable.message);
    error.operator = Some(unreachable.detail).filter(|detail| !detail.is_empty());
    error.retry_after = unreachable
        .retry_after
        .map(|wait| u32::try_from(wait.as_secs().max(1)).unwrap_or(u32::MAX));
    AttemptError { error, not_sent: true, transient: true, health: UpstreamHealth::Failing }
}

/// A request that got no result, as the caller sees it. What the upstream printed, or wrote in the body of a refusal,
/// is for the operator: a model must not read it, and it may hold secrets.
fn request_failed(
    upstream: &Upstream,
    call: &RunningCall,
    error: &RequestError,
) -> Result<ToolOutput, AttemptError> {
    let failing = |code: &str, what: &str, not_sent: bool, transient: bool| {
        let effect = if not_sent { "" } else { unknown_effect(call) };
        let between = if effect.is_empty() { "" } else { "; " };
        let message = format!("the upstream `{}` {what}{between}{effect}", upstream.id);
        let operator = Some(format!("the upstream `{}`: {error}", upstream.id));
        let error = ToolError { operator, ..ToolError::new(code, message) };
        Err(AttemptError { error, not_sent, transient, health: UpstreamHealth::Failing })
    };
    let unavailable = codes::UNAVAILABLE.code;
    match error {
        RequestError::Rpc(rpc) => {
            let error = tool_output::from_rpc_error(&rpc.to_string(), &call.contract);
            Err(AttemptError::permanent(error))
        }
        // Not retried: it has had all the time that there was.
        RequestError::Timeout(_) => failing(codes::TIMEOUT.code, "did not respond", false, false),
        RequestError::Protocol(_) => {
            failing(unavailable, "sent a response that is not valid MCP", false, false)
        }
        // Quarantined, so that the operator sees it.
        RequestError::TooLarge(_) => {
            let output = OutputPayload::Broken { text: String::new(), reason: error.to_string() };
            Ok(ToolOutput { output, ..ToolOutput::default() })
        }
        RequestError::Lost(_) => {
            failing(unavailable, "closed the connection during the call", false, true)
        }
        RequestError::NotSent(_) => failing(unavailable, "cannot be reached", true, true),
    }
}

impl Provider for Relay {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(self.call(call))
    }
}
