//! A request that is made in several rounds: what was replied in the earlier ones.

use gate::{Exchange, Notes, Questions};
use serde_json::{Map, Value};

use super::{
    client::{self, Params},
    context::{Context, Reply},
    questions,
    rpc::RpcError,
    seal::Bound,
};

/// What was replied so far, and to what it belongs.
pub(crate) struct Rounds {
    method: &'static str,
    name: Box<str>,
    /// The arguments as they were written; looked at only if there is another round.
    arguments: Box<str>,
    replies: Map<String, Value>,
    /// The state that this round uses up.
    state: Option<String>,
}

impl Rounds {
    /// Reads what a modern client brings back. The state must be ours, made for this caller
    /// and these arguments, and not used yet.
    pub(crate) fn read(
        context: &Context,
        params: &Params<'_>,
        method: &'static str,
        name: &str,
    ) -> Result<Self, RpcError> {
        let arguments = params.arguments.map_or("{}", |raw| raw.get());
        let mut rounds = Self {
            method,
            name: name.into(),
            arguments: arguments.into(),
            replies: Map::new(),
            state: None,
        };
        if !context.client.is_modern() {
            return Ok(rounds);
        }
        if let Some(raw) = params.request_state {
            let state = client::text(raw, "requestState")?;
            let now = context.app.gate.clock().now();
            let opened = context.app.mcp.seal.open(&state, &rounds.bound(context), now);
            let opened = opened.map_err(|refused| RpcError::unknown(refused.message()))?;
            rounds.replies = opened.replies;
            rounds.state = Some(opened.nonce);
        }
        rounds.add(client::object(params.input_responses, "inputResponses")?);
        Ok(rounds)
    }

    /// What the tool is told.
    pub(crate) fn exchange(&self, context: &Context, notes: Option<Notes>) -> Exchange {
        Exchange { replies: self.replies.clone(), can_ask: context.client.can_ask, notes }
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
    pub(crate) fn ask_again(self, context: &Context, open: &Questions) -> Reply {
        if let Some(state) = &self.state {
            context.app.mcp.seal.give_back(state);
        }
        let bound = self.bound(context);
        questions::input_required(context, open, bound, self.replies)
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
