//! The protocol version that is spoken with a server, and the handshake that finds it.

use std::time::{Duration, Instant};

use mcp::ProtocolVersion;
use serde_json::{Value, json};
use upstream::connection::{ConnectError, ConnectOptions, ConnectionLimits, ProtocolChoice};

use crate::harness::{answer, connected, options, python, try_connect};

#[tokio::test]
async fn a_modern_server_is_spoken_to_in_the_modern_way() {
    let script = "for message in messages():\n    modern(message) or echo(message)";
    let connection = connected(script).await;
    let server = connection.server();
    assert_eq!(server.version, ProtocolVersion::V2026_07_28);
    assert_eq!(server.info["name"], "new");
    assert_eq!(server.instructions.as_deref(), Some("be careful"));
    assert_eq!(server.capabilities, json!({ "tools": {} }));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "toolgate", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
    });
    assert_eq!(server.info["asked"], json!({ "_meta": meta }));
    let seen = answer(&connection, r#"{ "name": "x", "arguments": {"a": [1]} }"#).await.unwrap();
    let said = json!({ "_meta": meta, "name": "x", "arguments": { "a": [1] } });
    assert_eq!(seen["structuredContent"], said);
}

#[tokio::test]
async fn a_legacy_server_is_initialized() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let script = format!(
            "began = []
for message in messages():
    began.append(message.get('method'))
    if not legacy(message, '{version}'): result(message, began=began, params=message['params'])"
        );
        let connection = connected(&script).await;
        let server = connection.server();
        assert_eq!(server.version.as_str(), version);
        assert_eq!(server.instructions.as_deref(), Some("be careful"));
        let asked = &server.info["asked"];
        assert_eq!(asked["protocolVersion"], "2025-11-25");
        assert_eq!(asked["clientInfo"]["name"], "toolgate");
        assert_eq!(asked["capabilities"], json!({ "elicitation": { "form": {} } }));
        let seen = answer(&connection, r#"{"name":"x"}"#).await.unwrap();
        assert_eq!(
            seen["began"],
            json!(["server/discover", "initialize", "notifications/initialized", "tools/call"])
        );
        assert_eq!(seen["params"], json!({ "name": "x" }));
    }
}

#[tokio::test]
async fn a_server_that_ends_on_server_discover_is_started_again() {
    for (said, calls) in [
        ("sys.exit('expected initialize')", true),
        // A little later.
        ("error(message, -32600, 'not initialized'); time.sleep(0.1); sys.exit(1)", false),
    ] {
        let script = format!(
            "for message in messages():
    if message['method'] == 'server/discover': {said}
    legacy(message) or echo(message)"
        );
        let connection = connected(&script).await;
        assert_eq!(connection.server().version, ProtocolVersion::V2025_11_25, "{said}");
        assert!(!calls || answer(&connection, "{}").await.is_ok(), "{said}");
    }
}

#[tokio::test]
async fn a_server_is_initialized_whatever_it_makes_of_server_discover() {
    for said in [
        "result(message)",
        "result(message, tools=[])",
        "line('what is that?')",
        "line('[]')",
        "send(id=None, error={'code': -32700, 'message': 'parse error'}); result(message)",
        "error(message, -32602, 'invalid params')",
        "error(message, -32022, 'no', {'supported': ['2026-07-28']})",
        "send(id=message['id'], error='confused')",
    ] {
        let script = format!(
            "for message in messages():
    if message['method'] == 'server/discover': {said}
    else: legacy(message, '2025-06-18') or echo(message)"
        );
        // Where it says nothing to the question, the probe has to run out.
        let limits =
            ConnectionLimits { connect_timeout: Duration::from_secs(4), ..options().limits };
        let connection = try_connect(python(&script), ConnectOptions { limits, ..options() }).await;
        assert_eq!(
            connection.expect(said).server().version,
            ProtocolVersion::V2025_06_18,
            "{said}"
        );
    }
}

#[tokio::test]
async fn a_server_names_the_revisions_that_it_speaks() {
    let script = "asked = None
for message in messages():
    if message['method'] == 'server/discover':
        error(message, -32022, 'no', {'supported': ['2024-11-05', '2025-03-26'], 'requested': MODERN})
    else: legacy(message, message['params'].get('protocolVersion') if 'params' in message else '')";
    let connection = connected(script).await;
    assert_eq!(connection.server().version, ProtocolVersion::V2025_03_26);
}

