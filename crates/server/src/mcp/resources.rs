//! Resources: contracts, jobs, artifacts, and those of the library.

use contract::{Contract, codes};
use gate::{BoxFuture, Job, JobId};
use mcp::{
    RpcError, code,
    params::{Params, RequestMeta, required},
};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json, value::RawValue};
use tokio::io::AsyncReadExt;

use super::{
    context::{McpContext, RpcResult, Scope, store_failed},
    library_call::LibraryRequest,
    listing,
};
use crate::App;
use base64::{Engine, engine::general_purpose::STANDARD};

/// The largest artifact that is handed out as one message, in bytes. Larger ones are fetched
/// over HTTP.
const MAX_RESOURCE_BYTES: u64 = 5 * 1_024 * 1_024;

/// The beginning of the addresses of our own resources.
pub(crate) const SCHEME: &str = "toolgate://";

/// The address of an artifact.
pub(crate) fn artifact_uri(job: &JobId, name: &str) -> String {
    let path = gate::blobs::artifact_path(job, name);
    format!("{SCHEME}{}", path.trim_start_matches("/v1/"))
}

/// A contract, as it is listed.
pub(crate) fn of_contract(contract: &Contract) -> Value {
    json!({
        "uri": format!("{SCHEME}contracts/{}", contract.name),
        "name": format!("contract of {}", contract.name),
        "title": format!("The contract of {}", contract.title.as_ref().unwrap_or(&contract.name)),
        "description": "What the tool promises: schemas, errors, effects, limits, examples.",
        "mimeType": "application/json",
    })
}

/// `resources/templates/list`.
pub(crate) fn templates(context: &McpContext, cursor: Option<&RawValue>) -> RpcResult {
    let template = |path: &str, name: &str, description: &str, kind: Option<&str>| {
        let mut shown = json!({
            "uriTemplate": format!("{SCHEME}{path}"), "name": name, "description": description,
        });
        if let Some(kind) = kind {
            shown["mimeType"] = json!(kind);
        }
        shown
    };
    let json = Some("application/json");
    let mut all = vec![
        template("contracts/{tool}", "contract", "The contract of a tool.", json),
        template("jobs/{id}", "job", "A recorded call: how it stands or how it ended.", json),
        template("jobs/{id}/artifacts/{name}", "artifact", "A file that a call left.", None),
    ];
    all.extend(context.library().templates());
    listing::small(context, "resourceTemplates", &all, cursor)
}

/// `resources/read`.
pub(crate) fn read(
    context: McpContext,
    params: &Params<'_>,
    meta: &RequestMeta<'_>,
) -> Result<BoxFuture<'static, RpcResult>, RpcError> {
    let uri = required(params.uri, "uri")?;
    if uri.starts_with(SCHEME) {
        return Ok(Box::pin(read_own(context, uri)));
    }
    let request = LibraryRequest::read(context, params, meta, "resources/read", &uri)?;
    Ok(Box::pin(async move {
        let context = request.context();
        let missing = Err(not_found(context, &uri));
        let fields = context.cacheable_fields(Map::new());
        request.answer(|library| library.read(&uri), fields, missing).await
    }))
}

async fn read_own(context: McpContext, uri: Box<str>) -> RpcResult {
    let path = uri.strip_prefix(SCHEME).unwrap_or_default();
    let contents = own(&context, &uri, path).await?;
    let mut result = Map::from_iter([("contents".to_owned(), contents)]);
    // A job goes on while somebody looks at it.
    if context.client.is_modern() && job_of(&uri).is_some() {
        result.insert("ttlMs".into(), json!(0));
    }
    Ok(context.cacheable(result))
}

/// There is no such resource.
fn not_found(context: &McpContext, uri: &str) -> RpcError {
    let shown: String = uri.chars().take(1_024).collect();
    let mut error = RpcError::not_found("Resource not found").data(json!({ "uri": shown }));
    if !context.client.is_modern() {
        error.code = code::RESOURCE_NOT_FOUND;
    }
    error
}

