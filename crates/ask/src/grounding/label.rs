//! What a property is called, as words: `deletion_protection` and `deletionProtection` are both
//! `deletion protection`.
//!
//! A name is never evidence. Where the evidence is the whole value of a property, a claim may call
//! it by its name: `Deletion protection: disabled`.

use super::{
    fold,
    words::{self, Kind, Word},
};

/// A property with a longer name says more than what its value is, in characters.
const MAX_CHARACTERS: usize = 40;

/// The words of a name. None if one of them denies, goes far or counts, or if it is a text of its
/// own.
pub(super) fn read(property: &str) -> Vec<Word> {
    let mut spaced = String::new();
    let mut was_small = false;
    for (at, character) in property.chars().enumerate() {
        if at >= MAX_CHARACTERS {
            return Vec::new();
        }
        if was_small && character.is_uppercase() {
            spaced.push(' ');
        }
        was_small = character.is_lowercase();
        spaced.push(if matches!(character, '_' | '-' | '.') { ' ' } else { character });
    }
    let words = words::read(&fold::needle(&spaced));
    let is_plain = |word: &Word| matches!(word.kind, Kind::Content | Kind::Relation | Kind::Stop);
    if words.iter().all(is_plain) { words } else { Vec::new() }
}
