//! `toolgate upstream import`: the servers of another client's configuration, taken into the settings.

use std::{io::Write, path::Path};

use anyhow::{Context, bail};
use serde_json::{Map, Value, json};

use crate::{Answer, printer::Printer, settings::Flags};

/// The largest file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 4 << 20;
/// The file that is written where there are no settings yet.
const DEFAULT_FILE: &str = "toolgate.yaml";
/// What another client's entry may have that means the same here.
const SAME: &[&str] = &["command", "args", "env", "cwd", "url", "headers", "type"];

/// Takes them over.
pub fn run(file: &Path, flags: &Flags, as_json: bool, printer: &Printer) -> anyhow::Result<Answer> {
    let shown = file.display();
    let size = std::fs::metadata(file).with_context(|| format!("cannot read `{shown}`"))?.len();
    if size > MAX_FILE_BYTES {
        bail!("`{shown}` has more than {MAX_FILE_BYTES} bytes");
    }
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read `{shown}`"))?;
    let whole: Value =
        serde_json::from_str(&text).with_context(|| format!("`{shown}` is no JSON"))?;
    let servers = ["mcpServers", "servers"].iter().find_map(|key| whole.get(*key)?.as_object());
    let Some(servers) = servers else { bail!("`{shown}` has neither `mcpServers` nor `servers`") };
    let target = flags.file().unwrap_or_else(|| DEFAULT_FILE.into());
    let before = match std::fs::read_to_string(&target) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => bail!("cannot read the settings `{}`: {error}", target.display()),
    };
    let known = known(&before);
    let mut taken = Vec::new();
    let mut remarks = Vec::new();
    for (name, entry) in servers {
        let id = id_of(name);
        if let Some(problem) = upstream::names::id_problem(&id) {
            remarks.push(format!("{name}: not taken: {problem}"));
        } else if known.contains(&id) || taken.iter().any(|(other, _)| *other == id) {
            remarks.push(format!("{id}: not taken: the settings have one of that name"));
        } else {
            match translated(&id, entry, &mut remarks) {
                Some(own) => taken.push((id, own)),
                None => remarks.push(format!("{id}: not taken: it has no command and no url")),
            }
        }
    }
    if !taken.is_empty() {
        let after = with(&before, &taken)?;
        check(&after, &taken)?;
        replace(&target, &after)
            .with_context(|| format!("cannot write the settings `{}`", target.display()))?;
    }
    let ids: Vec<&String> = taken.iter().map(|(id, _)| id).collect();
    if as_json {
        printer.json(&json!({ "file": target, "taken": ids, "remarks": remarks }));
    } else {
        for id in &ids {
            printer.data(format!("took {id} into {}", target.display()));
        }
        for remark in &remarks {
            printer.say(remark);
        }
        if !ids.is_empty() {
            printer.say("see how they are with `toolgate upstream list`");
        }
    }
    Ok(if ids.is_empty() { Answer::No } else { Answer::Yes })
}

/// Another client's name as an id: what cannot stand in one becomes a dash.
fn id_of(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let id: String = name.chars().map(|c| if fits(c) { c } else { '-' }).collect();
    let mut id = id.trim_matches(['-', '_']).to_owned();
    while id.contains("__") {
        id = id.replace("__", "_");
    }
    id
}

/// The ids that the settings have already.
fn known(text: &str) -> Vec<String> {
    let Ok(document) = contract::Document::parse("settings", text) else { return Vec::new() };
    let upstreams = document.value().get("upstreams").and_then(Value::as_object);
    upstreams.map(|all| all.keys().cloned().collect()).unwrap_or_default()
}

/// An entry of another client as one of ours.
fn translated(id: &str, entry: &Value, remarks: &mut Vec<String>) -> Option<Map<String, Value>> {
    let entry = entry.as_object()?;
    let mut own = Map::new();
    for (key, value) in entry {
        match (key.as_str(), value) {
            ("type", Value::String(kind)) => match kind.as_str() {
                "streamableHttp" | "streamable-http" => {
                    own.insert("type".into(), json!("streamable-http"));
                }
                "stdio" | "http" | "sse" => {
                    own.insert("type".into(), value.clone());
                }
                other => remarks.push(format!("{id}: the type `{other}` was left out")),
            },
            ("serverUrl" | "httpUrl", value) => {
                own.insert("url".into(), value.clone());
            }
            ("disabled", Value::Bool(disabled)) => {
                if *disabled {
                    own.insert("enabled".into(), json!(false));
                }
            }
            (same, value) if SAME.contains(&same) => {
                own.insert(same.to_owned(), value.clone());
            }
            (other, _) => {
                remarks.push(format!("{id}: `{other}` means nothing here and was left out"));
            }
        }
    }
    for section in ["env", "headers"] {
        for (name, value) in own.get(section).and_then(Value::as_object).into_iter().flatten() {
            let text = value.as_str().unwrap_or_default();
            if looks_secret(name) && !text.contains("${") {
                remarks.push(format!(
                    "{id}: `{section}.{name}` looks like a secret; put it into the environment and write \
                     `${{NAME}}` here"
                ));
            }
        }
    }
    (own.contains_key("command") || own.contains_key("url")).then_some(own)
}

