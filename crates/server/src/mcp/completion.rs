//! `completion/complete`: what an argument that was begun could become.

use serde_json::{Map, Value, json};

use super::{
    Completing,
    context::{Context, Reply},
    listing,
    params::{self, Params},
    resources::SCHEME,
    rpc::RpcError,
};

/// Reads what is to be completed.
pub(crate) fn read(given: &Params<'_>) -> Result<Completing, RpcError> {
    let reference = Value::Object(params::object(given.reference, "ref")?);
    let argument = Value::Object(params::object(given.argument, "argument")?);
    let context = Value::Object(params::object(given.context, "context")?);
    if !reference["type"].is_string() || !argument["name"].is_string() {
        return Err(RpcError::malformed(
            "params must have `ref` with a type and `argument` with a name",
        ));
    }
    Ok(Completing { reference, argument, context })
}

/// Completes it: our own templates know what they could mean, the library its own.
pub(crate) async fn complete(context: Context, given: Completing) -> Reply {
    let Completing { reference, argument, .. } = &given;
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

/// How many values a completion may have.
const MAX_COMPLETIONS: usize = 100;
