//! `completion/complete`: the possible values of an argument.

use std::future::ready;

use gate::BoxFuture;
use mcp::{
    RpcError,
    params::{Params, RequestMeta},
};
use serde_json::{Map, Value, json};

use super::{
    CompletionRequest,
    context::{McpContext, RpcResult},
    dispatch::object,
    library_call::LibraryRequest,
    listing,
    resources::SCHEME,
};

/// Completes it: our own templates know what they could mean, the library its own.
pub(crate) fn begin(
    context: McpContext,
    params: &Params<'_>,
    meta: &RequestMeta<'_>,
) -> Result<BoxFuture<'static, RpcResult>, RpcError> {
    let given = read(params)?;
    if given.reference["uri"].as_str().is_some_and(|uri| uri.starts_with(SCHEME)) {
        let completion = own(&context, &given);
        return Ok(Box::pin(ready(Ok(of(&context, completion)))));
    }
    let request = LibraryRequest::read(context, params, meta, METHOD, METHOD)?;
    Ok(Box::pin(async move {
        let nothing = of(request.context(), json!({ "values": [], "total": 0, "hasMore": false }));
        request.answer(|library| library.complete(&given), Map::new(), Ok(nothing)).await
    }))
}

/// Reads what is to be completed.
fn read(given: &Params<'_>) -> Result<CompletionRequest, RpcError> {
    let reference = Value::Object(object(given.reference, "ref")?);
    let argument = Value::Object(object(given.argument, "argument")?);
    let context = Value::Object(object(given.context, "context")?);
    if !reference["type"].is_string() || !argument["name"].is_string() {
        return Err(RpcError::invalid_params(
            "params must have `ref` with a type and `argument` with a name",
        ));
    }
    Ok(CompletionRequest { reference, argument, context })
}

/// The names of contracts that begin like this.
fn own(context: &McpContext, given: &CompletionRequest) -> Value {
    let begun = given.argument["value"].as_str().unwrap_or_default();
    let catalogue = context.app.gate.catalogue();
    let contracts = given.reference["uri"] == format!("{SCHEME}contracts/{{tool}}");
    let names: Vec<&str> = listing::tools(&catalogue, context.scope.as_deref())
        .map(|tool| tool.contract.name.as_str())
        .filter(|name| contracts && name.starts_with(begun))
        .collect();
    let shown = &names[..names.len().min(MAX_COMPLETIONS)];
    json!({ "values": shown, "total": names.len(), "hasMore": shown.len() < names.len() })
}

fn of(context: &McpContext, completion: Value) -> mcp::Response {
    context.complete(Map::from_iter([("completion".to_owned(), completion)]))
}

const METHOD: &str = "completion/complete";
/// The largest number of values in a completion.
const MAX_COMPLETIONS: usize = 100;
