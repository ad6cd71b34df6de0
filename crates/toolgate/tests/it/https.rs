//! The server with a certificate.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use testkit::{
    Answer, Authority, Raw, World, eventually,
    mcp::{frame, meta, request},
    tls_version,
};

const SETTINGS: &str =
    "server: { tls: { cert: cert.pem, key: key.pem } }\ntools: { enable: [ autosage ] }\n";

/// A world with a certificate of this authority, and no server yet.
fn with_certificate(settings: &str, authority: &Authority) -> World {
    let world = World::new(crate::BINARY, settings);
    write_pair(&world, &authority.issue(2020, 4000));
    world
}

fn write_pair(world: &World, (certificate, key): &(String, String)) {
    world.write("cert.pem", certificate);
    write_key(world, key);
}

fn write_key(world: &World, key: &str) {
    world.write("key.pem", key);
    let file = world.folder().join("key.pem");
    std::fs::set_permissions(file, PermissionsExt::from_mode(0o600)).unwrap();
}

async fn exchange(connection: &mut Raw, method: &str, path: &str, body: &str) -> Answer {
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/list"),
    ];
    connection.send(frame(method, path, &headers, body)).await.unwrap();
    connection.answer().await
}

#[tokio::test]
async fn everything_is_served_encrypted() {
    let authority = Authority::new();
    let world = with_certificate(SETTINGS, &authority).started().await;
    assert!(world.url("/").starts_with("https://"), "{}", world.url("/"));
    for version in [&tls_version::TLS12, &tls_version::TLS13] {
        let mut connection = world.encrypted_with(&authority, version).await.unwrap();
        for _ in 0..2 {
            assert_eq!(exchange(&mut connection, "GET", "/healthz", "").await.status, 200);
        }
        let page = exchange(&mut connection, "GET", "/docs", "").await;
        assert!(page.text().ends_with("</html>"), "{version:?}");
        let call = json!({ "args": { "message": "é".repeat(500_000) } }).to_string();
        let called = exchange(&mut connection, "POST", "/v1/tools/echo_json", &call).await;
        assert_eq!(called.json()["result"]["message"].as_str().map(str::len), Some(1_000_000));
        let list = request(1, "tools/list", &json!({ "_meta": meta(&json!({})) }));
        let listed = exchange(&mut connection, "POST", "/mcp", &list.to_string()).await;
        assert!(listed.text().contains("echo_json"), "{}", listed.text());
    }
    // Whoever does not encrypt is told so.
    let answer = world.raw("GET", "/healthz", &[]).await;
    assert_eq!(answer.status, 400);
    assert!(answer.text().contains("this port speaks HTTPS"), "{}", answer.text());
    assert!(world.encrypted(&Authority::new()).await.is_err(), "another authority");
}

#[test]
fn what_cannot_be_used_keeps_the_server_from_starting() {
    let authority = Authority::new();
    let (certificate, key) = authority.issue(2020, 4000);
    let other_key = authority.issue(2020, 4000).1;
    let encrypted = key.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY");
    let old_encrypted = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\nAAAA\n-----END RSA PRIVATE KEY-----\n";
    let cut = &certificate[..certificate.len() / 2];
    let no_certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let no_key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    let huge = "x".repeat(2 << 20);
    for (certificate, key, message, hint) in [
        (None, Some(&*key), "cannot read the certificate `", "name a PEM file"),
        (Some(&*certificate), None, "cannot read the key `", "name a PEM file"),
        (Some(""), Some(&*key), "there is no certificate in `", "-----BEGIN CERTIFICATE-----"),
        (Some("hello"), Some(&*key), "there is no certificate in `", "-----BEGIN CERTIFICATE-----"),
        (
            Some("0\u{81}\u{1}"),
            Some(&*key),
            "there is no certificate in `",
            "-----BEGIN CERTIFICATE-----",
        ),
        (Some(&*key), Some(&*key), "there is no certificate in `", "it holds a key"),
        (Some(cut), Some(&*key), "is not valid PEM: it is cut short", "copy it again"),
        (Some(no_certificate), Some(&*key), "the certificate `", "version 3"),
        (Some(&*huge), Some(&*key), "larger than 1048576 bytes", "name a PEM file"),
        (Some(&*certificate), Some("hello"), "there is no key in `", "-----BEGIN PRIVATE KEY-----"),
        (
            Some(&*certificate),
            Some(&*certificate),
            "there is no key in `",
            "it holds a certificate",
        ),
        (Some(&*certificate), Some(&*encrypted), "the key is encrypted", "openssl pkey"),
        (Some(&*certificate), Some(old_encrypted), "the key is encrypted", "openssl pkey"),
        (Some(&*certificate), Some(no_key), "the key `", "RSA key of 2048"),
        (
            Some(&*certificate),
            Some(&*other_key),
            "does not fit the certificate",
            "name the key that",
        ),
    ] {
        let world = World::new(crate::BINARY, SETTINGS);
        certificate.inspect(|text| world.write("cert.pem", text));
        key.inspect(|text| write_key(&world, text));
        world.cli("serve --listen 0").exits(2).stdout_is("").stderr_has_all([message, hint]);
        assert!(!world.has("data"), "nothing was made");
        let checked = world.cli("config check").exits(0);
        checked.stderr_has_all([message, hint, "toolgate.yaml:1", "cannot start here"]);
        world.cli("doctor --listen 0").exits(1).stdout_has_all([message, hint]);
    }
    let world = World::new(crate::BINARY, "server: { tls: { cert: cert.pem } }\n");
    world.cli("serve").exits(2).stderr_has("`key` is missing");
    world.cli("serve --tls-cert cert.pem").exits(2).stderr_has("--tls-key <FILE>");
}

