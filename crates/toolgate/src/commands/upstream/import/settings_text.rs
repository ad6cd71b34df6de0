//! Adds upstreams to the text of the settings. Comments and order stay.

use anyhow::bail;
use contract::Document;
use serde_json::Value;

use super::ImportedUpstream;
use crate::settings::ToolgateSettings;

/// The ids of the upstreams in the settings.
pub fn ids(text: &str) -> anyhow::Result<Vec<String>> {
    if says_nothing(text) {
        return Ok(Vec::new());
    }
    let document = match Document::parse("settings", text) {
        Ok(document) => document,
        Err(found) => {
            bail!("line {}: {}; run `toolgate config check` for details", found.line, found.message)
        }
    };
    let upstreams = document.value().get("upstreams").and_then(Value::as_object);
    Ok(upstreams.map(|all| all.keys().cloned().collect()).unwrap_or_default())
}

/// The settings with these upstreams added.
pub fn with(before: &str, taken: &[ImportedUpstream]) -> anyhow::Result<String> {
    let mut lines: Vec<String> = before.lines().map(str::to_owned).collect();
    let block: Vec<String> = taken
        .iter()
        .map(|(id, own)| format!("{}: {}", Value::from(&**id), Value::Object(own.clone())))
        .collect();
    let Some((at, rest)) =
        lines.iter().enumerate().find_map(|(at, line)| Some((at, value_of(line)?)))
    else {
        if before.trim_start().starts_with('{') {
            bail!(
                "the settings are a JSON object without a line `\"upstreams\": {{`; add that line first"
            );
        }
        if lines.last().is_some_and(|line| !line.trim().is_empty()) {
            lines.push(String::new());
        }
        lines.push("upstreams:".into());
        lines.extend(block.iter().map(|line| format!("  {}", unquoted(line))));
        return Ok(lines.join("\n") + "\n");
    };
    let key = lines[at].len() - rest.len();
    let words = rest.split('#').next().unwrap_or_default().trim().to_owned();
    // The brace may be on a line of its own.
    let says = |line: &String| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let next = (at + 1..lines.len()).find(|next| says(&lines[*next]));
    let opens = |line: &str| line.trim_start().starts_with('{');
    let brace = match next {
        _ if words == "{}" => None,
        _ if opens(rest) => Some(at),
        Some(next) if words.is_empty() && opens(&lines[next]) => Some(next),
        _ => None,
    };
    if let Some(line) = brace {
        // In braces the new ones come first, each followed by a comma.
        let from = if line == at { key } else { 0 };
        let open = lines[line][from..].find('{').map_or(from, |open| from + open + 1);
        lines[line].insert_str(open, &format!(" {},", block.join(", ")));
        return Ok(lines.join("\n") + "\n");
    }
    if words == "{}" || words == "null" {
        lines[at].truncate(key);
    } else if !words.is_empty() {
        bail!(
            "the form of `upstreams` in the settings is not supported; paste the servers there by hand"
        );
    }
    let outer = lines[at].len() - lines[at].trim_start().len();
    let indent = next.map_or(0, |next| lines[next].len() - lines[next].trim_start().len());
    let shift = " ".repeat(if indent <= outer { outer + 2 } else { indent });
    let block: Vec<_> = block.iter().map(|line| format!("{shift}{}", unquoted(line))).collect();
    lines.splice(at + 1..=at, block);
    Ok(lines.join("\n") + "\n")
}

/// The rest of the line after the key `upstreams` of the document, if this is that line.
fn value_of(line: &str) -> Option<&str> {
    let quoted = ["\"upstreams\"", "'upstreams'"].iter().find_map(|key| {
        // A document in braces has its keys further in.
        line.trim_start().strip_prefix(*key)
    });
    quoted.or_else(|| line.strip_prefix("upstreams"))?.trim_start().strip_prefix(':')
}

/// An id needs no quotes.
fn unquoted(line: &str) -> String {
    line.replacen('"', "", 2)
}

/// Checks that the new text has exactly these upstreams added, and loads if the old one did.
pub fn check(before: &str, after: &str, taken: &[ImportedUpstream]) -> anyhow::Result<()> {
    let document = Document::parse("the new settings", after).map_err(|one| {
        anyhow::anyhow!("cannot add the servers to the settings: {}", one.message)
    })?;
    for (id, own) in taken {
        let written = document.value().pointer(&format!("/upstreams/{id}"));
        if written != Some(&Value::Object(own.clone())) {
            bail!("cannot add `{id}` to the settings; paste it under `upstreams` by hand");
        }
    }
    let loads = |text: &str| {
        let parsed = Document::parse("settings", text);
        parsed.is_ok_and(|document| document.check::<ToolgateSettings>().is_ok())
    };
    if (says_nothing(before) || loads(before)) && !loads(after) {
        bail!(
            "the settings would not load with these servers; paste them under `upstreams` by hand"
        );
    }
    Ok(())
}

fn says_nothing(text: &str) -> bool {
    text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn taken() -> Vec<ImportedUpstream> {
        let own =
            json!({ "command": "npx", "args": ["-y", "a: b", "{x}"], "env": { "A": "${B}" } });
        vec![("docs".into(), own.as_object().unwrap().clone())]
    }

    #[test]
    fn entries_are_added_and_the_rest_stays() {
        for before in [
            "",
            "# mine\nserver: { listen: \"127.0.0.1:1\" }",
            "upstreams:\n  # the first\n  one: { command: x }\nserver: {}\n",
            "upstreams:\n    one:\n        command: x\n",
            "upstreams: {}\n",
            "upstreams: # mine\n",
            "upstreams: { one: { command: x } }\n",
            "upstreams: {\n  one: { command: x }\n}\nserver: {}\n",
            "\"upstreams\":\n  one: { command: x }\n",
            "{\n  \"upstreams\": {\n    \"one\": { \"command\": \"x\" }\n  }\n}\n",
            "{\n  \"upstreams\": {\n  }\n}\n",
            "upstreams:\n  {\n    \"one\": { \"command\": \"x\" }\n  }\n",
            "upstreams:\n\n  # mine\n  { one: { command: x } }\n",
        ] {
            let after = with(before, &taken()).unwrap();
            check(before, &after, &taken()).unwrap_or_else(|error| panic!("{error}\n{after}"));
            assert_eq!(after.contains("# mine"), before.contains("# mine"));
            let all = ids(&after).unwrap();
            assert_eq!(all.contains(&"one".to_owned()), before.contains("one"), "{after}");
        }
        for before in ["upstreams: &a\n  one: { command: x }\n", "{ server: {} }\n"] {
            assert!(with(before, &taken()).is_err(), "{before}");
        }
    }

    #[test]
    fn settings_that_cannot_be_read_are_not_added_to() {
        let error = ids("upstreams: {}\nserver: {}\nupstreams: {}\n").unwrap_err().to_string();
        assert!(error.contains("line 3") && error.contains("twice"), "{error}");
        assert!(!error.contains("Policy"), "{error}");
    }
}
