//! Prompts of the library.

use mcp::{
    RpcError,
    params::{Params, required},
};
use serde_json::{Map, Value};

use super::{
    context::{McpContext, RpcResult},
    dispatch::object,
    input_requests,
    input_rounds::InputRounds,
    library::LibraryError,
};

/// `prompts/get`, in as many rounds as the library needs.
pub(crate) fn get(
    context: McpContext,
    params: &Params<'_>,
) -> Result<impl Future<Output = RpcResult> + Send + 'static, RpcError> {
    let name = required(params.name, "name")?;
    let arguments = object(params.arguments, "arguments")?;
    let rounds = InputRounds::read(&context, params, "prompts/get", &name)?;
    Ok(read(context, name, arguments, rounds))
}

async fn read(
    context: McpContext,
    name: Box<str>,
    arguments: Map<String, Value>,
    mut rounds: InputRounds,
) -> RpcResult {
    rounds.open(&context)?;
    let library = context.library();
    loop {
        let channel = rounds.channel(&context, None);
        match library.prompt(&name, &arguments, &channel).await {
            Ok(Value::Object(result)) => return Ok(context.complete(result)),
            Ok(_) => return Err(RpcError::internal("the prompt is not an object")),
            Err(LibraryError::Unknown) => {
                return Err(RpcError::not_found(format!(
                    "Unknown prompt: {}",
                    RpcError::excerpt(&name)
                )));
            }
            Err(LibraryError::Invalid(message)) => return Err(RpcError::invalid_params(message)),
            Err(LibraryError::Failed(message)) => return Err(RpcError::internal(message)),
            Err(LibraryError::InputRequired(open)) if context.client.is_modern() => {
                return rounds.ask_again(&context, &open);
            }
            Err(LibraryError::InputRequired(open)) => {
                let responses = input_requests::ask(&context, &open).await;
                rounds.add(responses.map_err(RpcError::internal)?);
            }
        }
    }
}
