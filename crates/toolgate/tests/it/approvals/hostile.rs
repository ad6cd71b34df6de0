//! Who tries to get round it.

use std::{
    os::unix::fs::PermissionsExt,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use testkit::{World, eventually};

use super::{approve, ask, call, closed, decide, events, open, runs, status};

const TOKENS: &str = "server: { tokens: [ { name: ada, token_env: ADA }, \
                      { name: eve, token_env: EVE } ] }\n";
const ADA: &str = "Bearer ada-has-a-long-secret";
const EVE: &str = "Bearer eve-has-a-long-secret";

async fn with_tokens() -> World {
    closed(TOKENS)
        .with_env("ADA", "ada-has-a-long-secret")
        .with_env("EVE", "eve-has-a-long-secret")
        .started()
        .await
}

async fn send(
    world: &World,
    who: Option<&str>,
    method: &str,
    path: &str,
    body: &str,
) -> (u16, Value) {
    let mut headers = vec![("content-type", "application/json")];
    headers.extend(who.map(|who| ("authorization", who)));
    let body = (method != "GET").then(|| body.into());
    let answer = world.send(method, path, &headers, body).await;
    (answer.status, answer.json())
}

#[tokio::test]
async fn only_the_operator_sees_and_decides() {
    let yes = r#"{"decision":"approve"}"#;
    for tokens in [false, true] {
        let world = if tokens { with_tokens().await } else { open("").await };
        let asker = tokens.then_some(ADA);
        let (_, said) = send(&world, asker, "POST", "/v1/tools/marks", r#"{"args":{}}"#).await;
        assert_eq!(said["code"], "approval_required");
        let id = super::waiting_id(&world).await;
        let path = format!("/v1/approvals/{id}");
        let token = world.operator_token().replace("Bearer ", "");
        let mut wrong = token.clone();
        wrong.replace_range(63.., if wrong.ends_with('0') { "1" } else { "0" });
        let wrong: Vec<Option<String>> = vec![
            None,
            Some(String::new()),
            Some("Bearer".into()),
            Some("Bearer ".into()),
            Some(token.clone()),
            Some(format!("Basic {token}")),
            Some(format!("Token {token}")),
            Some(format!("Bearer {wrong}")),
            Some(format!("Bearer {}", &token[..63])),
            Some(format!("Bearer {token}0")),
            Some(format!("Bearer {}", token.to_uppercase())),
            Some(format!("Bearer {token} {token}")),
            Some(ADA.into()),
            Some(EVE.into()),
        ];
        for who in &wrong {
            for (method, path) in [("GET", "/v1/approvals"), ("POST", path.as_str())] {
                let (code, said) = send(&world, who.as_deref(), method, path, yes).await;
                assert!([401, 403].contains(&code), "{who:?} {method} {path}: {code} {said}");
                assert!(!said.to_string().contains(&token), "{said}");
                let known = tokens && [Some(ADA), Some(EVE)].contains(&who.as_deref());
                assert_eq!(code == 403, known, "{who:?}: {said}");
            }
        }
        assert_eq!(status(&world, &id).await, "waiting");
        assert_eq!(runs(&world), 0);
        // In the query, in the body and in a cookie it is no credential.
        let sneaky = format!("{path}?access_token={token}&token={token}");
        let cookie = format!("token={token}");
        let headers = [("cookie", cookie.as_str()), ("x-operator-token", &token)];
        let answer = world.send("POST", &sneaky, &headers, Some(yes.into())).await;
        assert_eq!(answer.status, 401);
        let lower = format!("bearer  {token} ");
        let (code, _) = send(&world, Some(&lower), "POST", &path, yes).await;
        assert_eq!((code, status(&world, &id).await.as_str()), (200, "approved"));
        let (code, _) = send(&world, asker, "POST", "/v1/tools/marks", r#"{"args":{}}"#).await;
        assert_eq!((code, runs(&world)), (200, 1));
        let journal = world.read("data/journal.jsonl");
        assert!(!journal.contains(&token) && !world.stderr().contains(&token));
    }
}

#[tokio::test]
async fn nobody_uses_or_sees_what_is_anothers() {
    let world = with_tokens().await;
    let (_, said) = send(&world, Some(ADA), "POST", "/v1/tools/marks", r#"{"args":{}}"#).await;
    assert_eq!(said["code"], "approval_required");
    let id = super::waiting_id(&world).await;
    assert_eq!(decide(&world, &id, "approve").await.status, 200);
    let with_id = json!({ "args": {}, "approval_id": id }).to_string();
    let nobodys =
        json!({ "args": {}, "approval_id": "apr_00000000000000000000000000" }).to_string();
    let (code, said) = send(&world, Some(EVE), "POST", "/v1/tools/marks", &with_id).await;
    let (_, other) = send(&world, Some(EVE), "POST", "/v1/tools/marks", &nobodys).await;
    // Hers and nobody's look the same.
    assert_eq!((code, &said), (403, &other));
    assert!(!said["error"].as_str().unwrap().contains(&id), "{said}");
    let (_, said) = send(&world, Some(EVE), "POST", "/v1/tools/marks", r#"{"args":{}}"#).await;
    assert_eq!(said["code"], "approval_required");
    // To cancel it she would have to be Ada.
    let other = json!({ "args": { "value": 1 }, "approval_id": id }).to_string();
    send(&world, Some(EVE), "POST", "/v1/tools/marks", &other).await;
    assert_eq!(status(&world, &id).await, "approved");
    let path = format!("/v1/approvals/{id}");
    let (code, seen) = send(&world, Some(EVE), "GET", &path, "").await;
    let (unknown, nothing) =
        send(&world, Some(EVE), "GET", "/v1/approvals/apr_00000000000000000000000000", "").await;
    assert_eq!((code, unknown), (404, 404));
    assert_eq!(seen["error"]["code"], nothing["error"]["code"]);
    let (code, seen) = send(&world, Some(ADA), "GET", &path, "").await;
    assert_eq!((code, &seen["status"]), (200, &json!("approved")));
    // Nor the operator, whose calls are its own.
    let by_operator = world.operator_token();
    let (_, said) = send(&world, Some(&by_operator), "POST", "/v1/tools/marks", &with_id).await;
    assert_eq!((&said["code"], runs(&world)), (&json!("approval_required"), 0));
    let (code, _) = send(&world, Some(ADA), "POST", "/v1/tools/marks", &with_id).await;
    assert_eq!((code, runs(&world)), (200, 1));
}

#[tokio::test]
async fn what_nobody_decides_or_nobody_uses_is_over() {
    let world = open("policy: { approval_wait_ms: 1000, approval_valid_ms: 1000 }\n").await;
    let id = ask(&world, json!(1)).await;
    eventually("it is over", async || status(&world, &id).await == "expired").await;
    assert_eq!(decide(&world, &id, "approve").await.status, 409);
    let output = world.cli(&["approvals", "approve", &id]).exits(1);
    output.stderr_is(format!("{id} is already expired\n"));
    let id = ask(&world, json!(1)).await;
    approve(&world, &id);
    eventually("it is over", async || status(&world, &id).await == "expired").await;
    let named = json!({ "args": { "value": 1 }, "approval_id": id });
    let said = call(&world, named).await.json();
    assert!(said["error"].as_str().unwrap().contains("policy.approval_valid_ms"), "{said}");
    assert_eq!(runs(&world), 0);
    let count = |event: &str| events(&world).iter().filter(|one| *one == event).count();
    eventually("it is written down", async || count("expired") >= 2).await;
    assert_eq!((count("approved"), count("used")), (1, 0));
}

#[tokio::test]
async fn of_many_deciders_and_callers_one_comes_through() {
    let world = open("").await;
    let id = ask(&world, json!(1)).await;
    let authorization = world.operator_token();
    let mut over_rest = tokio::task::JoinSet::new();
    for _ in 0..32 {
        let url = world.url(&format!("/v1/approvals/{id}"));
        let request = world.client.post(url).header("authorization", &authorization);
        let request = request.body(r#"{"decision":"approve"}"#);
        over_rest.spawn(async move { request.send().await.unwrap().status().as_u16() });
    }
    let mut in_terminals = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let mut command = world.command(&["approvals", "approve", &id]);
        in_terminals.spawn_blocking(move || command.output().unwrap().status.code().unwrap());
    }
    let over_rest = over_rest.join_all().await;
    let in_terminals = in_terminals.join_all().await;
    assert!(over_rest.iter().all(|code| [200, 409].contains(code)), "{over_rest:?}");
    assert!(in_terminals.iter().all(|code| [0, 1].contains(code)), "{in_terminals:?}");
    let done = over_rest.iter().filter(|code| **code == 200).count()
        + in_terminals.iter().filter(|code| **code == 0).count();
    assert_eq!(done, 1);
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..64 {
        let body = json!({ "args": { "value": 1 }, "approval_id": id });
        let other = json!({ "args": { "value": 1 } });
        let body = if number % 2 == 0 { body } else { other }.to_string();
        let request = world.client.post(world.url("/v1/tools/marks")).body(body);
        calls.spawn(async move { request.send().await.unwrap().status().as_u16() });
    }
    let codes = calls.join_all().await;
    assert!(codes.iter().all(|code| [200, 403].contains(code)), "{codes:?}");
    assert_eq!((codes.iter().filter(|code| **code == 200).count(), runs(&world)), (1, 1));
    let used = events(&world).iter().filter(|event| *event == "used").count();
    assert_eq!(used, 1);
}

#[tokio::test]
async fn several_processes_have_one_approval_between_them() {
    let world = open("").await;
    world.cli("call marks").exits(1);
    let id = super::waiting_id(&world).await;
    approve(&world, &id);
    let mut processes = tokio::task::JoinSet::new();
    for number in 0..8 {
        let named = ["call", "marks", "--approval", &id];
        let arguments = if number % 2 == 0 { &named[..] } else { &named[..2] };
        let mut command = world.command(arguments);
        processes.spawn_blocking(move || command.output().unwrap().status.code().unwrap());
    }
    let codes = processes.join_all().await;
    assert_eq!((codes.iter().filter(|code| **code == 0).count(), runs(&world)), (1, 1));
}

#[tokio::test]
async fn one_caller_cannot_take_all_the_room_that_there_is() {
    let world = open("policy: { max_waiting_approvals_per_caller: 1 }\n").await;
    ask(&world, json!(0)).await;
    let answer = call(&world, json!({ "args": { "value": 1 } })).await;
    answer.fails(429, "too_many_requests");
    assert_eq!(answer.header("retry-after"), "60");
    let words = "1 calls of this caller wait";
    assert!(answer.text().contains(words), "{}", answer.text());
    assert!(answer.text().contains("policy.max_waiting_approvals_per_caller"));
    // Somebody else has room.
    world.cli("call marks value:=1").exits(1).stderr_has("apr_");
}

#[tokio::test]
async fn a_token_that_anybody_could_guess_is_none() {
    for (text, words) in [("", "operator.token"), ("\n", "32 visible"), ("short", "32 visible")] {
        let world = closed("");
        // A database of its own: without one the folder is refused for that.
        world.cli("call hello name=Ada").exits(0);
        world.write("data/operator.token", text);
        for arguments in [&["serve", "--listen", "127.0.0.1:0"][..], &["mcp"]] {
            world.cli(arguments).exits(2).stderr_has(words);
        }
    }
}

#[tokio::test]
async fn what_becomes_of_the_file_while_the_server_runs_lets_nobody_in() {
    let world = open("").await;
    let id = ask(&world, json!(1)).await;
    let right = world.operator_token();
    let file = world.folder().join("data/operator.token");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let path = format!("/v1/approvals/{id}");
    for text in [Some(""), Some("\n"), None] {
        match text {
            Some(text) => std::fs::write(&file, text).unwrap(),
            None => std::fs::remove_file(&file).unwrap(),
        }
        for who in ["Bearer ", "Bearer", "bearer \t"] {
            let (code, _) = send(&world, Some(who), "GET", "/v1/approvals", "").await;
            assert_eq!(code, 401, "{text:?} {who:?}");
        }
        // The server has the one that it started with.
        assert_eq!(send(&world, Some(&right), "GET", &path, "").await.0, 200);
    }
    assert_eq!(runs(&world), 0);
}

#[tokio::test]
async fn large_arguments_are_asked_about_and_not_copied_about() {
    let world = open("").await;
    let large = "x".repeat(1_500_000);
    let first = ask(&world, json!(large)).await;
    for value in 0..20 {
        ask(&world, json!(format!("{value}{large}"))).await;
    }
    // A page of a list is for people.
    let listed = world.as_operator("GET", "/v1/approvals", None).await;
    assert!(listed.body.len() < 4_000_000, "{} bytes", listed.body.len());
    // One of them is shown whole.
    let one = world.as_operator("GET", &format!("/v1/approvals/{first}"), None).await.json();
    assert_eq!(one["input"]["value"].as_str().unwrap().len(), large.len());
    let stdout = world.cli("approvals").stdout;
    assert!(stdout.len() < 20_000, "{} bytes", stdout.len());
    approve(&world, &first);
    let began = Instant::now();
    let body = json!({ "args": { "value": large }, "approval_id": first });
    assert_eq!(call(&world, body).await.status, 200);
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(runs(&world), 1);
}

#[tokio::test]
async fn a_year_is_not_too_long_a_wait() {
    let year = 31_536_000_000_u64;
    let settings = format!("policy: {{ approval_wait_ms: {year}, approval_valid_ms: {year} }}\n");
    let world = open(&settings).await;
    let id = ask(&world, json!(1)).await;
    approve(&world, &id);
    assert_eq!(call(&world, json!({ "args": { "value": 1 } })).await.status, 200);
}
