//! An answer is released to the caller of its call.

use serde_json::{Value, json};
use testkit::mcp::{Legacy, Modern};

use super::{as_operator, call, closed, entry, json_of, open, runs, stopped};

#[tokio::test]
async fn the_operator_releases_over_rest_and_the_caller_calls_again() {
    let world = open("").await;
    let id = stopped(&world, &json!(1)).await;
    let held = entry(&world, &id).await;
    assert_eq!((&held["status"], &held["caller"]), (&json!("held"), &json!("local")));
    let path = format!("/v1/quarantine/{id}/release");
    // Nobody but the operator.
    assert_eq!(world.post(&path, "{}").await.status, 401);
    for body in ["[]", "{", r#"{"reason":1}"#, r#"{"reasons":"x"}"#] {
        let answer = as_operator(&world, &path, body).await;
        assert_eq!((answer.status, &answer.error()["code"]), (400, &json!("invalid_request")));
    }
    let released = as_operator(&world, &path, r#"{"reason":"null is fine"}"#).await;
    assert_eq!(released.status, 200, "{}", released.text());
    let released = released.json();
    assert_eq!(released["status"], "released");
    assert_eq!(
        (&released["decided_by"], &released["decision_reason"]),
        (&json!("operator"), &json!("null is fine"))
    );
    assert_eq!(released.get("payload"), None);
    let twice = as_operator(&world, &path, "").await;
    assert_eq!((twice.status, &twice.error()["details"]["status"]), (409, &json!("released")));
    let unknown = as_operator(&world, "/v1/quarantine/q_nope/release", "").await;
    assert_eq!(unknown.status, 404);

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
    let world = open("").await;
    let id = stopped(&world, &json!("a")).await;
    let (code, stdout, stderr) = world.cli(&["quarantine", "release", &id, "--reason", "fine"]);
    assert_eq!(code, 0, "{stderr}");
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
    assert_eq!(world.cli(&["quarantine", "release", "q_00000000000000000000000000"]).0, 1);
    assert_eq!(world.cli(&["quarantine", "show", "nonsense"]).0, 2);
}

#[tokio::test]
async fn a_release_outlives_the_server_and_ends_in_time() {
    let mut world = open("quarantine: { release_valid_ms: 1000 }").await;
    let id = stopped(&world, &json!(1)).await;
    let path = format!("/v1/quarantine/{id}/release");
    assert_eq!(as_operator(&world, &path, "").await.status, 200);
    testkit::eventually("the release is over", async || {
        (entry(&world, &id).await["status"] == "held").then_some(())
    })
    .await;
    assert_ne!(stopped(&world, &json!(1)).await, id);
    world.kill();
    world.write("toolgate.yaml", "contracts: [ ./contracts ]\n");
    world.run().await;
    assert_eq!(as_operator(&world, &path, "").await.status, 200);
    world.kill();
    world.run().await;
    assert_eq!(call(&world, &json!(1)).await.json()["quarantine_id"], id);
    assert_eq!(runs(&world), 2);
}

#[tokio::test]
async fn mcp_clients_get_it_marked_and_their_sdks_let_it_through() {
    let world = open("").await;
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
        assert_eq!(
            as_operator(&world, &format!("/v1/quarantine/{id}/release"), "").await.status,
            200
        );
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
    let world = open("").await;
    let body =
        json!({ "tool": "wrong", "input": { "value": 1 }, "mode": "sync", "wait_ms": 60_000 });
    let job = world.post("/v1/jobs", &body.to_string()).await.json()["job"].clone();
    assert_eq!((&job["error_code"], &job["released"]), (&json!("invalid_output"), &Value::Null));
    let id = job["result"]["metrics"]["error_details"]["quarantine_id"].as_str().unwrap();
    as_operator(&world, &format!("/v1/quarantine/{id}/release"), "").await;
    let path = format!("/v1/jobs/{}", job["id"].as_str().unwrap());
    let shown = world.get(&path).await.json();
    assert_eq!(
        (&shown["status"], &shown["error_code"]),
        (&json!("failed"), &json!("invalid_output"))
    );
    assert_eq!(shown["released"]["quarantine_id"], id);
    assert_eq!(shown["released"]["payload"], json!({ "answers": [1, null] }));
    // A task is a job.
    let client =
        Modern::new(&world).able(json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } }));
    let task = client.ask("tasks/get", json!({ "taskId": job["id"] })).await;
    let result = &task["result"]["result"];
    assert_eq!(result["_meta"]["toolgate/quarantine_id"], id, "{task}");
    assert_eq!(result["content"][1]["text"], r#"{"answers":[1,null]}"#);
}

#[tokio::test]
async fn is_listed_by_what_is_asked_for() {
    let world = open("").await;
    let mut ids = Vec::new();
    for number in 0..5 {
        ids.push(stopped(&world, &json!(number)).await);
    }
    as_operator(&world, &format!("/v1/quarantine/{}/release", ids[2]), "").await;
    let listed = async |query: &str| -> Vec<String> {
        let answer = world.get(&format!("/v1/quarantine?{query}")).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let entries = answer.json()["entries"].as_array().unwrap().clone();
        entries.iter().map(|entry| entry["id"].as_str().unwrap().to_owned()).collect()
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
    let cli = |arguments: &[&str]| {
        let (code, stdout, stderr) = world.cli(&[&["quarantine"], arguments].concat());
        assert_eq!(code, 0, "{stderr}");
        stdout
    };
    let all = json_of(&cli(&["--json"]));
    assert_eq!(all["entries"].as_array().unwrap().len(), 5);
    let table = cli(&["list", "--status", "released"]);
    assert_eq!(table.lines().count(), 2);
    assert!(table.lines().nth(1).unwrap().starts_with(&ids[2]), "{table}");
    assert_eq!(cli(&["list", "--tool", "other"]), "");
    let older = json_of(&cli(&["list", "--cursor", &newest[1], "--json"]));
    assert_eq!(older["entries"].as_array().unwrap().len(), 3);
    let (code, _, stderr) = world.cli(&["quarantine", "list", "--status", "lost"]);
    assert_eq!(code, 2);
    assert!(
        stderr.contains("must be one of held, passed, released, delivered, adopted"),
        "{stderr}"
    );
}

#[test]
fn a_terminal_shows_what_is_wrong_beside_its_place() {
    let world = closed("");
    let (code, _, stderr) = world.cli(&["call", "wrong"]);
    assert_eq!(code, 1);
    let id = stderr.split("toolgate quarantine show ").nth(1).unwrap().split('`').next().unwrap();
    let (code, stdout, _) = world.cli(&["quarantine", "show", id]);
    assert_eq!(code, 0);
    for words in [
        "status     held",
        "tool       wrong",
        "caller     cli",
        "\nviolations\n",
        "  /answer  is required (required)",
        "> {  ← `answer` is required\n",
        ">   \"answers\": [  ← is not a known key; did you mean `answer`?\n",
        "\n      null\n",
    ] {
        assert!(stdout.contains(words), "no {words:?}: {stdout}");
    }
    let whole = json_of(&world.cli(&["quarantine", "show", id, "--json"]).1);
    assert_eq!(whole["payload"], json!({ "answers": [1, null] }));
    // The command line is a caller like others.
    assert_eq!(world.cli(&["quarantine", "release", id]).0, 0);
    let (code, stdout, stderr) = world.cli(&["call", "wrong"]);
    assert_eq!((code, json_of(&stdout)), (0, json!({ "answers": [1, null] })));
    assert!(stderr.contains("broke the contract of wrong") && stderr.contains(id), "{stderr}");
    assert_eq!(runs(&world), 1);
}
