//! The floor of MCP: a server on the official SDK with a tool that does nothing.
//!
//! It is set up as somebody would who knows the SDK and wants speed: no macros, no
//! validation, no logs, answers as JSON where the SDK can give them. It runs in a process of
//! its own.

use std::sync::{Arc, LazyLock};

use anyhow::{Context, bail};
use axum::Router;
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
    transport::{
        StreamableHttpServerConfig, StreamableHttpService, stdio, stdio_pipes,
        streamable_http_server::session::local::LocalSessionManager,
    },
};
use serde_json::{Value, json};

/// The argument that makes the program this server.
pub const ARGUMENT: &str = "bare-rmcp";

/// The way in which legacy clients are served over HTTP; modern ones know no sessions either way.
#[derive(Clone, Copy)]
pub enum Legacy {
    /// As the SDK does by default: a session each, and answers as streams of events.
    Sessions,
    /// Without sessions, and answers as JSON; such a server cannot say anything unasked.
    Sessionless,
}

impl Legacy {
    /// As it is passed to the process.
    pub fn argument(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::Sessionless => "sessionless",
        }
    }
}

/// The way in which the streams of a child are read and written.
#[derive(Clone, Copy)]
pub enum Streams {
    /// As pipes that the runtime waits for: the fastest that the SDK has.
    Pipes,
    /// By way of a thread for each read and write: what its examples show.
    Threads,
}

impl Streams {
    /// As it is passed to the process.
    pub fn argument(self) -> &'static str {
        match self {
            Self::Pipes => "pipes",
            Self::Threads => "threads",
        }
    }
}

/// Serves on stdio, or with so many tools over HTTP.
pub fn serve(arguments: &[String]) -> anyhow::Result<()> {
    match arguments {
        [streams] => on_stdio(streams == Streams::Pipes.argument()),
        [legacy, tools] => {
            let tools = tools.parse().context("not a number of tools")?;
            over_http(legacy == Legacy::Sessions.argument(), tools)
        }
        _ => bail!("this is for the benchmark's own use"),
    }
}

fn over_http(sessions: bool, tools: usize) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let echo = Echo::new(tools)?;
        let config = StreamableHttpServerConfig::default()
            .with_json_response(true)
            .with_legacy_session_mode(sessions);
        let mut manager = LocalSessionManager::default();
        // Nobody here resumes a stream, so no event is spent on telling how to.
        manager.session_config.sse_retry = None;
        let service =
            StreamableHttpService::new(move || Ok(echo.clone()), Arc::new(manager), config);
        let router = Router::new().nest_service("/mcp", service);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("listens on http://{}", listener.local_addr()?);
        let listener =
            axum::serve::ListenerExt::tap_io(listener, |stream| drop(stream.set_nodelay(true)));
        axum::serve(listener, router).await?;
        Ok(())
    })
}

fn on_stdio(pipes: bool) -> anyhow::Result<()> {
    // One thread: calls come one after the other, and another would only have to be woken.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let echo = Echo::new(1)?;
        let running =
            if pipes { echo.serve(stdio_pipes()).await? } else { echo.serve(stdio()).await? };
        running.waiting().await?;
        Ok(())
    })
}

/// A cheap clone, because the SDK makes one for every request.
#[derive(Clone)]
struct Echo(Arc<[Tool]>);

impl Echo {
    /// With so many tools in its listing, each of which is the echo.
    fn new(tools: usize) -> anyhow::Result<Self> {
        let small = (0..tools).map(tool).chain([large()]);
        let tools = small.map(|tool| Ok(serde_json::from_value(tool)?));
        Ok(Self(tools.collect::<anyhow::Result<_>>()?))
    }
}

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.0.to_vec()))
    }

    /// The arguments as structured content, and as the text block that goes with it; from the large tool
    /// its records too.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name == LARGE {
            return Ok(CallToolResponse::Complete(CallToolResult::structured(RECORDS.clone())));
        }
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        Ok(CallToolResponse::Complete(CallToolResult::structured(arguments)))
    }
}

/// Tool number 0 is the echo; the others are the same as `catalogue` makes for Toolgate.
pub fn tool(number: usize) -> Value {
    let text = |description: &str| {
        json!({
            "type": "object",
            "properties": { "text": { "type": "string", "description": description } },
            "required": ["text"],
            "additionalProperties": false,
        })
    };
    let first = number == 0;
    json!({
        "name": if first { super::ECHO.to_owned() } else { format!("tool_{number}") },
        "description": format!("Tool number {number} of many."),
        "inputSchema": if first { message() } else { text("Any text.") },
        "outputSchema": if first { message() } else { text("The text.") },
        "annotations": { "readOnlyHint": true },
    })
}

/// The input and output of the echo.
fn message() -> Value {
    json!({
        "type": "object",
        "properties": {
            "message": { "type": "string", "maxLength": 1000 },
            "n": { "type": "integer", "minimum": 0 },
        },
        "required": ["message", "n"],
        "additionalProperties": false,
    })
}

/// The tool whose results have about 100 KB.
pub const LARGE: &str = "big_json";

/// The number of records for that.
const RECORD_COUNT: usize = 700;

static RECORDS: LazyLock<Value> = LazyLock::new(|| {
    let record = |id: usize| {
        json!({ "id": id, "name": format!("record number {id}"), "ratio": 0.125, "active": id.is_multiple_of(2),
            "tags": ["one", "two", "three"], "note": "some words about this one, as records have them" })
    };
    json!({ "message": "hello", "records": (0..RECORD_COUNT).map(record).collect::<Vec<_>>() })
});

/// A tool with a large result, every part of which its schema describes.
pub fn large() -> Value {
    let record = json!({
        "type": "object",
        "properties": {
            "id": { "type": "integer", "minimum": 0 },
            "name": { "type": "string", "minLength": 1 },
            "ratio": { "type": "number", "minimum": 0, "maximum": 1 },
            "active": { "type": "boolean" },
            "tags": { "type": "array", "items": { "type": "string" } },
            "note": { "type": "string" },
        },
        "required": ["id", "name", "ratio", "active", "tags", "note"],
        "additionalProperties": false,
    });
    json!({
        "name": LARGE,
        "description": "Many records.",
        "inputSchema": message(),
        "outputSchema": {
            "type": "object",
            "properties": {
                "message": { "type": "string" },
                "records": { "type": "array", "items": record },
            },
            "required": ["message", "records"],
            "additionalProperties": false,
        },
        "annotations": { "readOnlyHint": true },
    })
}
