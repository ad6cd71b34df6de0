//! Strips what models put around their answers: greetings, labels, fences, quotes.
//!
//! Only what fails the check as it came is looked at in this way, so that a speaker may say "here is the
//! text:" too.

use crate::word_lists::COMMON;

/// The most wrappings that are stripped.
const MAX_WRAPPINGS: usize = 6;
/// The longest label, in bytes.
const MAX_LABEL_BYTES: usize = 160;
/// The fence before and after code.
const FENCE: &str = "```";

/// The answer without what stands around it.
pub(super) fn bare(answer: &str) -> &str {
    let mut text = answer.trim();
    for _ in 0..MAX_WRAPPINGS {
        let less = without_thoughts(text);
        let less = without_fence(less);
        let less = without_marks(less);
        let less = without_quotes(less);
        let less = without_label(less).trim();
        if less == text {
            break;
        }
        text = less;
    }
    text
}

/// Strips the thoughts before an answer.
pub(super) fn without_thoughts(text: &str) -> &str {
    match text.trim_start().strip_prefix("<think>") {
        Some(thoughts) => thoughts.split_once("</think>").map_or("", |(_, answer)| answer).trim(),
        None => text,
    }
}

fn without_fence(text: &str) -> &str {
    let Some(inside) = text.strip_prefix(FENCE).and_then(|text| text.strip_suffix(FENCE)) else {
        return text;
    };
    // A word on the line of the fence names a language.
    match inside.split_once('\n') {
        Some((name, inside)) if !name.contains(char::is_whitespace) => inside.trim(),
        _ => inside.trim(),
    }
}

fn without_marks(text: &str) -> &str {
    let text = text.strip_prefix("<text>").unwrap_or(text);
    text.strip_suffix("</text>").unwrap_or(text).trim()
}

/// Takes off a pair of quotes around all of it, which is one pair and not two.
pub(super) fn without_quotes(text: &str) -> &str {
    const PAIRS: [(char, char); 5] = [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('\'', '\'')];
    for (open, close) in PAIRS {
        let inside = text.strip_prefix(open).and_then(|text| text.strip_suffix(close));
        if let Some(inside) = inside
            && !inside.contains([open, close])
        {
            return inside.trim();
        }
    }
    text
}

/// Takes off `**Cleaned transcript**:` and the like.
fn without_label(text: &str) -> &str {
    let end = text.len().min(MAX_LABEL_BYTES);
    let Some(colon) = text.as_bytes()[..end].iter().position(|byte| *byte == b':') else {
        return text;
    };
    let (label, rest) = (&text[..colon], &text[colon + 1..]);
    // The stars may close behind the colon.
    let rest = rest.trim_start_matches('*');
    if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
        return text;
    }
    let is_apart = |one: char| !one.is_alphanumeric() && !matches!(one, '\'' | '’');
    let mut names = false;
    for word in label.split(is_apart).filter(|word| !word.is_empty()) {
        if !COMMON.label_words.contains(word) {
            return text;
        }
        names |= COMMON.label_names.contains(word);
    }
    if names { rest } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_homelab_cases_hold() {
        let mut cases = 0;
        for line in include_str!("../tests/homelab.jsonl").lines() {
            let case: serde_json::Value = serde_json::from_str(line).unwrap();
            if case["tool"] == "transcript.clean/post-filter" {
                cases += 1;
                assert_eq!(bare(case["input"].as_str().unwrap()), case["expect"], "{}", case["id"]);
            }
        }
        assert_eq!(cases, 7);
    }

    #[test]
    fn wrappings_are_taken_off() {
        let check = |answer: &str, expected: &str| assert_eq!(bare(answer), expected, "{answer:?}");
        check("Sure! Here is the punctuated text:\n\n```text\nHi there.\n```", "Hi there.");
        check("<text>\nHi there.\n</text>", "Hi there.");
        check("<think>They want\nan answer: hi.</think>\n\nHi there.", "Hi there.");
        check("<think>without an end", "");
        check("“Hi there.”", "Hi there.");
        check("\"Hi\" and \"there\"", "\"Hi\" and \"there\"");
        check("**Output:** Hi: there.", "Hi: there.");
        check("The text: it begins.", "it begins.");
        check("My friends: hello.", "My friends: hello.");
        check("Text:hello", "Text:hello");
        check("it's 10:30 now", "it's 10:30 now");
        check("", "");
        check("```", "```");
        check("'", "'");
    }
}
