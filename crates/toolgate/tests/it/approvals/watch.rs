//! `toolgate approvals watch`, through a pipe and on a terminal.

use serde_json::json;

use super::{ask, open, status};
use crate::person::Person;

const WATCH: &str = "approvals watch";

const PROMPT: &str = "approve? [y]es";

#[tokio::test]
async fn each_request_is_asked_about() {
    let world = open("").await;
    let first = ask(&world, json!("first")).await;
    let mut person = Person::at_pipe(&world, WATCH);
    person.sees(&first).await;
    person.sees("\"value\": \"first\"").await;
    // Neither return nor another word decides anything.
    for words in ["\n", "perhaps\n", "yeah\n", "ye s\n", "\u{1b}[A\n"] {
        person.looks_away();
        person.types(words);
        person.sees(PROMPT).await;
        assert_eq!(status(&world, &first).await, "waiting", "{words:?}");
    }
    person.types("Y\n");
    person.sees(&format!("approved: {first}")).await;
    assert_eq!(status(&world, &first).await, "approved");
    let second = ask(&world, json!("second")).await;
    person.sees(&second).await;
    person.types("no because  I say so \n");
    person.sees(&format!("refused: {second}")).await;
    let said = super::call(&world, json!({ "args": { "value": "second" } })).await.json();
    assert_eq!(said["error"], "a person refused this call: because  I say so");
    // Later is not now.
    let third = ask(&world, json!("third")).await;
    person.sees(&third).await;
    person.types("l\n");
    let fourth = ask(&world, json!("fourth")).await;
    person.sees(&fourth).await;
    assert_eq!(status(&world, &third).await, "waiting");
    // What was decided elsewhere meanwhile stands.
    super::decide(&world, &fourth, "refuse").await;
    person.types("y\n");
    person.sees(&format!("already refused: {fourth}")).await;
    let fifth = ask(&world, json!("fifth")).await;
    person.sees(&fifth).await;
    person.types("q\n");
    assert_eq!(person.leaves().await, 0);
    assert_eq!(status(&world, &fifth).await, "waiting");
}

#[tokio::test]
async fn an_end_of_input_is_no_answer() {
    let world = open("").await;
    // While nothing waits.
    let mut person = Person::at_pipe(&world, WATCH);
    person.sees("waiting for requests").await;
    person.hangs_up();
    assert_eq!(person.leaves().await, 0);
    // While something does, with or without half a word.
    let id = ask(&world, json!(1)).await;
    for half in ["", "l"] {
        let mut person = Person::at_pipe(&world, WATCH);
        person.sees(PROMPT).await;
        person.types(half);
        person.hangs_up();
        assert_eq!(person.leaves().await, 0);
        assert_eq!(status(&world, &id).await, "waiting");
    }
}

#[tokio::test]
async fn a_pipe_answers_in_its_order() {
    let world = open("").await;
    let mut ids = Vec::new();
    for value in 0..3 {
        ids.push(ask(&world, json!(value)).await);
        testkit::next_millisecond();
    }
    let mut person = Person::at_pipe(&world, WATCH);
    person.types("y\nn\ny\n");
    person.hangs_up();
    assert_eq!(person.leaves().await, 0);
    for (id, expected) in ids.iter().zip(["approved", "refused", "approved"]) {
        assert_eq!(status(&world, id).await, expected);
    }
}

#[tokio::test]
async fn a_key_pressed_too_early_approves_nothing() {
    let world = open("").await;
    let Some(mut person) = Person::at_terminal(&world, WATCH) else { return };
    person.sees("waiting for requests").await;
    // Typed before there is anything to see.
    person.types("y\ry\r");
    person.sees("y\r\ny\r\n").await;
    let id = ask(&world, json!(1)).await;
    person.sees(PROMPT).await;
    // Lines are read in their order: behind this one there is none of the early ones.
    person.looks_away();
    person.types("perhaps\r");
    person.sees(PROMPT).await;
    assert_eq!(status(&world, &id).await, "waiting");
    person.types("y\r");
    person.sees(&format!("approved: {id}")).await;
    assert_eq!(status(&world, &id).await, "approved");
}

#[tokio::test]
async fn ctrl_c_ends_it_at_once() {
    let world = open("").await;
    for asked in [false, true] {
        if asked {
            ask(&world, json!(1)).await;
        }
        let Some(mut person) = Person::at_terminal(&world, WATCH) else { return };
        person.sees(if asked { PROMPT } else { "waiting for requests" }).await;
        person.types("\u{3}");
        assert_eq!(person.leaves().await, 0);
    }
}

#[tokio::test]
async fn who_only_watches_keeps_no_dead_job_alive() {
    let mut world = super::closed("");
    crate::command(&world, "sleeper", "cat > /dev/null; sleep 72515", "");
    world.run().await;
    let job = world.submit(&json!({ "tool": "sleeper" })).await;
    world.until_job_is(&job, "running").await;
    let person = Person::at_pipe(&world, WATCH);
    person.sees("waiting for requests").await;
    world.kill();
    world.run().await;
    world.until_job_is(&job, "interrupted").await;
}
