//! `toolgate upstream add`: one server, by its command or its URL.

use anyhow::{Context, bail};
use clap::Args;
use serde_json::{Map, Value, json};

use super::{
    import::client_entry,
    new_upstream::{self, LookArguments, NewUpstream},
    settings_file::SettingsFile,
};
use crate::{Exit, printer::Printer, settings::Flags};

#[derive(Debug, Args)]
#[command(
    override_usage = "toolgate upstream add <NAME> <URL>\n       toolgate upstream add <NAME> -- <COMMAND>..."
)]
pub struct AddArguments {
    /// Its id: 1 to 32 letters, digits, `_` and `-`
    name: String,
    /// The URL of a server; a program comes after `--` instead
    #[arg(conflicts_with = "command")]
    url: Option<String>,
    /// HTTP header of every request, such as 'Authorization: Bearer ...'; repeatable
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// Environment variable of the program; repeatable
    #[arg(long = "env", value_name = "NAME=VALUE")]
    env: Vec<String>,
    #[command(flatten)]
    look: LookArguments,
    /// The program that is the server, and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Adds a server that can be reached.
pub fn run(
    arguments: &AddArguments,
    flags: &Flags,
    as_json: bool,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let id = &arguments.name;
    if let Some(problem) = upstream::names::id_problem(id) {
        bail!("`{id}` cannot be the id of an upstream: {problem}");
    }
    let file = SettingsFile::of(flags, "upstream add")?;
    let loaded = file.draft()?.load()?;
    if loaded.settings.upstreams.contains_key(id) {
        bail!("{}", taken(id, &file));
    }
    let entry = arguments.entry(&file)?;
    client_entry::check(&entry).map_err(anyhow::Error::msg)?;
    let mut new = vec![NewUpstream::new(id.clone(), entry)];
    new_upstream::look_at(&file, &mut new, &arguments.look)?;
    if let Some(Err(error)) = &new[0].look {
        printer.error(&anyhow::anyhow!("`{id}` was not added: {}", error.message));
        printer.say(format!("hint: {}", error.hint()));
        return Ok(Exit::Unknown);
    }
    if !new_upstream::write(&file, &mut new)?.is_empty() {
        bail!("{}", taken(id, &file));
    }
    for one in &new {
        if as_json {
            let mut shown = one.json();
            shown["file"] = json!(file.path);
            shown["remarks"] = json!(one.remarks);
            printer.json(&shown);
            continue;
        }
        printer.data(one.line("added", "to", &file));
        one.show_rejected(printer);
        for remark in &one.remarks {
            printer.say(format!("{id}: {remark}"));
        }
    }
    Ok(Exit::Ok)
}

fn taken(id: &str, file: &SettingsFile<'_>) -> String {
    format!(
        "`{}` already has an upstream `{id}`; choose another name, or change it with `toolgate upstream set {id} KEY=VALUE`",
        file.path.display()
    )
}

impl AddArguments {
    /// The settings of the upstream.
    fn entry(&self, file: &SettingsFile<'_>) -> anyhow::Result<Map<String, Value>> {
        let mut entry = Map::new();
        if let Some(url) = &self.url {
            if !url.contains("://") && !url.contains("${") {
                bail!(
                    "`{url}` is not an http or https URL; for a program write `toolgate upstream add {} -- {url} ...`",
                    self.name
                );
            }
            if !self.env.is_empty() {
                bail!("--env needs a program; use --header with a URL");
            }
            entry.insert("url".into(), json!(url));
            self.put_pairs(&mut entry, "headers", &self.headers, "--header", ':')?;
        } else {
            if !self.headers.is_empty() {
                bail!("--header needs a URL; use --env with a program");
            }
            let Some((program, arguments)) = self.command.split_first() else {
                bail!("name the URL of the server, or its program after `--`");
            };
            entry.insert("command".into(), json!(program));
            if !arguments.is_empty() {
                entry.insert("args".into(), json!(arguments));
            }
            self.put_pairs(&mut entry, "env", &self.env, "--env", '=')?;
            // It starts in the folder of the settings, and its command was written here.
            let here = std::env::current_dir().context("cannot find the current directory")?;
            let folder = file.path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.map(std::path::Path::canonicalize).transpose()?;
            if folder.is_some_and(|folder| folder != here) {
                entry.insert("cwd".into(), json!(here));
            }
        }
        Ok(entry)
    }

    /// Adds a mapping of names and values, if there are any.
    fn put_pairs(
        &self,
        entry: &mut Map<String, Value>,
        key: &str,
        pairs: &[String],
        option: &str,
        separator: char,
    ) -> anyhow::Result<()> {
        let mut values = Map::new();
        for pair in pairs {
            let (name, value) = pair
                .split_once(separator)
                .map(|(name, value)| (name.trim(), value.trim()))
                .filter(|(name, _)| !name.is_empty())
                .with_context(|| {
                    let space = if separator == ':' { " " } else { "" };
                    format!("{option} needs the form `NAME{separator}{space}VALUE`")
                })?;
            if values.insert(name.to_owned(), json!(value)).is_some() {
                bail!("{option} {name} is there twice");
            }
        }
        if !values.is_empty() {
            entry.insert(key.to_owned(), Value::Object(values));
        }
        Ok(())
    }
}
