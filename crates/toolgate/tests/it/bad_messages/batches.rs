//! Several messages in one body, which one old revision has and no other.

use serde_json::{Value, json};
use testkit::{
    World,
    mcp::{Legacy, cancelled, request},
};

use super::{
    MODERN, asleep, gone, is_alive, lives, post, post_by_hand, refused, sleeps, with_sleeper,
};
use crate::start;

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// A session of the one revision that has batches.
async fn open(world: &World) -> String {
    Legacy::open_at(world, "/mcp", "2025-03-26", &json!({})).await.session
}

#[tokio::test]
async fn a_batch_is_refused_where_there_are_none() {
    let world = start("").await;
    let newest = Legacy::open(&world).await.session;
    let old = Legacy::open_at(&world, "/mcp", "2024-11-05", &json!({})).await.session;
    let many = format!("[{}]", vec![PING; 1_000].join(","));
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    for body in ["[]", &format!("[{PING}]"), &format!(" \n[{PING}]"), "[", &many, &deep] {
        for headers in [
            &[][..],
            &[("mcp-session-id", &*newest)],
            &[("mcp-session-id", &*old)],
            &[MODERN, ("mcp-method", "ping")],
        ] {
            let answer = post(&world, headers, body).await;
            refused(&answer, (400, -32600), "one message at a time");
        }
    }
    lives(&world).await;
}

#[tokio::test]
async fn each_message_of_a_batch_gets_its_own_answer() {
    let world = start("").await;
    let session = open(&world).await;
    let send = async |body: &str| post(&world, &[("mcp-session-id", &session)], body).await;
    let told = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let answered = r#"{"jsonrpc":"2.0","id":77,"result":{}}"#;
    let cancelled =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let list = r#"{"jsonrpc":"2.0","id":"l","method":"tools/list"}"#;
    let again = PING.replace("ping", "initialize");
    // Nobody waits for an answer to these.
    let answer = send(&format!("[{told},{answered},{cancelled}]")).await;
    assert_eq!((answer.status, &*answer.text()), (202, ""));
    let junk = r#"5,null,"x",{},{"jsonrpc":"2.0","id":[],"method":"ping"},[]"#;
    let answer = send(&format!("[{told},{junk},[{PING}],{again},{PING},{list}]")).await;
    assert_eq!(answer.status, 200);
    let answers = answer.json();
    let codes: Vec<_> =
        answers.as_array().unwrap().iter().map(|one| &one["error"]["code"]).collect();
    let (wrong, unknown) = (&json!(-32600), &json!(-32601));
    let none = &Value::Null;
    assert_eq!(codes, [wrong, wrong, wrong, wrong, wrong, wrong, wrong, unknown, none, none]);
    assert_eq!((&answers[8]["result"], &answers[9]["id"]), (&json!({}), &json!("l")));
    for body in ["[]", &format!("[{}]", vec![PING; 101].join(","))] {
        refused(&send(body).await, (400, -32600), "a batch has 1 to 100 messages");
    }
    refused(&send(&format!("[{}]", vec![PING; 1_000].join(","))).await, (400, -32600), "100");
    for body in ["[", &format!("[{PING}"), &format!("[{PING},]"), &format!("[{PING}][{PING}]")] {
        refused(&send(body).await, (400, -32700), "The batch is invalid JSON");
    }
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    assert_eq!(send(&deep).await.json()[0]["error"]["code"], -32600);
    assert_eq!(send(&format!("[{}]", vec![PING; 100].join(","))).await.status, 200);
    lives(&world).await;
}

#[tokio::test]
async fn a_message_by_position_is_none() {
    let world = start("").await;
    let session = open(&world).await;
    let body = r#"[["2.0",1,"ping"],["2.0",2,"tools/list",{}]]"#;
    let answers = post(&world, &[("mcp-session-id", &session)], body).await.json();
    assert_eq!(answers[0]["error"]["code"], -32600, "{answers}");
    assert_eq!(answers[1]["error"]["code"], -32600, "{answers}");
}

#[tokio::test]
async fn a_batch_of_a_session_that_is_over_is_told_so() {
    let world = start("").await;
    let session = open(&world).await;
    let headers = [("mcp-session-id", &*session)];
    assert_eq!(world.send("DELETE", "/mcp", &headers, None).await.status, 204);
    let answer = post(&world, &headers, format!("[{PING}]")).await;
    refused(&answer, (404, -32600), "Session not found");
}

#[tokio::test]
async fn a_call_of_a_batch_is_cancelled_like_any_other() {
    let world = with_sleeper("").started().await;
    for end in ["notification", "DELETE"] {
        let session = open(&world).await;
        let headers = [("mcp-session-id", &*session)];
        let raw = post_by_hand(&world, &headers, &json!([sleeps(1)])).await;
        let process = asleep(&world).await;
        if end == "DELETE" {
            assert_eq!(world.send("DELETE", "/mcp", &headers, None).await.status, 204);
        } else {
            let told = cancelled(&json!(1)).to_string();
            assert_eq!(post(&world, &headers, told).await.status, 202);
        }
        gone(&process).await;
        drop(raw);
    }
}

#[tokio::test]
async fn a_session_that_runs_a_batch_is_not_idle() {
    let world = with_sleeper("mcp: { session_idle_ms: 1000 }\n").started().await;
    let session = open(&world).await;
    let raw = post_by_hand(&world, &[("mcp-session-id", &session)], &json!([sleeps(2)])).await;
    let process = asleep(&world).await;
    // Others show when an idle one is forgotten: the second is opened when the first is gone.
    for _ in 0..2 {
        open(&world).await;
        super::session_count(&world, 1).await;
    }
    assert!(is_alive(&process));
    let answer = post(&world, &[("mcp-session-id", &session)], PING).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    drop(raw);
}

#[tokio::test]
async fn a_batch_ends_with_its_session() {
    let world = with_sleeper("").started().await;
    let session = open(&world).await;
    let headers = [("mcp-session-id", session.as_str())];
    let note = json!({ "name": "write_text_artifact", "arguments": { "text": "x" } });
    let writes = |id: i64| request(id, "tools/call", &note);
    let mut raw = post_by_hand(&world, &headers, &json!([sleeps(1), writes(2), writes(3)])).await;
    let process = asleep(&world).await;
    assert_eq!(world.send("DELETE", "/mcp", &headers, None).await.status, 204);
    gone(&process).await;
    // The batch is over when its connection says something, if only that it is closed.
    raw.more().await;
    assert_eq!(world.get("/v1/jobs").await.json()["jobs"], json!([]));
}
