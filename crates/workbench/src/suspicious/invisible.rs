//! Characters that people cannot see.
//!
//! Each kind has a good use somewhere: joiners make emoji of several people and are needed in
//! Persian and Hindi, selectors choose a coloured glyph. Those uses are known and left alone.

use super::{SuspiciousText, shown};
use contract::Severity;

/// Runs of such characters, with what they are.
pub(super) fn find(characters: &[char]) -> Vec<SuspiciousText> {
    let mut found: Vec<SuspiciousText> = Vec::new();
    let mut index = 0;
    while index < characters.len() {
        let Some(kind) = judge(characters, index) else {
            index += 1;
            continue;
        };
        let mut end = index + 1;
        while end < characters.len() && judge(characters, end).is_some_and(|next| next.0 == kind.0)
        {
            end += 1;
        }
        let (rule, what, severity) = kind;
        let shown = shown(characters, index..end);
        found.push(SuspiciousText {
            rule,
            what,
            pointer: String::new(),
            range: index..end,
            shown,
            severity,
        });
        index = end;
    }
    found.extend(margins(characters));
    found
}

type CharacterRule = (&'static str, &'static str, Severity);

/// The rule that the character at this place breaks.
fn judge(characters: &[char], index: usize) -> Option<CharacterRule> {
    let one = characters[index];
    let before = index.checked_sub(1).map(|index| characters[index]);
    let after = characters.get(index + 1).copied();
    Some(match one {
        '\t' | '\n' | '\r' => return None,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => {
            ("control", "a control character", Severity::Error)
        }
        '\u{e0000}'..='\u{e007f}' if in_flag(characters, index) => return None,
        '\u{e0000}'..='\u{e007f}' => ("tags", "invisible tag characters", Severity::Error),
        '\u{200c}' | '\u{200d}' if joins(before, after) => return None,
        '\u{200b}'..='\u{200d}'
        | '\u{2060}'..='\u{2064}'
        | '\u{180e}'
        | '\u{34f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{3164}'
        | '\u{ffa0}'
        | '\u{206a}'..='\u{206f}' => ("zero_width", "a character without width", Severity::Error),
        '\u{ad}' | '\u{feff}' => ("zero_width_mark", "a mark without width", Severity::Warning),
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => (
            "direction",
            "characters that change the order of the text on the screen",
            Severity::Error,
        ),
        '\u{200e}' | '\u{200f}' | '\u{61c}'
            if is_right_to_left(before) || is_right_to_left(after) =>
        {
            return None;
        }
        '\u{200e}' | '\u{200f}' | '\u{61c}' => {
            ("direction_mark", "a direction mark that is not needed", Severity::Warning)
        }
        '\u{fe0e}' | '\u{fe0f}' if before.is_some_and(takes_selector) => return None,
        '\u{e0100}'..='\u{e01ef}' if before.is_some_and(is_ideograph) => return None,
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' | '\u{180b}'..='\u{180d}' => {
            ("selectors", "variation selectors that select nothing", Severity::Error)
        }
        '\u{fff9}'..='\u{fffb}' => ("annotation", "invisible annotations", Severity::Error),
        '\u{2028}' | '\u{2029}' => ("separator", "an unusual line separator", Severity::Warning),
        '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}' => {
            ("private", "a private-use character", Severity::Warning)
        }
        '\u{fdd0}'..='\u{fdef}'
        | '\u{fffe}'
        | '\u{ffff}'
        | '\u{40000}'..='\u{dffff}'
        | '\u{e0080}'..='\u{e00ff}'
        | '\u{e01f0}'..='\u{effff}' => {
            ("unassigned", "a code point that is not a character", Severity::Error)
        }
        _ => return None,
    })
}

/// True if people cannot see the character at this place, and nothing beside it needs it.
pub(super) fn is_invisible_at(characters: &[char], index: usize) -> bool {
    judge(characters, index).is_some()
}

/// True if a character by itself is invisible.
pub(super) fn is_invisible(one: char) -> bool {
    judge(&[one], 0).is_some()
}

/// The letter that a tag character spells.
pub(super) fn spelled(one: char) -> Option<char> {
    match one {
        '\u{e0020}'..='\u{e007e}' => char::from_u32(u32::from(one) - 0xe0000),
        _ => None,
    }
}

/// True if a tag belongs to the flag of a region: a black flag, a few letters, and an end.
fn in_flag(characters: &[char], index: usize) -> bool {
    let is_tag = |one: &char| ('\u{e0000}'..='\u{e007f}').contains(one);
    let start = characters[..index].iter().rposition(|one| !is_tag(one));
    let Some(start) = start.filter(|start| characters[*start] == '\u{1f3f4}') else { return false };
    let tags: Vec<char> =
        characters[start + 1..].iter().copied().take_while(|one| is_tag(one)).collect();
    let letters = |one: &char| spelled(*one).is_some_and(|letter| letter.is_ascii_alphanumeric());
    (4..=7).contains(&tags.len())
        && tags.last() == Some(&'\u{e007f}')
        && tags[..tags.len() - 1].iter().all(letters)
}

/// True if a joiner has something to join: emoji, or letters of scripts that need it.
fn joins(before: Option<char>, after: Option<char>) -> bool {
    let (Some(before), Some(after)) = (before, after) else { return false };
    let emoji = |one: char| is_pictograph(one) || one == '\u{fe0f}' || is_skin(one);
    let script = |one: char| {
        matches!(one, '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{1000}'..='\u{109f}'
            | '\u{1780}'..='\u{17ff}' | '\u{1800}'..='\u{18af}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
    };
    (emoji(before) && is_pictograph(after)) || (script(before) && script(after))
}

fn is_skin(one: char) -> bool {
    ('\u{1f3fb}'..='\u{1f3ff}').contains(&one)
}

fn is_pictograph(one: char) -> bool {
    matches!(one, '\u{1f000}'..='\u{1faff}' | '\u{2190}'..='\u{2bff}' | '\u{3030}' | '\u{303d}'
        | '\u{3297}' | '\u{3299}' | '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}')
}

fn takes_selector(one: char) -> bool {
    is_pictograph(one) || one.is_ascii_digit() || matches!(one, '#' | '*')
}

fn is_ideograph(one: char) -> bool {
    matches!(one, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn is_right_to_left(one: Option<char>) -> bool {
    matches!(one, Some('\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'))
}

/// The number of spaces that pushes the rest out of sight.
const FAR: usize = 200;
/// The number of empty lines that does.
const FAR_LINES: usize = 20;

/// White space that hides what comes after it.
fn margins(characters: &[char]) -> Option<SuspiciousText> {
    let mut start = 0;
    while start < characters.len() {
        let run = characters[start..].iter().take_while(|one| one.is_whitespace()).count();
        let lines = characters[start..start + run].iter().filter(|one| **one == '\n').count();
        let spaces = characters[start..start + run].iter().filter(|one| **one == ' ').count();
        if start + run < characters.len() && (spaces >= FAR || lines >= FAR_LINES) {
            let end = start + run;
            return Some(SuspiciousText {
                rule: "margin",
                what: "white space that pushes the rest out of sight",
                pointer: String::new(),
                range: start..end,
                shown: shown(characters, end..(end + 40).min(characters.len())),
                severity: Severity::Warning,
            });
        }
        start += run.max(1);
    }
    None
}
