//! Sounds that fill a pause (`um`), and asides that say nothing between two commas (`, you know,`).

use super::{
    language::{Language, LanguageEvidence, is_on_list},
    sentences,
    token::{self, StopMark, TokenFlag, WordToken, same_letters},
};
use crate::word_lists::{self, COMMON, WordClass, WordList};

/// The words on each side that say which language a sound is in.
const NEIGHBOURS: usize = 10;

/// Takes fillers out.
pub(super) fn remove(tokens: &mut Vec<WordToken>, language: Language) {
    // The last token that stays: a text of nothing but fillers must not be searched for it.
    let mut before = None;
    for index in 0..tokens.len() {
        if is_filler(tokens, index, before, language) {
            take_out(tokens, index, before);
            join(tokens, before, index + 1, language);
        } else {
            before = Some(index);
        }
    }
    token::sweep(tokens);
    let asides = word_lists::of(language).asides();
    if !asides.is_empty() {
        for index in 1..tokens.len() {
            let length = aside(tokens, index, &asides);
            if length == 0 {
                continue;
            }
            for token in &mut tokens[index..index + length] {
                token.set(TokenFlag::Gone);
            }
            if let Some(next) = tokens.get_mut(index + length) {
                next.set(TokenFlag::Hesitates);
            }
            join(tokens, Some(index - 1), index + length, language);
        }
        token::sweep(tokens);
    }
}

fn is_filler(
    tokens: &[WordToken],
    index: usize,
    before: Option<usize>,
    language: Language,
) -> bool {
    let token = &tokens[index];
    // Rules nearly every word out. No sound of the lists is longer.
    if !token.is(TokenFlag::Sound) || token.length() > 6 {
        return false;
    }
    let word = token.word();
    if token.is(TokenFlag::Code) || !token.before().is_empty() {
        return false;
    }
    // `uh?` and `um!` are said on purpose, and `um-` may be a word that was cut off.
    if !matches!(token.after(), "" | "," | "." | ";" | "..." | "…" | "—" | "–" | ",..." | "...,")
    {
        return false;
    }
    let is_in = |list: &WordList| list.iter().any(|sound| same_letters(sound, word));
    let is_sound = is_in(&COMMON.sounds);
    if !is_sound && !is_in(&word_lists::of(language).sounds) {
        return false;
    }
    is_spelled_as_sound(tokens, index, before, is_sound)
        && !is_answer(tokens, index, before)
        && !is_unit(tokens, index)
        && !is_meant(tokens, index, before)
        && (is_sound || is_said_in(tokens, index, language))
}

/// `UM` and `ER` are names of things, unless everything around is in capitals; and a capital in the
/// middle of a sentence is a name.
fn is_spelled_as_sound(
    tokens: &[WordToken],
    index: usize,
    before: Option<usize>,
    is_sound: bool,
) -> bool {
    let word = tokens[index].word();
    let is_loud = |token: &WordToken| {
        let word = token.word();
        word.chars().count() > 1 && !word.chars().any(char::is_lowercase)
    };
    if word.chars().all(char::is_uppercase) {
        let around = [index.checked_sub(1), Some(index + 1)];
        let mut around = around.into_iter().flatten().filter_map(|at| tokens.get(at)).peekable();
        return is_sound && around.peek().is_some() && around.all(is_loud);
    }
    if word.starts_with(char::is_uppercase) {
        return before
            .map(|at| &tokens[at])
            .is_none_or(|token| sentences::ends(token) || token.text.ends_with(','))
            && (is_sound || same_letters(word, "um") || tokens[index].after() == ",");
    }
    true
}

/// `uh huh` and `mm hmm` say yes, `uh oh` says that something went wrong, and `uh uh` says no where it is all that is said.
fn is_answer(tokens: &[WordToken], index: usize, before: Option<usize>) -> bool {
    const SECOND: [&str; 5] = ["huh", "hm", "hmm", "oh", "hum"];
    let is_sound =
        |token: &WordToken, all: &[&str]| all.iter().any(|one| same_letters(one, token.word()));
    let first =
        |token: &WordToken| is_sound(token, &["uh", "mm", "um", "nuh"]) && token.after().is_empty();
    let (token, next) = (&tokens[index], tokens.get(index + 1));
    let earlier = index.checked_sub(1).map(|at| &tokens[at]);
    if next.is_some_and(|next| first(token) && is_sound(next, &SECOND))
        || earlier.is_some_and(|earlier| first(earlier) && is_sound(token, &SECOND))
    {
        return true;
    }
    // Between two ends of sentences there is nothing but the two.
    let pair = |one: usize, begin: Option<usize>| {
        let begins = begin.is_none_or(|at| sentences::ends(&tokens[at]));
        let ends = tokens.get(one + 1).is_some_and(|last| {
            is_sound(last, &["uh", "mm"]) && (sentences::ends(last) || one + 2 == tokens.len())
        });
        begins && ends && first(&tokens[one])
    };
    pair(index, before) || index > 0 && pair(index - 1, index.checked_sub(2))
}

/// `5 mm` is a length.
fn is_unit(tokens: &[WordToken], index: usize) -> bool {
    let is_number = |token: &WordToken| token.text.ends_with(|last: char| last.is_numeric());
    same_letters(tokens[index].word(), "mm")
        && (index.checked_sub(1).is_some_and(|before| is_number(&tokens[before]))
            || !tokens[index].after().is_empty() && tokens[index].after() != ",")
}

