//! `toolgate upstream import`: copies the servers of another client's configuration into the settings.

mod client_config;
pub mod client_entry;

use std::path::Path;

use anyhow::Context;
use serde_json::{Value, json};

use self::client_config::ClientServer;
use super::{
    new_upstream::{self, LookArguments, NewUpstream},
    settings_file::SettingsFile,
};
use crate::{
    Exit, files,
    printer::{Printer, shortened},
    settings::Flags,
};

/// The most servers that are imported at once.
const MAX_SERVERS: usize = 256;
/// The most characters of a name that cannot be an id that are shown.
const MAX_SHOWN_CHARACTERS: usize = 64;

/// Imports the servers of a file.
pub fn run(
    file: &Path,
    arguments: &LookArguments,
    flags: &Flags,
    as_json: bool,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let shown = file.display().to_string();
    let settings = SettingsFile::of(flags, "upstream import")?;
    let servers = client_config::servers(&shown, &files::read(file)?)
        .with_context(|| format!("`{shown}`"))?;
    if servers.len() > MAX_SERVERS {
        anyhow::bail!(
            "`{shown}` has {} servers; at most {MAX_SERVERS} are imported",
            servers.len()
        );
    }
    let loaded = settings.draft()?.load()?;
    let known: Vec<String> = loaded.settings.upstreams.keys().cloned().collect();
    let mut remarks = Vec::new();
    let mut new = convert(servers, &known, &mut remarks);
    if !new.is_empty() {
        new_upstream::look_at(&settings, &mut new, arguments)?;
        let taken = new_upstream::write(&settings, &mut new)?;
        remarks.extend(taken.iter().map(|id| is_taken(id)));
    }
    for one in &new {
        if let Some(Err(error)) = &one.look {
            remarks.push(format!("{}: cannot be reached yet: {}", one.id, error.message));
        }
        remarks.extend(one.remarks.iter().map(|words| format!("{}: {words}", one.id)));
    }
    if as_json {
        let ids: Vec<&String> = new.iter().map(|one| &one.id).collect();
        let upstreams: Vec<Value> = new.iter().map(NewUpstream::json).collect();
        printer.json(
            &json!({ "file": settings.path, "taken": ids, "upstreams": upstreams, "remarks": remarks }),
        );
    } else {
        for one in &new {
            printer.data(one.line("imported", "into", &settings));
        }
        for one in &new {
            one.show_rejected(printer);
        }
        for remark in &remarks {
            printer.say(remark);
        }
        if !new.is_empty() {
            printer.say("hint: check them with `toolgate upstream list`");
        } else if remarks.is_empty() {
            printer.say(format!("`{shown}` has no servers: nothing to import"));
        }
    }
    Ok(if new.is_empty() { Exit::Failed } else { Exit::Ok })
}

fn is_taken(id: &str) -> String {
    format!("{id}: not imported: the settings have an upstream with this id")
}

/// The servers that can be imported; a remark says why the others are not.
fn convert(
    servers: Vec<ClientServer>,
    known: &[String],
    remarks: &mut Vec<String>,
) -> Vec<NewUpstream> {
    let mut taken: Vec<NewUpstream> = Vec::new();
    for ClientServer { name, entry, folder } in servers {
        let id = id_of(&name);
        if let Some(problem) = upstream::names::id_problem(&id) {
            let name = shortened(&name, MAX_SHOWN_CHARACTERS);
            remarks.push(format!("`{name}`: not imported: {problem}"));
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
        match taken.iter().find(|other| other.id == id) {
            // The same server in two projects is one.
            Some(other) if other.entry == own => {}
            Some(_) => remarks
                .push(format!("{id}: not imported: another server in the file has the same id")),
            None if known.contains(&id) => remarks.push(is_taken(&id)),
            None => {
                let mut new = NewUpstream::new(id, own);
                new.remarks = told;
                taken.push(new);
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
