//! A method of the library: a call of its unlisted tool through the gate and nothing else, in as many rounds as it
//! needs, and its outcome rendered.

use std::sync::Arc;

use contract::codes;
use gate::{ApprovalId, Call, Failure, InputRequests, Outcome};
use mcp::{
    Response, RpcError,
    params::{Params, RequestMeta},
};
use serde_json::{Map, Value, json};

use super::{
    call::{self, RELEASED},
    context::{McpContext, RpcResult},
    input_requests,
    input_rounds::InputRounds,
    library::{Library, LibraryCall, LibraryError},
};

/// A request for something of the library.
pub(crate) struct LibraryRequest {
    context: McpContext,
    rounds: InputRounds,
    approval: Option<ApprovalId>,
}

impl LibraryRequest {
    pub(crate) fn read(
        context: McpContext,
        params: &Params<'_>,
        meta: &RequestMeta<'_>,
        method: &'static str,
        name: &str,
    ) -> Result<Self, RpcError> {
        let rounds = InputRounds::read(&context, params, method, name)?;
        let approval = meta.approval.map(call::approval_id).transpose()?;
        Ok(Self { context, rounds, approval })
    }

    pub(crate) fn context(&self) -> &McpContext {
        &self.context
    }

    /// Makes the call that the library knows, once more after each input response. Its result has these fields beside
    /// its own. `missing` is the error where there is no such thing.
    pub(crate) async fn answer(
        mut self,
        find: impl Fn(&dyn Library) -> Result<LibraryCall, LibraryError>,
        fields: Map<String, Value>,
        missing: RpcResult,
    ) -> RpcResult {
        self.rounds.open(&self.context)?;
        let mut call = find(&*self.context.library());
        if matches!(call, Err(LibraryError::Unknown)) && self.context.app.gate.is_starting() {
            // It may be one of an upstream that is not there yet.
            tokio::select! {
                () = self.context.app.gate.started() => {}
                () = self.context.stop.cancelled() => return Err(RpcError::internal("cancelled")),
            }
            call = find(&*self.context.library());
        }
        let call = match call {
            Ok(call) => call,
            Err(LibraryError::Unknown) => return missing,
            Err(LibraryError::Invalid(message)) => return Err(RpcError::invalid_params(message)),
        };
        loop {
            let outcome = self.context.app.gate.call(self.call(&call)).await;
            if let Err(failure) = &outcome.result {
                self.rounds.refused(&self.context, failure);
            }
            let Some(open) = call::open_input_requests(&outcome) else {
                return self.result(&outcome, fields, missing);
            };
            match self.ask(open).await {
                Ok(further) => self = further,
                Err(ended) => return *ended,
            }
        }
    }

    fn call(&self, call: &LibraryCall) -> Call {
        let context = &self.context;
        let (caller, request_id) = (context.caller.clone(), context.request_id.clone());
        Call::new(&*call.tool, call.input.clone(), context.door, caller, request_id)
            .unlisted()
            .toolset(context.scope.clone())
            .approval(self.approval.clone())
            .channel(self.rounds.channel(context, None))
            .stop(context.stop.clone())
    }

    /// Asks a legacy client at once. A modern one is sent the questions, and makes its request again.
    async fn ask(mut self, open: Arc<InputRequests>) -> Result<Self, Box<RpcResult>> {
        if self.context.client.is_modern() {
            return Err(Box::new(self.rounds.ask_again(&self.context, &open)));
        }
        match input_requests::ask(&self.context, &open).await {
            Ok(responses) => {
                self.rounds.add(responses);
                Ok(self)
            }
            Err(reason) => Err(Box::new(Err(RpcError::internal(reason)))),
        }
    }

    fn result(
        &self,
        outcome: &Outcome,
        fields: Map<String, Value>,
        missing: RpcResult,
    ) -> RpcResult {
        match &outcome.result {
            // What broke the contract is no result of the method: it is shown as what it is.
            Ok(output) if outcome.flags.released.is_some() => {
                let data = json!({ RELEASED: true, "output": &output.json });
                Err(RpcError::internal(&*outcome.summary).data(data))
            }
            Ok(output) => Ok(with_fields(output.json.get(), &self.context.complete(fields))),
            Err(failure)
                if failure.code == codes::NOT_FOUND.code
                    || failure.code == codes::UNKNOWN_TOOL.code =>
            {
                missing
            }
            Err(failure) => Err(error(failure)),
        }
    }
}

/// A failed call as an error of JSON-RPC, with the code that a tool's result would have.
fn error(failure: &Failure) -> RpcError {
    let error = match &*failure.code {
        code if code == codes::INVALID_INPUT.code => RpcError::invalid_params(&*failure.message),
        _ => RpcError::internal(&*failure.message),
    };
    let mut data = json!({ "code": failure.code });
    if let Some(details) = &failure.details {
        data["details"] = details.clone();
    }
    error.data(data)
}

/// An output, which is an object, with further fields. It may be large, and is copied as it was printed.
fn with_fields(output: &str, fields: &Response) -> Response {
    let more = fields.json().trim_start_matches('{');
    let mut text = Vec::with_capacity(output.len() + more.len() + 1);
    text.extend_from_slice(output.strip_suffix('}').unwrap_or(output).as_bytes());
    if more != "}" {
        text.push(b',');
    }
    text.extend_from_slice(more.as_bytes());
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_added_to_an_output() {
        let fields = |json: &str| Response::from(json.as_bytes().to_vec());
        for (more, expected) in [(r"{}", r#"{"a":[1]}"#), (r#"{"b":2}"#, r#"{"a":[1],"b":2}"#)] {
            assert_eq!(with_fields(r#"{"a":[1]}"#, &fields(more)).json(), expected);
        }
    }
}
