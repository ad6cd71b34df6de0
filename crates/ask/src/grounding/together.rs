//! What a claim says together must stand together: a quote of two sentences has the words of both,
//! but `SEV1: full outage. SEV2: slow.` does not say `SEV1: slow`. Neither does a sentence of two
//! clauses say of the subject of one what it says of that of the other.

use super::{
    Ungrounded, clauses,
    support::{Claim, Part, Passage},
    vocabulary,
    words::{Gap, Kind, Word},
};

/// Whether each clause of a claim has its words from one sentence of the quote.
pub(super) fn check(claim: &Claim, passage: &Passage<'_>) -> Result<(), Ungrounded> {
    not_exchanged(claim, passage)?;
    not_cut(passage)?;
    let (joined, parted) = (sentences(passage, together), sentences(passage, clauses::read_apart));
    if is_verbatim(claim, passage) {
        return Ok(());
    }
    let pieces = pieces(&claim.words);
    let tied = clauses::read_apart(&claim.words);
    let tied = tied.iter().filter(|_| tied.len() > 1);
    let tied: Vec<Vec<&Word>> =
        tied.map(|clause| clause.iter().map(|at| &claim.words[*at]).collect()).collect();
    for piece in pieces.iter().chain(&tied) {
        // `Ann sang after Bob left` says more than each of its clauses.
        let is_tied = piece.iter().any(|word| is_link(&word.key)) || has_participle(piece);
        let sentences = if is_tied { &joined } else { &parted };
        let has = |sentence: &[&Word], word: &Word| sentence.iter().any(|one| is_same(word, one));
        let is_apart = |at: usize| {
            is_attribute(piece, at)
                && sentences.iter().any(|one| has(one, piece[at]) && has(one, piece[at + 1]))
        };
        let words: Vec<&Word> = (0..piece.len())
            .filter(|at| is_said(piece[*at]) && !is_apart(*at))
            .map(|at| piece[at])
            .collect();
        let quoted: Vec<&Word> = words
            .iter()
            .copied()
            .filter(|word| sentences.iter().any(|sentence| has(sentence, word)))
            .collect();
        if let (Some(first), true) = (words.first(), quoted.is_empty() && pieces.len() > 1) {
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

/// A quote that begins behind `who` must not reach the verb of the subject before it: `Emil
/// resigned` is no part of what `The nurse who treated Emil resigned` says.
fn not_cut(passage: &Passage<'_>) -> Result<(), Ungrounded> {
    for part in &passage.parts {
        let Some((who, verb)) = clauses::embedded(&part.words, &(0..part.words.len())) else {
            continue;
        };
        if part.quoted.start > who && part.quoted.start < verb && part.quoted.end > verb {
            return Err(Ungrounded::Apart(part.words[verb].text.clone()));
        }
    }
    Ok(())
}

/// `Delete logs after backups complete` must not become `Delete backups after logs complete`: what
/// stands on one side of such a word must not change places with what stands on the other.
fn not_exchanged(claim: &Claim, passage: &Passage<'_>) -> Result<(), Ungrounded> {
    let is_pivot = |word: &&Word| clauses::is_subordinator(&word.key);
    let Some(pivot) = claim.words.iter().find(is_pivot) else { return Ok(()) };
    let (main, bound) = sides(&claim.words, pivot);
    for part in &passage.parts {
        let quote = part.quote();
        let mut there = quote.iter().filter(|word| word.key == pivot.key);
        let (Some(theirs), None) = (there.next(), there.next()) else { continue };
        let (free, tied) = sides(quote, theirs);
        let moved = |words: &[&Word], from: &[&Word], to: &[&Word]| {
            let has = |side: &[&Word], word: &Word| side.iter().any(|one| word.is_form_of(one));
            let is_moved = |word: &&&Word| is_said(word) && has(from, word) && !has(to, word);
            words.iter().find(is_moved).map(|word| word.text.clone())
        };
        if let (Some(one), Some(other)) = (moved(&main, &tied, &free), moved(&bound, &free, &tied))
        {
            return Err(Ungrounded::Order(one, other));
        }
    }
    Ok(())
}

/// What does not depend on a word such as `after`, and what it ties, up to a comma.
fn sides<'a>(words: &'a [Word], pivot: &Word) -> (Vec<&'a Word>, Vec<&'a Word>) {
    let at = words.iter().position(|word| word.range == pivot.range).unwrap_or(words.len());
    let end = (at + 1..words.len()).find(|next| words[*next].gap >= Gap::Comma);
    let end = end.unwrap_or(words.len());
    let free = words[..at].iter().chain(&words[end..]).collect();
    (free, words[(at + 1).min(end)..end].iter().collect())
}

/// Whether a claim is a part of the quote as it stands.
fn is_verbatim(claim: &Claim, passage: &Passage<'_>) -> bool {
    // `The nurse who treated Emil resigned` does not say that Emil did.
    let is_embedded =
        |part: &Part| clauses::embedded(part.quote(), &(0..part.quote().len())).is_some();
    if passage.parts.iter().any(is_embedded) && !claim.words.iter().any(|word| is_link(&word.key)) {
        return false;
    }
    let quoted: Vec<&Word> = passage.quote().collect();
    // `…, who runs the lab, hired two` does not say that the lab did.
    let is_same = |at: usize, one: &Word, other: &Word| {
        one.key == other.key && (at == 0 || other.gap < Gap::Comma || one.gap >= Gap::Comma)
    };
    quoted.windows(claim.words.len()).any(|words| {
        let mut pairs = claim.words.iter().zip(words).enumerate();
        pairs.all(|(at, (one, other))| is_same(at, one, other))
    })
}

/// The words of the quote by clause, each with the line that it is an item of. A semicolon ends a
/// sentence here, and so does `, while`, unless a pronoun takes up what stands before it.
fn sentences<'a>(
    passage: &'a Passage<'_>,
    read: impl Fn(&[Word]) -> Vec<Vec<usize>>,
) -> Vec<Vec<&'a Word>> {
    let mut found = Vec::new();
    for part in &passage.parts {
        let quote = part.quote();
        let is_end = |at: &usize| {
            let word = &quote[*at];
            let is_ended = passage.between(&quote[*at - 1], word).contains([';', '；']);
            let is_parted = word.gap >= Gap::Comma
                && matches!(&*word.key, "while" | "whereas" | "although" | "though" | "während");
            (is_parted || is_ended) && !vocabulary::is_pronoun(&word.key)
        };
        let mut start = 0;
        for end in (1..quote.len()).filter(is_end).chain([quote.len()]) {
            let sentence = &quote[start..end];
            for clause in read(sentence) {
                let words = clause.iter().map(|at| &sentence[*at]);
                found.push(part.lead.iter().chain(words).collect());
            }
            start = end;
        }
    }
    found
}

