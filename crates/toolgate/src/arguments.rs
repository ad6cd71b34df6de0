//! Arguments of a call as a person types them.
//!
//! `name=text`, `name:=json`, `name=@file` (its text), `name:=@file` (its JSON), and `-`
//! for a whole JSON object on stdin.

use std::io::Read;

use anyhow::{Context, bail};
use serde_json::{Map, Value};

/// The largest file or stdin that is read, in bytes.
const MAX_BYTES: u64 = 67_108_864;

/// Parses the arguments.
pub fn parse(words: &[String]) -> anyhow::Result<Map<String, Value>> {
    let mut arguments = Map::new();
    for word in words {
        if word == "-" {
            let text = bounded(std::io::stdin(), "stdin")?;
            match contract::json::parse(&text).context("stdin is not JSON")? {
                Value::Object(given) => {
                    for (name, value) in given {
                        put(&mut arguments, name, value)?;
                    }
                }
                _ => bail!("stdin must be a JSON object of arguments"),
            }
            continue;
        }
        let Some((name, text)) = word.split_once('=') else {
            bail!("`{word}` is not an argument; write name=text, name:=json, or - for stdin");
        };
        match name.strip_suffix(':') {
            Some(name) => {
                let bytes = match text.strip_prefix('@') {
                    Some(file) => read(file)?,
                    None => text.as_bytes().to_vec(),
                };
                let value = contract::json::parse(&bytes)
                    .with_context(|| format!("`{name}` is not JSON"))?;
                put(&mut arguments, name.to_owned(), value)?;
            }
            None => {
                let text = match text.strip_prefix('@') {
                    Some(file) => String::from_utf8(read(file)?)
                        .with_context(|| format!("`{file}` is not UTF-8 text"))?,
                    None => text.to_owned(),
                };
                put(&mut arguments, name.to_owned(), Value::String(text))?;
            }
        }
    }
    Ok(arguments)
}

fn put(arguments: &mut Map<String, Value>, name: String, value: Value) -> anyhow::Result<()> {
    if name.is_empty() {
        bail!("an argument needs a name");
    }
    if arguments.contains_key(&name) {
        bail!("`{name}` is given twice");
    }
    arguments.insert(name, value);
    Ok(())
}

fn read(file: &str) -> anyhow::Result<Vec<u8>> {
    let opened = std::fs::File::open(file).with_context(|| format!("cannot read `{file}`"))?;
    bounded(opened, file)
}

fn bounded(source: impl Read, name: &str) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("cannot read {name}"))?;
    if bytes.len() as u64 > MAX_BYTES {
        bail!("{name} is larger than {MAX_BYTES} bytes");
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    fn parse(words: &[&str]) -> Result<serde_json::Value, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        super::parse(&words).map(Into::into).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn text_and_json_are_told_apart() {
        let expected = json!({ "message": "a=b", "n": 2, "list": [1, null], "empty": "" });
        let words = ["message=a=b", "n:=2", "list:=[1,null]", "empty="];
        assert_eq!(parse(&words), Ok(expected));
    }

    #[test]
    fn errors_are_named() {
        let check = |words: &[&str], part: &str| {
            let error = parse(words).unwrap_err();
            assert!(error.contains(part), "{error}");
        };
        check(&["hello"], "`hello` is not an argument");
        check(&["n:=two"], "`n` is not JSON");
        check(&["n=1", "n:=2"], "`n` is given twice");
        check(&["text=@/does/not/exist"], "cannot read `/does/not/exist`");
        check(&["=x"], "an argument needs a name");
    }
}
