//! The provider of upstream tools, and of the methods that are no tool calls: sends a checked call to its upstream, and
//! returns the result to the gate, which checks it.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use contract::{ParameterHeader, codes};
use gate::{
    BoxFuture, InputCapabilities, InputRequest, InputRequests, LogLevel, OutputPayload, Provider,
    RunningCall, ToolError, ToolOutput, beside_runtime,
};
use mcp::{ClientCapabilities, InputMethod, LogMessage, Progress, append_json, code};
use rand::RngExt;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use crate::{
    ServerText,
    admission::{AdmittedTool, TOOL_ERROR},
    connection::{
        InterimMessage, RequestError, RequestOptions, ResponseFuture, ServerInputRequest,
    },
    host::{Unreachable, Upstream},
    methods::{self, UpstreamMethod},
    paused_calls::{self, PausedCall},
    questions::Questioner,
    server_text,
    settings::OutputFormat,
    slots::UpstreamSlot,
    tool_output::{self, MissingOutput},
};

/// The delay before the first retry, doubled each time.
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(50);
/// The time by which a request outlives its call: the gate ends calls, in the same words whatever runs them.
const REQUEST_GRACE: Duration = Duration::from_secs(5);
/// The part of a response that is not its result, in bytes: ids, and fields that are not passed on.
const ENVELOPE_BYTES: u64 = 65_536;
/// The number of messages before a response that may wait to be passed on.
const MAX_INTERIM_MESSAGES: usize = 64;

/// The longest progress message that is looked at, in characters.
const MAX_PROGRESS_CHARS: usize = 1_000;
/// The largest log message that is passed on whole, in bytes of JSON.
const MAX_LOG_BYTES: usize = 16_384;

/// Runs one tool of an upstream.
pub(crate) struct Relay {
    /// Weak, because an upstream holds its tools.
    upstream: Weak<Upstream>,
    /// Its name on the upstream, or the method.
    tool: String,
    /// The method, if it is no tool call.
    method: Option<UpstreamMethod>,
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
            method: None,
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

