//! Other people's MCP servers behind the gate: admitted, pinned, enforced both ways.

mod add;
mod adopt;
mod announced;
mod content;
mod gates;
mod hostile;
mod import;
mod life;
mod lock;
mod names;
mod overlays;
mod policy;
mod presets;
mod probe;
mod questions;
mod relayed;
mod resources;
mod secrets;
mod soak;
mod start;
mod terminal;
mod texts;
mod trust;
mod unresolved;

use std::ops::{Deref, DerefMut};

use serde_json::{Value, json};
use testkit::{World, texts};

/// The server that says what a file tells it to.
pub const SCRIPTED: &str = include_str!("upstreams/scripted.py");

/// A set-up with scripted upstreams, not started yet. They work in a folder of their own: beside the settings they could
/// make no files.
pub struct Upstreams {
    world: World,
}

impl Deref for Upstreams {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

impl DerefMut for Upstreams {
    fn deref_mut(&mut self) -> &mut World {
        &mut self.world
    }
}

impl Upstreams {
    /// With these scripts, by id, and more settings.
    pub fn new(scripts: &[(&str, Value)], more: &str) -> Self {
        Self::with(
            &scripts.iter().map(|(id, script)| (*id, script.clone(), "")).collect::<Vec<_>>(),
            more,
        )
    }

    /// The same with settings of each upstream.
    pub fn with(scripts: &[(&str, Value, &str)], more: &str) -> Self {
        let mut settings = String::from("tools: { enable: [] }\nupstreams:\n");
        for (id, _, own) in scripts {
            settings += &format!(
                "  {id}: {{ command: python3, args: [scripted.py, {id}.json], cwd: ./servers{}{own} }}\n",
                if own.is_empty() { "" } else { ", " }
            );
        }
        let world = Self { world: World::new(crate::BINARY, &(settings + more)) };
        world.write("servers/scripted.py", SCRIPTED);
        for (id, script, _) in scripts {
            world.script(id, script);
        }
        world
    }

    /// Tells an upstream what to say from now on. The file is replaced as a whole: the server may be
    /// reading it.
    pub fn script(&self, id: &str, script: &Value) {
        self.world.write(&format!("servers/{id}.json.new"), &script.to_string());
        let folder = self.world.folder().join("servers");
        std::fs::rename(folder.join(format!("{id}.json.new")), folder.join(format!("{id}.json")))
            .unwrap();
    }

    /// The processes of the upstreams that run, without their supervisors, which have the same words
    /// behind their own.
    pub fn children(&self) -> Vec<u32> {
        let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let folder = self.world.folder().join("servers");
        let ours = entries.filter_map(|entry| {
            let words = std::fs::read(entry.path().join("cmdline")).ok()?;
            let words = String::from_utf8_lossy(&words).into_owned();
            let there = std::fs::read_link(entry.path().join("cwd")).ok()? == folder;
            let ours = there && words.contains("\0scripted.py\0") && !words.contains("__supervise");
            ours.then(|| entry.file_name().to_str()?.parse().ok()).flatten()
        });
        ours.collect()
    }

    /// Waits until an upstream has written this file.
    pub async fn wait_for_file(&self, name: &str) {
        let name = &format!("servers/{name}");
        testkit::eventually(&format!("`{name}` is there"), async || self.has(name)).await;
    }

    /// Pins the tools as they are.
    pub fn pinned(self) -> Self {
        self.world.cli("lock").exits(0);
        self
    }

    /// Starts the server.
    pub async fn started(mut self) -> Self {
        self.world.run().await;
        self
    }

    /// The names of all tools that are listed.
    pub async fn listed(&self) -> Vec<String> {
        texts(&self.get("/v1/tools").await.json()["tools"], "name")
    }
}

/// A tool that gives back a text under its own name.
pub fn tool(name: &str) -> Value {
    let text = json!({ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] });
    json!({ "name": name, "description": format!("Does {name}."), "inputSchema": text, "outputSchema": text })
}

/// A good answer.
pub fn said(text: &str) -> Value {
    json!({ "result": { "content": [{ "type": "text", "text": text }], "structuredContent": { "text": text },
        "isError": false } })
}

/// A script with one tool that always gives the same answer.
pub fn one(name: &str, answer: &Value) -> Value {
    json!({ "tools": [tool(name)], "answers": { name: { "*": answer } } })
}
