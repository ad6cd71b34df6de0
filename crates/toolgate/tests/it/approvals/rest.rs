//! REST: asked for, decided, made again.

use serde_json::{Value, json};

use super::{approve, ask, call, decide, events, open, runs, status};

#[tokio::test]
async fn a_call_runs_once_with_or_without_the_id() {
    let world = open("").await;
    for named in [true, false] {
        let before = runs(&world);
        let mut body = json!({ "args": { "value": named } });
        let id = ask(&world, json!(named)).await;
        assert_eq!(ask(&world, json!(named)).await, id);
        approve(&world, &id);
        assert_eq!(runs(&world), before);
        if named {
            body["approval_id"] = json!(id);
        }
        let answer = call(&world, body.clone()).await;
        assert_eq!((answer.status, &answer.json()["ok"]), (200, &json!(true)));
        assert_eq!(status(&world, &id).await, "used");
        assert_eq!(call(&world, body).await.json()["code"], "approval_required");
        assert_eq!(runs(&world), before + 1);
    }
    let expected = ["requested", "approved", "used", "requested"];
    assert_eq!(events(&world), [expected, expected].concat());
}

#[tokio::test]
async fn execute_takes_the_id_in_its_context() {
    let world = open("").await;
    let first = world.execute(&json!({ "tool": "marks", "input": {} })).await;
    let said = first.json();
    assert_eq!((first.status, &said["metrics"]["error_code"]), (403, &json!("approval_required")));
    let id = super::waiting_id(&world).await;
    assert!(said["stderr"].as_str().unwrap().contains(&id), "{said}");
    approve(&world, &id);
    let body = json!({ "tool": "marks", "input": {}, "context": { "approval_id": id } });
    let answer = world.execute(&body).await;
    assert_eq!((answer.status, &answer.json()["status"]), (200, &json!("ok")), "{}", answer.text());
    let again = world.execute(&body).await.json();
    assert_eq!(again["metrics"]["error_code"], "approval_required");
    assert_eq!(runs(&world), 1);
}

#[tokio::test]
async fn a_refusal_reaches_the_agent_with_its_reason() {
    let world = open("").await;
    let id = ask(&world, json!(1)).await;
    let refused = decide(&world, &id, "refuse").await;
    let seen = refused.json();
    assert_eq!((refused.status, &seen["status"]), (200, &json!("refused")));
    assert_eq!((&seen["reason"], &seen["decided_by"]), (&json!("so it is"), &json!("operator")));
    for body in [
        json!({ "args": { "value": 1 } }),
        json!({ "args": { "value": 1 }, "approval_id": id }),
        json!({ "args": { "value": 1 }, "approval_id": "apr_00000000000000000000000000" }),
    ] {
        let answer = call(&world, body).await;
        let said = answer.json();
        assert_eq!((answer.status, &said["code"]), (403, &json!("not_allowed")));
        assert_eq!(said["error"], "a person refused this call: so it is");
    }
    // Whoever asked sees how it stands, and not more.
    let seen = world.get(&format!("/v1/approvals/{id}")).await.json();
    assert_eq!((&seen["status"], &seen["reason"]), (&json!("refused"), &json!("so it is")));
    assert_eq!((seen.get("input"), seen.get("decided_by")), (None, None));
    assert_eq!(runs(&world), 0);
}

#[tokio::test]
async fn a_decision_is_made_once_and_must_be_clear() {
    let world = open("").await;
    let id = ask(&world, json!(1)).await;
    let path = format!("/v1/approvals/{id}");
    for body in [
        "",
        "yes",
        "[]",
        "{}",
        r#"{"decision":true}"#,
        r#"{"decision":"Approve"}"#,
        r#"{"decision":"approve","because":"x"}"#,
        r#"{"decision":"approve","reason":1}"#,
        r#"{"decision":"approve","decision":"refuse"}"#,
    ] {
        let headers = [("authorization", &*world.operator_token())];
        let answer = world.send("POST", &path, &headers, Some(body.into())).await;
        answer.fails(400, "invalid_request");
    }
    let long = json!({ "decision": "approve", "reason": "é".repeat(501) });
    let refused = world.as_operator("POST", &path, Some(long)).await;
    assert!(refused.text().contains("at most 500 characters"), "{}", refused.text());
    assert_eq!(status(&world, &id).await, "waiting");
    assert_eq!(decide(&world, &id, "approve").await.json()["status"], "approved");
    let again = decide(&world, &id, "approve").await.fails(409, "conflict");
    assert_eq!(again["error"]["details"]["status"], "approved");
    // A yes that was not used can be taken back; a no stands.
    assert_eq!(decide(&world, &id, "refuse").await.json()["status"], "refused");
    for decision in ["approve", "refuse"] {
        let late = decide(&world, &id, decision).await.fails(409, "conflict");
        assert_eq!(late["error"]["details"]["status"], "refused");
    }
    for unknown in ["apr_00000000000000000000000000", "apr_x", "job_x", "..%2f..", "%00"] {
        assert_eq!(decide(&world, unknown, "approve").await.status, 404, "{unknown}");
    }
    assert_eq!(events(&world), ["requested", "approved", "refused"]);
}

