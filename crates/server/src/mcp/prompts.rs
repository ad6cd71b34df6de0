//! Prompts of the library.

use serde_json::{Map, Value};

use super::{
    context::{Context, Reply},
    library::LibraryError,
    params::{self, Params},
    questions,
    rounds::Rounds,
    rpc::{RpcError, shown},
};

/// `prompts/get`, asked until the library has what it wants to know.
pub(crate) fn get(
    context: Context,
    params: &Params<'_>,
) -> Result<impl Future<Output = Reply> + Send + 'static, RpcError> {
    let name = params::required(params.name, "name")?;
    let arguments = params::object(params.arguments, "arguments")?;
    let rounds = Rounds::read(&context, params, "prompts/get", &name)?;
    Ok(asked(context, name, arguments, rounds))
}

async fn asked(
    context: Context,
    name: Box<str>,
    arguments: Map<String, Value>,
    mut rounds: Rounds,
) -> Reply {
    rounds.open(&context)?;
    let library = context.library();
    loop {
        let channel = rounds.channel(&context, None);
        match library.prompt(&name, &arguments, &channel).await {
            Ok(Value::Object(result)) => return Ok(context.complete(result)),
            Ok(_) => return Err(RpcError::internal("the prompt is no object")),
            Err(LibraryError::Unknown) => {
                return Err(RpcError::unknown(format!("Unknown prompt: {}", shown(&name))));
            }
            Err(LibraryError::Invalid(message)) => return Err(RpcError::malformed(message)),
            Err(LibraryError::Failed(message)) => return Err(RpcError::internal(message)),
            Err(LibraryError::Asks(open)) if context.client.is_modern() => {
                return rounds.ask_again(&context, &open);
            }
            Err(LibraryError::Asks(open)) => {
                let replies = questions::ask(&context, &open).await;
                rounds.add(replies.map_err(RpcError::internal)?);
            }
        }
    }
}