#[tokio::test]
async fn what_is_worth_a_look_is_told_and_used() {
    let authority = Authority::new();
    for (from, to, words) in [
        (1990, 2000, "expired on 2000-01-01"),
        (3990, 4000, "is valid from 3990-01-01 on"),
        (2020, 4000, "other users can read the key"),
    ] {
        let world = World::new(crate::BINARY, SETTINGS);
        write_pair(&world, &authority.issue(from, to));
        if from == 2020 {
            let file = world.folder().join("key.pem");
            std::fs::set_permissions(file, PermissionsExt::from_mode(0o644)).unwrap();
        }
        world.cli("doctor --listen 0").exits(0).stdout_has_all(["warning  certificate:", words]);
        world.cli("config check").exits(0).stderr_has_all([words, "toolgate.yaml:1"]);
        let world = world.started().await;
        assert!(world.stderr().contains(words), "{}", world.stderr());
        assert_eq!(world.raw("GET", "/", &[]).await.status, 400, "it serves");
    }
}

#[tokio::test]
async fn flags_name_files_from_where_the_person_is() {
    let authority = Authority::new();
    let world = World::new(crate::BINARY, "tools: { enable: [ autosage ] }\n");
    std::fs::create_dir(world.folder().join("here")).unwrap();
    let (certificate, key) = authority.issue(2020, 4000);
    world.write("here/c.pem", &certificate);
    world.write("here/k.pem", &key);
    let mut server = world
        .command(&[
            "serve",
            "--config",
            "../toolgate.yaml",
            "--listen",
            "0",
            "--tls-cert",
            "c.pem",
            "--tls-key",
            "k.pem",
        ])
        .current_dir(world.folder().join("here"))
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut stdout = std::io::BufReader::new(server.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut stdout, &mut line).unwrap();
    assert!(line.contains(" listens on https://127.0.0.1:"), "{line}");
    server.kill().unwrap();
    server.wait().unwrap();
}

#[tokio::test]
async fn a_new_pair_is_taken_up_whole_and_a_broken_one_is_not() {
    let [first, second, third] = [Authority::new(), Authority::new(), Authority::new()];
    let world = with_certificate(SETTINGS, &first).started().await;
    let serves = async |authority| world.encrypted(authority).await.is_ok();
    let mut open = world.encrypted(&first).await.unwrap();

    write_pair(&world, &second.issue(2020, 4000));
    eventually("the second pair serves", async || serves(&second).await).await;
    assert!(!serves(&first).await);
    let answer = exchange(&mut open, "GET", "/healthz", "").await;
    assert_eq!(answer.status, 200, "what is open stays");

    // One half alone is not taken.
    let (certificate, key) = third.issue(2020, 4000);
    write_key(&world, &key);
    eventually("it says so", async || world.stderr().contains("the last certificate stays in use"))
        .await;
    assert!(world.stderr().contains("does not fit the certificate"), "{}", world.stderr());
    assert!(serves(&second).await);
    world.write("cert.pem", &certificate);
    eventually("the third pair serves", async || serves(&third).await).await;

    std::fs::remove_file(world.folder().join("cert.pem")).unwrap();
    eventually("it says so", async || world.stderr().contains("cannot read the certificate")).await;
    assert!(serves(&third).await);
    let events = world.journal().into_iter().map(|line| line["event"].to_string());
    let events: Vec<_> = events.filter(|event| event.contains("certificate")).collect();
    let (replaced, refused) = ("\"certificate_replaced\"", "\"certificate_refused\"");
    assert_eq!(events, [replaced, refused, replaced, refused]);
}

#[tokio::test]
async fn connections_that_say_nothing_hold_no_place() {
    let authority = Authority::new();
    let settings = SETTINGS.replace("tls:", "max_connections: 1, header_timeout_ms: 1000, tls:");
    let world = with_certificate(&settings, &authority).started().await;
    let mut silent = Vec::new();
    for bytes in [&b""[..], b"\x16\x03\x01"].repeat(20) {
        silent.push(world.sent(bytes).await);
        // More than there are places for: the oldest ones are let go.
        let mut connection = world.encrypted(&authority).await.unwrap();
        assert_eq!(exchange(&mut connection, "GET", "/v1/tools", "").await.status, 200);
    }
    for one in silent {
        assert_eq!(one.closed().await, b"", "closed in time");
    }
    assert_eq!(world.raw("GET", "/healthz", &[]).await.status, 400);
}

#[tokio::test]
async fn commands_work_beside_it() {
    let authority = Authority::new();
    let world = with_certificate(SETTINGS, &authority).started().await;
    world.cli("approvals").exits(0).stderr_has("no call is waiting for approval");
    world.cli("quarantine").exits(0);
    world.cli("call echo_json message=hi").exits(0).stdout_has("hi");
    let doctor = world.cli("doctor --listen 0").exits(0);
    doctor.stdout_has("certificate: it fits its key and expires on 4000-01-01");
}
