//! Cutting what is too long, and saying so.

use std::io;

use serde_json::Value;

/// The truncations of one result, in the order in which they are reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Truncations {
    pub stdout_bytes: u64,
    pub stderr_bytes: u64,
    pub summary: bool,
    pub oversize_artifacts: u64,
    pub artifact_count: u64,
    /// Files that could never have been artifacts; counted, not told in the summary.
    pub ignored: u64,
}

impl Truncations {
    /// The truncations as numbers, by name.
    pub(crate) fn counts(self) -> [(&'static str, u64); 5] {
        [
            ("stdout_truncated_bytes", self.stdout_bytes),
            ("stderr_truncated_bytes", self.stderr_bytes),
            ("artifacts_removed_oversize", self.oversize_artifacts),
            ("artifacts_removed_count_cap", self.artifact_count),
            ("artifacts_ignored", self.ignored),
        ]
    }

    /// Long and short name of everything that was cut.
    fn names(self) -> Vec<(&'static str, &'static str)> {
        [
            (self.stdout_bytes > 0, ("stdout truncated", "stdout")),
            (self.stderr_bytes > 0, ("stderr truncated", "stderr")),
            (self.summary, ("summary truncated", "summary")),
            (self.oversize_artifacts > 0, ("oversize artifacts removed", "oversize")),
            (self.artifact_count > 0, ("artifact count capped", "count")),
        ]
        .into_iter()
        .filter_map(|(cut, names)| cut.then_some(names))
        .collect()
    }
}

/// The text for a person, who is told how much more there is.
pub(crate) fn shown(mut text: String, max_bytes: u64) -> String {
    let dropped = self::text(&mut text, max_bytes);
    if dropped > 0 {
        text.push_str(&format!("\n… and {dropped} more bytes"));
    }
    text
}

/// The longest note of a call in the journal and the log, in bytes: strangers may have chosen its words.
const MAX_NOTE_BYTES: u64 = 2_048;

/// As much of a note as is kept.
pub(crate) fn journal_note(note: &str) -> String {
    let mut kept = note.to_owned();
    match text(&mut kept, MAX_NOTE_BYTES) {
        0 => kept,
        cut => format!("{kept} [{cut} more bytes]"),
    }
}

/// Keeps at most so many bytes, whole characters only, and tells how many went.
pub(crate) fn text(text: &mut String, max_bytes: u64) -> u64 {
    let Ok(max) = usize::try_from(max_bytes) else { return 0 };
    if text.len() <= max {
        return 0;
    }
    let mut end = max;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let removed = text.len() - end;
    text.truncate(end);
    removed as u64
}

/// True if the value takes no more than so many bytes as JSON; looks no further than that.
pub(crate) fn is_short(value: &Value, max_bytes: usize) -> bool {
    struct ByteBudget(usize);
    impl io::Write for ByteBudget {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::WriteZero)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    serde_json::to_writer(ByteBudget(max_bytes), value).is_ok()
}

/// The summary within its limit, ended by a note on everything that was cut. Room for
/// the note is set aside first, so that the note itself is never cut.
pub(crate) fn summary(words: &str, max_characters: u64, truncations: &mut Truncations) -> String {
    let max = usize::try_from(max_characters).unwrap_or(usize::MAX);
    let length = words.chars().count();
    let note = note(*truncations, max);
    if length + note.chars().count() <= max {
        return format!("{words}{note}");
    }
    truncations.summary = true;
    let note = self::note(*truncations, max);
    let room = max.saturating_sub(note.chars().count());
    // Three dots need a word to follow.
    let kept = if room > 3 {
        words.chars().take(room - 3).chain("...".chars()).collect()
    } else {
        String::new()
    };
    let whole = format!("{kept}{note}");
    if kept.is_empty() { whole.trim_start().to_owned() } else { whole }
}

/// ` [limits: …]`, naming what was cut as fully as the room allows. The shortest form
/// fits the least summary there can be.
fn note(truncations: Truncations, max: usize) -> String {
    let names = truncations.names();
    if names.is_empty() {
        return String::new();
    }
    let list = |names: Vec<&str>| format!(" [limits: {}]", names.join(", "));
    let long = list(names.iter().map(|(long, _)| *long).collect());
    if long.len() <= max {
        return long;
    }
    let short = list(names.iter().map(|(_, short)| *short).collect());
    if short.trim_start().len() <= max {
        return short;
    }
    let plural = if names.len() == 1 { "" } else { "s" };
    format!(" [limits: {} cut{plural}]", names.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_was_cut_in_the_agreed_order() {
        let mut truncations =
            Truncations { stdout_bytes: 192, stderr_bytes: 144, ..Truncations::default() };
        assert_eq!(
            summary("Noisy output for truncation testing.", 96, &mut truncations),
            "Noisy output for truncation testing. [limits: stdout truncated, stderr truncated]"
        );
        let mut truncations = Truncations::default();
        assert_eq!(summary(&"word ".repeat(40), 60, &mut truncations).len(), 60);
        assert!(truncations.summary);
    }

    #[test]
    fn cuts_between_characters() {
        // Each é is two bytes, each € three, each 😀 four.
        for (max, kept) in [(1, "a"), (2, "a"), (3, "aé"), (5, "aé"), (6, "aé€"), (9, "aé€")]
        {
            let mut word = "aé€😀".to_owned();
            assert_eq!((text(&mut word, max), &*word), (10 - kept.len() as u64, kept), "{max}");
        }
        assert_eq!(text(&mut "aé€😀".to_owned(), 10), 0);
    }

    proptest::proptest! {
        #[test]
        fn a_summary_fits_and_its_note_is_whole(
            words in ".{0,400}",
            max in 16u64..400,
            stdout_bytes in 0u64..2, stderr_bytes in 0u64..2,
            oversize_artifacts in 0u64..2, artifact_count in 0u64..2,
        ) {
            let mut truncations = Truncations {
                stdout_bytes, stderr_bytes, oversize_artifacts, artifact_count, ..Truncations::default()
            };
            let any = truncations != Truncations::default();
            let result = summary(&words, max, &mut truncations);
            proptest::prop_assert!(result.chars().count() as u64 <= max, "{result}");
            if any || truncations.summary {
                let note = &result[result.rfind("[limits: ").expect("a note")..];
                proptest::prop_assert!(note.ends_with(']'));
            } else {
                proptest::prop_assert_eq!(result, words);
            }
        }

        #[test]
        fn a_text_loses_only_its_end(word in ".{0,60}", max in 0u64..60) {
            let mut cut = word.clone();
            let removed = text(&mut cut, max);
            proptest::prop_assert!(word.starts_with(&cut));
            proptest::prop_assert_eq!(cut.len() as u64 + removed, word.len() as u64);
        }
    }
}
