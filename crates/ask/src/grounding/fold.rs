//! One spelling for what reads the same: composed characters, one space for every run of spaces,
//! nothing that cannot be seen. And the way back to what was really written.

use contract::invisible::has_no_shape;
use icu_normalizer::{ComposingNormalizerBorrowed, properties::CanonicalCombiningClassMapBorrowed};

/// Stands for a line end in a folded text.
pub(super) const LINE: char = '\n';
/// Stands for an empty line in a folded text.
pub(super) const PARAGRAPH: char = '\u{b}';

const NFC: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfc();
const CLASSES: CanonicalCombiningClassMapBorrowed<'static> =
    CanonicalCombiningClassMapBorrowed::new();

/// A place up to which the folded text and the written one do not run byte for byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    /// The byte of the folded text.
    pub folded: usize,
    /// Where that which stands before it ends in the written text.
    pub before: usize,
    /// Where that which stands behind it begins in the written text.
    pub behind: usize,
}

/// A folded text and its marks.
#[derive(Debug, Default)]
pub(super) struct Folded {
    /// Runs of spaces are one space, [`LINE`] or [`PARAGRAPH`].
    pub text: String,
    /// In order, the first at the very start.
    pub marks: Vec<Mark>,
}

impl Folded {
    /// Folds a text.
    pub fn of(written: &str) -> Self {
        let mut folded = Self { text: String::with_capacity(written.len()), marks: Vec::new() };
        folded.mark(0, 0);
        let mut at = 0;
        while at < written.len() {
            at = folded.step(written, at);
        }
        folded
    }

    /// Folds what stands at a place and says where the next thing stands.
    fn step(&mut self, written: &str, at: usize) -> usize {
        let rest = &written[at..];
        let plain = plain_prefix(rest.as_bytes());
        if plain > 0 {
            self.text.push_str(&rest[..plain]);
            return at + plain;
        }
        let next = rest.chars().next().expect("the rest is not empty");
        if is_space(next) {
            return self.spaces(rest, at);
        }
        if is_unseen(next) {
            let end = at + next.len_utf8();
            self.mark(at, end);
            return end;
        }
        self.characters(rest, at)
    }

    fn spaces(&mut self, rest: &str, at: usize) -> usize {
        let (mut length, mut lines, mut after_return) = (0, 0, false);
        // What cannot be seen between spaces does not part them.
        for (offset, space) in rest.char_indices() {
            if !is_space(space) && !is_unseen(space) {
                break;
            }
            let is_line = matches!(space, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
            lines += usize::from(is_line && !(space == '\n' && after_return));
            after_return = space == '\r';
            length = offset + space.len_utf8();
        }
        self.text.push(match lines {
            0 => ' ',
            1 => LINE,
            _ => PARAGRAPH,
        });
        if length > 1 {
            self.mark(at + length, at + length);
        }
        at + length
    }

    /// A run that is not plain ASCII, up to the next space or unseen character.
    fn characters(&mut self, rest: &str, at: usize) -> usize {
        let mut end = 0;
        for (offset, character) in rest.char_indices() {
            let is_over = is_space(character) || is_unseen(character);
            if is_over || (offset > 0 && starts_plain(&rest[offset..])) {
                break;
            }
            end = offset + character.len_utf8();
        }
        let run = &rest[..end];
        if NFC.is_normalized(run) {
            self.text.push_str(run);
            return at + end;
        }
        let mut from = 0;
        while from < run.len() {
            let length = cluster(&run[from..]);
            let piece = &run[from..from + length];
            let composed = NFC.normalize(piece);
            self.text.push_str(&composed);
            from += length;
            if composed != piece {
                self.mark(at + from, at + from);
            }
        }
        at + end
    }

    fn mark(&mut self, before: usize, behind: usize) {
        let folded = self.text.len();
        match self.marks.last_mut() {
            Some(last) if last.folded == folded => last.behind = behind,
            _ => self.marks.push(Mark { folded, before, behind }),
        }
    }
}

/// Evidence as it is looked for: folded, every space a plain one, none at its ends.
pub(super) fn needle(evidence: &str) -> String {
    flat(&Folded::of(evidence).text).trim().to_owned()
}

/// A folded text without the difference between spaces and line ends.
pub(super) fn flat(folded: &str) -> String {
    folded.replace([LINE, PARAGRAPH], " ")
}

/// Bytes that fold to themselves: printable ASCII and single spaces, as long as no combining
/// character follows the last of them.
fn plain_prefix(bytes: &[u8]) -> usize {
    let is_visible = |byte: u8| (0x21..0x7f).contains(&byte);
    let mut at = 0;
    while at < bytes.len() {
        let next = bytes.get(at + 1).copied();
        let is_plain = if bytes[at] == b' ' {
            next.is_some_and(is_visible)
        } else {
            is_visible(bytes[at]) && next.is_none_or(|byte| byte < 0x80)
        };
        if !is_plain {
            break;
        }
        at += 1;
    }
    at
}

fn starts_plain(rest: &str) -> bool {
    plain_prefix(&rest.as_bytes()[..rest.len().min(2)]) > 0
}

/// How many bytes at the start belong together: a character and all that combines with it.
fn cluster(run: &str) -> usize {
    let mut characters = run.char_indices();
    let (_, first) = characters.next().expect("a run is not empty");
    let mut end = first.len_utf8();
    let mut last = first;
    for (offset, next) in characters {
        if !is_combining(next) && !composes(last, next) {
            break;
        }
        end = offset + next.len_utf8();
        last = next;
    }
    end
}

/// Whether two characters that both can begin something become one, as the letters of Hangul do.
fn composes(last: char, next: char) -> bool {
    if last.is_ascii() && next.is_ascii() {
        return false;
    }
    let both: String = [last, next].into_iter().collect();
    let single = |one: char| NFC.normalize(one.encode_utf8(&mut [0; 4])).into_owned();
    NFC.normalize(&both) != single(last) + &single(next)
}

/// Whether a character combines with the one before it.
pub(super) fn is_combining(character: char) -> bool {
    !character.is_ascii() && CLASSES.get_u8(character) != 0
}

/// Whether a character is a space of any kind.
pub(super) fn is_space(character: char) -> bool {
    character.is_whitespace()
}

/// Whether a character has no shape of its own, and is no space.
pub(super) fn is_unseen(character: char) -> bool {
    has_no_shape(character) || (character.is_control() && !is_space(character))
}
