//! A text as words and what stands between them.
//!
//! What a model may change is what stands between: spaces and punctuation. Everything else is a word, also
//! `$5`, `&` and `C#`. A number, an address or code is an *entity*: one word however many dots it has.
//! Scripts without spaces have a word for each character.

use std::borrow::Cow;

use super::super::rules::key;

/// A text, taken apart.
pub(super) struct Words<'a> {
    text: &'a str,
    all: Vec<Word>,
}

#[derive(Debug, Clone, Copy)]
struct Word {
    start: usize,
    end: usize,
    /// A number that is the same for the same word, whatever its case.
    key: u32,
    is_entity: bool,
}

impl<'a> Words<'a> {
    /// Takes a text apart.
    pub(super) fn of(text: &'a str) -> Self {
        let mut words = Self { text, all: Vec::with_capacity(text.len() / 6 + 1) };
        let mut in_code = false;
        for piece in text.split_whitespace() {
            let start = piece.as_ptr().addr() - text.as_ptr().addr();
            let ticks = memchr::memchr_iter(b'`', piece.as_bytes()).count();
            if in_code || ticks > 0 {
                let piece = piece.trim_end_matches(['.', ',', ';', ':', '!', '?']);
                words.push(start, start + piece.len(), true);
                in_code ^= ticks % 2 == 1;
            } else {
                words.take_piece(piece, start);
            }
        }
        words
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// A word.
    pub(super) fn word(&self, index: usize) -> &'a str {
        let word = self.all[index];
        &self.text[word.start..word.end]
    }

    /// What stands before a word; behind the last one where the index is that of none.
    pub(super) fn gap(&self, index: usize) -> &'a str {
        let start = index.checked_sub(1).map_or(0, |before| self.all[before].end);
        let end = self.all.get(index).map_or(self.text.len(), |word| word.start);
        &self.text[start..end]
    }

    /// Whether a word is the same as one of another text, whatever their case.
    pub(super) fn is_same(&self, index: usize, other: &Words<'_>, at: usize) -> bool {
        self.all[index].key == other.all[at].key && same_letters(self.word(index), other.word(at))
    }

    /// A word of ours, in the case that another text gives it. Entities, and words with capitals within, stay.
    pub(super) fn spelled_as(&self, index: usize, other: &str) -> Cow<'a, str> {
        let word = self.word(index);
        if self.all[index].is_entity || is_mixed(word) {
            return Cow::Borrowed(word);
        }
        // The letters are ours; of the other, only their size.
        let mut out = String::with_capacity(word.len());
        let mut sizes = other.chars();
        for letter in word.chars() {
            match sizes.next() {
                Some(size) if size.is_uppercase() && letter.is_lowercase() => {
                    out.extend(letter.to_uppercase());
                }
                Some(size) if size.is_lowercase() && letter.is_uppercase() => {
                    out.extend(letter.to_lowercase());
                }
                _ => out.push(letter),
            }
        }
        Cow::Owned(out)
    }

    fn push(&mut self, start: usize, end: usize, is_entity: bool) {
        if start < end {
            let key = key(&plain(&self.text[start..end]));
            self.all.push(Word { start, end, key, is_entity });
        }
    }

    /// Takes in what stands between two spaces.
    fn take_piece(&mut self, piece: &str, start: usize) {
        if piece.is_ascii() {
            return self.take_run(piece, start);
        }
        let mut run = 0;
        for (at, character) in piece.char_indices() {
            let is_spaceless = is_spaceless(character);
            if is_spaceless || is_wide_mark(character) {
                self.take_run(&piece[run..at], start + run);
                run = at + character.len_utf8();
                if is_spaceless {
                    self.push(start + at, start + run, false);
                }
            }
        }
        self.take_run(&piece[run..], start + run);
    }

    /// Takes in a piece that is written with spaces around words.
    fn take_run(&mut self, run: &str, start: usize) {
        if is_entity(run) {
            let (from, to) = entity(run);
            return self.push(start + from, start + to, true);
        }
        let mut word = None;
        let mut before = ' ';
        for (at, character) in run.char_indices() {
            let next = run[at + character.len_utf8()..].chars().next();
            // The apostrophe of `it's`.
            let is_within = matches!(character, '\'' | '’')
                && before.is_alphanumeric()
                && next.is_some_and(char::is_alphanumeric);
            if is_mark(character) && !is_within {
                if let Some(from) = word.take() {
                    self.push(start + from, start + at, false);
                }
            } else {
                word.get_or_insert(at);
            }
            before = character;
        }
        if let Some(from) = word {
            self.push(start + from, start + run.len(), false);
        }
    }
}

/// Punctuation that may come and go.
pub(super) fn is_mark(character: char) -> bool {
    matches!(
        character,
        '.' | ','
            | ';'
            | ':'
            | '!'
            | '?'
            | '…'
            | '"'
            | '\''
            | '“'
            | '”'
            | '„'
            | '‘'
            | '’'
            | '‚'
            | '«'
            | '»'
            | '‹'
            | '›'
            | '('
            | ')'
            | '['
            | ']'
            | '{'
            | '}'
            | '-'
            | '–'
            | '—'
            | '¿'
            | '¡'
            | '؟'
            | '،'
            | '؛'
            | '۔'
            | '।'
            | '॥'
            | '։'
    ) || is_wide_mark(character)
}

/// Whether a mark ends a sentence.
pub(super) fn is_end_mark(character: char) -> bool {
    matches!(character, '.' | '!' | '?' | '…' | '。' | '！' | '？' | '؟' | '۔' | '।' | '։')
}

