//! Words without their endings, so that `policies` finds `policy` and `scheduled` finds `schedule`.

use std::sync::LazyLock;

/// English words that say nothing of what a question is about.
const STOP_WORDS: &[&str] = &[
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but",
    "by", "can", "could", "did", "do", "does", "each", "for", "from", "had", "has", "have", "he",
    "her", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "may", "me", "more",
    "must", "my", "no", "not", "of", "on", "one", "only", "or", "our", "out", "please", "s", "say",
    "says", "shall", "she", "should", "so", "some", "such", "t", "tell", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "to", "too", "use", "used",
    "uses", "using", "very", "was", "we", "were", "what", "when", "which", "who", "whose", "why",
    "will", "with", "would", "you", "your",
];

/// Shorter words than this keep their endings.
const MIN_STEM: usize = 3;

/// The same words as numbers, in order: every word of every description is held against them, and
/// numbers are compared many times as fast.
static STOP_NUMBERS: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let mut numbers: Vec<u64> = STOP_WORDS.iter().filter_map(|word| number(word)).collect();
    numbers.sort_unstable();
    numbers
});

/// Whether a word, in small letters, is left out.
pub(crate) fn is_stop_word(word: &str) -> bool {
    number(word).is_some_and(|number| STOP_NUMBERS.binary_search(&number).is_ok())
}

/// A short word as a number.
fn number(word: &str) -> Option<u64> {
    let is_short = word.len() <= size_of::<u64>();
    is_short.then(|| word.bytes().fold(0, |number, byte| number << 8 | u64::from(byte)))
}

/// A word in small letters without its ending.
pub(crate) fn stem(word: &str) -> String {
    let mut stem = word.to_owned();
    cut(&mut stem);
    stem
}

/// Takes the ending off an English word in small letters. It need not give a word, only the same one
/// for all forms.
pub(super) fn cut(word: &mut String) {
    if word.len() <= MIN_STEM || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return;
    }
    let is_plural =
        word.ends_with('s') && !["ss", "us", "is"].iter().any(|ending| word.ends_with(ending));
    if is_plural {
        word.pop();
    }
    for ending in ["ing", "ed"] {
        let Some(rest) = word.strip_suffix(ending) else { continue };
        if rest.len() >= MIN_STEM && rest.bytes().any(|byte| b"aeiouy".contains(&byte)) {
            word.truncate(rest.len());
            undouble(word);
            break;
        }
    }
    // `policie(s)` and `policy`, `copi(ed)` and `copy`: all end in `i` now.
    if word.len() > MIN_STEM && word.ends_with('e') {
        word.pop();
    }
    if word.len() > MIN_STEM && word.ends_with('y') {
        word.pop();
        word.push('i');
    }
}

/// `planned` is of `plan`, but `called` is of `call`.
fn undouble(word: &mut String) {
    let bytes = word.as_bytes();
    let [.., one, other] = bytes else { return };
    if one == other && !b"aeioulsz".contains(other) {
        word.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &[&str]) {
        for word in words {
            assert_eq!(stem(word), stem(words[0]), "{word}");
        }
    }

    #[test]
    fn forms_of_a_word_are_one() {
        check(&["policy", "policies"]);
        check(&["file", "files", "filing", "filed"]);
        check(&["search", "searches", "searching", "searched"]);
        check(&["create", "creates", "creating", "created"]);
        check(&["plan", "plans", "planning", "planned"]);
        check(&["call", "calls", "calling", "called"]);
        check(&["copy", "copies", "copied", "copying"]);
        check(&["box", "boxes"]);
        check(&["class", "classes"]);
        check(&["ticket", "tickets"]);
        check(&["schedule", "scheduled", "scheduling"]);
    }

    #[test]
    fn words_that_only_look_like_forms_stay() {
        for word in ["status", "process", "analysis", "string", "ring", "red", "bus", "größe", "id"]
        {
            assert_eq!(stem(word), word);
        }
    }

    #[test]
    fn stop_words_are_known() {
        assert!(STOP_WORDS.iter().all(|word| is_stop_word(word)));
        assert!(!["find", "th", "thee", "", "a\0", "something"].into_iter().any(is_stop_word));
    }
}
