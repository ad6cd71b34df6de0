//! `toolgate upstream import`: copies the servers of another client's configuration into the settings.

mod client_config;
mod client_entry;
mod settings_text;

use std::path::Path;

use anyhow::{Context, bail};
use serde_json::{Map, Value, json};

use self::client_config::ClientServer;
use crate::{Exit, files, printer::Printer, settings::Flags};

/// The settings file that is created where there is none.
const DEFAULT_FILE: &str = "toolgate.yaml";

/// An imported upstream: its id and its settings.
type ImportedUpstream = (String, Map<String, Value>);

/// Imports the servers of a file.
pub fn run(file: &Path, flags: &Flags, as_json: bool, printer: &Printer) -> anyhow::Result<Exit> {
    let shown = file.display();
    let text = files::read(file)?;
    let servers = client_config::servers(&text).with_context(|| format!("`{shown}`"))?;
    if flags.no_config {
        bail!(
            "`--no-config` cannot be used with `upstream import`: the servers are written to the settings"
        );
    }
    let target = flags.file().unwrap_or_else(|| DEFAULT_FILE.into());
    let before = match files::read_document_text(&target) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => bail!("cannot read the settings `{}`: {error}", target.display()),
    };
    let known = settings_text::ids(&before)
        .with_context(|| format!("cannot add to the settings `{}`", target.display()))?;
    let mut remarks = Vec::new();
    let taken = convert(servers, &known, &mut remarks);
    if !taken.is_empty() {
        let after = settings_text::with(&before, &taken)?;
        settings_text::check(&before, &after, &taken)?;
        files::replace(&target, &after)?;
    }
    let ids: Vec<&String> = taken.iter().map(|(id, _)| id).collect();
    if as_json {
        printer.json(&json!({ "file": target, "taken": ids, "remarks": remarks }));
    } else {
        for id in &ids {
            printer.data(format!("imported {id} into {}", target.display()));
        }
        for remark in &remarks {
            printer.say(remark);
        }
        if !ids.is_empty() {
            printer.say("hint: check them with `toolgate upstream list`");
        } else if remarks.is_empty() {
            printer.say(format!("`{shown}` has no servers: nothing to import"));
        }
    }
    Ok(if ids.is_empty() { Exit::Failed } else { Exit::Ok })
}

/// The servers that can be imported; a remark says why the others are not.
fn convert(
    servers: Vec<ClientServer>,
    known: &[String],
    remarks: &mut Vec<String>,
) -> Vec<ImportedUpstream> {
    let mut taken: Vec<ImportedUpstream> = Vec::new();
    for ClientServer { name, entry, folder } in servers {
        let id = id_of(&name);
        if let Some(problem) = upstream::names::id_problem(&id) {
            remarks.push(format!("{name}: not imported: {problem}"));
            continue;
        }
        let mut told = Vec::new();
        let own = match client_entry::translate(&entry, folder.as_deref(), &mut told) {
            Ok(own) => own,
            Err(why) => {
                remarks.push(format!("{id}: not imported: {why}"));
                continue;
            }
        };
        match taken.iter().find(|(other, _)| *other == id) {
            // The same server in two projects is one.
            Some((_, other)) if *other == own => {}
            Some(_) => remarks
                .push(format!("{id}: not imported: another server in the file has the same id")),
            None if known.contains(&id) => {
                remarks.push(format!(
                    "{id}: not imported: the settings have an upstream with this id"
                ));
            }
            None => {
                remarks.extend(told.into_iter().map(|words| format!("{id}: {words}")));
                taken.push((id, own));
            }
        }
    }
    taken
}

/// Another client's name as an id: characters that an id cannot have become dashes.
fn id_of(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let id: String = name.chars().map(|c| if fits(c) { c } else { '-' }).collect();
    let mut id = id.trim_matches(['-', '_']).to_owned();
    while id.contains("__") {
        id = id.replace("__", "_");
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_ids() {
        for (name, id) in
            [("GitHub", "GitHub"), ("my server", "my-server"), ("a__b", "a_b"), ("@x/y", "x-y")]
        {
            assert_eq!(id_of(name), id);
            assert_eq!(upstream::names::id_problem(id), None);
        }
    }

    #[test]
    fn one_id_is_imported_once() {
        let found = |name: &str, command: &str| ClientServer {
            name: name.into(),
            entry: json!({ "command": command }),
            folder: None,
        };
        let mut remarks = Vec::new();
        let all = vec![
            found("a", "x"),
            found("a", "x"),
            found("a", "y"),
            found("b", "x"),
            found("é", "x"),
        ];
        let taken = convert(all, &["b".to_owned()], &mut remarks);
        assert_eq!(taken.len(), 1);
        assert_eq!(remarks.len(), 3, "{remarks:?}");
    }
}
