//! An answer is released to the caller of its call.

use serde_json::{Value, json};
use testkit::{
    mcp::{Legacy, Modern, with_tasks},
    texts,
};

use super::{call, closed, entry, open, release, runs, stopped, stopped_on_cli};

#[tokio::test]
async fn the_operator_releases_over_rest_and_the_caller_calls_again() {
    let world = open().await;
    let id = stopped(&world, &json!(1)).await;
    let held = entry(&world, &id).await;
    assert_eq!((&held["status"], &held["caller"]), (&json!("held"), &json!("local")));
    let path = format!("/v1/quarantine/{id}/release");
    // Nobody but the operator.
    assert_eq!(world.post(&path, "{}").await.status, 401);
    for body in ["[]", "{", r#"{"reason":1}"#, r#"{"reasons":"x"}"#] {
        release(&world, &id, body).await.fails(400, "invalid_request");
    }
    let released = release(&world, &id, r#"{"reason":"null is fine"}"#).await;
    assert_eq!(released.status, 200, "{}", released.text());
    let released = released.json();
    assert_eq!(released["status"], "released");
    assert_eq!(
        (&released["decided_by"], &released["decision_reason"]),
        (&json!("operator"), &json!("null is fine"))
    );
    assert_eq!(released.get("payload"), None);
    let twice = release(&world, &id, "").await;
    assert_eq!((twice.status, &twice.error()["details"]["status"]), (409, &json!("released")));
    assert_eq!(release(&world, "q_nope", "").await.status, 404);

    let given = call(&world, &json!(1)).await;
    assert_eq!(given.status, 203);
    let expected = json!({
        "tool": "wrong", "ok": true, "result": { "answers": [1, null] }, "released": true,
        "quarantine_id": id,
    });
    assert_eq!(given.json(), expected);
    assert_eq!(runs(&world), 1);
    let line = world.journal().pop().unwrap();
    assert_eq!((&line["event"], &line["released"]), (&json!("tool_call"), &json!(id)));
    assert_eq!(entry(&world, &id).await["status"], "delivered");
    assert_eq!(call(&world, &json!(1)).await.status, 502);
}

#[tokio::test]
async fn a_terminal_releases_while_a_server_runs() {
    let world = open().await;
    let id = stopped(&world, &json!("a")).await;
    let stdout = world.cli(&["quarantine", "release", &id, "--reason", "fine"]).exits(0).stdout;
    let start = format!("released {id}: local gets it with the same call of wrong before ");
    assert!(stdout.starts_with(&start), "{stdout}");
    // At once: the command waited until every server knew.
    let answer = world.execute(&json!({ "tool": "wrong", "input": { "value": "a" } })).await;
    assert_eq!(answer.status, 203);
    let result = answer.json();
    assert_eq!(
        (&result["status"], &result["output"]),
        (&json!("ok"), &json!({ "answers": [1, null] }))
    );
    assert_eq!(
        (&result["metrics"]["released"], &result["metrics"]["quarantine_id"]),
        (&json!(true), &json!(id))
    );
    assert_eq!(runs(&world), 1);
    let event = world.journal().into_iter().find(|line| line["event"] == "quarantine_released");
    let event = event.unwrap();
    assert_eq!((&event["by"], &event["reason"]), (&json!("operator (terminal)"), &json!("fine")));
    world.cli("quarantine release q_00000000000000000000000000").exits(1);
    world.cli("quarantine show nonsense").exits(2);
}

#[tokio::test]
async fn mcp_clients_get_it_marked_and_their_sdks_let_it_through() {
    let world = open().await;
    let (modern, legacy) = (Modern::new(&world), Legacy::open(&world).await);
    let arguments = json!({ "value": 1 });
    for turn in 0..2 {
        let make = async || match turn {
            0 => modern.call("wrong", &arguments).await,
            _ => legacy.call("wrong", &arguments).await,
        };
        let stopped = make().await;
        let id = stopped["_meta"]["toolgate/error"]["details"]["quarantine_id"].as_str().unwrap();
        assert!(!stopped.to_string().contains("answers"), "{stopped}");
        assert_eq!(release(&world, id, "").await.status, 200);
        let given = make().await;
        // Any other result is held against the schema that it breaks.
        assert_eq!((&given["isError"], given.get("structuredContent")), (&json!(true), None));
        assert_eq!(given["content"][1]["text"], r#"{"answers":[1,null]}"#);
        let words = given["content"][0]["text"].as_str().unwrap();
        assert!(words.contains("did not match its contract"), "{words}");
        let meta = &given["_meta"];
        assert_eq!(
            (&meta["toolgate/released"], &meta["toolgate/quarantine_id"]),
            (&json!(true), &json!(id))
        );
        assert_eq!(meta.get("toolgate/error"), None);
    }
    assert_eq!(runs(&world), 2);
}

#[tokio::test]
async fn the_job_of_the_call_shows_it() {
    let world = open().await;
    let body =
        json!({ "tool": "wrong", "input": { "value": 1 }, "mode": "sync", "wait_ms": 60_000 });
    let job = world.post("/v1/jobs", &body).await.json()["job"].clone();
    assert_eq!((&job["error_code"], &job["released"]), (&json!("invalid_output"), &Value::Null));
    let id = job["result"]["metrics"]["error_details"]["quarantine_id"].as_str().unwrap();
    release(&world, id, "").await;
    let path = format!("/v1/jobs/{}", job["id"].as_str().unwrap());
    let shown = world.get(&path).await.json();
    assert_eq!(
        (&shown["status"], &shown["error_code"]),
        (&json!("failed"), &json!("invalid_output"))
    );
    assert_eq!(shown["released"]["quarantine_id"], id);
    assert_eq!(shown["released"]["payload"], json!({ "answers": [1, null] }));
    // A task is a job.
    let client = Modern::new(&world).able(with_tasks());
    let task = client.ask("tasks/get", json!({ "taskId": job["id"] })).await;
    let result = &task["result"]["result"];
    assert_eq!(result["_meta"]["toolgate/quarantine_id"], id, "{task}");
    assert_eq!(result["content"][1]["text"], r#"{"answers":[1,null]}"#);
}

#[tokio::test]
async fn is_listed_by_what_is_asked_for() {
    let world = open().await;
    let mut ids = Vec::new();
    for number in 0..5 {
        ids.push(stopped(&world, &json!(number)).await);
    }
    release(&world, &ids[2], "").await;
    let listed = async |query: &str| -> Vec<String> {
        let answer = world.get(&format!("/v1/quarantine?{query}")).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        texts(&answer.json()["entries"], "id")
    };
    let newest: Vec<_> = ids.iter().rev().cloned().collect();
    assert_eq!(listed("tool=wrong&caller=local").await, newest);
    assert_eq!(listed("status=released").await, ids[2..3]);
    assert_eq!(listed("tool=other").await, [""; 0]);
    assert_eq!(listed("caller=eve").await, [""; 0]);
    let page = world.get("/v1/quarantine?limit=2").await.json();
    assert_eq!(page["next_cursor"], json!(newest[1]));
    assert_eq!(listed(&format!("limit=2&cursor={}", newest[1])).await, newest[2..4]);
    for wrong in ["status=lost", "cursor=x", "limit=0"] {
        assert_eq!(world.get(&format!("/v1/quarantine?{wrong}")).await.status, 400, "{wrong}");
    }
    let all = world.cli("quarantine --json").exits(0).json();
    assert_eq!(all["entries"].as_array().unwrap().len(), 5);
    let table = world.cli("quarantine list --status released").exits(0).stdout;
    assert_eq!(table.lines().count(), 2);
    assert!(table.lines().nth(1).unwrap().starts_with(&ids[2]), "{table}");
    world.cli("quarantine list --tool other").exits(0).stdout_is("");
    let older = format!("quarantine list --cursor {} --json", newest[1]);
    assert_eq!(world.cli(&older).exits(0).json()["entries"].as_array().unwrap().len(), 3);
    let lost = world.cli("quarantine list --status lost").exits(2);
    lost.stderr_has("must be one of held, passed, released, delivered, adopted");
}

#[test]
fn a_terminal_shows_what_is_wrong_beside_its_place() {
    let world = closed();
    let id = &stopped_on_cli(&world, "call wrong");
    world.cli(&["quarantine", "show", id]).exits(0).stdout_has_all([
        "status     held",
        "tool       wrong",
        "caller     cli",
        "\nviolations\n",
        "  /answer  is required (required)",
        "> {  ← `answer` is required\n",
        ">   \"answers\": [  ← is not a known key; did you mean `answer`?\n",
        "\n      null\n",
    ]);
    let whole = world.cli(&["quarantine", "show", id, "--json"]).json();
    assert_eq!(whole["payload"], json!({ "answers": [1, null] }));
    // The command line is a caller like others.
    world.cli(&["quarantine", "release", id]).exits(0);
    let output = world.cli("call wrong").exits(0);
    assert_eq!(output.json(), json!({ "answers": [1, null] }));
    output.stderr_has("broke the contract of wrong").stderr_has(id);
    assert_eq!(runs(&world), 1);
}
