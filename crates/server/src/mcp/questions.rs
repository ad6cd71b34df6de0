//! Questions of a tool, in the words of MCP.

use contract::render::mcp::Era;
use gate::{InputCapabilities, InputKind, InputRequest, InputRequests};
use serde_json::{Map, Value, json};

use super::{
    context::{Context, Reply},
    rpc::RpcError,
    seal::Bound,
};

fn method(question: &InputRequest) -> &'static str {
    match question.kind {
        InputKind::Elicitation => "elicitation/create",
        InputKind::Sampling => "sampling/createMessage",
        InputKind::Roots => "roots/list",
    }
}

fn capability(respondent: InputKind) -> &'static str {
    match respondent {
        InputKind::Elicitation => "elicitation",
        InputKind::Sampling => "sampling",
        InputKind::Roots => "roots",
    }
}

/// The questions as `inputRequests`.
pub(crate) fn input_requests(questions: &InputRequests) -> Value {
    let requests = questions.iter().map(|(name, question)| {
        (name.clone(), json!({ "method": method(question), "params": question.params }))
    });
    Value::Object(requests.collect())
}

/// Refuses where somebody is to be asked whom the client cannot ask.
pub(crate) fn check(
    questions: &InputRequests,
    capabilities: InputCapabilities,
) -> Result<(), RpcError> {
    let missing: Map<String, Value> = questions
        .values()
        .filter(|question| !capabilities.allows(question.kind))
        .map(|question| (capability(question.kind).to_owned(), json!({})))
        .collect();
    if missing.is_empty() { Ok(()) } else { Err(missing_capabilities(&Value::Object(missing))) }
}

/// The client would have to be able to do this.
pub(crate) fn missing_capabilities(required: &Value) -> RpcError {
    RpcError::new(-32021, 400, "The request needs a capability that the client did not declare")
        .data(json!({ "requiredCapabilities": required }))
}

/// The answer that asks a modern client, which will send its request again with the replies.
pub(crate) fn input_required(
    context: &Context,
    questions: &InputRequests,
    bound: Bound,
    replies: &Map<String, Value>,
) -> Reply {
    check(questions, context.client.capabilities)?;
    let (asked, now) = (questions.keys().cloned().collect(), context.app.gate.clock().now());
    let state = context.app.mcp.seal.close(bound, asked, replies, now);
    let result = json!({
        "resultType": "input_required",
        "inputRequests": input_requests(questions),
        "requestState": state,
    });
    Ok(context.complete(result.as_object().cloned().unwrap_or_default()))
}

/// Asks a legacy client, one question after the other; its replies, or why there are none.
pub(crate) async fn ask(
    context: &Context,
    questions: &InputRequests,
) -> Result<Map<String, Value>, String> {
    debug_assert_eq!(context.client.era(), Era::Legacy);
    check(questions, context.client.capabilities)
        .map_err(|_| "the client cannot be asked".to_owned())?;
    let (Some(session), Some(outbox)) = (&context.session, &context.outbox) else {
        return Err("there is no way to ask the client".into());
    };
    let mut replies = Map::new();
    for (name, question) in questions {
        let patience = context.app.settings.mcp.answer_timeout;
        let asking = session.ask(outbox, method(question), &question.params);
        let reply = tokio::select! {
            reply = asking => reply?,
            () = context.stop.cancelled() => return Err("the call was cancelled".into()),
            () = outbox.closed() => return Err("the client is gone".into()),
            () = tokio::time::sleep(patience) => {
                let seconds = patience.as_secs();
                return Err(format!("nobody answered within {seconds} s (mcp.answer_timeout_ms)"));
            }
        };
        if !question.accepts(&reply) {
            return Err(format!("the client's answer to `{name}` does not fit the question"));
        }
        replies.insert(name.clone(), reply);
    }
    Ok(replies)
}