#[tokio::test]
async fn they_are_listed_in_pages() {
    let world = open("").await;
    let mut ids = Vec::new();
    for value in 0..5 {
        ids.push(ask(&world, json!(value)).await);
        testkit::next_millisecond();
    }
    decide(&world, &ids[0], "refuse").await;
    let list = async |query: &str| -> (Vec<usize>, Value) {
        let path = format!("/v1/approvals?{query}");
        let page = world.as_operator("GET", &path, None).await.json();
        let place = |one: &Value| ids.iter().position(|id| one["id"] == **id).unwrap();
        let all = page["approvals"].as_array().unwrap().iter().map(place).collect();
        (all, page["next_cursor"].clone())
    };
    assert_eq!(list("").await, (vec![4, 3, 2, 1, 0], Value::Null));
    assert_eq!(list("status=waiting&limit=2").await, (vec![4, 3], json!(ids[3])));
    let next = format!("status=waiting&limit=2&cursor={}", ids[3]);
    assert_eq!(list(&next).await, (vec![2, 1], Value::Null));
    assert_eq!(list("status=refused").await.0, [0]);
    for query in ["status=maybe", "limit=0", "limit=201", "cursor=x"] {
        let answer = world.as_operator("GET", &format!("/v1/approvals?{query}"), None).await;
        assert_eq!(answer.status, 400, "{query}");
    }
}

#[tokio::test]
async fn an_id_must_look_like_one() {
    let world = open("").await;
    for id in
        [json!("x"), json!(1), json!({}), json!("apr_"), json!("job_01ARZ3NDEKTSV4RRFFQ69G5FAV")]
    {
        let answer = call(&world, json!({ "args": {}, "approval_id": id })).await;
        answer.fails(400, "invalid_request");
        let body = json!({ "tool": "marks", "input": {}, "context": { "approval_id": id } });
        assert_eq!(world.execute(&body).await.status, 400, "{id}");
        let body = json!({ "tool": "marks", "context": { "approval_id": id } }).to_string();
        assert_eq!(world.post("/v1/jobs", &body).await.status, 400, "{id}");
    }
    assert_eq!(events(&world), [""; 0]);
}

#[tokio::test]
async fn what_is_asked_shows_what_would_be_done() {
    let world = super::closed("");
    let secret = "key: { type: string, x-secret: true, description: A secret. }
path: { type: string, description: Where. }";
    let script = "cat > /dev/null; echo '{\"answer\":1}'";
    crate::command_taking(&world, "secretive", script, "approval: required", secret);
    let world = world.started().await;
    let body = json!({ "args": { "key": "hunter2-hunter2", "path": "a\u{202e}b\u{1b}[2J" } });
    assert_eq!(world.post("/v1/tools/secretive", &body).await.status, 403);
    let seen = super::waiting(&world).await;
    assert_eq!(seen["tool"], "secretive");
    assert_eq!((&seen["caller"], &seen["door"]), (&json!("local"), &json!("rest")));
    assert_eq!(seen["input"]["path"], "a\u{202e}b\u{1b}[2J");
    assert!(!seen.to_string().contains("hunter2"), "{seen}");
    // On a terminal nothing of it is obeyed.
    let id = seen["id"].as_str().unwrap();
    for arguments in [vec!["approvals"], vec!["approvals", "show", id]] {
        let stdout = world.cli(&arguments).stdout_has("\\u{202e}").stdout_has("\\u001b[2J").stdout;
        let steers = |one: char| one.is_control() && one != '\n' || one == '\u{202e}';
        assert!(!stdout.contains(steers) && !stdout.contains("hunter2"), "{stdout}");
    }
    world.cli(&["approvals", "approve", id]).exits(0);
    assert_eq!(world.post("/v1/tools/secretive", &body).await.status, 200);
    assert!(!(world.read("data/journal.jsonl") + &world.stderr()).contains("hunter2"));
}
