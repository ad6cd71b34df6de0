//! Characters and words, as far as arguments are compared by them.

use std::borrow::Cow;

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

use crate::policy;

/// The zeros of scripts with digits of their own; NFKC leaves them as they are.
const ZEROS: [char; 7] =
    ['\u{660}', '\u{6f0}', '\u{966}', '\u{9e6}', '\u{a66}', '\u{ae6}', '\u{e50}'];

/// A text in its normal form, with the digits that everybody reads.
pub(super) fn normal(text: &str) -> String {
    let text = policy::normal(text);
    if text.is_ascii() { text } else { text.chars().map(digit).collect() }
}

/// A digit of any script as one of ours.
pub(super) fn digit(one: char) -> char {
    let zero = ZEROS.into_iter().find(|zero| (*zero..=ninth(*zero)).contains(&one));
    let value = zero.map(|zero| u32::from(one) - u32::from(zero));
    value.and_then(|value| char::from_digit(value, 10)).unwrap_or(one)
}

fn ninth(zero: char) -> char {
    char::from_u32(u32::from(zero) + 9).unwrap_or(zero)
}

/// Whether a character belongs to a word. Some vowel signs of India count as no letters.
pub(super) fn is_letter(one: char) -> bool {
    one.is_alphanumeric()
        || matches!(one, '\u{300}'..='\u{36f}' | '\u{900}'..='\u{dff}' | '\u{3099}' | '\u{309a}')
}

/// Whether a character belongs to a script that is written without spaces between words, or, as
/// Korean, with endings that are not set apart.
pub(super) fn is_unspaced(one: char) -> bool {
    matches!(one,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}'
        | '\u{1780}'..='\u{17ff}' | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}'
        | '\u{3130}'..='\u{318f}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Whether a text has what nobody sees, or what breaks a line.
pub(super) fn has_unseen(text: &str) -> bool {
    text.chars().any(|one| match one {
        ' '..='~' | '\u{c0}'..='\u{24f}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => {
            false
        }
        _ if one.is_control() => true,
        '\u{2028}' | '\u{2029}' => true,
        _ => policy::visible(one.encode_utf8(&mut [0; 4])).is_empty(),
    })
}

/// A word without the marks on its letters: `zürich` is `zurich`.
pub(super) fn bare(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return Cow::Borrowed(word);
    }
    // Only where a mark is a matter of spelling. In other scripts it makes another letter.
    let is_marked = |one: char| matches!(one, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}');
    let apart = DecomposingNormalizerBorrowed::new_nfd();
    let mut out = String::with_capacity(word.len());
    for one in word.chars() {
        if is_marked(one) {
            let parts = apart.normalize(one.encode_utf8(&mut [0; 4])).into_owned();
            out.extend(parts.chars().filter(|part| !matches!(part, '\u{300}'..='\u{36f}')));
        } else if !matches!(one, '\u{300}'..='\u{36f}') {
            out.push(one);
        }
    }
    Cow::Owned(out)
}

/// A word with its umlauts written as two letters, if it has any: `zürich` is `zuerich`.
pub(super) fn without_umlauts(word: &str) -> Option<String> {
    let composed = ComposingNormalizerBorrowed::new_nfc().normalize(word);
    composed.contains(['ä', 'ö', 'ü']).then(|| {
        let long = composed.replace('ä', "ae").replace('ö', "oe").replace('ü', "ue");
        bare(&long).into_owned()
    })
}

/// The words of a normalised text: letters and digits, of scripts with spaces between words.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|one: char| !is_letter(one) || is_unspaced(one)).filter(|word| !word.is_empty())
}
