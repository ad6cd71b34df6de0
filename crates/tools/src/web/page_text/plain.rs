//! Text that is text already.

use std::borrow::Cow;

use serde::de::IgnoredAny;

/// The factor by which JSON may grow with lines and indentation.
const MAX_GROWTH: usize = 4;
/// The growth that is always allowed, in bytes.
const ALLOWED_BYTES: usize = 65_536;

/// JSON in lines; as it came where it is none, or where its depth would make it very much longer.
pub(super) fn json(content: &str) -> String {
    let content = content.trim();
    let is_json = serde_json::from_str::<IgnoredAny>(content).is_ok();
    let lines = if is_json { in_lines(content) } else { None };
    lines.unwrap_or_else(|| content.to_owned())
}

/// Valid JSON in lines. Numbers, names and their order stay as they are written.
fn in_lines(json: &str) -> Option<String> {
    let limit = json.len().saturating_mul(MAX_GROWTH).saturating_add(ALLOWED_BYTES);
    let mut lines = String::with_capacity(json.len() + json.len() / 2);
    let mut depth = 0_usize;
    let mut rest = json;
    while let Some(first) = rest.bytes().next() {
        let length = match first {
            b'"' => end_of_text(rest),
            b'{' | b'[' | b'}' | b']' | b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' => 1,
            _ => rest.find([',', ']', '}', ' ', '\t', '\n', '\r']).unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(length);
        rest = after.trim_start();
        match first {
            b'{' | b'[' if rest.starts_with(['}', ']']) => {
                lines.push_str(token);
                lines.push_str(&rest[..1]);
                rest = &rest[1..];
            }
            b'{' | b'[' => {
                depth += 1;
                lines.push_str(token);
                new_line(&mut lines, depth);
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut lines, depth);
                lines.push_str(token);
            }
            b',' => {
                lines.push(',');
                new_line(&mut lines, depth);
            }
            b':' => lines.push_str(": "),
            b'"' => lines.push_str(&readable(token)),
            _ => lines.push_str(token),
        }
        if lines.len() > limit {
            return None;
        }
    }
    Some(lines)
}

fn new_line(lines: &mut String, depth: usize) {
    lines.push('\n');
    lines.extend(std::iter::repeat_n("  ", depth));
}

/// The length of the string that begins here, quotation marks included.
fn end_of_text(json: &str) -> usize {
    let mut escaped = false;
    let end = json.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or(json.len(), |end| end + 2)
}

/// A text of JSON with the letters that need no escape as they are.
fn readable(token: &str) -> Cow<'_, str> {
    if !token.contains('\\') {
        return Cow::Borrowed(token);
    }
    let text = serde_json::from_str::<String>(token);
    let text = text.and_then(|text| serde_json::to_string(&text));
    // Half of a letter can only be shown as it is written.
    text.map_or(Cow::Borrowed(token), Cow::Owned)
}

/// Plain text, with the lines of a paragraph that were only wrapped made whole again. Lists, tables,
/// code and data keep their lines.
pub(super) fn text(content: &str) -> String {
    let content = content.replace("\r\n", "\n").replace('\r', "\n");
    let mut paragraphs: Vec<Vec<&str>> = vec![Vec::new()];
    for line in content.trim().lines() {
        let line = line.trim_end();
        match paragraphs.last_mut() {
            Some(paragraph) if !line.is_empty() => paragraph.push(line),
            Some(paragraph) if paragraph.is_empty() => {}
            _ => paragraphs.push(Vec::new()),
        }
    }
    let paragraphs = paragraphs.into_iter().filter(|lines| !lines.is_empty());
    let whole = paragraphs.map(|lines| {
        let between = if lines.iter().all(|line| is_prose(line)) { " " } else { "\n" };
        lines.join(between)
    });
    whole.collect::<Vec<_>>().join("\n\n")
}

/// True if a line may be a part of a sentence.
fn is_prose(line: &str) -> bool {
    let starts =
        line.chars().next().is_some_and(|one| one.is_alphabetic() || "\"'“„«(".contains(one));
    let is_data = line.contains(['\t', '|', '{', '}', '<', '>', '=', '\\', '#', '_'])
        || line.contains("  ")
        || line.ends_with(';')
        || line.matches(',').count() * 3 > line.split_whitespace().count();
    starts && !is_data
}

#[cfg(test)]
mod tests {
    use super::{json, text};

    #[test]
    fn json_says_the_same_in_lines() {
        for (given, expected) in [
            ("{}", "{}"),
            (" [ ] ", "[]"),
            ("12345678901234567890123", "12345678901234567890123"),
            ("[1.10,-0,1E5,true,null]", "[\n  1.10,\n  -0,\n  1E5,\n  true,\n  null\n]"),
            (
                r#"{"b" : {"x":[]},"a":"caf\u00e9 \"{[,:\"","a":2}"#,
                "{\n  \"b\": {\n    \"x\": []\n  },\n  \"a\": \"caf\u{e9} \\\"{[,:\\\"\",\n  \"a\": 2\n}",
            ),
            (r#"["\ud83d","\\"]"#, "[\n  \"\\ud83d\",\n  \"\\\\\"\n]"),
            ("{not json", "{not json"),
        ] {
            assert_eq!(json(given), expected, "{given}");
        }
    }

    /// Indentation makes many times as much of what is deep: that is left as it is.
    #[test]
    fn deep_json_is_not_made_longer_than_it_can_be_read() {
        let deep = format!("{}{}0{}", "[".repeat(100), "1,".repeat(500_000), "]".repeat(100));
        assert_eq!(json(&deep), deep);
        let deeper = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
        assert_eq!(json(&deeper), deeper);
    }

    #[test]
    fn blank_lines_cost_nothing() {
        assert_eq!(text(&format!("a{}b", "\n".repeat(100_000))), "a\n\nb");
    }

    #[test]
    fn wrapped_lines_are_joined_and_others_are_not() {
        assert_eq!(text("  alpha\nbeta  "), "alpha beta");
        assert_eq!(text("One\ntwo.\r\n\r\n\r\nThree"), "One two.\n\nThree");
        for kept in
            ["- one\n- two", "a,b,c\n1,2,3", "let a = 1;\nlet b = 2;", "a | b\nc | d", "x\n  y"]
        {
            assert_eq!(text(kept), kept);
        }
    }
}
