//! Environment variables that look like settings and are not.

use contract::{Diagnostic, Severity};
use serde_json::Value;

use super::{LoadedSettings, load::PREFIX, reference::resolve, schema};
use crate::wiring::BoundTool;

/// Variables with names of their own.
const NAMED: [&str; 3] = ["TOOLGATE_CONFIG", "TOOLGATE_LISTEN", "TOOLGATE_DATA_DIR"];

/// Warnings about variables that do nothing. A name with `__` is a setting, and an unknown one was refused before;
/// one that the settings or a contract mention is the operator's own.
pub fn unknown(loaded: &LoadedSettings, bound: &[BoundTool]) -> Vec<Diagnostic> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let passed_on = |name: &str| {
        let entries = bound.iter().flat_map(|one| &one.contract.env);
        entries.map(|entry| entry.split('=').next().unwrap_or_default()).any(|one| one == name)
    };
    let is_unknown = |name: &String| {
        name.strip_prefix(PREFIX).is_some_and(|path| !path.contains("__"))
            && !NAMED.contains(&name.as_str())
            && !loaded.mentions(name)
            && !passed_on(name)
    };
    let mut names: Vec<String> = names.filter(is_unknown).collect();
    if names.is_empty() {
        return Vec::new();
    }
    names.sort();
    let known = known();
    let warnings = names.iter().map(|name| {
        let message = format!("the environment variable `{name}` is not a setting");
        let found = Diagnostic::new(Severity::Warning, "environment", &"".into(), 0..0, message);
        match meant(name, &known) {
            Some(near) => found.hint(format!("did you mean `{near}`?")),
            None => {
                found.hint("the setting `server.listen`, for example, is `TOOLGATE_SERVER__LISTEN`")
            }
        }
    });
    warnings.collect()
}

/// The name that was probably meant: most often a `_` is missing. The common prefix does not count.
fn meant<'a>(name: &str, known: &'a [String]) -> Option<&'a str> {
    let plain = |name: &str| name.replace("__", "_").to_uppercase();
    let own = |name: &'a String| name.strip_prefix(PREFIX).unwrap_or(name);
    let wanted = plain(name);
    let same = known.iter().find(|one| plain(one) == wanted);
    let near = || {
        let near = contract::nearest(wanted.strip_prefix(PREFIX)?, known.iter().map(own))?;
        known.iter().find(|one| own(one) == near)
    };
    same.or_else(near).map(String::as_str)
}

/// The names of all settings.
fn known() -> Vec<String> {
    let schema = schema();
    let mut all: Vec<String> = NAMED.iter().map(|name| (*name).to_owned()).collect();
    for (name, section) in schema["properties"].as_object().into_iter().flatten() {
        let prefix = format!("{PREFIX}{}", name.to_uppercase());
        below(resolve(section, &schema), &schema, &prefix, &mut all);
    }
    all
}

/// Adds the names of a section and of those in it.
fn below(section: &Value, root: &Value, prefix: &str, all: &mut Vec<String>) {
    for (name, property) in section["properties"].as_object().into_iter().flatten() {
        let name = format!("{prefix}__{}", name.to_uppercase());
        below(resolve(property, root), root, &name, all);
        all.push(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_that_was_meant_is_found() {
        let known = known();
        for (name, expected) in [
            ("TOOLGATE_LLM_BASE_URL", Some("TOOLGATE_LLM__BASE_URL")),
            ("TOOLGATE_SERVER_MAX_BODY_BYTES", Some("TOOLGATE_SERVER__MAX_BODY_BYTES")),
            ("TOOLGATE_TOOLS_SEARCH_PROVIDER", Some("TOOLGATE_TOOLS__SEARCH__PROVIDER")),
            ("TOOLGATE_CONFG", Some("TOOLGATE_CONFIG")),
            ("TOOLGATE_DATADIR", Some("TOOLGATE_DATA_DIR")),
            ("TOOLGATE_FOO", None),
            ("TOOLGATE_HOME", None),
        ] {
            assert_eq!(meant(name, &known), expected, "{name}");
        }
    }
}
