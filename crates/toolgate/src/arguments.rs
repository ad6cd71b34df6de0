//! Arguments of a call as a person types them.
//!
//! `name=text`, `name:=json`, `name=@file` (its text), `name:=@file` (its JSON), and `-`
//! for a whole JSON object on stdin.

use anyhow::bail;
use serde_json::{Map, Value};

use crate::files::{self, MAX_FILE_BYTES};

/// Parses the arguments.
pub fn parse(words: &[String]) -> anyhow::Result<Map<String, Value>> {
    let mut arguments = Map::new();
    for word in words {
        if word == "-" {
            let bytes = files::read_stdin("stdin", MAX_FILE_BYTES)?;
            match files::json("stdin", &String::from_utf8_lossy(&bytes))? {
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
                let value = files::given_json(text, || format!("`{name}` is not JSON"))?;
                put(&mut arguments, name.to_owned(), value)?;
            }
            None => {
                put(&mut arguments, name.to_owned(), Value::String(files::given(text)?))?;
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
