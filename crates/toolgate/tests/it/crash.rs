//! `kill -9` while many calls with artifacts are under way: what was acknowledged is
//! there, and no half artifact is served.

use std::sync::{Arc, Mutex};

use std::collections::BTreeSet;

use serde_json::{Value, json};
use testkit::eventually;

const CALLS: usize = 200;
const ROUNDS: usize = 10;

/// An acknowledged call: the answer and the text that its artifact must have.
type Acknowledged = Arc<Mutex<Vec<(Value, String)>>>;

fn text(round: usize, number: usize) -> String {
    // Large enough that a half-written file would show.
    format!("{round}-{number} ").repeat(4_000)
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_acknowledged_is_lost() {
    let settings = "server: { max_concurrency: 512 }\n";
    let mut world = testkit::World::start(crate::BINARY, settings).await;
    let acknowledged = Acknowledged::default();
    for round in 0..ROUNDS {
        let before = acknowledged.lock().unwrap().len();
        let calls: Vec<_> = (0..CALLS)
            .map(|number| {
                let (client, url) = (world.client.clone(), world.url("/v1/tools/execute"));
                let acknowledged = acknowledged.clone();
                tokio::spawn(async move {
                    let text = text(round, number);
                    let body = json!({
                        "tool": "write_text_artifact",
                        "input": { "text": text, "filename": format!("{number}.txt") },
                    });
                    let Ok(answer) = client.post(url).body(body.to_string()).send().await else {
                        return;
                    };
                    let Ok(result) = answer.json::<Value>().await else { return };
                    assert_eq!(result["status"], "ok", "{result}");
                    acknowledged.lock().unwrap().push((result, text));
                })
            })
            .collect();
        let effects: Vec<_> = (0..CALLS).map(|number| write_file(&world, round, number)).collect();
        // In the middle of it: a part is answered, the rest is not.
        let enough = before + 20 * (round + 1).min(8);
        let watched = acknowledged.clone();
        testkit::eventually("some calls are answered", async || {
            watched.lock().unwrap().len() >= enough
        })
        .await;
        world.kill();
        for call in calls {
            call.await.unwrap();
        }
        for effect in effects {
            effect.await.unwrap();
        }
        world.run().await;
    }
    every_effect_has_a_line(&world);
    let acknowledged = acknowledged.lock().unwrap().clone();
    for (result, text) in &acknowledged {
        let id = result["metrics"]["job_id"].as_str().unwrap();
        let job = world.get(&format!("/v1/jobs/{id}")).await;
        assert_eq!(job.status, 200, "{id} is lost");
        assert_eq!(job.json()["result"], *result);
        let artifact = world.get(result["artifacts"][0]["path"].as_str().unwrap()).await;
        assert_eq!(artifact.text(), *text, "{id}");
    }
    whole_or_not_at_all(&world).await;
}

fn input(round: usize, number: usize) -> Value {
    json!({ "path": format!("{round}-{number}.txt"), "content": text(round, number) })
}

/// Writes a file, with or without a job.
fn write_file(world: &testkit::World, round: usize, number: usize) -> tokio::task::JoinHandle<()> {
    let input = input(round, number);
    let (path, body) = match number % 3 {
        0 => ("/v1/tools/execute", json!({ "tool": "write_file", "input": input })),
        1 => ("/v1/jobs", json!({ "tool": "write_file", "input": input })),
        _ => ("/v1/tools/write_file", json!({ "args": input })),
    };
    let request = world.client.post(world.url(path)).body(body.to_string());
    let request = request.header("content-type", "application/json");
    tokio::spawn(async move { drop(request.send().await) })
}

/// Whatever was done is in the journal, answered or not.
fn every_effect_has_a_line(world: &testkit::World) {
    let all = (0..ROUNDS).flat_map(|round| (0..CALLS).map(move |number| input(round, number)));
    // Looked at before the journal: jobs that were queued are run meanwhile.
    let done: Vec<_> = all
        .filter(|input| world.has(&format!("data/files/{}", input["path"].as_str().unwrap())))
        .collect();
    assert!(done.len() > ROUNDS, "{}", done.len());
    let journal = world.journal();
    let known: BTreeSet<_> =
        journal.iter().filter_map(|line| line["input_sha256"].as_str()).collect();
    for input in done {
        let hash = contract::canonical::sha256(&input);
        assert!(known.contains(&*hash), "{} has no line", input["path"]);
    }
}

#[tokio::test]
async fn a_call_that_the_death_of_the_process_ended_has_its_line() {
    let settings = "contracts: [ ./contracts ]\npolicy: { preset: open }\n";
    for signals in [&["-KILL"][..], &["-TERM", "-TERM"], &["-QUIT"]] {
        let mut world = testkit::World::new(crate::BINARY, settings);
        world.write("mark", "");
        let mark = world.folder().join("mark").display().to_string();
        let script = format!("cat > /dev/null; echo x >> '{mark}'; sleep 1000");
        crate::command(&world, "sleeper", &script, "");
        let contract = world.read("contracts/sleeper.yaml");
        world.write(
            "contracts/sleeper.yaml",
            &contract.replace("effects: none", "effects: control"),
        );
        world.run().await;
        let mut calls = Vec::new();
        for (path, body) in
            [("/v1/tools/execute", r#"{"tool":"sleeper"}"#), ("/v1/tools/sleeper", "{}")]
        {
            let request = world.client.post(world.url(path)).body(body);
            let request = request.header("content-type", "application/json");
            calls.push(tokio::spawn(async move { drop(request.send().await) }));
        }
        let job = world.submit(&json!({ "tool": "sleeper" })).await;
        eventually("all have done something", async || world.read("mark").lines().count() == 3)
            .await;
        let pid = world.pid();
        for signal in signals {
            testkit::signal(pid, signal);
        }
        for call in calls {
            call.await.unwrap();
        }
        world.kill();
        world.run().await;
        let journal = world.journal();
        let of = |event: &'static str| journal.iter().filter(move |line| line["event"] == event);
        let hash = contract::canonical::sha256(&json!({}));
        assert_eq!(of("call_started").count(), 3, "{journal:?}");
        for line in of("call_started") {
            assert_eq!((&line["tool"], &line["caller"]), (&"sleeper".into(), &"local".into()));
            assert_eq!(line["input_sha256"], *hash);
            assert!(line["input"].is_null() && line["request_id"].is_string(), "{line}");
        }
        let started = of("call_started").find(|line| line["job_id"] == *job).unwrap();
        assert_eq!(started["door"], "jobs");
        if signals == ["-KILL"] {
            assert_eq!(of("tool_call").count(), 0, "{journal:?}");
            let interrupted = of("job_interrupted").find(|line| line["job_id"] == *job).unwrap();
            for field in ["request_id", "caller", "tool", "input_sha256"] {
                assert_eq!(interrupted[field], started[field], "{field}");
            }
        }
        // What has no effects has no such line.
        world.call("hello", &json!({ "name": "Ada" })).await;
        assert_eq!(world.journal().last().unwrap()["event"], "tool_call");
        assert_eq!(
            world.journal().iter().filter(|line| line["event"] == "call_started").count(),
            3
        );
    }
}

/// Also of calls that nobody was told about, no half artifact is served and none lies about. One that was not recorded
/// any more is kept, whole, and not served: the database could be another one than it belongs to.
async fn whole_or_not_at_all(world: &testkit::World) {
    let folder = world.folder().join("data/artifacts");
    let mut listed = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let id = entry.unwrap().file_name().into_string().unwrap();
        let files = world.get(&format!("/v1/jobs/{id}/artifacts")).await;
        if files.status == 404 {
            for file in std::fs::read_dir(folder.join(&id)).unwrap() {
                let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
                let (first, _) = text.split_once(' ').unwrap();
                assert_eq!(text, format!("{first} ").repeat(4_000), "{id}");
            }
            continue;
        }
        assert_eq!(files.status, 200, "{id}");
        for file in files.json()["files"].as_array().unwrap() {
            let artifact = world.get(file["path"].as_str().unwrap()).await;
            assert_eq!(artifact.body.len() as u64, file["bytes"].as_u64().unwrap());
            listed += 1;
        }
    }
    assert!(listed > 0);
    let work = std::fs::read_dir(world.folder().join("data.work")).unwrap().count();
    assert_eq!(work, 0, "folders of calls that are over");
}
