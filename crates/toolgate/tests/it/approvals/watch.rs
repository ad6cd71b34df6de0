//! `toolgate approvals watch`, through a pipe and on a terminal.

use std::{
    io::{Read, Write},
    process::{Child, ChildStdin, Stdio},
    sync::{Arc, Mutex},
};

use serde_json::json;
use testkit::{World, eventually};

use super::{ask, open, status};

/// A person at `toolgate approvals watch`.
struct Person {
    child: Child,
    input: Option<ChildStdin>,
    seen: Arc<Mutex<String>>,
}

impl Person {
    fn at_pipe(world: &World) -> Self {
        Self::of(&mut world.command(&["approvals", "watch"]))
    }

    /// `script` gives the command a terminal of its own; nothing where there is no `script`.
    #[allow(clippy::disallowed_types)] // A terminal is a person's program.
    fn at_terminal(world: &World) -> Option<Self> {
        std::process::Command::new("script").arg("--version").output().ok()?;
        // Without `exec` some shells stay between and give their own exit code.
        let words = format!("exec {} approvals watch", crate::BINARY);
        let mut command = std::process::Command::new("script");
        command.args(["-qefc", &words, "/dev/null"]).current_dir(world.folder());
        Some(Self::of(&mut command))
    }

    #[allow(clippy::disallowed_types)] // As a person starts it.
    fn of(command: &mut std::process::Command) -> Self {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        let seen = Arc::new(Mutex::new(String::new()));
        let outputs: [Box<dyn Read + Send>; 2] =
            [Box::new(child.stdout.take().unwrap()), Box::new(child.stderr.take().unwrap())];
        for mut output in outputs {
            let seen = seen.clone();
            std::thread::spawn(move || {
                let mut bytes = [0; 4_096];
                while let Ok(read @ 1..) = output.read(&mut bytes) {
                    seen.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..read]));
                }
            });
        }
        let input = child.stdin.take();
        Self { child, input, seen }
    }

    fn types(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(text.as_bytes()).and_then(|()| input.flush()).unwrap();
    }

    async fn sees(&self, words: &str) {
        eventually(&format!("`{words}` is seen"), async || {
            self.seen.lock().unwrap().contains(words)
        })
        .await;
    }

    /// Forgets what was seen.
    fn looks_away(&self) {
        self.seen.lock().unwrap().clear();
    }

    async fn leaves(&mut self) -> i32 {
        eventually("it ends", || {
            let ended = self.child.try_wait().unwrap();
            std::future::ready(ended.map(|status| status.code().unwrap_or(-1)))
        })
        .await
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const PROMPT: &str = "approve? [y]es";

#[tokio::test]
async fn each_request_is_asked_about() {
    let world = open("").await;
    let first = ask(&world, json!("first")).await;
    let mut person = Person::at_pipe(&world);
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
    let mut person = Person::at_pipe(&world);
    person.sees("waiting for requests").await;
    drop(person.input.take());
    assert_eq!(person.leaves().await, 0);
    // While something does, with or without half a word.
    let id = ask(&world, json!(1)).await;
    for half in ["", "l"] {
        let mut person = Person::at_pipe(&world);
        person.sees(PROMPT).await;
        person.types(half);
        drop(person.input.take());
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
    let mut person = Person::at_pipe(&world);
    person.types("y\nn\ny\n");
    drop(person.input.take());
    assert_eq!(person.leaves().await, 0);
    for (id, expected) in ids.iter().zip(["approved", "refused", "approved"]) {
        assert_eq!(status(&world, id).await, expected);
    }
}

#[tokio::test]
async fn a_key_pressed_too_early_approves_nothing() {
    let world = open("").await;
    let Some(mut person) = Person::at_terminal(&world) else { return };
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
        let Some(mut person) = Person::at_terminal(&world) else { return };
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
    let person = Person::at_pipe(&world);
    person.sees("waiting for requests").await;
    world.kill();
    world.run().await;
    world.until_job_is(&job, "interrupted").await;
}
