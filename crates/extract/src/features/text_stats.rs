//! Statistics of a text, without knowing its language.

/// Counts of one text.
// Each is a number of the row; a set of flags would be the same with more words.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TextStats {
    pub(crate) letters: u32,
    pub(crate) upper: u32,
    pub(crate) digits: u32,
    pub(crate) commas: u32,
    /// Ends of sentences: a mark and then white space or the end.
    pub(crate) sentences: u32,
    pub(crate) others: u32,
    pub(crate) long_words: u32,
    pub(crate) short_words: u32,
    pub(crate) wide: u32,
    pub(crate) capitalised: u32,
    pub(crate) ends_sentence: bool,
    pub(crate) ends_colon: bool,
    pub(crate) starts_lower: bool,
    pub(crate) has_pipe: bool,
    pub(crate) has_copyright: bool,
    pub(crate) has_money: bool,
    pub(crate) has_at: bool,
    pub(crate) has_arrow: bool,
    pub(crate) has_year: bool,
    pub(crate) has_clock: bool,
    pub(crate) has_question: bool,
    pub(crate) has_quote: bool,
    pub(crate) has_ellipsis_end: bool,
}

pub(crate) fn look(text: &str) -> TextStats {
    let mut look = TextStats::default();
    let (mut previous, mut word, mut digits) = (' ', 0_u32, 0_u32);
    let mut number = 0_u32;
    for one in text.chars() {
        if one.is_whitespace() {
            end_word(&mut look, word);
            word = 0;
            if matches!(previous, '.' | '!' | '?' | '…' | '。' | '！' | '？') {
                look.sentences += 1;
            }
        } else {
            if word == 0 && one.is_uppercase() {
                look.capitalised += 1;
            }
            word += 1;
        }
        if one.is_ascii_digit() {
            look.digits += 1;
            digits += 1;
            number = number.saturating_mul(10).saturating_add(u32::from(one) - 48);
        } else {
            if digits == 4 && (1900..2100).contains(&number) {
                look.has_year = true;
            }
            (digits, number) = (0, 0);
            if one.is_alphabetic() {
                look.letters += 1;
                if one.is_uppercase() {
                    look.upper += 1;
                }
                if one >= '\u{2e80}' {
                    look.wide += 1;
                }
            } else {
                match one {
                    ',' | '，' | '、' | ';' => look.commas += 1,
                    '。' | '！' | '？' => look.sentences += 1,
                    '|' | '·' | '•' => look.has_pipe = true,
                    '©' => look.has_copyright = true,
                    '$' | '€' | '£' | '¥' | '₹' => look.has_money = true,
                    '@' => look.has_at = true,
                    '»' | '›' | '→' | '«' | '‹' | '>' | '▼' | '▸' => {
                        look.has_arrow = true;
                    }
                    ':' if previous.is_ascii_digit() => look.has_clock = true,
                    '?' => look.has_question = true,
                    '"' | '“' | '”' | '„' => look.has_quote = true,
                    _ if !one.is_whitespace() => look.others += 1,
                    _ => {}
                }
            }
        }
        previous = one;
    }
    end_word(&mut look, word);
    if digits == 4 && (1900..2100).contains(&number) {
        look.has_year = true;
    }
    let last = text.trim_end_matches(['"', '”', '\'', '’', ')', ']', '»']);
    look.ends_sentence = last.ends_with(['.', '!', '?', '…', '。', '！', '？']);
    if look.ends_sentence {
        look.sentences += 1;
    }
    look.has_ellipsis_end = last.ends_with('…') || last.ends_with("...") || last.ends_with("[…]");
    look.ends_colon = last.ends_with([':', '：']);
    look.starts_lower = text.chars().next().is_some_and(char::is_lowercase);
    look
}

fn end_word(look: &mut TextStats, length: u32) {
    if length > 8 {
        look.long_words += 1;
    } else if (1..=3).contains(&length) {
        look.short_words += 1;
    }
}