    /// Runs a method that is no tool call.
    pub(crate) fn of_method(
        upstream: &Arc<Upstream>,
        admitted: &AdmittedTool,
        method: UpstreamMethod,
    ) -> Self {
        Self { method: Some(method), ..Self::new(upstream, admitted) }
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
            let slot = upstream.slots.acquire(call.caller.name()).await;
            Ok::<_, Unreachable>((upstream.connection().await?, slot))
        };
        let (connection, slot) = tokio::select! {
            biased;
            () = call.stop.cancelled() => return Err(stopped(upstream, call, "")),
            connected = connect => connected.map_err(unreachable)?,
        };
        // The upstream may have been started, or have changed, meanwhile: the tool that was found in the catalogue
        // may not be the one that would run.
        match self.method {
            None if !upstream.serves(call) => {
                return Err(AttemptError::permanent(not_served(upstream, &call.contract.name)));
            }
            Some(method) if !upstream.offers(method, &call.input) => {
                let message = format!(
                    "the upstream `{}` does not list this any more; list again",
                    upstream.id
                );
                let error = ToolError::new(codes::CONTRACT_CHANGED.code, message);
                return Err(AttemptError::permanent(error));
            }
            _ => {}
        }
        let params = self.params(&call.input, resumed);
        let timeout = Duration::from_millis(call.limits.timeout_ms) + REQUEST_GRACE;
        let wants_messages =
            call.is_watched() || call.capabilities() != InputCapabilities::default();
        let channel = wants_messages.then(|| mpsc::channel(MAX_INTERIM_MESSAGES));
        let (sender, interim) = channel.unzip();
        let (method, name) = match self.method {
            None => ("tools/call", Some(&*self.tool)),
            Some(method) => (method.as_str(), method.target(&call.input)),
        };
        let options = RequestOptions {
            name,
            max_response_bytes: self.max_response_bytes(call),
            headers: self.headers(&call.input),
            wants_progress: call.is_watched(),
            // Every level: the door leaves out what its client does not want.
            log_level: call.wants_logs().then_some("debug"),
            capabilities: Some(capabilities(if upstream.settings.questions {
                call.capabilities()
            } else {
                InputCapabilities::default()
            })),
            interim: sender,
            ..RequestOptions::new(timeout)
        };
        let response = connection.request(method, &params, options);
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
        slot: UpstreamSlot,
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
                Some(message) = message => self.pass_on(upstream, call, message),
                response = &mut response => break response,
                () = call.stop.cancelled() => return Err(stopped(upstream, call, unknown_effect(call))),
            };
            let Some((input_request, request)) = input_request else { continue };
            let paused = PausedCall::Waiting { response, interim, input_request, slot };
            let requests = InputRequests::from([(paused_calls::ONLY_REQUEST.to_owned(), request)]);
            let asked = upstream.paused_calls.pause(call, paused, requests, self.input_timeout);
            return Err(asked_for_input(upstream, asked));
        };
        // Messages that came with the response; nobody waits for input any more.
        while let Some(Ok(message)) = interim.as_mut().map(mpsc::Receiver::try_recv) {
            self.pass_on(upstream, call, message);
        }
        let response = match response {
            Ok(response) => response,
            Err(error) => return self.failed(upstream, call, &error),
        };
        let errors = &call.contract.errors;
        let json = response.json();
        let output = beside_runtime(json.len(), || match self.method {
            None => tool_output::read(json, self.output, self.require_is_error, errors),
            Some(method) => methods::read(method, json, &call.input),
        });
        match output {
            Ok(output) => Ok(output),
            Err(MissingOutput::Error(error)) => Err(AttemptError::permanent(*error)),
            Err(MissingOutput::InputRequired(required)) => {
                let question = |method, params: &Value| self.question(upstream, method, params);
                let asked =
                    upstream.paused_calls.pause_ended(call, required, question, self.input_timeout);
                Err(asked_for_input(upstream, asked))
            }
        }
    }

    /// Passes a message of the upstream on to the caller. An input request that the caller can answer is returned;
    /// any other is declined by dropping it.
    fn pass_on(
        &self,
        upstream: &Upstream,
        call: &RunningCall,
        message: InterimMessage,
    ) -> Option<(ServerInputRequest, InputRequest)> {
        match message {
            InterimMessage::Progress(Progress { progress, total, message }) => {
                let fraction = total.filter(|total| *total > 0.0).map(|total| progress / total);
                let message = ServerText::new(message.as_deref().unwrap_or_default());
                call.progress(fraction, &message.beginning(MAX_PROGRESS_CHARS).for_models());
            }
            InterimMessage::Log(LogMessage { level, data }) => {
                call.log(LogLevel::parse(&level).unwrap_or(LogLevel::Info), log_data(data));
            }
            InterimMessage::InputRequest(asked) => {
                match self.question(upstream, asked.method, &asked.params) {
                    Ok(request) if call.capabilities().allows(request.kind) => {
                        return Some((asked, request));
                    }
                    Ok(_) => {}
                    Err(why) => {
                        let (id, method) = (&upstream.id, asked.method.as_str());
                        tracing::warn!(upstream = id, method, "a question is not passed on: {why}");
                    }
                }
            }
        }
        None
    }

    /// A question of the upstream as it is passed on, or the reason why it is not.
    fn question(
        &self,
        upstream: &Upstream,
        method: InputMethod,
        params: &Value,
    ) -> Result<InputRequest, String> {
        if !upstream.settings.questions {
            return Err(format!(
                "it may not ask; `upstreams.{}.questions: true` lets it",
                upstream.id
            ));
        }
        let max_tokens = upstream.settings.max_question_tokens;
        let questioner = Questioner { upstream: &upstream.id, max_tokens };
        questioner.question(method, params).map_err(str::to_owned)
    }

    /// The size at which a response is not received any further. The text and the structured content of a tool may
    /// say the same twice; what is no tool call has only its result.
    fn max_response_bytes(&self, call: &RunningCall) -> usize {
        if self.method.is_none() {
            return usize::MAX;
        }
        usize::try_from(call.max_result_bytes().saturating_add(ENVELOPE_BYTES))
            .unwrap_or(usize::MAX)
    }

    /// A request that got no result.
    fn failed(
        &self,
        upstream: &Upstream,
        call: &RunningCall,
        error: &RequestError,
    ) -> Result<ToolOutput, AttemptError> {
        match (self.method, error) {
            (Some(_), RequestError::Rpc(rpc)) => {
                let code = match rpc.code {
                    code::RESOURCE_NOT_FOUND => codes::NOT_FOUND.code,
                    code::INVALID_PARAMS => codes::INVALID_INPUT.code,
                    _ => TOOL_ERROR,
                };
                let error = tool_output::from_rpc_error(&rpc.to_string(), &call.contract);
                Err(AttemptError::permanent(ToolError { code: code.into(), ..error }))
            }
            (Some(_), RequestError::TooLarge(bytes)) if *bytes == self.max_response_bytes(call) => {
                let limit = call.max_result_bytes();
                let reason = format!("the result has more than {limit} bytes (max_output_bytes)");
                let output = OutputPayload::Broken { text: String::new(), reason };
                Ok(ToolOutput { output, ..ToolOutput::default() })
            }
            _ => request_failed(upstream, call, error),
        }
    }

    /// The parameters as JSON text: the arguments are printed once. Those of a method that is no tool call are the
    /// arguments.
    fn params(&self, input: &Value, resumed: &Map<String, Value>) -> String {
        let mut text = Vec::with_capacity(128);
        if self.method.is_some() {
            append_json(&mut text, input);
            text.pop();
        } else {
            text.extend_from_slice(b"{\"name\":");
            append_json(&mut text, &self.tool);
            text.extend_from_slice(b",\"arguments\":");
            append_json(&mut text, input);
        }
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

/// A log message as a client may show it to a model; of one that is too large only its beginning, as a text.
fn log_data(mut data: Value) -> Value {
    let bytes = data.to_string().len();
    if bytes > MAX_LOG_BYTES {
        let text = ServerText::new(&data.to_string()).within(MAX_LOG_BYTES);
        data = Value::String(format!("{}… ({bytes} bytes)", text.for_programs()));
    }
    server_text::make_for_models(&mut data);
    data
}

/// The end of a call that is made again with the responses to input requests.
fn asked_for_input(upstream: &Upstream, asked: Result<InputRequests, ToolError>) -> AttemptError {
    let error = asked.map_or_else(
        |error| error,
        |requests| {
            let kinds: Vec<_> = requests.values().map(|one| one.kind.word()).collect();
            let note = format!("the upstream `{}` asks: {}", upstream.id, kinds.join(", "));
            ToolError { operator: Some(note), ..ToolError::asks(requests) }
        },
    );
    AttemptError::permanent(error)
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
        // Both are quarantined, so that the operator sees them.
        RequestError::TooLarge(_) => {
            let output = OutputPayload::Broken { text: String::new(), reason: error.to_string() };
            Ok(ToolOutput { output, ..ToolOutput::default() })
        }
        RequestError::Malformed { text, reason } => {
            let output = OutputPayload::Broken { text: text.clone(), reason: reason.clone() };
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
