//! The pieces of a text between spaces.

/// A word with the punctuation around it.
#[derive(Debug, Clone, Copy)]
#[allow(clippy::struct_excessive_bools)] // What the steps find out, each by itself.
pub(super) struct Token<'a> {
    /// As it came.
    pub text: &'a str,
    /// Where the word begins and ends in it, without the punctuation.
    start: u32,
    end: u32,
    /// A number that is the same for the same word, whatever its case.
    pub key: u32,
    /// Whether it begins a line.
    pub breaks: bool,
    /// Whether it is code, which no rule touches.
    pub is_code: bool,
    /// Whether it is to be taken out.
    pub gone: bool,
    /// Whether its first letter becomes a capital.
    pub capital: bool,
    /// Punctuation that takes the place of its own comma, or comes behind it.
    pub stop: Option<&'a str>,
}

impl<'a> Token<'a> {
    fn new(text: &'a str) -> Self {
        let (start, end) = core(text);
        let key = key(&text[start..end]);
        let narrow = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let (start, end) = (narrow(start), narrow(end));
        Self {
            text,
            start,
            end,
            key,
            breaks: false,
            is_code: false,
            gone: false,
            capital: false,
            stop: None,
        }
    }

    /// The word.
    pub(super) fn word(&self) -> &'a str {
        self.text.get(self.start as usize..self.end as usize).unwrap_or("")
    }

    /// The punctuation before it.
    pub(super) fn before(&self) -> &'a str {
        self.text.get(..self.start as usize).unwrap_or("")
    }

    /// The punctuation behind it.
    pub(super) fn after(&self) -> &'a str {
        self.text.get(self.end as usize..).unwrap_or("")
    }

    /// Whether this is the same word as another, whatever their case.
    pub(super) fn is_same(&self, other: &Token) -> bool {
        self.key == other.key && same_letters(self.word(), other.word())
    }
}

/// The pieces of a text.
pub(super) fn of(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::with_capacity(text.len() / 6 + 1);
    let mut in_code = false;
    for line in text.split('\n') {
        let mut breaks = !tokens.is_empty();
        let has_ticks = memchr::memchr(b'`', line.as_bytes()).is_some();
        for piece in line.split_ascii_whitespace() {
            let mut token = Token::new(piece);
            token.breaks = std::mem::take(&mut breaks);
            if has_ticks {
                let ticks = memchr::memchr_iter(b'`', piece.as_bytes()).count();
                token.is_code = in_code || ticks > 0;
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
pub(super) fn sweep(tokens: &mut Vec<Token>) {
    // Most steps find nothing in most turns.
    let Some(first) = tokens.iter().position(|token| token.gone) else { return };
    let mut breaks = false;
    for token in &mut tokens[first..] {
        if token.gone {
            breaks |= token.breaks;
        } else if breaks {
            token.breaks = true;
            breaks = false;
        }
    }
    tokens.retain(|token| !token.gone);
}

/// Prints tokens with single spaces.
pub(super) fn print(tokens: &[Token], out: &mut String) {
    for (index, token) in tokens.iter().enumerate() {
        if index > 0 {
            out.push(if token.breaks { '\n' } else { ' ' });
        }
        let text = match token.stop {
            Some(_) => token.text.trim_end_matches([',', ';']),
            None => token.text,
        };
        if token.capital {
            push_capital(text, token.start as usize, out);
        } else {
            out.push_str(text);
        }
        out.push_str(token.stop.unwrap_or(""));
    }
}

fn push_capital(text: &str, at: usize, out: &mut String) {
    let Some((before, word)) = text.split_at_checked(at) else { return out.push_str(text) };
    let mut letters = word.chars();
    out.push_str(before);
    out.extend(letters.next().into_iter().flat_map(char::to_uppercase));
    out.push_str(letters.as_str());
}

/// Where the word is in a piece of text.
fn core(text: &str) -> (usize, usize) {
    let bytes = text.as_bytes();
    // Nearly all pieces are letters with perhaps a comma behind them.
    let is_letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let start = if is_letter(bytes.first()) {
        0
    } else {
        text.find(char::is_alphanumeric).unwrap_or(text.len())
    };
    if is_letter(bytes.last()) {
        return (start, text.len());
    }
    if bytes.len() > 1 && bytes[bytes.len() - 1].is_ascii() && is_letter(bytes.get(bytes.len() - 2))
    {
        return (start, bytes.len() - 1);
    }
    let end = text.char_indices().rev().find(|(_, character)| character.is_alphanumeric());
    (start, end.map_or(start, |(at, character)| at + character.len_utf8()))
}

/// FNV-1a over the lower-case letters: short, and words are short.
pub(super) fn key(word: &str) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
    if word.is_ascii() {
        return word
            .bytes()
            .fold(2_166_136_261, |hash, byte| step(hash, byte.to_ascii_lowercase()));
    }
    let mut hash = 2_166_136_261;
    for letter in word.chars().flat_map(char::to_lowercase) {
        let mut buffer = [0; 4];
        hash = letter.encode_utf8(&mut buffer).bytes().fold(hash, step);
    }
    hash
}

/// Whether two words differ in case only.
pub(super) fn same_letters(one: &str, other: &str) -> bool {
    if one.eq_ignore_ascii_case(other) {
        return true;
    }
    if one.is_ascii() || other.is_ascii() {
        return false;
    }
    one.chars().flat_map(char::to_lowercase).eq(other.chars().flat_map(char::to_lowercase))
}
