//! Full stops that end no sentence.

/// Words that are written with a full stop.
const ABBREVIATIONS: &[&str] = &[
    "approx", "apt", "bzw", "ca", "capt", "cf", "co", "col", "corp", "dept", "dr", "dra", "e.g",
    "ed", "est", "etc", "fig", "gen", "gov", "hon", "i.e", "inc", "jr", "lt", "ltd", "m", "mlle",
    "mme", "mr", "mrs", "ms", "mt", "no", "nr", "p.ej", "pp", "prof", "rev", "sen", "sgt", "sr",
    "sra", "srta", "st", "str", "u.a", "u.s", "usw", "vgl", "vol", "vs", "z.b",
];

/// Whether a full stop behind this word is part of it: an abbreviation, or one letter as in `J. Smith`.
pub(super) fn is_abbreviation(word: &str) -> bool {
    let mut letters = word.chars();
    let is_initial = letters.next().is_some_and(char::is_uppercase) && letters.next().is_none();
    is_initial && word != "I"
        || (word.len() <= 6 && ABBREVIATIONS.iter().any(|one| one.eq_ignore_ascii_case(word)))
}
