//! A request that is made in several rounds: what was replied in the earlier ones.

use contract::codes;
use gate::{CallChannel, Failure, InputCapabilities, InputRequests, NotificationSender};
use serde_json::{Map, Value, value::RawValue};

use super::{
    context::{Context, Reply},
    params::{self, Params},
    questions,
    rpc::RpcError,
    seal::Bound,
};

/// How much may be replied to the questions of one request, in bytes: a client carries all of
/// it in every further round.
const MAX_REPLY_BYTES: usize = 262_144;

/// What was replied so far, and to what it belongs.
pub(crate) struct Rounds {
    method: &'static str,
    name: Box<str>,
    /// The arguments as they were written; looked at only if there is another round.
    arguments: Box<str>,
    /// What a modern client brought back, not opened yet.
    brought: Option<Brought>,
    replies: Map<String, Value>,
    /// The state that this round uses up.
    state: Option<String>,
}

struct Brought {
    state: Box<str>,
    replies: Map<String, Value>,
}

impl Rounds {
    /// Reads what a modern client brings back.
    pub(crate) fn read(
        context: &Context,
        params: &Params<'_>,
        method: &'static str,
        name: &str,
    ) -> Result<Self, RpcError> {
        let (mut brought, mut first) = (None, Map::new());
        if context.client.is_modern() {
            let replies = params::object(params.input_responses, "inputResponses")?;
            if let Some(raw) = params.request_state {
                brought = Some(Brought { state: params::text(raw, "requestState")?, replies });
            } else if params.input_responses.is_some_and(|raw| raw.get().len() <= MAX_REPLY_BYTES) {
                // Replies to the first questions, from a client that does not carry a state.
                first = replies;
            }
        }
        // Whoever can neither be asked nor be handed a task makes no further round.
        let client = context.client;
        let may_be_asked = client.capabilities != InputCapabilities::default()
            || client.tasks
            || brought.is_some();
        let asked_again = params.arguments.filter(|_| may_be_asked).map(RawValue::get);
        Ok(Self {
            method,
            name: name.into(),
            arguments: asked_again.unwrap_or("{}").into(),
            brought,
            replies: first,
            state: None,
        })
    }

    /// Opens what was brought, when nothing else stands in the way any more: it must be ours,
    /// made for this caller and these arguments, and not used yet.
    pub(crate) fn open(&mut self, context: &Context) -> Result<(), RpcError> {
        let Some(brought) = self.brought.take() else { return Ok(()) };
        let now = context.app.gate.clock().now();
        let opened = context.app.mcp.seal.open(&brought.state, &self.bound(context), now);
        let opened = opened.map_err(|refused| RpcError::unknown(refused.message()))?;
        self.state = Some(opened.nonce);
        self.replies = opened.replies;
        // Only what was asked can be replied.
        let asked = |name: &String| opened.asked.contains(name);
        self.replies.extend(brought.replies.into_iter().filter(|(name, _)| asked(name)));
        if serde_json::to_string(&self.replies).map_or(0, |text| text.len()) > MAX_REPLY_BYTES {
            self.give_back(context);
            let message = format!("the replies have more than {MAX_REPLY_BYTES} bytes");
            return Err(RpcError::malformed(message));
        }
        Ok(())
    }

    /// What the tool is told.
    pub(crate) fn channel(
        &self,
        context: &Context,
        notes: Option<NotificationSender>,
    ) -> CallChannel {
        CallChannel {
            replies: self.replies.clone(),
            capabilities: context.client.capabilities,
            may_approve: context.may_approve(),
            notifications: notes,
            given_up: None,
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

    pub(crate) fn add(&mut self, replies: Map<String, Value>) {
        self.replies.extend(replies);
    }

    /// Asks a modern client for another round. This one has done nothing yet, so its state
    /// may be brought again.
    pub(crate) fn ask_again(mut self, context: &Context, open: &InputRequests) -> Reply {
        self.give_back(context);
        // A reply that did not fit is not carried on.
        self.replies.retain(|name, _| !open.contains_key(name));
        questions::input_required(context, open, self.bound(context), &self.replies)
    }

    /// A call that was turned away before anything ran may be made again as it was.
    pub(crate) fn turned_away(&self, context: &Context, failure: &Failure) {
        // A tool's own failure never says when to try again; the gate's does.
        if failure.code == codes::TOO_MANY_REQUESTS.code && failure.retry_after.is_some() {
            self.give_back(context);
        }
    }

    fn give_back(&self, context: &Context) {
        if let Some(state) = &self.state {
            context.app.mcp.seal.give_back(context.caller.name(), state);
        }
    }

    fn bound(&self, context: &Context) -> Bound {
        // Equal arguments may be written in different ways.
        let arguments = Value::Object(self.arguments());
        Bound {
            caller: context.caller.name().to_owned(),
            target: format!("{} {}", self.method, self.name),
            arguments: contract::canonical::sha256(&arguments),
        }
    }
}
