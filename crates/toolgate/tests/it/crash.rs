//! `kill -9` while many calls with artifacts are under way: what was acknowledged is
//! there, and no half artifact is served.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

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
    let settings = "server: { max_concurrency: 256 }\n";
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
        world.run().await;
    }
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
