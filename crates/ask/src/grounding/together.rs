//! What a claim says together must stand together: a quote of two sentences has the words of both,
//! but `SEV1: full outage. SEV2: slow.` does not say `SEV1: slow`.

use super::{
    Ungrounded,
    support::{Claim, Passage},
    vocabulary,
    words::{Gap, Kind, Word},
};

/// Whether each clause of a claim has its words from one sentence of the quote.
pub(super) fn check(claim: &Claim, passage: &Passage<'_>) -> Result<(), Ungrounded> {
    let sentences = sentences(passage);
    if is_verbatim(claim, passage) {
        return Ok(());
    }
    let clauses = clauses(&claim.words);
    for clause in &clauses {
        let has = |sentence: &[&Word], word: &Word| sentence.iter().any(|one| is_same(word, one));
        let words: Vec<&Word> = clause.iter().filter(|word| is_said(word)).collect();
        let quoted: Vec<&Word> = words
            .iter()
            .copied()
            .filter(|word| sentences.iter().any(|sentence| has(sentence, word)))
            .collect();
        if let (Some(first), true) = (words.first(), quoted.is_empty() && clauses.len() > 1) {
            return Err(Ungrounded::Apart(first.text.clone()));
        }
        let missing = |sentence: &Vec<&Word>| {
            quoted.iter().find(|word| !has(sentence, word)).map(|word| word.text.clone())
        };
        let best = sentences.iter().map(missing).min_by_key(Option::is_some);
        if let Some(Some(word)) = best {
            return Err(Ungrounded::Apart(word));
        }
    }
    Ok(())
}

/// Whether a claim is a part of the quote as it stands.
fn is_verbatim(claim: &Claim, passage: &Passage<'_>) -> bool {
    let quoted: Vec<&str> = passage.quote().map(|word| &*word.key).collect();
    let claimed: Vec<&str> = claim.words.iter().map(|word| &*word.key).collect();
    quoted.windows(claimed.len()).any(|words| words == claimed)
}

/// The words of the quote by sentence, each with the line that it is an item of. A semicolon ends
/// a sentence here, and so does `, while`, unless a pronoun takes up what stands before it.
fn sentences<'a>(passage: &'a Passage<'_>) -> Vec<Vec<&'a Word>> {
    let mut found = Vec::new();
    for part in &passage.parts {
        let mut sentence: Vec<&Word> = part.lead.iter().collect();
        let mut last: Option<&Word> = None;
        for word in part.quote() {
            let is_ended = |last: &Word| passage.between(last, word).contains([';', '；']);
            let is_parted = word.gap >= Gap::Comma
                && matches!(&*word.key, "while" | "whereas" | "although" | "though" | "während");
            if (is_parted || last.is_some_and(is_ended)) && !vocabulary::is_pronoun(&word.key) {
                found.push(std::mem::replace(&mut sentence, part.lead.iter().collect()));
            }
            sentence.push(word);
            last = Some(word);
        }
        found.push(sentence);
    }
    found
}

/// The parts of a claim that stand for themselves.
fn clauses(words: &[Word]) -> Vec<&[Word]> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, word) in words.iter().enumerate() {
        if word.gap >= Gap::Comma || vocabulary::is_break(&word.key) {
            found.push(&words[start..at]);
            start = at;
        }
    }
    found.push(&words[start..]);
    found
}

/// Whether a word can be of one sentence and not of another.
fn is_said(word: &Word) -> bool {
    word.is_content() || matches!(word.kind, Kind::Number(_) | Kind::Date(_))
}

fn is_same(word: &Word, other: &Word) -> bool {
    match (&word.kind, &other.kind) {
        (Kind::Number(one), Kind::Number(other)) => one.is(other),
        (Kind::Date(one), Kind::Date(other)) => one.is_within(*other),
        _ => word.is_like(other),
    }
}
