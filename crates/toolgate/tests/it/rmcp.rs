//! The second opinion: the official Rust SDK calls our server, and our client calls a server of the SDK.
//! Over real sockets and pipes, in both protocol versions.

use std::{process::Stdio, sync::Arc, time::Duration};

use guard::process::Spawner;
use rmcp::{
    ErrorData, RoleClient, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ListToolsResult,
        PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
    },
    service::{ClientLifecycleMode, ClientServiceExt, RequestContext, RunningService},
    transport::{
        StreamableHttpClientTransport, StreamableHttpServerConfig, StreamableHttpService,
        streamable_http_server::session::local::LocalSessionManager,
    },
};
use serde_json::{Value, json};
use testkit::World;
use upstream::connection::{
    ConnectOptions, ConnectionLimits, Endpoint, HttpTransport, ProtocolChoice, RequestOptions,
    Target, connect,
};

const SETTINGS: &str = "tools: { enable: [ autosage ] }\n";

fn modes() -> [ClientLifecycleMode; 2] {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    [ClientLifecycleMode::Initialize, ClientLifecycleMode::Discover { preferred_versions }]
}

/// Lists and calls, as the SDK understands our answers.
async fn exercise(client: RunningService<RoleClient, ()>) {
    let tools = client.list_all_tools().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["echo_json", "write_text_artifact"]);
    let arguments = json!({ "message": "hi" }).as_object().unwrap().clone();
    let call = CallToolRequestParams::new("echo_json").with_arguments(arguments);
    let result = client.call_tool(call).await.unwrap();
    let result = serde_json::to_value(&result).unwrap();
    assert_eq!(result["structuredContent"]["message"], "hi", "{result}");
    assert_ne!(result["isError"], json!(true), "{result}");
    let wrong = CallToolRequestParams::new("echo_json");
    let refused = serde_json::to_value(client.call_tool(wrong).await.unwrap()).unwrap();
    assert_eq!(refused["isError"], json!(true), "{refused}");
    assert!(client.call_tool(CallToolRequestParams::new("no_such_tool")).await.is_err());
    client.cancel().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn its_client_calls_our_server_over_http() {
    let world = World::start(env!("CARGO_BIN_EXE_toolgate"), SETTINGS).await;
    for mode in modes() {
        let transport = StreamableHttpClientTransport::from_uri(world.url("/mcp"));
        exercise(().serve_with_lifecycle(transport, mode).await.unwrap()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn its_client_calls_our_server_over_pipes() {
    let world = World::new(env!("CARGO_BIN_EXE_toolgate"), SETTINGS);
    for mode in modes() {
        #[allow(clippy::disallowed_types)] // As a client starts it.
        let mut command = tokio::process::Command::from(world.command(&["mcp"]));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.kill_on_drop(true).spawn().unwrap();
        let pipes = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
        exercise(().serve_with_lifecycle(pipes, mode).await.unwrap()).await;
    }
}

#[derive(Clone)]
struct Echo;

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tool = json!({ "name": "echo", "inputSchema": { "type": "object" } });
        Ok(ListToolsResult::with_all_items(vec![serde_json::from_value(tool).unwrap()]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        Ok(CallToolResponse::Complete(CallToolResult::structured(arguments)))
    }
}

/// A server of the SDK on a port of its own, whose legacy responses are streams of events.
async fn server() -> String {
    let config = StreamableHttpServerConfig::default();
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(|| Ok(Echo), sessions, config);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = axum::Router::new().nest_service("/mcp", service);
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}/mcp")
}

#[tokio::test(flavor = "multi_thread")]
async fn our_client_calls_its_server() {
    let url = server().await;
    for (protocol, version) in [
        (ProtocolChoice::Auto, "2026-07-28"),
        (ProtocolChoice::Modern, "2026-07-28"),
        (ProtocolChoice::Legacy, "2025-11-25"),
    ] {
        let target = Target::Endpoint(Endpoint {
            url: guard::net::Url::parse(&url).unwrap(),
            headers: Vec::new(),
            transport: HttpTransport::Auto,
            extra_ca: Vec::new(),
        });
        let options = ConnectOptions {
            limits: ConnectionLimits::default(),
            protocol,
            client: json!({ "name": "toolgate", "version": "1" }),
            capabilities: json!({}),
        };
        let spawner = Spawner::of_this_program();
        let connection = connect(&target, &options, &spawner).await.unwrap();
        assert_eq!(connection.server().version.as_str(), version);
        let listing = connection.list("tools/list", "tools").await.unwrap();
        assert_eq!(listing.items[0]["name"], "echo");
        let call =
            RequestOptions { name: Some("echo"), ..RequestOptions::new(Duration::from_secs(30)) };
        let params = r#"{"name":"echo","arguments":{"a":[1,"ä"]}}"#;
        let response = connection.request("tools/call", params, call).await.unwrap();
        let result: Value = serde_json::from_str(response.json()).unwrap();
        assert_eq!(result["structuredContent"], json!({ "a": [1, "ä"] }), "{result}");
        assert_eq!(connection.discarded(), upstream::connection::DiscardedMessages::default());
        connection.close().await;
    }
}
