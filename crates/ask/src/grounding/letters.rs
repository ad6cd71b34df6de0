//! Letters that look alike: small and large ones, wide ones, and those of other scripts that are
//! put among Latin ones to hide a word.

use icu_normalizer::ComposingNormalizerBorrowed;

const NFKC: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfkc();

/// A word in small letters, with letters that look like Latin ones among Latin ones made those.
pub(super) fn key(written: &str) -> String {
    if written.is_ascii() {
        return written.to_ascii_lowercase();
    }
    let is_mixed = is_mixed(written);
    let small: String = NFKC.normalize(written).chars().flat_map(char::to_lowercase).collect();
    let alike = |one: char| match one {
        '’' => '\'',
        '\u{2010}' | '\u{2011}' | '−' | '–' => '-',
        _ if is_mixed => alike(one).unwrap_or(one),
        _ => one,
    };
    small.chars().map(alike).collect()
}

/// Whether a word has Latin letters and others that look like them.
pub(super) fn is_mixed(written: &str) -> bool {
    let has_latin = written.chars().any(|one| one.is_ascii_alphabetic());
    has_latin && written.chars().any(|one| one.to_lowercase().any(|small| alike(small).is_some()))
}

/// The Latin letter that a Cyrillic, Greek or Armenian one looks like.
fn alike(character: char) -> Option<char> {
    Some(match character {
        'а' | 'α' => 'a',
        'в' | 'β' => 'b',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'ё' | 'ε' => 'e',
        'һ' | 'н' => 'h',
        'і' | 'ι' | 'ı' => 'i',
        'ј' => 'j',
        'к' | 'κ' => 'k',
        'ӏ' => 'l',
        'м' => 'm',
        'п' | 'ո' | 'η' => 'n',
        'о' | 'ο' | 'օ' | 'σ' => 'o',
        'р' | 'ρ' => 'p',
        'г' => 'r',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'υ' | 'ս' => 'u',
        'ν' | 'ѵ' => 'v',
        'ѡ' | 'ԝ' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'γ' => 'y',
        _ => return None,
    })
}
