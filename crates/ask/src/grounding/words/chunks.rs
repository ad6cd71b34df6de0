//! The pieces of a text, before anything is known of what they mean.

use std::ops::Range;

use super::super::fold::is_combining;

/// The pieces of a text that a quote must not cut.
pub(in crate::grounding) fn chunks(text: &str) -> Vec<Range<usize>> {
    let characters: Vec<(usize, char)> = text.char_indices().collect();
    let at = |index: usize| characters.get(index).map(|(_, character)| *character);
    let place = |index: usize| characters.get(index).map_or(text.len(), |(place, _)| *place);
    let mut found = Vec::new();
    let mut index = 0;
    let mut behind = 0;
    while let Some(first) = at(index) {
        if !is_word(first) {
            index += 1;
            continue;
        }
        let mut start = index;
        let mut end = index + 1;
        while let Some(next) = at(end) {
            let last = characters[end - 1].1;
            let goes_on = is_word(next) && (is_run(next) == is_run(last) || is_combining(next));
            if goes_on || connects(&characters, end) {
                end += 1;
            } else {
                break;
            }
        }
        if first.is_ascii_digit() {
            while start > behind && is_prefix(&characters, start - 1) {
                start -= 1;
            }
            // `≤ 5`
            let is_bound = start > behind + 1 && at(start - 1) == Some(' ');
            if is_bound
                && at(start - 2).is_some_and(|one| matches!(one, '<' | '≤' | '≥' | '≈' | '±'))
            {
                start -= 2;
            }
        }
        if characters[end - 1].1.is_ascii_digit() {
            let space = usize::from(at(end) == Some(' '));
            let is_suffix = at(end + space).is_some_and(is_number_sign)
                && !at(end + space + 1).is_some_and(|next| next.is_ascii_digit());
            if is_suffix {
                end += space + 1;
            }
        }
        found.push(place(start)..place(end));
        (index, behind) = (end, end);
    }
    found
}

/// Whether a character can be part of a word.
fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || is_combining(character)
}

/// Whether a sign belongs to the number that it stands beside.
pub(in crate::grounding) fn is_number_sign(character: char) -> bool {
    matches!(character, '%' | '‰' | '°' | '€' | '$' | '£' | '¥' | '₹')
}

fn is_prefix(characters: &[(usize, char)], at: usize) -> bool {
    match characters[at].1 {
        '$' | '€' | '£' | '¥' | '₹' | '<' | '>' | '≤' | '≥' | '~' | '≈' | '±' | '=' => {
            true
        }
        // A minus, not a hyphen or a dash.
        '-' | '−' | '–' | '+' => {
            let before = at.checked_sub(1).map(|before| characters[before].1);
            before.is_none_or(|one| {
                one.is_whitespace()
                    || matches!(one, '(' | '[' | '<' | '>' | '≤' | '≥' | '=' | ':' | '|')
            })
        }
        _ => false,
    }
}

/// Whether a mark holds together what stands on its two sides.
fn connects(characters: &[(usize, char)], at: usize) -> bool {
    let (Some((_, last)), Some((_, next))) = (characters.get(at - 1), characters.get(at + 1))
    else {
        return false;
    };
    if !is_word(*last) || !is_word(*next) || is_run(*last) || is_run(*next) {
        return false;
    }
    let digits = last.is_ascii_digit() && next.is_ascii_digit();
    match characters[at].1 {
        '.' | '/' | '@' | ':' | '&' | '-' | '\u{2010}' | '\u{2011}' | '\\' | '·' => true,
        '\'' | '’' => digits || (last.is_alphabetic() && next.is_alphabetic()),
        ',' | '–' | '−' => digits,
        ' ' => digits && groups_thousands(characters, at),
        _ => false,
    }
}

/// Whether a space stands within a number such as `1 000`.
fn groups_thousands(characters: &[(usize, char)], at: usize) -> bool {
    let is_digit =
        |index: usize| characters.get(index).is_some_and(|(_, one)| one.is_ascii_digit());
    let before = (1..=4).take_while(|back| at >= *back && is_digit(at - back)).count();
    let behind = (1..=4).take_while(|ahead| is_digit(at + ahead)).count();
    let start = at - before;
    let begins = start == 0 || matches!(characters[start - 1].1, ' ' | '(' | '-' | '$' | '€' | '£');
    (1..=3).contains(&before) && behind == 3 && begins
}

/// Whether a character is of a script that puts no spaces between words.
pub(in crate::grounding) fn is_run(character: char) -> bool {
    matches!(
        character,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}'
            | '\u{1780}'..='\u{17ff}' | '\u{2e80}'..='\u{2fff}' | '々' | '〇'
            | '\u{3040}'..='\u{30ff}' | '\u{3130}'..='\u{318f}' | '\u{31f0}'..='\u{31ff}'
            | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
            | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9d}' | '\u{20000}'..='\u{3ffff}'
    )
}
