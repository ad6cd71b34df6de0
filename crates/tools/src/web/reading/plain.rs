//! Text that is text already.

use serde_json::Value;

/// JSON in lines; as it came where it is none.
pub(super) fn json(content: &str) -> String {
    serde_json::from_str::<Value>(content)
        .ok()
        .and_then(|value| serde_json::to_string_pretty(&value).ok())
        .unwrap_or_else(|| content.to_owned())
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

/// Whether a line may be a part of a sentence.
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
    use super::text;

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
