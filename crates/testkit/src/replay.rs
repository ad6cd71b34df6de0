//! Exchanges written down as data, played against a server.
//!
//! A file has one JSON object a line: `id`, `request` (`"POST /path"`), optional `headers`,
//! `body` (JSON) or `raw_body` (text), and `expect`: `status`, `headers`, `json`, `text`.
//! In expected JSON an object may lack keys that the answer has; everything else is equal.
//! A text that is `"<any>"` matches anything, `"<NAME>"` matches anything and remembers
//! it, and later requests and expectations use it as `${NAME}`. `"~pattern"` is a text
//! that contains `pattern`.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::World;

/// Plays every line; tells how many there were.
pub async fn replay(world: &World, lines: &str) -> usize {
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    let mut count = 0;
    for line in lines.lines().filter(|line| !line.trim().is_empty()) {
        let line = substitute(line, &known);
        let case: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
        let id = case["id"].as_str().unwrap_or("?").to_owned();
        let answer = request(world, &case).await;
        let expect = &case["expect"];
        let context = format!("{id}: {} {}", answer.status, String::from_utf8_lossy(&answer.body));
        if let Some(status) = expect["status"].as_u64() {
            assert_eq!(u64::from(answer.status), status, "{context}");
        }
        for (name, value) in expect["headers"].as_object().into_iter().flatten() {
            let got = Value::String(answer.header(name).to_owned());
            matches(value, &got, &mut known).unwrap_or_else(|e| panic!("{name}: {e}\n{context}"));
        }
        if let Some(text) = expect["text"].as_str() {
            assert_eq!(answer.text(), text, "{context}");
        }
        if !expect["json"].is_null() {
            matches(&expect["json"], &answer.json(), &mut known)
                .unwrap_or_else(|error| panic!("{error}\n{context}"));
        }
        count += 1;
    }
    count
}

async fn request(world: &World, case: &Value) -> crate::Answer {
    let line = case["request"].as_str().unwrap();
    let (method, path) = line.split_once(' ').unwrap();
    let headers: Vec<(String, String)> = case["headers"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned()))
        .collect();
    let headers: Vec<_> = headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    let body = match (&case["body"], case["raw_body"].as_str()) {
        (Value::Null, None) => None,
        (Value::Null, Some(text)) => Some(text.as_bytes().to_vec()),
        (body, _) => Some(body.to_string().into_bytes()),
    };
    world.send(method, path, &headers, body).await
}

fn substitute(line: &str, known: &BTreeMap<String, String>) -> String {
    known
        .iter()
        .fold(line.to_owned(), |line, (name, value)| line.replace(&format!("${{{name}}}"), value))
}

fn matches(
    expected: &Value,
    got: &Value,
    known: &mut BTreeMap<String, String>,
) -> Result<(), String> {
    match (expected, got) {
        (Value::String(text), _) if text == "<any>" => Ok(()),
        (Value::String(text), Value::String(got)) if text.starts_with('~') => {
            if got.contains(&text[1..]) { Ok(()) } else { Err(format!("{got} lacks {text}")) }
        }
        (Value::String(text), _) if text.starts_with('<') && text.ends_with('>') => {
            let got = got.as_str().map_or_else(|| got.to_string(), str::to_owned);
            known.insert(text.trim_matches(['<', '>']).to_owned(), got);
            Ok(())
        }
        (Value::Object(expected), Value::Object(got)) => {
            for (key, expected) in expected {
                let got = got.get(key).ok_or_else(|| format!("`{key}` is missing"))?;
                matches(expected, got, known).map_err(|error| format!("{key}: {error}"))?;
            }
            Ok(())
        }
        (Value::Array(expected), Value::Array(got)) => {
            if expected.len() != got.len() {
                return Err(format!("expected {} items, got {}", expected.len(), got.len()));
            }
            for (index, (expected, got)) in expected.iter().zip(got).enumerate() {
                matches(expected, got, known).map_err(|error| format!("{index}: {error}"))?;
            }
            Ok(())
        }
        (expected, got) if expected == got => Ok(()),
        (expected, got) => Err(format!("expected {expected}, got {got}")),
    }
}
