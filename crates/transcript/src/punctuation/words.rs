//! A text as words and what stands around them.
//!
//! Anything that is not plainly a word with plain marks around it is *fixed*: numbers, addresses, code, options of commands, dashes. It
//! has to be in an answer as it is, to the letter, and is printed as it is.

use std::borrow::Cow;

/// A word, with all that belongs to it. The words of a text, one after the other, are the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PunctuatedWord<'a> {
    /// Space before it.
    pub gap: &'a str,
    /// Quotes and brackets that open.
    pub lead: &'a str,
    /// The word itself.
    pub core: &'a str,
    /// Marks behind it.
    pub trail: &'a str,
    /// True if it is none that anybody may write otherwise.
    pub is_fixed: bool,
}

pub(super) fn words(text: &str) -> Vec<PunctuatedWord<'_>> {
    let text = text.trim_end();
    let mut all = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let body = rest.trim_start();
        let gap = &rest[..rest.len() - body.len()];
        let piece = piece(body);
        take(&mut all, gap, piece);
        at += gap.len() + piece.len();
    }
    all
}

/// Up to the next space; code between ticks is one piece, with the spaces in it.
fn piece(body: &str) -> &str {
    let mut end = body.find(char::is_whitespace).unwrap_or(body.len());
    while body[..end].matches('`').count() % 2 == 1 {
        // A tick that nothing closes on its line is a strange apostrophe.
        let line = body[end..].find('\n').map_or(body.len(), |at| end + at);
        let Some(close) = body[end..line].find('`') else { break };
        let close = end + close + 1;
        end = body[close..].find(char::is_whitespace).map_or(body.len(), |at| close + at);
    }
    &body[..end]
}

/// Takes in what stands between two spaces. In scripts without spaces every sign is a word.
fn take<'a>(all: &mut Vec<PunctuatedWord<'a>>, gap: &'a str, piece: &'a str) {
    if piece.is_ascii() || piece.contains('`') || !piece.contains(is_spaceless) {
        all.push(word(gap, piece));
        return;
    }
    let mut gap = gap;
    let mut start = 0;
    while start < piece.len() {
        let rest = &piece[start..];
        let first = rest.chars().next().map_or(1, char::len_utf8);
        // A sign with the marks behind it, or a run of others up to the next sign.
        let end = if rest.starts_with(is_spaceless) {
            first + marks(&rest[first..])
        } else {
            rest.find(is_spaceless).unwrap_or(rest.len())
        };
        all.push(word(gap, &rest[..end]));
        gap = "";
        start += end;
    }
}

/// The bytes of plain marks that a text begins with.
fn marks(text: &str) -> usize {
    text.find(|one| !is_mark(one) && !is_closing(one)).unwrap_or(text.len())
}

fn word<'a>(gap: &'a str, piece: &'a str) -> PunctuatedWord<'a> {
    let bare = piece.trim_start_matches(is_opening);
    let lead = &piece[..piece.len() - bare.len()];
    let core = bare.trim_end_matches(|one| is_mark(one) || is_closing(one));
    if is_plain(core) {
        return PunctuatedWord { gap, lead, core, trail: &bare[core.len()..], is_fixed: false };
    }
    let core = piece.trim_end_matches(is_mark);
    let core = if core.is_empty() { piece } else { core };
    PunctuatedWord { gap, lead: "", core, trail: &piece[core.len()..], is_fixed: true }
}

/// Letters, with apostrophes and hyphens within.
fn is_plain(core: &str) -> bool {
    let inner = |one: char| matches!(one, '\'' | '’' | '-');
    let letter = |one: char| one.is_alphabetic() || is_joining(one);
    !core.is_empty()
        && !core.starts_with(inner)
        && !core.ends_with(inner)
        && core.chars().all(|one| letter(one) || inner(one))
}

/// Marks on letters, and the joiners of Persian and Hindi.
fn is_joining(one: char) -> bool {
    matches!(one, '\u{300}'..='\u{36f}' | '\u{200c}' | '\u{200d}' | '\u{900}'..='\u{dff}')
}

/// A mark that a model may put behind a word, or exchange for another. No colon: with one, words are
/// given to another speaker.
pub(super) fn is_new_mark(one: char) -> bool {
    is_mark(one) && !matches!(one, ':' | '：')
}

/// A mark behind a word.
fn is_mark(one: char) -> bool {
    is_end_mark(one) || matches!(one, ',' | ';' | ':' | '，' | '、' | '；' | '：' | '،' | '؛')
}

/// True if a mark ends a sentence.
pub(super) fn is_end_mark(one: char) -> bool {
    matches!(one, '.' | '!' | '?' | '…' | '。' | '！' | '？' | '؟' | '۔' | '।' | '॥' | '։')
}

