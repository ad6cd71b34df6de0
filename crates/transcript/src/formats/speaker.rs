//! Names of speakers before what they say.

use crate::word_lists::COMMON;

/// The longest name, in bytes, and the most words it has.
const MAX_NAME_BYTES: usize = 60;
const MAX_NAME_WORDS: usize = 5;

/// The name that a line begins with, and what is said.
pub(super) fn label(line: &str) -> Option<(&str, &str)> {
    let near = &line.as_bytes()[..line.len().min(MAX_NAME_BYTES)];
    let colon = memchr::memchr(b':', near)?;
    let (name, said) = (&line[..colon], &line[colon + 1..]);
    if !(said.is_empty() || said.starts_with([' ', '\t'])) || !is_name(name) {
        return None;
    }
    Some((name.trim(), said.trim()))
}

/// True if this can be the name of a speaker: a few words with capitals, or in a script without.
pub(super) fn is_name(name: &str) -> bool {
    let name = name.trim();
    if name.is_empty() || name.len() > MAX_NAME_BYTES {
        return false;
    }
    let mut words = 0;
    for word in name.split_whitespace() {
        words += 1;
        let bare = word.trim_matches(|character| matches!(character, '(' | ')' | '[' | ']' | ','));
        let is_first = words == 1;
        let allowed =
            |c: char| c.is_alphanumeric() || matches!(c, '.' | '\'' | '’' | '-' | '_' | '&');
        let Some(initial) = bare.chars().next() else { return false };
        let is_number = bare.bytes().all(|byte| byte.is_ascii_digit());
        let begins = initial.is_uppercase() || (initial.is_alphabetic() && !initial.is_lowercase());
        let is_inner =
            !is_first && (is_number || COMMON.name_particles.iter().any(|word| word == bare));
        if words > MAX_NAME_WORDS || !bare.chars().all(allowed) || !(begins || is_inner) {
            return false;
        }
    }
    words > 0 && !(words == 1 && COMMON.no_names.contains(name))
}
