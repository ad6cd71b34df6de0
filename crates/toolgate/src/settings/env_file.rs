//! The variables file: `toolgate.env` beside the settings file holds secrets, one `NAME=value` a line, and only its owner
//! reads it. A variable of the process has precedence.

use std::{collections::BTreeMap, io::ErrorKind, os::unix::fs::MetadataExt, path::Path};

use anyhow::{Context, bail};

use crate::files;

/// The name of the file.
pub const NAME: &str = "toolgate.env";
/// The largest file that is read, in bytes.
const MAX_ENV_FILE_BYTES: u64 = 1 << 20;
/// The permissions of group and others to read.
const OTHERS_READ: u32 = 0o044;

/// Reads a file; one that does not exist has no variables.
pub fn read(file: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    Ok(parse(&text(file)?, file)?.into_iter().collect())
}

/// The text of a file; empty if it does not exist.
pub fn text(file: &Path) -> anyhow::Result<String> {
    let name = format!("the variables file `{}`", file.display());
    let opened = match guard::files::open_regular(file) {
        Ok(opened) => opened,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(error).with_context(|| format!("cannot read {name}")),
    };
    let bytes = files::read_bounded(opened, &name, MAX_ENV_FILE_BYTES)?;
    String::from_utf8(bytes).with_context(|| format!("{name} is not UTF-8 text"))
}

/// The text with more variables at its end.
pub fn with(before: &str, variables: &BTreeMap<String, String>) -> String {
    let mut text = before.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    for (name, value) in variables {
        text.push_str(&format!("{name}={}\n", quoted(value)));
    }
    text
}

/// True if somebody else than the owner may read a file.
pub fn is_readable_by_others(file: &Path) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.mode() & OTHERS_READ != 0)
}

/// The lines of a file. No value is shown in an error.
fn parse(text: &str, file: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let mut variables = Vec::new();
    for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let name = line.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
        let is_name = |name: &str| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let value = name.filter(|(name, _)| is_name(name)).and_then(|(_, value)| unquoted(value));
        let (Some((name, _)), Some(value)) = (name, value) else {
            bail!(
                "`{}`, line {}: expected `NAME=value`, or `NAME=\"value\"`",
                file.display(),
                number + 1
            )
        };
        variables.push((name.to_owned(), value));
    }
    Ok(variables)
}

/// The value in double quotes is JSON, in single quotes it stands as it is.
fn unquoted(value: &str) -> Option<String> {
    match value.chars().next() {
        Some('"') => serde_json::from_str(value).ok(),
        Some('\'') => Some(value.strip_prefix('\'')?.strip_suffix('\'')?.to_owned()),
        _ => Some(value.to_owned()),
    }
}

fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\'' | '#' | '\\');
    if value.chars().all(plain) {
        value.to_owned()
    } else {
        serde_json::Value::from(value).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let values =
            ["plain", "", "a b", " x ", "#x", "a\"b'c\\d", "a\nb\u{7}", "Bearer é", "${X}", "a=b"];
        let variables: BTreeMap<String, String> = values
            .iter()
            .enumerate()
            .map(|(at, value)| (format!("A_{at}"), (*value).to_owned()))
            .collect();
        let text = with("# mine\nexport B='x y'", &variables);
        let mut read: BTreeMap<_, _> = parse(&text, NAME.as_ref()).unwrap().into_iter().collect();
        assert_eq!(read.remove("B").as_deref(), Some("x y"));
        assert_eq!(read, variables);
    }

    #[test]
    fn an_error_names_the_line_and_not_its_text() {
        for line in ["SECRET", "=SECRET", "A B=SECRET", "A=\"SECRET", "A='SECRET", "A-B=SECRET"] {
            let error = parse(&format!("# x\n{line}\n"), NAME.as_ref()).unwrap_err().to_string();
            assert!(error.contains("line 2") && !error.contains("SECRET"), "{error}");
        }
    }
}