/// The clauses of a sentence by the places of their words, each with what is tied to it.
fn together(sentence: &[Word]) -> Vec<Vec<usize>> {
    clauses::read(sentence).into_iter().map(|clause| clause.words).collect()
}

/// Whether a word may tie one thing that happens to another.
fn is_link(key: &str) -> bool {
    clauses::is_tie(key) || matches!(key, "upon" | "following" | "due" | "given" | "pending")
}

/// Whether a piece says with one word what a clause may say: `the engine powering the pump`.
fn has_participle(piece: &[&Word]) -> bool {
    piece.windows(2).any(|two| two[0].is_content() && two[1].key.ends_with("ing"))
}

/// The parts of a claim that stand for themselves.
fn pieces(words: &[Word]) -> Vec<Vec<&Word>> {
    let mut found: Vec<Vec<&Word>> = Vec::new();
    let mut start = 0;
    for (at, word) in words.iter().enumerate() {
        if word.gap >= Gap::Comma || vocabulary::is_break(&word.key) {
            found.push(words[start..at].iter().collect());
            start = at;
        }
    }
    found.push(words[start..].iter().collect());
    // `Alice signed the lease and paid the rent`: she paid, too.
    let shared = clauses::read(words).into_iter().filter(|clause| clause.shares);
    found.extend(shared.map(|clause| clause.words.iter().map(|at| &words[*at]).collect()));
    found
}

/// Whether a word is what was done to the thing behind it, and not who did it: `expired exports`.
fn is_attribute(piece: &[&Word], at: usize) -> bool {
    let is_noun = |word: &&Word| word.is_content() && word.gap == Gap::None;
    clauses::is_past(&piece[at].key)
        && piece.get(at + 1).is_some_and(is_noun)
        && (at == 0 || !piece[at - 1].is_content())
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