fn is_wide_mark(character: char) -> bool {
    matches!(
        character,
        '。' | '，'
            | '、'
            | '！'
            | '？'
            | '；'
            | '：'
            | '「'
            | '」'
            | '『'
            | '』'
            | '《'
            | '》'
            | '（'
            | '）'
    )
}

/// Whether words of this script are not told apart by spaces: Chinese, Japanese, Thai, Lao, Khmer, Burmese.
pub(super) fn is_spaceless(character: char) -> bool {
    matches!(character,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}')
}

/// Whether a piece is a number, an address, a path, a name with dots, or has a sign in it that is no mark.
fn is_entity(piece: &str) -> bool {
    let mut before = ' ';
    for (at, character) in piece.char_indices() {
        if character.is_numeric()
            || !(character.is_alphanumeric() || is_mark(character) || is_joining(character))
        {
            return true;
        }
        let next = || piece[at + character.len_utf8()..].chars().next();
        // `Node.js`, and `.net`, but not the `...and` of somebody who goes on.
        if character == '.' && before != '.' && next().is_some_and(char::is_alphanumeric) {
            return true;
        }
        before = character;
    }
    false
}

/// Marks on letters, and the joiners of Persian and Hindi.
fn is_joining(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}' | '\u{200c}' | '\u{200d}' | '\u{200e}' | '\u{200f}')
        || matches!(character, '\u{900}'..='\u{dff}')
}

/// Where the entity is in a piece. The minus of a number and the bracket that an address closes belong to it.
fn entity(piece: &str) -> (usize, usize) {
    let opens = ['(', '[', '{', '"', '\'', '“', '„', '‘', '«', '¿', '¡', '—', '–', '…'];
    let bare = piece.trim_start_matches(opens);
    let start = piece.len() - bare.len();
    let closes = |one: char| {
        is_mark(one) && !(matches!(one, ')' | ']' | '}') && bare.contains(['(', '[', '{']))
    };
    (start, start + bare.trim_end_matches(closes).len())
}

/// `iPhone` and `McKay`; not `HELLO`, which somebody may shout.
fn is_mixed(word: &str) -> bool {
    let has_lower = word.contains(char::is_lowercase);
    has_lower && word.chars().skip(1).any(char::is_uppercase)
}

/// A word with the plain apostrophe.
fn plain(word: &str) -> Cow<'_, str> {
    if word.contains('’') { Cow::Owned(word.replace('’', "'")) } else { Cow::Borrowed(word) }
}

fn same_letters(one: &str, other: &str) -> bool {
    let (one, other) = (plain(one), plain(other));
    one.eq_ignore_ascii_case(&other)
        || one.chars().flat_map(char::to_lowercase).eq(other.chars().flat_map(char::to_lowercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let words = Words::of(text);
        let all: Vec<_> = (0..words.len()).map(|index| words.word(index)).collect();
        assert_eq!(all, expected, "{text:?}");
        // Nothing is in neither.
        let mut whole = String::new();
        for index in 0..words.len() {
            whole.push_str(words.gap(index));
            whole.push_str(words.word(index));
        }
        whole.push_str(words.gap(words.len()));
        assert_eq!(whole, text);
    }

    #[test]
    fn words_are_told_from_what_stands_between() {
        check("Let's eat, grandma!", &["Let's", "eat", "grandma"]);
        check("well-known — “quoted” (so)", &["well", "known", "quoted", "so"]);
        check("wait—what...and so…on", &["wait", "what", "and", "so", "on"]);
        check("I paid $1,000.50, i.e. -5%.", &["I", "paid", "$1,000.50", "i.e", "-5%"]);
        check(
            "mail a.b@c.de, see https://x.y/a_(b)?q=1.",
            &["mail", "a.b@c.de", "see", "https://x.y/a_(b)?q=1"],
        );
        check("C++ & C# on .net or Node.js!", &["C++", "&", "C#", "on", ".net", "or", "Node.js"]);
        check("run `let x = 1;` now", &["run", "`let", "x", "=", "1;`", "now"]);
        check("at 10:30, 3'5 and .5", &["at", "10:30", "3'5", "and", ".5"]);
        check("你好，我有3个。", &["你", "好", "我", "有", "3", "个"]);
        check("Привет, мир!", &["Привет", "мир"]);
        check("नमस्ते दुनिया।", &["नमस्ते", "दुनिया"]);
        check("'twas the dogs' bone", &["twas", "the", "dogs", "bone"]);
        check("", &[]);
        check(" … ", &[]);
    }

    #[test]
    fn the_case_is_theirs_and_the_letters_are_ours() {
        let check = |ours: &str, theirs: &str, expected: &str| {
            let words = Words::of(ours);
            assert!(words.is_same(0, &Words::of(theirs), 0), "{ours} {theirs}");
            assert_eq!(words.spelled_as(0, theirs), expected);
        };
        check("hello", "Hello", "Hello");
        check("HELLO", "Hello", "Hello");
        check("it's", "It’s", "It's");
        check("iPhone", "IPhone", "iPhone");
        check("3pm", "3PM", "3pm");
        check("straße", "Straße", "Straße");
        check("ärger", "Ärger", "Ärger");
        let differ = |one: &str, other: &str| {
            assert!(!Words::of(one).is_same(0, &Words::of(other), 0), "{one} {other}");
        };
        differ("resign", "re-sign");
        differ("cant", "can't");
        differ("1000", "1,000");
        differ("5", "$5");
        differ("C", "C++");
    }
}
