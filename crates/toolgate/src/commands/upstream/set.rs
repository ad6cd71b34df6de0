//! `toolgate upstream set`: one key of an upstream.

use anyhow::{Context, bail};
use contract::Document;
use serde_json::{Map, Value, json};

use super::{
    is_known,
    settings_file::{SettingsDraft, SettingsFile},
};
use crate::{
    Exit,
    printer::Printer,
    settings::{FileErrors, Flags, env_file},
};

/// Mappings whose values are texts and may be secrets.
const TEXT_SECTIONS: &[&str] = &["env", "headers"];

/// Sets a key.
pub fn run(
    id: &str,
    assignment: &str,
    flags: &Flags,
    as_json: bool,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let file = SettingsFile::of(flags, "upstream set")?;
    let (key, text) =
        assignment.split_once('=').context("expected `KEY=VALUE`, such as `output=content`")?;
    let keys = keys(key)?;
    if text.trim().is_empty() {
        bail!("`{key}` needs a value; to remove a key, edit `{}`", file.path.display());
    }
    let path: Vec<&str> =
        ["upstreams", id].into_iter().chain(keys.iter().map(String::as_str)).collect();
    let (before, after, variable) = file.change(|draft| {
        is_known(&draft.load()?, Some(id))?;
        let before = draft.value(&path);
        let variable = put(draft, id, &path, text)?;
        Ok((before, draft.value(&path), variable))
    })?;
    // It may have been a secret.
    let is_text = matches!(path[..], [_, _, section, _] if TEXT_SECTIONS.contains(&section));
    let before = before.filter(|_| !is_text);
    if as_json {
        printer.json(&json!({
            "file": file.path, "upstream": id, "key": key, "before": before, "value": after, "variable": variable,
        }));
        return Ok(Exit::Ok);
    }
    let shown = after.map(|value| value.to_string()).unwrap_or_default();
    printer.data(format!("set upstreams.{id}.{key} to {shown} in {}", file.path.display()));
    if let Some(variable) = variable {
        printer.say(format!("the value is in {} as `{variable}`", env_file::NAME));
    }
    printer.say("hint: a running server reloads it");
    Ok(Exit::Ok)
}

/// Sets the value: as YAML, or as the text that it is where the setting is a text. Returns the variable of a secret.
fn put(
    draft: &mut SettingsDraft<'_>,
    id: &str,
    path: &[&str],
    text: &str,
) -> anyhow::Result<Option<String>> {
    if let [_, _, section, name] = path
        && TEXT_SECTIONS.contains(section)
    {
        let mut entry = Map::from_iter([((*section).to_owned(), json!({ *name: text }))]);
        let moved = draft.move_secrets(id, &mut entry)?.pop();
        draft.set(path, &entry[*section][*name])?;
        return Ok(moved.map(|(_, variable)| variable));
    }
    let plain = Value::from(text);
    let value =
        Document::parse("", text).map_or_else(|_| plain.clone(), |yaml| yaml.value().clone());
    let mut tried = draft.clone();
    tried.set(path, &value)?;
    match tried.load() {
        Err(error) if error.is::<FileErrors>() && value != plain => {
            let mut as_text = draft.clone();
            as_text.set(path, &plain)?;
            // The value as it was meant has the better errors.
            tried = if as_text.load().is_ok() { as_text } else { return Err(error) };
        }
        loaded => drop(loaded?),
    }
    *draft = tried;
    Ok(None)
}

/// The keys of `tools.NAME.effects`; a key with dots stands in double quotes.
fn keys(text: &str) -> anyhow::Result<Vec<String>> {
    let mut keys = vec![String::new()];
    let mut quoted = false;
    for one in text.trim().chars() {
        match (one, keys.last_mut()) {
            ('"', _) => quoted = !quoted,
            ('.', _) if !quoted => keys.push(String::new()),
            (_, Some(key)) => key.push(one),
            (_, None) => {}
        }
    }
    if quoted || keys.iter().any(String::is_empty) {
        bail!("`{text}` is not a key such as `output` or `tools.NAME.effects`");
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_divided_by_dots_that_are_not_quoted() {
        assert_eq!(keys("output").unwrap(), ["output"]);
        assert_eq!(keys("tools.\"a.b\".effects").unwrap(), ["tools", "a.b", "effects"]);
        for bad in ["", ".", "a.", "a..b", "\"a"] {
            assert!(keys(bad).is_err(), "{bad}");
        }
    }
}
