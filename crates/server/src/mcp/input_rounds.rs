//! A request that is made in several rounds: the input responses of the earlier ones.

use contract::codes;
use gate::{CallChannel, Failure, InputCapabilities, InputRequests, NotificationSender};
use mcp::{
    RpcError,
    params::{self, Params},
};
use serde_json::{Map, Value, value::RawValue};

use super::{
    context::{McpContext, RpcResult},
    dispatch, input_requests,
    request_state::StateBinding,
};

/// The largest size of the input responses of one request, in bytes: a client carries all of
/// them in every further round.
const MAX_RESPONSE_BYTES: usize = 262_144;

/// The input responses so far, and the request that they belong to.
pub(crate) struct InputRounds {
    method: &'static str,
    name: Box<str>,
    /// The arguments as they were written; looked at only if there is another round.
    arguments: Box<str>,
    /// The state that a modern client sent back, not opened yet.
    returned: Option<ReturnedState>,
    responses: Map<String, Value>,
    /// The state that this round uses up.
    state: Option<String>,
}

struct ReturnedState {
    state: Box<str>,
    responses: Map<String, Value>,
}

impl InputRounds {
    /// Reads the state that a modern client sends back.
    pub(crate) fn read(
        context: &McpContext,
        params: &Params<'_>,
        method: &'static str,
        name: &str,
    ) -> Result<Self, RpcError> {
        let (mut returned, mut first) = (None, Map::new());
        if context.client.is_modern() {
            let responses = dispatch::object(params.input_responses, "inputResponses")?;
            if let Some(raw) = params.request_state {
                returned =
                    Some(ReturnedState { state: params::string(raw, "requestState")?, responses });
            } else if params
                .input_responses
                .is_some_and(|raw| raw.get().len() <= MAX_RESPONSE_BYTES)
            {
                // Responses to the first input requests, from a client that does not carry a state.
                first = responses;
            }
        }
        // A client that can neither be asked nor be handed a task makes no further round.
        let client = context.client;
        let may_be_asked = client.capabilities != InputCapabilities::default()
            || client.tasks
            || returned.is_some();
        let asked_again = params.arguments.filter(|_| may_be_asked).map(RawValue::get);
        Ok(Self {
            method,
            name: name.into(),
            arguments: asked_again.unwrap_or("{}").into(),
            returned,
            responses: first,
            state: None,
        })
    }

    /// Opens the state that was sent back: it must be ours, made for this caller and these
    /// arguments, and not used yet.
    pub(crate) fn open(&mut self, context: &McpContext) -> Result<(), RpcError> {
        let Some(returned) = self.returned.take() else { return Ok(()) };
        let now = context.app.gate.clock().now();
        let opened = context.app.mcp.sealer.open(&returned.state, &self.binding(context), now);
        let opened = opened.map_err(|rejection| RpcError::not_found(rejection.message()))?;
        self.state = Some(opened.nonce);
        self.responses = opened.responses;
        // Only what was asked can be answered.
        let asked = |name: &String| opened.asked.contains(name);
        self.responses.extend(returned.responses.into_iter().filter(|(name, _)| asked(name)));
        if serde_json::to_string(&self.responses).map_or(0, |text| text.len()) > MAX_RESPONSE_BYTES
        {
            self.give_back(context);
            let message = format!("the input responses have more than {MAX_RESPONSE_BYTES} bytes");
            return Err(RpcError::invalid_params(message));
        }
        Ok(())
    }

    /// The channel between the tool and the client.
    pub(crate) fn channel(
        &self,
        context: &McpContext,
        notifications: Option<NotificationSender>,
    ) -> CallChannel {
        CallChannel {
            replies: self.responses.clone(),
            capabilities: context.client.capabilities,
            may_approve: context.may_approve(),
            notifications,
            input_failure: None,
        }
    }

    /// The arguments, read once more.
    pub(crate) fn arguments(&self) -> Map<String, Value> {
        match contract::json::parse(self.arguments.as_bytes()) {
            Ok(Value::Object(arguments)) => arguments,
            // They were read before, and were an object then.
            _ => Map::new(),
        }
    }

    pub(crate) fn add(&mut self, responses: Map<String, Value>) {
        self.responses.extend(responses);
    }

    /// Asks a modern client for another round. This one has done nothing yet, so its state
    /// may be returned again.
    pub(crate) fn ask_again(mut self, context: &McpContext, open: &InputRequests) -> RpcResult {
        self.give_back(context);
        // A response that did not fit is not carried on.
        self.responses.retain(|name, _| !open.contains_key(name));
        input_requests::input_required(context, open, self.binding(context), &self.responses)
    }

    /// Lets a call that was refused before anything ran be made again as it was.
    pub(crate) fn refused(&self, context: &McpContext, failure: &Failure) {
        // A tool's own failure never says when to try again; the gate's does.
        if failure.code == codes::TOO_MANY_REQUESTS.code && failure.retry_after.is_some() {
            self.give_back(context);
        }
    }

    fn give_back(&self, context: &McpContext) {
        if let Some(state) = &self.state {
            context.app.mcp.sealer.give_back(context.caller.name(), state);
        }
    }

    fn binding(&self, context: &McpContext) -> StateBinding {
        // Equal arguments may be written in different ways.
        let arguments = Value::Object(self.arguments());
        StateBinding {
            caller: context.caller.name().to_owned(),
            target: format!("{} {}", self.method, self.name),
            arguments: contract::canonical::sha256(&arguments),
        }
    }
}
