//! Characters: what is no text, what nobody sees, and one spelling for what looks the same.

use std::borrow::Cow;

use contract::invisible::only_hides;
use icu_normalizer::ComposingNormalizerBorrowed;

/// The characters that are looked at to tell text from anything else.
const SAMPLE_CHARACTERS: usize = 65_536;
/// One in this many characters may be none that text has.
const MAX_STRANGE: usize = 10;

/// True if a text is something else that was read as text: an image, a recording, UTF-16.
pub(super) fn is_binary(text: &str) -> bool {
    let (mut all, mut strange) = (0_usize, 0_usize);
    for character in text.chars().take(SAMPLE_CHARACTERS) {
        all += 1;
        strange += usize::from(is_strange(character));
    }
    strange * MAX_STRANGE > all
}

fn is_strange(character: char) -> bool {
    let is_space = matches!(character, '\t' | '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}');
    character == '\u{fffd}' || (character.is_control() && !is_space)
}

/// The text composed (NFC), with one kind of line end and one kind of space, and without what
/// nobody sees.
pub(super) fn normal(text: &str) -> Cow<'_, str> {
    if is_plain_ascii(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        // Most of nearly every text is what it should be.
        let plain = rest.bytes().take_while(|byte| is_plain(*byte)).count();
        let (before, after) = rest.split_at(plain);
        out.push_str(before);
        let mut characters = after.chars();
        let Some(character) = characters.next() else { break };
        rest = characters.as_str();
        match character {
            '\r' => {
                // `\r\n` is one line end, and so is the `\r` of old machines.
                if !rest.starts_with('\n') {
                    out.push('\n');
                }
            }
            '\n' | '\u{85}' | '\u{2028}' | '\u{2029}' => out.push('\n'),
            ' '
            | '\t'
            | '\u{a0}'
            | '\u{1680}'
            | '\u{2000}'..='\u{200a}'
            | '\u{202f}'
            | '\u{205f}'
            | '\u{3000}' => out.push(if character == '\t' { '\t' } else { ' ' }),
            _ if is_unseen(character) => {}
            _ => out.push(character),
        }
    }
    match ComposingNormalizerBorrowed::new_nfc().normalize(&out) {
        Cow::Borrowed(_) => Cow::Owned(out),
        Cow::Owned(composed) => Cow::Owned(composed),
    }
}

fn is_plain_ascii(text: &str) -> bool {
    // By blocks, because a compiler makes one instruction of many comparisons only where none may
    // be the last.
    text.as_bytes()
        .chunks(64)
        .all(|block| block.iter().fold(true, |plain, byte| plain & is_plain(*byte)))
}

fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\t')
}

/// True if a character changes nothing that is read: no width, no glyph, or an order to write
/// the other way. The joiners stay, because Persian, Hindi and emoji are spelled with them, and so
/// do the plain direction marks of right-to-left text.
fn is_unseen(character: char) -> bool {
    character.is_control() || character == '\u{fffd}' || only_hides(character)
}
