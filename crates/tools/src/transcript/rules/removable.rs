//! Which words may be missing from a text that somebody else has cleaned.
//!
//! It is judged by the same lists as everything else. Asides between commas are not here: the rules
//! have taken them out before, and what they left was left on purpose.

use super::{
    language::Language,
    token::same_letters,
    word_lists::{SOUNDS, sounds, stutters},
};

/// Whether a word says nothing: a sound in lower case, or a word that nobody says twice on purpose and that
/// was just said.
pub(in super::super) fn is_removable(word: &str, before: Option<&str>, language: Language) -> bool {
    let is_in = |list: &[&str]| list.iter().any(|one| same_letters(one, word));
    let follows_number = before.is_some_and(|before| before.ends_with(char::is_numeric));
    let is_sound = !word.contains(char::is_uppercase)
        && !follows_number
        && (is_in(SOUNDS) || is_in(sounds(language)));
    is_sound || before.is_some_and(|before| same_letters(before, word)) && is_in(stutters(language))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_says_nothing_may_go() {
        let check = |word: &str, before: Option<&str>, language, expected: bool| {
            assert_eq!(is_removable(word, before, language), expected, "{before:?} {word:?}");
        };
        check("um", Some("so"), Language::English, true);
        check("um", Some("so"), Language::German, false);
        check("UM", Some("the"), Language::English, false);
        check("mm", Some("5"), Language::English, false);
        check("the", Some("The"), Language::English, true);
        check("had", Some("had"), Language::English, false);
        check("like", Some("was"), Language::English, false);
        check("so", None, Language::English, false);
    }
}
