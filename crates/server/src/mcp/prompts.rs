//! Prompts of the library.

use gate::BoxFuture;
use mcp::{
    RpcError,
    params::{Params, RequestMeta, required},
};
use serde_json::Map;

use super::{
    context::{McpContext, RpcResult},
    dispatch::object,
    library_call::LibraryRequest,
};

/// `prompts/get`, in as many rounds as the prompt needs.
pub(crate) fn get(
    context: McpContext,
    params: &Params<'_>,
    meta: &RequestMeta<'_>,
) -> Result<BoxFuture<'static, RpcResult>, RpcError> {
    let name = required(params.name, "name")?;
    let arguments = object(params.arguments, "arguments")?;
    let request = LibraryRequest::read(context, params, meta, "prompts/get", &name)?;
    Ok(Box::pin(async move {
        let unknown = format!("Unknown prompt: {}", RpcError::excerpt(&name));
        let missing = Err(RpcError::not_found(unknown));
        request.answer(|library| library.prompt(&name, &arguments), Map::new(), missing).await
    }))
}
