//! Tools of the user's own that are known and not served: their contract has an error, or their toolset is switched off.
//!
//! The name of a contract that is left out stays taken. Nothing else is served under it, neither a built-in tool nor one
//! of an upstream, and no other spelling leads elsewhere: a caller who means this tool reaches this tool or none.

use std::{collections::HashMap, path::Path};

use contract::{Contract, Diagnostic, Severity, codes};
use gate::WithheldTool;

use crate::settings::FileErrors;

/// The longest name of a tool, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// A contract that is not served, because something is wrong with it.
#[derive(Debug, Clone)]
pub struct LeftOutContract {
    /// Its file.
    pub file: String,
    /// The name of its tool, or the name of the file if there is none to be read.
    pub name: String,
    /// True if the file says the name.
    pub is_named: bool,
    /// Its toolset, if there is one to be read.
    pub toolset: Option<String>,
    /// Everything that is wrong with it; at least one is an error.
    pub diagnostics: Vec<Diagnostic>,
}

impl LeftOutContract {
    /// A file whose text is no contract.
    pub fn of_text(file: &Path, text: &str, diagnostics: Vec<Diagnostic>) -> Self {
        let said = value_of("name", text);
        let stem = || file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Self {
            file: file.display().to_string(),
            is_named: said.is_some(),
            name: said.unwrap_or_else(stem),
            toolset: value_of("toolset", text),
            diagnostics,
        }
    }

    /// A contract that is sound and cannot be served.
    pub fn of_contract(file: &str, contract: &Contract, diagnostics: Vec<Diagnostic>) -> Self {
        Self {
            file: file.to_owned(),
            name: contract.name.clone(),
            is_named: true,
            toolset: Some(contract.toolset.clone()),
            diagnostics,
        }
    }

    /// The first error, in one line.
    pub fn reason(&self) -> String {
        let first = self.diagnostics.iter().find(|one| one.severity == Severity::Error);
        let message = first.map_or("it has an error", |one| one.message.as_str());
        match first.map(|one| one.line).filter(|_| first.is_some_and(Diagnostic::has_text)) {
            Some(line) => format!("line {line}: {message}"),
            None => message.to_owned(),
        }
    }

    /// What an operator is told at every start.
    pub fn warning(&self) -> String {
        let Self { file, name, .. } = self;
        let reason = self.reason();
        format!("warning: `{file}` is left out, so the tool `{name}` is not served: {reason}")
    }
}

/// The text behind a key at the beginning of a line, if it is a name.
pub fn value_of(key: &str, text: &str) -> Option<String> {
    let value = text.lines().find_map(|line| {
        let line = line.trim_start_matches('\u{feff}').trim_start_matches(['"', '\'']);
        let rest = line.strip_prefix(key)?.trim_start_matches(['"', '\'']).trim_start();
        rest.strip_prefix(':')
    })?;
    let value = value.split(" #").next().unwrap_or_default();
    let value = value.trim().trim_end_matches(',').trim_matches(['"', '\'']);
    let fits = |one: char| one.is_ascii_alphanumeric() || "_.-".contains(one);
    let is_name = !value.is_empty() && value.len() <= MAX_NAME_BYTES && value.chars().all(fits);
    is_name.then(|| value.to_owned())
}

/// A tool that the settings switch off.
#[derive(Debug, Clone)]
pub struct SwitchedOffTool {
    pub name: String,
    pub toolset: String,
    /// The setting that does not name the toolset.
    pub setting: &'static str,
}

/// All of them.
#[derive(Debug, Clone, Default)]
pub struct AbsentTools {
    pub left_out: Vec<LeftOutContract>,
    pub switched_off: Vec<SwitchedOffTool>,
}

impl AbsentTools {
    /// Everything that is wrong with the contracts that are left out.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.left_out.iter().flat_map(|one| one.diagnostics.clone()).collect()
    }

    /// Refuses contracts with errors.
    pub fn require_none_left_out(&self) -> anyhow::Result<()> {
        if self.left_out.is_empty() { Ok(()) } else { Err(FileErrors(self.diagnostics()).into()) }
    }

    /// True if a contract that is left out has this name.
    pub fn takes(&self, name: &str) -> bool {
        self.left_out.iter().any(|one| one.name == name)
    }

    /// True if a contract that is left out is of this toolset.
    pub fn has_toolset(&self, toolset: &str) -> bool {
        self.left_out.iter().any(|one| one.toolset.as_deref() == Some(toolset))
    }

    /// The responses to calls of the contracts that are left out. They tell nothing of the file: callers read them.
    pub fn withheld(&self) -> HashMap<String, WithheldTool> {
        let withheld = |one: &LeftOutContract| {
            let message = format!(
                "the contract of `{}` has errors, so it is not served; `toolgate config check` shows them to the operator",
                one.name
            );
            let toolset = one.toolset.clone().unwrap_or_default();
            let withheld = WithheldTool {
                toolset,
                code: codes::UNAVAILABLE,
                message,
                reason: "broken_contract",
            };
            (one.name.clone(), withheld)
        };
        self.left_out.iter().map(withheld).collect()
    }

    /// What an operator can do to have this tool served, if it is one of these.
    pub fn hint(&self, name: &str) -> Option<String> {
        if let Some(one) = self.left_out.iter().find(|one| one.name == name) {
            let reason = one.reason();
            return Some(format!("correct its contract `{}`: {reason}", one.file));
        }
        let off = self.switched_off.iter().find(|one| one.name == name)?;
        Some(format!("add `{}` to `{}` in the settings", off.toolset, off.setting))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_broken_files() {
        for (text, name) in [
            ("name: a_b.c-d\n: [", Some("a_b.c-d")),
            ("# name: x\n\u{feff}name: \"a\" # note\n", Some("a")),
            ("{\n\"name\": \"a\",\n", Some("a")),
            ("description: x\n  name: inner\n", None),
            ("name: a b\n", None),
            ("names: a\n", None),
            ("name:\n", None),
        ] {
            let found = LeftOutContract::of_text(Path::new("f/stem.yaml"), text, Vec::new());
            assert_eq!(found.name, name.unwrap_or("stem"), "{text}");
            assert_eq!(found.is_named, name.is_some(), "{text}");
        }
    }
}
