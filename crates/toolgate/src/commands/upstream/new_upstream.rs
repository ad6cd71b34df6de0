//! Upstreams that a command adds to the settings, and what it says about each.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{
    look::{self, Look, LookError},
    rejections,
    settings_file::{SettingsDraft, SettingsFile},
};
use crate::{
    printer::{Printer, counted},
    settings::{AllowlistSetting, LoadedSettings, env_file},
};

/// How servers are looked at before they are added.
#[derive(Debug, Clone, clap::Args)]
pub struct LookArguments {
    /// Do not set `output: content`: tools without an output schema stay off
    #[arg(long)]
    strict: bool,
    /// The time that each server gets to start and list its tools, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    timeout: u64,
}

/// An upstream that is not in the settings yet.
pub struct NewUpstream {
    pub id: String,
    /// Its settings.
    pub entry: Map<String, Value>,
    /// What the server lists; nothing if it was not looked at.
    pub look: Option<Result<Look, LookError>>,
    /// Remarks for the person.
    pub remarks: Vec<String>,
    /// The keys of its secrets, each with the variable that holds it now.
    moved: Vec<(String, String)>,
}

impl NewUpstream {
    pub fn new(id: String, entry: Map<String, Value>) -> Self {
        Self { id, entry, look: None, remarks: Vec::new(), moved: Vec::new() }
    }

    fn add_to(&mut self, draft: &mut SettingsDraft<'_>) -> anyhow::Result<()> {
        let mut entry = self.entry.clone();
        self.moved = draft.move_secrets(&self.id, &mut entry)?;
        draft.set(&["upstreams", &self.id], &Value::Object(entry))?;
        Ok(())
    }

    /// The line that says that it was added.
    pub fn line(&self, verb: &str, preposition: &str, file: &SettingsFile<'_>) -> String {
        let tools = match &self.look {
            Some(Ok(look)) => format!(": {}", counted(look.tools, "tool")),
            _ => String::new(),
        };
        format!("{verb} {} {preposition} {}{tools}", self.id, file.path.display())
    }

    pub fn json(&self) -> Value {
        let look = self.look.as_ref();
        let found = look.and_then(|look| look.as_ref().ok());
        let variables: Vec<&String> = self.moved.iter().map(|(_, variable)| variable).collect();
        json!({
            "id": self.id,
            "tools": found.map(|look| look.tools),
            "rejected": found.map(|look| &look.rejected),
            "error": look.and_then(|look| look.as_ref().err()).map(|error| &error.message),
            "output": self.entry.get("output"),
            "variables": variables,
        })
    }

    /// Prints the tools that are not served.
    pub fn show_rejected(&self, printer: &Printer) {
        if let Some(Ok(look)) = &self.look {
            rejections::show(&self.id, &look.rejected, printer);
        }
    }
}

/// Looks at the servers that are enabled, and notes what their settings need.
pub fn look_at(
    file: &SettingsFile<'_>,
    new: &mut [NewUpstream],
    arguments: &LookArguments,
) -> anyhow::Result<()> {
    let mut draft = file.draft()?;
    for one in &mut *new {
        one.add_to(&mut draft)?;
    }
    let is_enabled = |one: &&NewUpstream| one.entry.get("enabled") != Some(&Value::Bool(false));
    let ids: Vec<String> = new.iter().filter(is_enabled).map(|one| one.id.clone()).collect();
    let mut looks = look::look(&draft, &ids, Duration::from_secs(arguments.timeout))?;
    for one in new {
        one.look = looks.remove(&one.id);
        if let Some(Ok(look)) = &mut one.look
            && !arguments.strict
        {
            one.remarks.extend(look.accept_content(&mut one.entry));
        }
    }
    Ok(())
}

/// Adds the upstreams to the settings file; those whose id is taken meanwhile are left out and returned.
pub fn write(file: &SettingsFile<'_>, new: &mut Vec<NewUpstream>) -> anyhow::Result<Vec<String>> {
    if new.is_empty() {
        return Ok(Vec::new());
    }
    let mut taken = Vec::new();
    file.change(|draft| {
        let before = draft.load()?;
        new.retain(|one| {
            let is_taken = before.settings.upstreams.contains_key(&one.id);
            taken.extend(is_taken.then(|| one.id.clone()));
            !is_taken
        });
        for one in &mut *new {
            one.add_to(draft)?;
            if let Some(remark) = not_allowed(&before, &one.id) {
                one.remarks.push(remark);
            }
        }
        Ok(())
    })?;
    for one in new {
        for (place, variable) in &one.moved {
            one.remarks.push(format!(
                "`{place}` looks like a secret; its value is in `{}` as `{variable}`",
                env_file::NAME
            ));
        }
    }
    Ok(taken)
}

/// What to do if the allowlist does not name an upstream.
fn not_allowed(loaded: &LoadedSettings, id: &str) -> Option<String> {
    match loaded.settings.allowlist.as_ref()? {
        AllowlistSetting::Here(list) if list.contains_key(id) => None,
        _ => Some(format!(
            "none of its tools can be called until `allowlist` names it, as in `allowlist: {{ {id}: \"*\" }}`"
        )),
    }
}
