//! The changes of a text, as a unified diff.

use std::time::Duration;

use gate::ToolError;
use similar::TextDiff;

use crate::json_size::{AROUND_BYTES, MAX_GROWTH};

/// The longest diff, in bytes.
pub(super) const MAX_DIFF_BYTES: usize = 65_536;
/// Above this many bytes or lines of old and new text there is no diff: it would take more memory than
/// it is worth.
const MAX_TEXT_BYTES: usize = 8_388_608;
const MAX_LINES: usize = 200_000;
/// The time that the search for a short diff may take; after that the diff is longer.
const MAX_TIME: Duration = Duration::from_millis(500);

/// A diff, perhaps only its beginning.
pub(super) struct UnifiedDiff {
    pub text: String,
    pub is_cut: bool,
}

/// The longest diff in a result of so many bytes of JSON.
pub(super) fn room(max_output_bytes: u64) -> usize {
    let room = max_output_bytes.saturating_sub(AROUND_BYTES) / MAX_GROWTH;
    usize::try_from(room).map_or(MAX_DIFF_BYTES, |room| room.min(MAX_DIFF_BYTES))
}

/// The changes that make `new` of `old`. Without `old` the file is new.
pub(super) fn unified(old: Option<&str>, new: &str, path: &str, max_bytes: usize) -> UnifiedDiff {
    let before = old.unwrap_or_default();
    let is_too_long = is_too_long(before, new);
    let mut text = if is_too_long {
        let (old, new) = (before.len(), new.len());
        format!(
            "{old} bytes become {new} bytes; there is no diff above {MAX_TEXT_BYTES} bytes or \
             {MAX_LINES} lines\n"
        )
    } else {
        let from = if old.is_some() { format!("a/{path}") } else { "/dev/null".to_owned() };
        let lines = TextDiff::configure().timeout(MAX_TIME).diff_lines(before, new);
        lines.unified_diff().header(&from, &format!("b/{path}")).to_string()
    };
    let is_cut = is_too_long || text.len() > max_bytes;
    if is_cut {
        text.truncate(text.floor_char_boundary(max_bytes));
    }
    UnifiedDiff { text, is_cut }
}

fn is_too_long(old: &str, new: &str) -> bool {
    old.len() + new.len() > MAX_TEXT_BYTES || line_ends(old) + line_ends(new) > MAX_LINES
}

/// The number of line ends, of any of the three kinds.
fn line_ends(text: &str) -> usize {
    let ends = text.bytes().filter(|byte| matches!(byte, b'\n' | b'\r')).count();
    ends - text.matches("\r\n").count()
}

/// The diff for a person who is asked to approve it.
pub(super) fn shown(old: Option<&str>, new: &str, path: &str) -> String {
    let UnifiedDiff { text, is_cut } = unified(old, new, path, MAX_DIFF_BYTES);
    let mut shown = match old {
        None => format!("new file, {} bytes\n", new.len()),
        Some(old) if old == new => return "the file stays as it is".to_owned(),
        Some(_) => String::new(),
    };
    shown.push_str(&text);
    if is_cut && !is_too_long(old.unwrap_or_default(), new) {
        shown.push_str(&format!("\n[the rest is not shown: more than {MAX_DIFF_BYTES} bytes]"));
    }
    shown
}

/// The preview of a call that cannot succeed as things stand.
pub(super) fn would_fail(error: &ToolError) -> String {
    let reason = error.details.as_ref().and_then(|details| details["reason"].as_str());
    let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    format!("as things stand this call would fail: {}{reason}", error.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_shows_lines_and_their_surroundings() {
        let diff = unified(Some("one\ntwo\nthree\n"), "one\n2\nthree\n", "n.txt", 1_000);
        assert_eq!(
            diff.text,
            "--- a/n.txt\n+++ b/n.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
        );
        assert!(!diff.is_cut);
    }

    #[test]
    fn a_new_file_is_told_as_new() {
        let shown = shown(None, "hello", "n.txt");
        assert!(shown.starts_with("new file, 5 bytes\n--- /dev/null\n+++ b/n.txt\n"), "{shown}");
        assert!(shown.contains("+hello\n\\ No newline at end of file"), "{shown}");
    }

    #[test]
    fn long_diffs_are_cut_and_say_so() {
        let new = "ü\n".repeat(100_000);
        let diff = unified(Some(""), &new, "n.txt", MAX_DIFF_BYTES);
        assert!(diff.is_cut && diff.text.len() <= MAX_DIFF_BYTES);
        let shown = shown(Some(""), &new, "n.txt");
        assert!(
            shown.ends_with("[the rest is not shown: more than 65536 bytes]"),
            "{}",
            shown.len()
        );
        let huge = "x".repeat(MAX_TEXT_BYTES);
        let told = unified(Some("y"), &huge, "n", 1_000);
        assert!(told.is_cut && told.text.starts_with("1 bytes become 8388608 bytes;"));
        // Every line takes far more memory than its one byte.
        for (line, bytes) in [("\n", 4_000_000), ("\r", 4_000_000), ("\r\n", 8_000_000)] {
            let shown = super::shown(Some(&line.repeat(4_000_000)), "", "n.txt");
            assert!(shown.starts_with(&format!("{bytes} bytes become 0 bytes; there is no diff")));
            assert!(shown.len() < 200, "{shown}");
        }
        assert_eq!(line_ends("a\r\nb\rc\n\nd"), 4);
    }

    #[test]
    fn texts_without_anything_in_common_do_not_take_forever() {
        let lines =
            |word: &str| (0..MAX_LINES / 2).map(|n| format!("{word} {n}\n")).collect::<String>();
        let began = std::time::Instant::now();
        unified(Some(&lines("old")), &lines("new"), "n.txt", 1_000);
        assert!(began.elapsed() < Duration::from_secs(20));
    }
}