/// True if somebody says a sound as a word: about it, to somebody, or with delight.
fn is_meant(tokens: &[WordToken], index: usize, before: Option<usize>) -> bool {
    let is_quoted = before.is_some_and(|at| {
        at + 1 == index && matches!(tokens[at].text, "«" | "»" | "„" | "“" | "\"" | "‹" | "「")
    });
    let next = tokens.get(index + 1);
    let joins = next.is_some_and(|next| {
        ["and", "or", "und", "oder", "et", "ou", "y", "o"].contains(&next.text)
            && tokens[index].after().is_empty()
    });
    let with_another = joins
        && tokens
            .get(index + 2)
            .is_some_and(|other| COMMON.also_said.iter().any(|sound| other.is_word(sound)));
    let begins = before.is_none_or(|at| sentences::ends(&tokens[at]));
    let word = tokens[index].word();
    // `Mmm, that is good`, `Eh, tú, ven`
    let tastes = begins && word.bytes().all(|byte| byte.eq_ignore_ascii_case(&b'm'));
    let calls = begins
        && same_letters(word, "eh")
        && next.is_none_or(|next| next.after().starts_with([',', '!', '?']));
    is_quoted || with_another || tastes || calls
}

/// True if the words around a sound are of the language that has it. A text may be in two languages.
fn is_said_in(tokens: &[WordToken], index: usize, language: Language) -> bool {
    let mut evidence = LanguageEvidence::default();
    let from = index.saturating_sub(NEIGHBOURS);
    let to = (index + 1 + NEIGHBOURS).min(tokens.len());
    for (at, token) in tokens[from..to].iter().enumerate() {
        if from + at != index {
            evidence.add(token.key);
        }
    }
    evidence.is_empty() || evidence.language() == language
}

/// Takes the comma away that stood before a filler, where no part of a sentence ends: `it's, you know, nice`.
fn join(tokens: &mut [WordToken], before: Option<usize>, next: usize, language: Language) {
    let Some(before) = before.filter(|_| next < tokens.len()) else { return };
    let token = &tokens[before];
    if token.after() == ","
        && token.stop.is_none()
        && is_on_list(token, WordClass::Unfinished, language)
        && !is_said_before(tokens, before + 1, &tokens[next])
    {
        tokens[before].set(TokenFlag::GoesOn);
    }
}

/// True if one of the few words before a place is this one: `I know what it is, uh, it is a fox`.
fn is_said_before(tokens: &[WordToken], end: usize, word: &WordToken) -> bool {
    const FAR: usize = 3;
    tokens[end.saturating_sub(FAR)..end].iter().any(|token| token.is_same(word))
}

/// Takes a filler out. The capital and the full stop that it had pass to its neighbours.
fn take_out(tokens: &mut [WordToken], index: usize, before: Option<usize>) {
    let filler = tokens[index];
    tokens[index].set(TokenFlag::Gone);
    if let Some(next) = tokens.get_mut(index + 1) {
        next.set(TokenFlag::Hesitates);
    }
    let begins = before.is_none_or(|at| sentences::ends(&tokens[at]));
    let next = tokens.get(index + 1).copied();
    if begins {
        if filler.has_capital()
            && let Some(next) = tokens.get_mut(index + 1)
            && sentences::can_be_capital(next)
        {
            next.set(TokenFlag::Capital);
        }
        return;
    }
    let Some(before) = before.map(|at| &mut tokens[at]) else { return };
    let is_last = next.is_none_or(|next| next.word().starts_with(char::is_uppercase));
    match StopMark::of(filler.after()) {
        Some(StopMark::Full) => before.stop = Some(StopMark::Full),
        Some(stop) if is_last => before.stop = Some(stop),
        _ => {}
    }
}

/// The number of tokens of the aside that begins here, between two commas.
fn aside(tokens: &[WordToken], index: usize, asides: &[Vec<&str>]) -> usize {
    let before = &tokens[index - 1];
    if !before.text.ends_with(',')
        || before.is(TokenFlag::Gone)
        || before.stop.is_some()
        || tokens[index].is(TokenFlag::Capital)
        || before.is_same(&tokens[index])
    {
        return 0;
    }
    let is_here = |words: &&Vec<&str>| {
        let Some(said) = tokens.get(index..index + words.len()) else { return false };
        let is_last = |at: usize| at + 1 == words.len();
        said.iter().zip(words.iter()).enumerate().all(|(at, (token, word))| {
            same_letters(token.word(), word)
                && token.before().is_empty()
                && !token.is(TokenFlag::Code)
                && token.after() == if is_last(at) { "," } else { "" }
        })
    };
    let length = asides.iter().find(is_here).map_or(0, Vec::len);
    if length > 0 && is_turn(tokens, index, length) { 0 } else { length }
}

/// True if what follows an aside takes the place of what came before it (`5, you know, 6`; `the left, you know, the right
/// one`), or is an example of it (`animals, like, cats`). Then the aside is what says so.
fn is_turn(tokens: &[WordToken], index: usize, length: usize) -> bool {
    let before = &tokens[index - 1];
    let Some(next) = tokens.get(index + length) else { return false };
    if same_letters(tokens[index].word(), "like") {
        return !word_lists::of(Language::English)
            .before_like
            .iter()
            .any(|word| same_letters(before.word(), word));
    }
    let has_digit = |token: &WordToken| token.text.contains(|one: char| one.is_numeric());
    has_digit(before)
        || has_digit(next)
        || (before.has_capital() && next.has_capital())
        || is_said_before(tokens, index, next)
}
