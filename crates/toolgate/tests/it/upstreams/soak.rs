//! Calls without an end while children are killed at random: nothing is lost but the calls that were
//! under way, nobody gets another one's answer, and nothing is left behind.
//!
//! A few seconds by default; `TOOLGATE_SOAK_SECONDS=600` makes it the long one.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{resident_bytes, signal};

use super::{Upstreams, tool};

const UPSTREAMS: usize = 4;
const CALLERS: usize = 8;
/// How much the server may grow between the middle and the end.
const MAX_GROWTH: u64 = 32 * 1_024 * 1_024;

/// What became of the calls of one caller.
#[derive(Default)]
struct Tally {
    good: u64,
    unavailable: u64,
}

async fn caller(world: &Upstreams, number: usize, end: Instant) -> Tally {
    let mut tally = Tally::default();
    let mut count = 0_usize;
    while Instant::now() < end {
        count += 1;
        let text = format!("caller {number} call {count}");
        let upstream = (count + number) % UPSTREAMS;
        let name = format!("up{upstream}__echo");
        let answer = world.call(&name, &json!({ "text": text })).await;
        let (status, answer) = (answer.status, answer.json());
        match (status, answer["code"].as_str()) {
            (200, None) => {
                assert_eq!(answer["result"]["text"], text, "an answer of somebody else");
                tally.good += 1;
            }
            (503, Some("unavailable")) => {
                tally.unavailable += 1;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            other => panic!("{other:?}: {answer}"),
        }
    }
    tally
}

#[tokio::test]
async fn children_are_killed_at_random_and_nothing_else_happens() {
    let seconds = std::env::var("TOOLGATE_SOAK_SECONDS").ok().and_then(|text| text.parse().ok());
    let time = Duration::from_secs(seconds.unwrap_or(5));
    let script =
        json!({ "tools": [tool("echo")], "answers": { "echo": { "*": { "echo": true } } } });
    let ids: Vec<String> = (0..UPSTREAMS).map(|number| format!("up{number}")).collect();
    let own = "max_restart_delay_ms: 200, breaker_failures: 1000";
    let scripts: Vec<(&str, Value, &str)> =
        ids.iter().map(|id| (id.as_str(), script.clone(), own)).collect();
    let mut world = Upstreams::with(&scripts, "").started().await;
    let end = Instant::now() + time;
    let mut killed = 0;
    let mut middle = 0;
    let kills = async {
        let mut number = 0_usize;
        while Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(150 + number as u64 * 37 % 400)).await;
            let running = world.children();
            if let Some(process) = running.get(number * 7 % running.len().max(1)) {
                signal(*process, "-KILL");
                killed += 1;
            }
            number += 1;
            if middle == 0 && end.saturating_duration_since(Instant::now()) < time / 2 {
                middle = resident_bytes(world.pid());
            }
        }
    };
    let calls =
        futures_util::future::join_all((0..CALLERS).map(|number| caller(&world, number, end)));
    let (tallies, ()) = tokio::join!(calls, kills);
    let good: u64 = tallies.iter().map(|tally| tally.good).sum();
    let unavailable: u64 = tallies.iter().map(|tally| tally.unavailable).sum();
    let grown = resident_bytes(world.pid()).saturating_sub(middle);
    eprintln!("{good} good, {unavailable} unavailable, {killed} killed, {grown} bytes more");
    assert!(good > 100 && killed > 2, "{good} good, {killed} killed");
    assert!(grown < MAX_GROWTH, "{grown} bytes more than in the middle");
    testkit::eventually("all are back", async || world.children().len() == UPSTREAMS).await;
    assert_eq!(world.stop().await, 0);
    // One that was just being started is ended by its supervisor.
    testkit::eventually("nothing is left", async || world.children().is_empty()).await;
}
