//! Input requests of a tool, in the shapes of MCP.

use gate::{InputCapabilities, InputKind, InputRequests};
use mcp::{InputMethod, RpcError, code};
use serde_json::{Map, Value, json};

use super::{
    context::{McpContext, RpcResult},
    request_state::StateBinding,
};

fn method(kind: InputKind) -> InputMethod {
    match kind {
        InputKind::Elicitation => InputMethod::Elicitation,
        InputKind::Sampling => InputMethod::Sampling,
        InputKind::Roots => InputMethod::Roots,
    }
}

/// The input requests as `inputRequests`.
pub(crate) fn as_json(requests: &InputRequests) -> Value {
    let requests = requests.iter().map(|(name, request)| {
        let method = method(request.kind).as_str();
        (name.clone(), json!({ "method": method, "params": request.params }))
    });
    Value::Object(requests.collect())
}

/// Refuses input requests that the client has no capability for.
pub(crate) fn check(
    requests: &InputRequests,
    capabilities: InputCapabilities,
) -> Result<(), RpcError> {
    let missing: Map<String, Value> = requests
        .values()
        .filter(|request| !capabilities.allows(request.kind))
        .map(|request| (method(request.kind).capability().to_owned(), json!({})))
        .collect();
    if missing.is_empty() { Ok(()) } else { Err(missing_capabilities(&Value::Object(missing))) }
}

/// The error for a client that lacks these capabilities.
pub(crate) fn missing_capabilities(required: &Value) -> RpcError {
    let message = "The request needs a capability that the client did not declare";
    RpcError::new(code::MISSING_CAPABILITY, 400, message)
        .data(json!({ "requiredCapabilities": required }))
}

/// The result that asks a modern client, which will send its request again with the responses.
pub(crate) fn input_required(
    context: &McpContext,
    requests: &InputRequests,
    bound: StateBinding,
    responses: &Map<String, Value>,
) -> RpcResult {
    check(requests, context.client.capabilities)?;
    let (asked, now) = (requests.keys().cloned().collect(), context.app.gate.clock().now());
    let state = context.app.mcp.sealer.close(bound, asked, responses, now);
    let result = json!({
        "resultType": "input_required",
        "inputRequests": as_json(requests),
        "requestState": state,
    });
    Ok(context.complete(result.as_object().cloned().unwrap_or_default()))
}

/// Asks a legacy client, one input request after the other; its responses, or why there are none.
pub(crate) async fn ask(
    context: &McpContext,
    requests: &InputRequests,
) -> Result<Map<String, Value>, String> {
    debug_assert!(!context.client.is_modern());
    check(requests, context.client.capabilities)
        .map_err(|_| "the client lacks the capability for it".to_owned())?;
    let (Some(session), Some(messages)) = (&context.session, &context.messages) else {
        return Err("there is no stream to ask the client by".into());
    };
    let mut responses = Map::new();
    for (name, request) in requests {
        let limit = context.app.settings.mcp.answer_timeout;
        let asking = session.ask(messages, method(request.kind).as_str(), &request.params);
        let response = tokio::select! {
            response = asking => response?,
            () = context.stop.cancelled() => return Err("the call was cancelled".into()),
            () = messages.closed() => return Err("the client is gone".into()),
            () = tokio::time::sleep(limit) => {
                let seconds = limit.as_secs();
                return Err(format!("no answer within {seconds} s (mcp.answer_timeout_ms)"));
            }
        };
        if !request.accepts(&response) {
            return Err(format!("the client's answer to `{name}` does not fit the input request"));
        }
        responses.insert(name.clone(), response);
    }
    Ok(responses)
}
