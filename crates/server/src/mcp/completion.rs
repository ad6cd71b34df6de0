//! `completion/complete`: the possible values of an argument.

use mcp::{RpcError, params::Params};
use serde_json::{Map, Value, json};

use super::{
    CompletionRequest,
    context::{McpContext, RpcResult},
    dispatch::object,
    listing,
    resources::SCHEME,
};

/// Reads what is to be completed.
pub(crate) fn read(given: &Params<'_>) -> Result<CompletionRequest, RpcError> {
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

/// Completes it: our own templates know what they could mean, the library its own.
pub(crate) async fn complete(context: McpContext, given: CompletionRequest) -> RpcResult {
    let CompletionRequest { reference, argument, .. } = &given;
    let uri = reference["uri"].as_str().unwrap_or_default();
    let completion = if uri.starts_with(SCHEME) {
        let begun = argument["value"].as_str().unwrap_or_default();
        let catalogue = context.app.gate.catalogue();
        let contracts = uri == format!("{SCHEME}contracts/{{tool}}");
        let names: Vec<&str> = listing::tools(&catalogue, context.scope.as_deref())
            .map(|tool| tool.contract.name.as_str())
            .filter(|name| contracts && name.starts_with(begun))
            .collect();
        let shown = &names[..names.len().min(MAX_COMPLETIONS)];
        json!({ "values": shown, "total": names.len(), "hasMore": shown.len() < names.len() })
    } else {
        context.library().complete(&given).await
    };
    Ok(context.complete(Map::from_iter([("completion".to_owned(), completion)])))
}

/// The largest number of values in a completion.
const MAX_COMPLETIONS: usize = 100;
