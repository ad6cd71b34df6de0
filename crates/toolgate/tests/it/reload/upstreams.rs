//! Upstreams come, go and are started again, each for itself.

use serde_json::{Value, json};
use testkit::eventually;

use super::{ONLY_SIGNALS, change, reload};
use crate::upstreams::{Upstreams, one, said};

/// The process of an upstream, if there is exactly one.
fn process(world: &Upstreams, id: &str) -> Option<u32> {
    let is_of = |process: &u32| {
        let words = std::fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default();
        words.contains(&format!("\0{id}.json\0"))
    };
    let all: Vec<_> = world.children().into_iter().filter(is_of).collect();
    if let [only] = all[..] { Some(only) } else { None }
}

fn text(text: &str) -> Value {
    json!({ "text": text })
}

#[tokio::test]
async fn unchanged_ones_keep_their_process_and_the_others_come_go_and_start_again() {
    let script = one("act", &said("fine"));
    let world = Upstreams::new(
        &[("stays", script.clone()), ("changes", script.clone()), ("goes", script.clone())],
        ONLY_SIGNALS,
    )
    .started()
    .await;
    let stays = process(&world, "stays").unwrap();
    let changes = process(&world, "changes").unwrap();
    let goes = process(&world, "goes").unwrap();
    let line = |id: &str, more: &str| {
        format!(
            "  {id}: {{ command: python3, args: [scripted.py, {id}.json], cwd: ./servers{more} }}\n"
        )
    };
    world.script("comes", &script);
    change(&world, &line("goes", ""), &line("comes", ""));
    change(&world, &line("changes", ""), &line("changes", ", env: { A: b }"));
    // What is said of its tools needs no other process.
    world.write("overlays/stays/act.yaml", "effects: read\n");
    let event = reload(&world).await;
    assert_eq!(event["upstreams_added"], json!(["comes"]), "{event}");
    assert_eq!(event["upstreams_removed"], json!(["goes"]), "{event}");
    assert_eq!(event["upstreams_restarted"], json!(["changes"]), "{event}");
    // They were tried before anything changed for callers.
    assert_eq!(world.listed().await, ["changes__act", "comes__act", "stays__act"]);
    for tool in ["changes__act", "comes__act", "stays__act"] {
        world.call(tool, &text("a")).await.ok();
    }
    assert_eq!(world.call("goes__act", &text("a")).await.status, 404);
    assert_eq!(world.get("/v1/tools/stays__act").await.json()["effects"], "read");
    assert_eq!(process(&world, "stays"), Some(stays));
    eventually("the old ones have ended", async || {
        let now = world.children();
        !now.contains(&goes) && !now.contains(&changes) && now.len() == 3
    })
    .await;
    assert!(process(&world, "changes").is_some_and(|now| now != changes));

    // And the same once more changes nothing.
    let event = reload(&world).await;
    for key in ["upstreams_added", "upstreams_removed", "upstreams_restarted", "after_restart"] {
        assert_eq!(event[key], json!([]), "{key}: {event}");
    }
    assert_eq!(process(&world, "stays"), Some(stays));
}

#[tokio::test]
async fn a_removed_one_ends_when_its_calls_have() {
    let mut script = one("act", &said("fine"));
    let mut late = said("late");
    script["answers"]["act"]["late"] = json!({ "do": ["sleep", 4, late.take()] });
    let world = Upstreams::new(&[("up", script)], ONLY_SIGNALS).started().await;
    let arguments = text("late");
    let calling = world.call("up__act", &arguments);
    let removing = async {
        world.wait_for_file("sleeps").await;
        world.write("toolgate.yaml", ONLY_SIGNALS);
        let event = reload(&world).await;
        assert_eq!(event["upstreams_removed"], json!(["up"]), "{event}");
        assert_eq!(world.call("up__act", &text("a")).await.status, 404);
        assert_eq!(world.children().len(), 1, "its call is not over");
    };
    let (answer, ()) = tokio::join!(calling, removing);
    assert_eq!(answer.json()["result"], text("late"), "{}", answer.text());
    eventually("it has ended", async || world.children().is_empty()).await;
}

#[tokio::test]
async fn the_first_upstream_may_come_later_and_one_without_its_secret_is_told() {
    let world = Upstreams::new(&[("up", one("act", &said("fine")))], ONLY_SIGNALS);
    let settings = world.read("toolgate.yaml");
    world.write("toolgate.yaml", ONLY_SIGNALS);
    let world = world.started().await;
    world.write(
        "toolgate.yaml",
        &settings.replace("}\nserver", ", env: { A: \"${A_SECRET}\" } }\nserver"),
    );
    let event = reload(&world).await;
    assert_eq!(event["upstreams_added"], json!(["up"]), "{event}");
    assert_eq!(world.children(), [0_u32; 0]);
    world.write("toolgate.env", "A_SECRET=0123456789abcdef\n");
    reload(&world).await;
    world.call("up__act", &text("a")).await.ok();
    // A program that cannot be started is down, as it would be after a start.
    change(&world, "python3", "no-such-program");
    reload(&world).await;
    assert_eq!(world.call("up__act", &text("a")).await.json()["code"], "unavailable");
    change(&world, "no-such-program", "python3");
    reload(&world).await;
    world.call("up__act", &text("a")).await.ok();
}