fn looks_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["key", "token", "secret", "password", "authorization"].iter().any(|word| name.contains(word))
}

/// The settings with more upstreams in them. Comments and order stay as they are.
fn with(before: &str, taken: &[(String, Map<String, Value>)]) -> anyhow::Result<String> {
    let mut lines: Vec<String> = before.lines().map(str::to_owned).collect();
    let block: Vec<String> =
        taken.iter().map(|(id, own)| format!("  {id}: {}", Value::Object(own.clone()))).collect();
    match lines.iter().position(|line| line.starts_with("upstreams:")) {
        None => {
            if lines.last().is_some_and(|line| !line.trim().is_empty()) {
                lines.push(String::new());
            }
            lines.push("upstreams:".into());
            lines.extend(block);
        }
        Some(at) => {
            let rest = lines[at]["upstreams:".len()..].split('#').next().unwrap_or_default().trim();
            if rest == "{}" || rest == "null" {
                lines[at] = "upstreams:".into();
            } else if !rest.is_empty() {
                bail!(
                    "`upstreams` stands on one line in the settings; give it lines of its own first"
                );
            }
            let indent = lines[at + 1..]
                .iter()
                .find(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
                .map_or(0, |line| line.len() - line.trim_start().len());
            let shift = " ".repeat(if indent == 0 { 2 } else { indent });
            let block = block.iter().map(|line| format!("{shift}{}", line.trim_start()));
            lines.splice(at + 1..=at, block);
        }
    }
    Ok(lines.join("\n") + "\n")
}

/// What is written has to be what was meant.
fn check(text: &str, taken: &[(String, Map<String, Value>)]) -> anyhow::Result<()> {
    let document = contract::Document::parse("the new settings", text).map_err(|one| {
        anyhow::anyhow!("the servers cannot be added to the settings: {}", one.message)
    })?;
    for (id, own) in taken {
        let written = document.value().pointer(&format!("/upstreams/{id}"));
        if written != Some(&Value::Object(own.clone())) {
            bail!("`{id}` cannot be added to the settings by itself; paste it under `upstreams`");
        }
    }
    Ok(())
}

/// Replaces the file as a whole, with the rights that it had.
fn replace(target: &Path, text: &str) -> std::io::Result<()> {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    if let Ok(metadata) = std::fs::metadata(target) {
        file.as_file().set_permissions(metadata.permissions())?;
    }
    file.persist(target).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken() -> Vec<(String, Map<String, Value>)> {
        let own =
            json!({ "command": "npx", "args": ["-y", "a: b", "{x}"], "env": { "A": "${B}" } });
        vec![("docs".into(), own.as_object().unwrap().clone())]
    }

    #[test]
    fn entries_are_added_and_the_rest_stays() {
        for before in [
            "",
            "# mine\nserver: { listen: \"127.0.0.1:1\" }",
            "upstreams:\n  # the first\n  one: { command: x }\nserver: {}\n",
            "upstreams:\n    one:\n        command: x\n",
            "upstreams: {}\n",
            "upstreams:\n",
        ] {
            let after = with(before, &taken()).unwrap();
            check(&after, &taken()).unwrap_or_else(|error| panic!("{error}\n{after}"));
            assert_eq!(after.contains("# mine"), before.contains("# mine"));
            let ids = known(&after);
            assert_eq!(ids.contains(&"one".to_owned()), before.contains("one:"), "{after}");
        }
        assert!(with("upstreams: { one: { command: x } }\n", &taken()).is_err());
    }

    #[test]
    fn names_become_ids() {
        for (name, id) in
            [("GitHub", "GitHub"), ("my server", "my-server"), ("a__b", "a_b"), ("@x/y", "x-y")]
        {
            assert_eq!(id_of(name), id);
            assert_eq!(upstream::names::id_problem(id), None);
        }
    }
}
