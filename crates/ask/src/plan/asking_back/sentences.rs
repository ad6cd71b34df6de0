//! Sentences, and the pieces that they are made of.

/// What parts the pieces of a sentence, in its normal form.
const PARTS: &[&str] = &[
    ", ",
    "; ",
    ": ",
    " - ",
    "(",
    ")",
    " and ",
    " or ",
    " but ",
    " then ",
    " because ",
    " und ",
    " oder ",
    " et ",
    " ou ",
    " y ",
];
/// What only surrounds a word.
const AROUND: &[char] = &['"', '`', '*', '[', ']', '<', '>', '{', '}'];

/// The sentences of a text. A mark within a word ends none: `policy.md`, `1.5`.
pub(super) fn split(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, one)) = characters.next() {
        let next = characters.peek().copied();
        let is_end = match one {
            '\n' | '。' | '？' | '！' | '؟' => true,
            '.' if is_abbreviation(&text[start..at]) => false,
            '.' | '!' | '?' => next.is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if is_end {
            let end = next.map_or(text.len(), |(at, _)| at);
            sentences.push(&text[start..end]);
            start = end;
        }
    }
    sentences.push(&text[start..]);
    sentences
}

/// Whether a text ends with a letter that stands alone: `e.g`.
fn is_abbreviation(text: &str) -> bool {
    let mut ending = text.chars().rev();
    let is_letter = ending.next().is_some_and(char::is_alphabetic);
    is_letter && ending.next().is_none_or(|before| before == '.' || before.is_whitespace())
}

/// The pieces of a normalised sentence: what stands between commas, brackets and words that join, without marks around it.
pub(super) fn pieces(sentence: &str) -> Vec<String> {
    // Spaces around it, so that a word that joins is found at either end, too.
    let mut rest = format!(" {sentence} ").replace(AROUND, " ").replace("  ", " ");
    for part in PARTS {
        // Once more for `a, b, c`, where the end of one is the start of the next.
        rest = rest.replace(part, " \n ").replace(part, " \n ");
    }
    let is_mark = |one: char| matches!(one, '.' | '!' | '?' | ',' | ';' | ':' | '-' | '•');
    let pieces = rest.split('\n').map(|piece| {
        let piece = piece.trim_matches(|one: char| is_mark(one) || one.is_whitespace());
        piece.split_whitespace().collect::<Vec<_>>().join(" ")
    });
    pieces.filter(|piece| !piece.is_empty()).collect()
}
