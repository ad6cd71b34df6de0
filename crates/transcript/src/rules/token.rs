//! The pieces of a text between spaces.

/// A word with the punctuation around it. There are as many as there are words, so it is kept small.
#[derive(Debug, Clone, Copy)]
pub(super) struct WordToken<'a> {
    /// As it came.
    pub text: &'a str,
    /// A number that is the same for the same word, whatever its case.
    pub key: u32,
    /// Bytes of punctuation before the word, and behind it.
    lead: u8,
    trail: u8,
    /// Punctuation that takes the place of its own comma, or comes behind it.
    pub stop: Option<StopMark>,
    flags: u8,
}

/// A mark that ends a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StopMark {
    Full,
    Dots,
    Ellipsis,
    Exclamation,
    Question,
    Ideographic,
    Danda,
}

impl StopMark {
    const ALL: [StopMark; 7] = [
        StopMark::Full,
        StopMark::Dots,
        StopMark::Ellipsis,
        StopMark::Exclamation,
        StopMark::Question,
        StopMark::Ideographic,
        StopMark::Danda,
    ];

    /// As it is written.
    pub(super) fn text(self) -> &'static str {
        match self {
            StopMark::Full => ".",
            StopMark::Dots => "...",
            StopMark::Ellipsis => "…",
            StopMark::Exclamation => "!",
            StopMark::Question => "?",
            StopMark::Ideographic => "。",
            StopMark::Danda => "।",
        }
    }

    /// The one that is written so.
    pub(super) fn of(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stop| stop.text() == text)
    }
}

/// A finding of a step about a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenFlag {
    /// It begins a line.
    Breaks = 1,
    /// It is code, which no rule touches.
    Code = 2,
    /// It is to be taken out.
    Gone = 4,
    /// Its first letter becomes a capital.
    Capital = 8,
    /// A sound that fills a pause was before it.
    Hesitates = 16,
    /// It has only letters that such sounds have.
    Sound = 32,
    /// The comma behind it was that of a filler.
    GoesOn = 64,
}

impl<'a> WordToken<'a> {
    fn new(text: &'a str) -> Self {
        let Spelling { start, end, key, is_sound } = spelling(text);
        let mut token = Self { text, key, lead: 0, trail: 0, stop: None, flags: 0 };
        match (u8::try_from(start), u8::try_from(text.len() - end)) {
            (Ok(lead), Ok(trail)) => (token.lead, token.trail) = (lead, trail),
            // A wall of signs is taken for code: nothing is looked for in it.
            _ => token.set(TokenFlag::Code),
        }
        if is_sound {
            token.set(TokenFlag::Sound);
        }
        token
    }

    /// True if a step found this out about it.
    pub(super) fn is(&self, flag: TokenFlag) -> bool {
        self.flags & flag as u8 != 0
    }

    /// Notes what was found out about it.
    pub(super) fn set(&mut self, flag: TokenFlag) {
        self.flags |= flag as u8;
    }

    pub(super) fn word(&self) -> &'a str {
        self.text.get(self.lead.into()..self.text.len() - usize::from(self.trail)).unwrap_or("")
    }

    /// The punctuation before it.
    pub(super) fn before(&self) -> &'a str {
        self.text.get(..self.lead.into()).unwrap_or("")
    }

    /// The punctuation behind it.
    pub(super) fn after(&self) -> &'a str {
        self.text.get(self.text.len() - usize::from(self.trail)..).unwrap_or("")
    }

    /// The length of the word in bytes.
    pub(super) fn length(&self) -> usize {
        self.text.len() - usize::from(self.lead) - usize::from(self.trail)
    }

    /// True if there is punctuation behind it.
    pub(super) fn has_end(&self) -> bool {
        self.trail > 0
    }

    /// True if this is the same word as another, whatever their case.
    pub(super) fn is_same(&self, other: &WordToken) -> bool {
        self.key == other.key && same_letters(self.word(), other.word())
    }

    /// True if it is this word, whatever its case and its apostrophe.
    pub(super) fn is_word(&self, word: &str) -> bool {
        let said = self.word();
        same_letters(said, word)
            || (!said.is_ascii() && same_letters(&said.replace('’', "'"), word))
    }

    /// True if it begins with a capital.
    pub(super) fn has_capital(&self) -> bool {
        self.is(TokenFlag::Capital) || self.word().starts_with(char::is_uppercase)
    }
}

/// The pieces of a text.
pub(super) fn of(text: &str) -> Vec<WordToken<'_>> {
    let mut tokens = Vec::with_capacity(text.len() / 6 + 1);
    let mut in_code = false;
    for line in text.split('\n') {
        let mut breaks = !tokens.is_empty();
        let has_ticks = memchr::memchr(b'`', line.as_bytes()).is_some();
        for piece in line.split_ascii_whitespace() {
            let mut token = WordToken::new(piece);
            if std::mem::take(&mut breaks) {
                token.set(TokenFlag::Breaks);
            }
            if has_ticks {
                let ticks = memchr::memchr_iter(b'`', piece.as_bytes()).count();
                if in_code || ticks > 0 {
                    token.set(TokenFlag::Code);
                }
                in_code ^= ticks % 2 == 1;
            }
            tokens.push(token);
        }
        // A tick that is never closed is no code but a strange apostrophe.
        in_code = false;
    }
    tokens
}