async fn own(context: &McpContext, uri: &str, path: &str) -> Result<Value, RpcError> {
    let missing = || not_found(context, uri);
    // What may be large is read when there is somewhere to put it.
    let room = async {
        let place = context.app.mcp.reads.acquire().await;
        if let Some(messages) = &context.messages {
            messages.ready().await;
        }
        context.app.unread.wait_for_room().await;
        place
    };
    let _place = tokio::select! {
        place = room => place,
        () = context.stop.cancelled() => return Err(RpcError::internal("cancelled")),
    };
    let parts: Vec<&str> = path.split('/').collect();
    match parts[..] {
        ["contracts", name] => {
            let catalogue = context.app.gate.catalogue();
            let scope = context.scope.as_deref();
            let tool = catalogue
                .find(name)
                .filter(|tool| scope.is_none_or(|scope| tool.contract.toolset == scope))
                .ok_or_else(missing)?;
            Ok(text_of(uri, "application/json", tool.descriptor().get()))
        }
        ["jobs", id] => {
            let job = find(context, id).await?.ok_or_else(missing)?;
            let shown = serde_json::to_string(&job).unwrap_or_default();
            Ok(text_of(uri, "application/json", &shown))
        }
        ["jobs", id, "artifacts", name] => {
            let job = find(context, id).await?.ok_or_else(missing)?;
            let name = percent_decode_str(name).decode_utf8().map_err(|_| missing())?;
            artifact(context, uri, &job, &name).await
        }
        _ => Err(missing()),
    }
}

fn text_of(uri: &str, kind: &str, text: &str) -> Value {
    json!([{ "uri": uri, "mimeType": kind, "text": text }])
}

/// A job that this door may show: a door to one toolset shows the jobs of its tools.
async fn find(context: &McpContext, id: &str) -> Result<Option<Job>, RpcError> {
    let Some(id) = JobId::parse(id) else { return Ok(None) };
    let found = context.app.gate.job(&id).await;
    let job = found.map_err(|error| store_failed(&error))?;
    Ok(job.filter(|job| in_scope(&context.app, &context.scope, &job.tool)))
}

/// True if a tool belongs to what the door to this scope leads to.
pub(crate) fn in_scope(app: &App, scope: &Scope, tool: &str) -> bool {
    let Some(scope) = scope else { return true };
    let catalogue = app.gate.catalogue();
    catalogue.find(tool).is_some_and(|tool| *tool.contract.toolset == **scope)
}

async fn artifact(
    context: &McpContext,
    uri: &str,
    job: &Job,
    name: &str,
) -> Result<Value, RpcError> {
    let missing = || not_found(context, uri);
    // Only what the job lists is served, whatever else lies in its folder.
    let artifact = job.artifacts.iter().find(|one| one.name == name).ok_or_else(missing)?;
    if artifact.bytes > MAX_RESOURCE_BYTES {
        let message = format!(
            "the artifact has {} bytes, more than a message carries ({MAX_RESOURCE_BYTES}); \
             fetch it from {}",
            artifact.bytes, artifact.path
        );
        return Err(RpcError::internal(message).data(json!({ "code": codes::TOO_LARGE.code })));
    }
    let failed = |error: std::io::Error| store_failed(&error);
    let reader = context.app.gate.blobs().read(&job.id, name, 0, artifact.bytes).await;
    let mut reader = reader.map_err(failed)?.ok_or_else(missing)?;
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).await.map_err(failed)?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text_of(uri, &artifact.mime_type, &text),
        Err(other) => {
            let blob = STANDARD.encode(other.into_bytes());
            json!([{ "uri": uri, "mimeType": artifact.mime_type, "blob": blob }])
        }
    })
}

/// The job that a resource stands for. Nothing else changes while it can be read, so nothing
/// else has to be watched.
pub(crate) fn job_of(uri: &str) -> Option<JobId> {
    JobId::parse(uri.strip_prefix(SCHEME)?.strip_prefix("jobs/")?)
}
