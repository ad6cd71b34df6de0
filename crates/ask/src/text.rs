//! One spelling for what reads the same: what rules and searches look at instead of the text itself.

use contract::invisible::has_no_shape;
use icu_normalizer::ComposingNormalizerBorrowed;

/// A text as rules see it: compatibility forms composed (NFKC), nothing that cannot be seen, no
/// strokes through letters, plain apostrophes, quotation marks and dashes, small letters, and one
/// space wherever there is any.
///
/// Its result is its own normal form, so it does no harm to ask twice.
pub fn normal(text: &str) -> String {
    folded(&visible(text))
}

/// The first half of it: what can be seen, with its capitals.
pub(crate) fn visible(text: &str) -> String {
    let composed = ComposingNormalizerBorrowed::new_nfkc().normalize(text);
    composed.chars().filter_map(seen).collect()
}

/// The second half: small letters, and single spaces.
pub(crate) fn folded(text: &str) -> String {
    // What was taken out may have kept a letter from its mark, and large letters have marks of
    // their own: hence once more.
    let small: String = without_dots(text.chars().flat_map(small)).collect();
    let composed = ComposingNormalizerBorrowed::new_nfkc().normalize(&small);
    spaced(composed.chars().filter_map(seen))
}

/// True if a character belongs to a script that is written without spaces between words.
pub(crate) fn is_unspaced(one: char) -> bool {
    matches!(one,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}'
        | '\u{1780}'..='\u{17ff}' | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}'
        | '\u{3130}'..='\u{318f}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// The words of a text: letters and digits in a row.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|one: char| !one.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Small, large, and small again: only so `ß`, `ẞ` and `ss` become the same, and `σ` and `ς`.
fn small(character: char) -> impl Iterator<Item = char> {
    character.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase)
}

/// The large Turkish `İ` becomes an `i` with a second dot, which nobody means.
fn without_dots(characters: impl Iterator<Item = char>) -> impl Iterator<Item = char> {
    let mut before = ' ';
    characters.filter(move |character| {
        let is_dot = *character == '\u{307}' && before == 'i';
        if !is_dot {
            before = *character;
        }
        !is_dot
    })
}

fn spaced(characters: impl Iterator<Item = char>) -> String {
    let mut out = String::new();
    for character in characters {
        if !character.is_whitespace() {
            out.push(character);
        } else if !out.is_empty() && !out.ends_with(' ') {
            out.push(' ');
        }
    }
    if out.ends_with(' ') {
        out.pop();
    }
    out
}

/// A character as it is seen, or nothing.
fn seen(character: char) -> Option<char> {
    Some(match character {
        _ if character.is_whitespace() => character,
        _ if character.is_control() || has_no_shape(character) => return None,
        // Strokes and rings that are laid over a letter, which is still read.
        '\u{335}'..='\u{338}' | '\u{20d2}'..='\u{20f0}' => return None,
        // `´` is a space with an accent to NFKC, and so never comes here.
        '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{2bc}' | '\u{2b9}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{ab}' | '\u{bb}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{2e3a}' | '\u{2e3b}' => '-',
        _ => character,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_that_read_the_same_are_the_same() {
        for (text, expected) in [
            ("  How do\tI\r\n hack ", "how do i hack"),
            ("Ｈａｃｋ　ａ　ｗｅｂｓｉｔｅ", "hack a website"),
            ("𝐇𝐚𝐜𝐤 𝓪 𝕨𝕖𝕓𝕤𝕚𝕥𝕖", "hack a website"),
            ("ⓗⓐⓒⓚ ﬁle", "hack file"),
            ("Straße STRASSE STRAẞE", "strasse strasse strasse"),
            ("ΟΔΟΣ οδος", "οδοσ οδοσ"),
            ("İstanbul ISTANBUL ıstanbul", "istanbul istanbul istanbul"),
            ("cafe\u{301} CAFÉ", "café café"),
            ("don’t — “do” …", "don't - \"do\" ..."),
            ("a\u{a0}b\u{3000}c\u{2028}d", "a b c d"),
            ("", ""),
            (" \n\u{200b} ", ""),
            // Nothing that cannot be seen.
            ("h\u{200b}a\u{200d}c\u{2060}k", "hack"),
            ("ha\u{ad}ck\u{feff}", "hack"),
            ("\u{202e}hack\u{202c}", "hack"),
            ("h\u{fe0f}a\u{e0100}c\u{180b}k", "hack"),
            ("ha\u{e0061}\u{e0062}ck", "hack"),
            ("h\u{3164}a\u{115f}c\u{ffa0}k", "hack"),
            ("h\u{336}a\u{335}c\u{337}k\u{338}", "hack"),
            ("h\u{0}a\u{1b}c\u{7f}k", "hack"),
            ("e\u{200b}\u{301}", "é"),
            ("h\u{20d2}ack 1\u{fe0f}\u{20e3}", "hack 1"),
            // Scripts without capitals stay as they are.
            ("パスワード ポリシー", "パスワード ポリシー"),
            ("密码策略", "密码策略"),
            ("سياسة", "سياسة"),
        ] {
            assert_eq!(normal(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn its_result_is_its_own_normal_form(
            text in prop_oneof![
                any::<String>(),
                "[a-zİßẞΣ \u{300}-\u{345}\u{200b}\u{ad}\u{1f80}-\u{1fff}\u{2000}-\u{20f0}]{0,20}",
            ],
        ) {
            let once = normal(&text);
            prop_assert_eq!(normal(&once), once);
        }
    }
}
