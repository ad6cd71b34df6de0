//! Full stops that end no sentence.

/// Words that are written with a full stop, by their length in bytes: every sentence ends with a word that
/// may be one.
const ABBREVIATIONS: [&[&str]; 7] = [
    &[],
    &["m"],
    &[
        "ca", "cf", "co", "dr", "ed", "jr", "lt", "mr", "ms", "mt", "no", "nr", "pp", "sr", "st",
        "vs",
    ],
    &[
        "apt", "bzw", "col", "dra", "e.g", "est", "etc", "fig", "gen", "gov", "hon", "i.e", "inc",
        "ltd", "mme", "mrs", "rev", "sen", "sgt", "sra", "str", "u.a", "u.s", "usw", "vgl", "vol",
        "z.b",
    ],
    &["capt", "corp", "dept", "mlle", "p.ej", "prof", "srta"],
    &[],
    &["approx"],
];

/// Whether a full stop behind this word is part of it: an abbreviation, or one letter as in `J. Smith`.
pub(super) fn is_abbreviation(word: &str) -> bool {
    let mut letters = word.chars();
    let is_initial = letters.next().is_some_and(char::is_uppercase) && letters.next().is_none();
    let same_length = ABBREVIATIONS.get(word.len()).copied().unwrap_or_default();
    is_initial && word != "I" || same_length.iter().any(|one| one.eq_ignore_ascii_case(word))
}