/// Takes the tokens out that are gone. Line breaks and capitals pass to what follows.
pub(super) fn sweep(tokens: &mut Vec<WordToken>) {
    // Most steps find nothing.
    let Some(first) = tokens.iter().position(|token| token.is(TokenFlag::Gone)) else { return };
    let mut breaks = false;
    for token in &mut tokens[first..] {
        if token.is(TokenFlag::Gone) {
            breaks |= token.is(TokenFlag::Breaks);
        } else if breaks {
            token.set(TokenFlag::Breaks);
            breaks = false;
        }
    }
    tokens.retain(|token| !token.is(TokenFlag::Gone));
}

/// Prints tokens with single spaces.
pub(super) fn print(tokens: &[WordToken], out: &mut String) {
    for (index, token) in tokens.iter().enumerate() {
        if index > 0 {
            out.push(if token.is(TokenFlag::Breaks) { '\n' } else { ' ' });
        }
        let text = if token.stop.is_some() || token.is(TokenFlag::GoesOn) {
            token.text.trim_end_matches([',', ';'])
        } else {
            token.text
        };
        if token.is(TokenFlag::Capital) {
            push_capital(text, token.lead.into(), out);
        } else {
            out.push_str(text);
        }
        out.push_str(token.stop.map_or("", StopMark::text));
    }
}

fn push_capital(text: &str, at: usize, out: &mut String) {
    let Some((before, word)) = text.split_at_checked(at) else { return out.push_str(text) };
    let mut letters = word.chars();
    out.push_str(before);
    out.extend(letters.next().into_iter().flat_map(char::to_uppercase));
    out.push_str(letters.as_str());
}

/// The position of the word in a piece of text, and facts about its letters.
struct Spelling {
    start: usize,
    end: usize,
    key: u32,
    is_sound: bool,
}

/// The letters of sounds that fill pauses, a bit each: e, h, m, r, u.
const SOUND_LETTERS: u32 = letter(b'e') | letter(b'h') | letter(b'm') | letter(b'r') | letter(b'u');

const fn letter(byte: u8) -> u32 {
    1 << (byte & 31)
}

/// Reads a piece once: nearly all are ASCII letters with perhaps a comma behind them.
fn spelling(text: &str) -> Spelling {
    let bytes = text.as_bytes();
    let (mut hash, mut letters, mut at) = (FIRST_KEY, 0, 0);
    while let Some(byte) = bytes.get(at).filter(|byte| byte.is_ascii_alphanumeric()) {
        hash = next_key(hash, byte | 0x20);
        letters |= letter(*byte);
        at += 1;
    }
    let is_whole = at > 0
        && (at == bytes.len() || (at + 1 == bytes.len() && bytes[at].is_ascii_punctuation()));
    if is_whole {
        // Some digits have the bits of these letters. The lists have the last word.
        return Spelling { start: 0, end: at, key: hash, is_sound: letters & !SOUND_LETTERS == 0 };
    }
    let (start, end) = core(text);
    let word = &text[start..end];
    let is_of_sounds = |byte: u8| {
        !byte.is_ascii() || letter(byte) & SOUND_LETTERS != 0 && byte.is_ascii_alphabetic()
    };
    Spelling { start, end, key: key(word), is_sound: word.bytes().all(is_of_sounds) }
}

fn core(text: &str) -> (usize, usize) {
    let start = text.find(char::is_alphanumeric).unwrap_or(text.len());
    let end = text.char_indices().rev().find(|(_, character)| character.is_alphanumeric());
    (start, end.map_or(start, |(at, character)| at + character.len_utf8()))
}

/// FNV-1a over the lower-case letters: short, and words are short. All apostrophes are one.
pub(super) fn key(word: &str) -> u32 {
    let mut hash = FIRST_KEY;
    for letter in word.chars() {
        match letter {
            '’' => hash = next_key(hash, b'\'' | 0x20),
            // What is no letter may become another sign, but the same every time.
            ascii if ascii.is_ascii() => hash = next_key(hash, ascii as u8 | 0x20),
            other => {
                let mut buffer = [0; 4];
                for low in other.to_lowercase() {
                    hash = low.encode_utf8(&mut buffer).bytes().fold(hash, next_key);
                }
            }
        }
    }
    hash
}

const FIRST_KEY: u32 = 2_166_136_261;

fn next_key(hash: u32, byte: u8) -> u32 {
    (hash ^ u32::from(byte)).wrapping_mul(16_777_619)
}

/// True if two words differ in case only.
pub(super) fn same_letters(one: &str, other: &str) -> bool {
    if one.eq_ignore_ascii_case(other) {
        return true;
    }
    if one.is_ascii() || other.is_ascii() {
        return false;
    }
    one.chars().flat_map(char::to_lowercase).eq(other.chars().flat_map(char::to_lowercase))
}
