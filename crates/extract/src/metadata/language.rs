//! In which language a page is.

use super::MetadataSource;

/// A text is long enough to tell its language from so many characters on.
const ENOUGH: usize = 100;
/// And no more of it than so many bytes is looked at.
const SAMPLE: usize = 3_072;

pub(crate) fn find(source: &MetadataSource<'_>) -> Option<String> {
    let declared = source
        .head
        .lang
        .as_deref()
        .or_else(|| source.head.meta("og:locale"))
        .or_else(|| source.head.meta("content-language"))
        .or_else(|| source.head.meta("language"))
        .and_then(tag);
    let sample = &source.text[..source.text.floor_char_boundary(SAMPLE)];
    let seen = (sample.chars().count() >= ENOUGH)
        .then(|| whatlang::detect(sample))
        .flatten()
        .filter(whatlang::Info::is_reliable)
        .and_then(|info| two_letters(info.lang().code()));
    match (declared, seen) {
        // A template's language is often not the text's.
        (Some(declared), Some(seen)) if !declared.starts_with(seen) => Some(seen.to_owned()),
        (Some(declared), _) => Some(declared),
        (None, seen) => seen.map(str::to_owned),
    }
}

/// A language tag in the usual spelling: `de-AT`.
fn tag(text: &str) -> Option<String> {
    let text = text.trim().replace('_', "-");
    let mut parts = text.split(['-', ',', ' ']);
    let language = parts.next()?.to_ascii_lowercase();
    if !(2..=3).contains(&language.len()) || !language.bytes().all(|one| one.is_ascii_lowercase()) {
        return None;
    }
    let region = parts.next().filter(|part| {
        part.len() == 2 && part.bytes().all(|one| one.is_ascii_alphabetic()) && text.contains('-')
    });
    Some(match region {
        Some(region) => format!("{language}-{}", region.to_ascii_uppercase()),
        None => language,
    })
}

fn two_letters(code: &str) -> Option<&'static str> {
    const TABLE: &[(&str, &str)] = &[
        ("afr", "af"),
        ("aka", "ak"),
        ("amh", "am"),
        ("ara", "ar"),
        ("aze", "az"),
        ("bel", "be"),
        ("ben", "bn"),
        ("bul", "bg"),
        ("cat", "ca"),
        ("ces", "cs"),
        ("cmn", "zh"),
        ("cym", "cy"),
        ("dan", "da"),
        ("deu", "de"),
        ("ell", "el"),
        ("eng", "en"),
        ("epo", "eo"),
        ("est", "et"),
        ("fin", "fi"),
        ("fra", "fr"),
        ("guj", "gu"),
        ("heb", "he"),
        ("hin", "hi"),
        ("hrv", "hr"),
        ("hun", "hu"),
        ("hye", "hy"),
        ("ind", "id"),
        ("ita", "it"),
        ("jav", "jv"),
        ("jpn", "ja"),
        ("kan", "kn"),
        ("kat", "ka"),
        ("khm", "km"),
        ("kor", "ko"),
        ("lat", "la"),
        ("lav", "lv"),
        ("lit", "lt"),
        ("mal", "ml"),
        ("mar", "mr"),
        ("mkd", "mk"),
        ("mya", "my"),
        ("nep", "ne"),
        ("nld", "nl"),
        ("nob", "no"),
        ("ori", "or"),
        ("pan", "pa"),
        ("pes", "fa"),
        ("pol", "pl"),
        ("por", "pt"),
        ("ron", "ro"),
        ("rus", "ru"),
        ("sin", "si"),
        ("slk", "sk"),
        ("slv", "sl"),
        ("sna", "sn"),
        ("spa", "es"),
        ("srp", "sr"),
        ("swe", "sv"),
        ("tam", "ta"),
        ("tel", "te"),
        ("tgl", "tl"),
        ("tha", "th"),
        ("tuk", "tk"),
        ("tur", "tr"),
        ("ukr", "uk"),
        ("urd", "ur"),
        ("uzb", "uz"),
        ("vie", "vi"),
        ("yid", "yi"),
        ("zul", "zu"),
    ];
    TABLE.iter().find(|(three, _)| *three == code).map(|(_, two)| *two)
}
