//! `toolgate upstream import`: the servers of another client's configuration, taken into the settings.

mod entry;
mod found;
mod written;

use std::path::Path;

use anyhow::{Context, bail};
use serde_json::{Map, Value, json};

use self::found::Found;
use crate::{Exit, files, printer::Printer, settings::Flags};

/// The file that is written where there are no settings yet.
const DEFAULT_FILE: &str = "toolgate.yaml";

/// An upstream of ours, by its id.
type Taken = (String, Map<String, Value>);

/// Takes them over.
pub fn run(file: &Path, flags: &Flags, as_json: bool, printer: &Printer) -> anyhow::Result<Exit> {
    let shown = file.display();
    let text = files::read(file)?;
    let servers = found::servers(&text).with_context(|| format!("`{shown}`"))?;
    if flags.no_config {
        bail!("--no-config leaves no settings to take servers into");
    }
    let target = flags.file().unwrap_or_else(|| DEFAULT_FILE.into());
    let before = match std::fs::read_to_string(&target) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => bail!("cannot read the settings `{}`: {error}", target.display()),
    };
    let known = written::ids(&before)
        .with_context(|| format!("the settings `{}` cannot be added to", target.display()))?;
    let mut remarks = Vec::new();
    let taken = take(servers, &known, &mut remarks);
    if !taken.is_empty() {
        let after = written::with(&before, &taken)?;
        written::check(&before, &after, &taken)?;
        files::replace(&target, &after)?;
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
        } else if remarks.is_empty() {
            printer.say(format!("`{shown}` names no servers: there is nothing to take"));
        }
    }
    Ok(if ids.is_empty() { Exit::Failed } else { Exit::Ok })
}

/// Those that can be taken; why the others are not is told.
fn take(servers: Vec<Found>, known: &[String], remarks: &mut Vec<String>) -> Vec<Taken> {
    let mut taken: Vec<Taken> = Vec::new();
    for Found { name, entry, folder } in servers {
        let id = id_of(&name);
        if let Some(problem) = upstream::names::id_problem(&id) {
            remarks.push(format!("{name}: not taken: {problem}"));
            continue;
        }
        let mut told = Vec::new();
        let own = match entry::translated(&entry, folder.as_deref(), &mut told) {
            Ok(own) => own,
            Err(why) => {
                remarks.push(format!("{id}: not taken: {why}"));
                continue;
            }
        };
        match taken.iter().find(|(other, _)| *other == id) {
            // The same server in two projects is one.
            Some((_, other)) if *other == own => {}
            Some(_) => remarks.push(format!("{id}: not taken: another one of that name was")),
            None if known.contains(&id) => {
                remarks.push(format!("{id}: not taken: the settings have one of that name"));
            }
            None => {
                remarks.extend(told.into_iter().map(|words| format!("{id}: {words}")));
                taken.push((id, own));
            }
        }
    }
    taken
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
    fn one_name_is_taken_once() {
        let found = |name: &str, command: &str| Found {
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
        let taken = take(all, &["b".to_owned()], &mut remarks);
        assert_eq!(taken.len(), 1);
        assert_eq!(remarks.len(), 3, "{remarks:?}");
    }
}