fn version_error(error: &ConnectError) -> (String, String) {
    match error {
        ConnectError::Version { offered, wanted } => (offered.clone(), wanted.clone()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn revisions_that_are_not_known_here_are_refused_by_name() {
    for script in [
        "for message in messages(): error(message, -32022, 'no', {'supported': ['2031-01-01']})",
        "for message in messages(): result(message, supportedVersions=['2031-01-01'])",
        "for message in messages(): legacy(message, '2031-01-01')",
    ] {
        let error = try_connect(python(script), options()).await.unwrap_err();
        let (offered, wanted) = version_error(&error);
        assert_eq!(offered, "2031-01-01");
        assert_eq!(wanted, "2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05");
    }
}

#[tokio::test]
async fn a_server_pinned_as_legacy_is_not_asked_for_another_version() {
    let script = "began = []
for message in messages():
    began.append(message['method'])
    version = message.get('params', {}).get('protocolVersion')
    if legacy(message, version): continue
    result(message, began=began)";
    let options = ConnectOptions { protocol: ProtocolChoice::Legacy, ..options() };
    let connection = try_connect(python(script), options).await.unwrap();
    assert_eq!(connection.server().version, ProtocolVersion::V2025_11_25);
    let seen = answer(&connection, "{}").await.unwrap();
    assert_eq!(seen["began"][0], "initialize");
}

#[tokio::test]
async fn a_server_that_is_pinned_as_modern_has_to_be() {
    let pinned = || ConnectOptions { protocol: ProtocolChoice::Modern, ..options() };
    let modern = "for message in messages(): modern(message)";
    let connection = try_connect(python(modern), pinned()).await.unwrap();
    assert_eq!(connection.server().version, ProtocolVersion::V2026_07_28);
    let legacy = "for message in messages(): legacy(message)";
    let error = try_connect(python(legacy), pinned()).await.unwrap_err();
    assert!(matches!(error, ConnectError::Handshake(_)), "{error:?}");
    let old = "for message in messages(): result(message, supportedVersions=['2025-06-18'])";
    let error = try_connect(python(old), pinned()).await.unwrap_err();
    assert_eq!(version_error(&error), ("2025-06-18".to_owned(), "2026-07-28".to_owned()));
}

#[tokio::test]
async fn a_silent_server_times_out() {
    let limits =
        ConnectionLimits { connect_timeout: Duration::from_millis(500), ..options().limits };
    let began = Instant::now();
    let error = try_connect(python("time.sleep(1000)"), ConnectOptions { limits, ..options() })
        .await
        .unwrap_err();
    assert!(matches!(error, ConnectError::Timeout { limit_ms: 500, .. }), "{error:?}");
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn the_timeout_shows_the_output_of_the_server() {
    let limits = ConnectionLimits { connect_timeout: Duration::from_secs(3), ..options().limits };
    let script = "print('Starting up', flush=True); print('a\\nno \\x1b key', file=sys.stderr, flush=True); time.sleep(1000)";
    let error =
        try_connect(python(script), ConnectOptions { limits, ..options() }).await.unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("(connect_timeout_ms); its output is not JSON-RPC: `Starting up`"),
        "{text}"
    );
    assert!(
        text.contains("its standard error ends with: `a / no ") && !text.contains('\u{1b}'),
        "{text}"
    );
}

#[tokio::test]
async fn a_server_that_never_starts_says_why() {
    let missing = upstream::connection::Program { command: "no-such-server".into(), ..python("") };
    let error = try_connect(missing, options()).await.unwrap_err();
    assert!(matches!(error, ConnectError::Start(_)), "{error:?}");

    let dies = "print('cannot find my settings', file=sys.stderr); sys.exit(3)";
    let error = try_connect(python(dies), options()).await.unwrap_err();
    let ConnectError::Handshake(why) = &error else { panic!("{error:?}") };
    assert_eq!(why.to_string(), "the server exited with code 3: cannot find my settings");
}

#[tokio::test]
async fn a_long_server_description_is_cut() {
    let script = "for message in messages():
    if message['method'] == 'initialize':
        result(message, protocolVersion='2025-11-25', capabilities={}, instructions='x' * 1000000,
               serverInfo={'name': 'y' * 1000000})
    else: legacy(message)";
    let connection = connected(script).await;
    assert_eq!(connection.server().instructions.as_ref().unwrap().len(), 32 * 1_024);
    assert_eq!(connection.server().info, Value::Object(serde_json::Map::new()));
}