/// The marks with which Spanish begins.
pub(super) fn is_beginning(one: char) -> bool {
    matches!(one, '¿' | '¡')
}

fn is_opening(one: char) -> bool {
    is_beginning(one)
        || matches!(
            one,
            '"' | '\'' | '“' | '„' | '‘' | '‚' | '«' | '‹' | '(' | '「' | '『' | '《' | '（'
        )
}

fn is_closing(one: char) -> bool {
    matches!(one, '"' | '\'' | '”' | '“' | '’' | '‘' | '»' | '›' | ')' | '」' | '』' | '》' | '）')
}

/// True if words of this script are not told apart by spaces: Chinese, Japanese, Thai, Lao, Khmer, Burmese.
pub(super) fn is_spaceless(one: char) -> bool {
    matches!(one,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}')
}

impl<'a> PunctuatedWord<'a> {
    /// True if another one is the same, whatever its case: ours is what is printed.
    pub(super) fn is(&self, other: &PunctuatedWord<'_>) -> bool {
        if self.is_fixed != other.is_fixed {
            return false;
        }
        let low = |word: &'_ str| -> String {
            word.replace('’', "'").chars().flat_map(char::to_lowercase).collect()
        };
        self.core.eq_ignore_ascii_case(other.core) || low(self.core) == low(other.core)
    }

    /// The word with its first letter as large as another has it. Only that one, and only where nothing else changes.
    pub(super) fn with_capital(&self, wanted: bool) -> Cow<'a, str> {
        let mut letters = self.core.chars();
        let Some(first) = letters.next() else { return Cow::Borrowed(self.core) };
        let rest = letters.as_str();
        if self.is_fixed || first.is_uppercase() == wanted || rest.contains(char::is_uppercase) {
            return Cow::Borrowed(self.core);
        }
        let turned: String =
            if wanted { first.to_uppercase().collect() } else { first.to_lowercase().collect() };
        if turned.chars().count() == 1 {
            Cow::Owned(format!("{turned}{rest}"))
        } else {
            Cow::Borrowed(self.core)
        }
    }

    /// True if it begins with a capital.
    pub(super) fn has_capital(&self) -> bool {
        self.core.starts_with(char::is_uppercase)
    }

    /// The marks behind it that are no quotes and brackets.
    pub(super) fn marks(&self) -> String {
        self.trail.chars().filter(|one| is_mark(*one)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found = words(text);
        let shown: Vec<String> = found
            .iter()
            .map(|one| if one.is_fixed { format!("={}", one.core) } else { one.core.to_owned() })
            .collect();
        assert_eq!(shown, expected, "{text:?}");
        let whole: String =
            found.iter().flat_map(|one| [one.gap, one.lead, one.core, one.trail]).collect();
        assert_eq!(whole, text.trim_end(), "nothing is in neither");
    }

    #[test]
    fn words_are_told_from_what_must_stay() {
        check("Let's eat, grandma!", &["Let's", "eat", "grandma"]);
        check("a well-known “quote” (so)", &["a", "well-known", "quote", "so"]);
        check("wait—what – no", &["=wait—what", "=–", "no"]);
        check("I paid $1,000.50, i.e. -5%.", &["I", "paid", "=$1,000.50", "=i.e", "=-5%"]);
        check("see https://x.y/a_(b)?q=1.", &["see", "=https://x.y/a_(b)?q=1"]);
        check("C++ & .net", &["=C++", "=&", "=.net"]);
        check("run `let x = 1;` now", &["run", "=`let x = 1;`", "now"]);
        check("it`s fine we met", &["=it`s", "fine", "we", "met"]);
        check("git push --force, rm -rf ..", &["git", "push", "=--force", "rm", "=-rf", "=.."]);
        check("an A- and 5\" by main()", &["an", "=A-", "and", "=5\"", "by", "=main()"]);
        check("[music] and \"no\".", &["=[music]", "and", "no"]);
        check("你好，我有3个。", &["你", "好", "我", "有", "=3", "个"]);
        check("नमस्ते दुनिया।", &["नमस्ते", "दुनिया"]);
        check("", &[]);
    }

    #[test]
    fn only_a_first_letter_changes() {
        let turned = |text: &str, wanted| words(text)[0].with_capital(wanted).into_owned();
        assert_eq!(turned("hello", true), "Hello");
        assert_eq!(turned("Hello", false), "hello");
        for same in ["iPhone", "NASA", "3pm", "ßa", "`a b`"] {
            assert_eq!((turned(same, true).as_str(), turned(same, false).as_str()), (same, same));
        }
    }
}
