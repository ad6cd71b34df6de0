//! The clauses of a sentence: `Admins may delete users, guests may read files` says two things, and
//! nobody may take the subject of the one and the verb of the other.
//!
//! A clause begins where a subject with a verb of its own comes behind a comma or a conjunction.
//! Where only a verb comes, it shares the subject of the clause before it. What has no verb is an
//! item of a list or an aside, and stays with what stands before it. Where no verb is known there
//! is one clause, and nothing is refused for it.

mod portions;
mod tied;
mod verbs;

pub(super) use tied::{embedded, is_tie, read_apart};
pub(super) use verbs::{is_auxiliary, is_past, is_preposition, is_state, is_verb_form};

use std::ops::Range;

use super::{
    vocabulary,
    words::{Gap, Word},
};

/// How many clauses of a sentence are told from each other. What comes behind is one of them.
const MAX_CLAUSES: usize = 16;

/// What one clause of a sentence says, with what it shares with others.
#[derive(Debug, Default)]
pub(super) struct Clause {
    /// The places of its words in the sentence.
    pub words: Vec<usize>,
    /// Those before its verb.
    subject: Vec<usize>,
    /// Its own verb.
    verb: Option<usize>,
    /// Whether its subject is that of a clause before it.
    pub shares: bool,
}

impl Clause {
    /// Whether it has a subject of its own that names something: `this is not so` speaks of what
    /// stands before it.
    pub fn names_subject(&self, sentence: &[Word]) -> bool {
        let names = |at: &usize| {
            let word = &sentence[*at];
            is_nobody(&word.key)
                || (word.is_content()
                    && !is_conjunction(&word.key)
                    && !vocabulary::is_pronoun(&word.key))
        };
        self.verb.is_some() && !self.shares && self.subject.iter().any(names)
    }

    /// The words behind its verb.
    fn object<'a>(&'a self, sentence: &'a [Word]) -> impl Iterator<Item = usize> + 'a {
        let says = |at: &usize| sentence[*at].is_content() || sentence[*at].number().is_some();
        let behind = self.words.iter().copied();
        behind.filter(|at| self.verb.is_some_and(|verb| *at > verb)).filter(says)
    }
}

/// What a sentence has between two commas or conjunctions.
struct Segment {
    range: Range<usize>,
    verb: Option<usize>,
    /// Whether something stands before its verb.
    has_subject: bool,
}

/// The clauses of a sentence.
pub(super) fn read(sentence: &[Word]) -> Vec<Clause> {
    if let Some(items) = items(sentence) {
        return items;
    }
    let mut reading = Reading { sentence, ..Reading::default() };
    for segment in segments(sentence) {
        reading.add(&segment);
    }
    let Reading { mut found, shared, .. } = reading;
    if found.is_empty() {
        found.push(Clause::default());
    }
    for clause in &mut found {
        clause.words.splice(0..0, shared.iter().copied());
    }
    found.into_iter().flat_map(|clause| portions::part(sentence, clause)).collect()
}

/// The clauses of a sentence as far as it was read.
#[derive(Default)]
struct Reading<'a> {
    sentence: &'a [Word],
    found: Vec<Clause>,
    /// What holds for all of them: `In Oslo, …`, `If it rains, …`.
    shared: Vec<usize>,
    /// The last clause that has a subject of its own.
    root: usize,
    /// Items behind a comma that may be the first subjects of what follows.
    loose: Vec<usize>,
}

impl Reading<'_> {
    fn add(&mut self, segment: &Segment) {
        let head = head(self.sentence, &segment.range);
        let words = segment.range.clone();
        let is_full = self.found.len() >= MAX_CLAUSES;
        let Some(last) = self.found.last_mut() else {
            let is_fronted = segment.verb.is_none() && is_fronted(self.sentence, words.clone());
            if is_subordinator(head) || is_fronted {
                self.shared.extend(words);
            } else {
                self.begin(segment);
            }
            return;
        };
        let Some(verb) = segment.verb else {
            last.words.extend(words.clone());
            if self.sentence[words.start].gap >= Gap::Comma {
                self.loose.extend(words);
            }
            return;
        };
        if is_subordinator(head) {
            self.shared.extend(words);
            return;
        }
        if last.verb.is_none() {
            last.words.extend(words);
            last.verb = Some(verb);
            last.subject = last.words.iter().copied().filter(|at| *at < verb).collect();
        } else if is_relative(head) || is_full {
            last.words.extend(words);
        } else if segment.has_subject {
            self.begin(segment);
        } else if last.object(self.sentence).next().is_none() {
            // `Review and approve the budget` has one object.
            last.words.extend(words);
            last.verb = Some(verb);
        } else {
            self.share(segment);
        }
        self.loose.clear();
    }

    /// Begins a clause with a subject of its own.
    fn begin(&mut self, segment: &Segment) {
        let Range { start, end } = segment.range;
        let mut clause = Clause { verb: segment.verb, ..Clause::default() };
        clause.subject.extend(start..segment.verb.unwrap_or(start));
        if self.sentence[start].gap < Gap::Comma {
            clause.subject.append(&mut self.loose);
        }
        clause.words.clone_from(&clause.subject);
        clause.words.extend(segment.verb.unwrap_or(start)..end);
        if let Some(before) = self.found.last() {
            clause.words.extend(meant(self.sentence, segment, before));
        }
        self.root = self.found.len();
        self.found.push(clause);
    }

    /// Begins a clause with the subject of one before it.
    fn share(&mut self, segment: &Segment) {
        let sentence = self.sentence;
        let subject = self.found[self.root].subject.clone();
        let mut clause =
            Clause { words: subject.clone(), subject, verb: segment.verb, shares: true };
        let is_conjunction = |at: &usize| is_conjunction(&sentence[*at].key);
        clause.words.extend(segment.range.clone().skip_while(is_conjunction));
        clause.words.extend(meant(sentence, segment, &self.found[self.root]));
        // A condition at the end may hold for all that this subject does.
        let is_free = |at: &usize| !is_condition(&sentence[*at].key);
        let condition: Vec<usize> = segment.range.clone().skip_while(is_free).collect();
        for before in &mut self.found[self.root..] {
            before.words.extend(&condition);
        }
        self.found.push(clause);
    }
}

/// The items of `Delivery: 2 days (express), 6 days (standard)`: each with its bracket, and with what
/// stands before the colon.
fn items(sentence: &[Word]) -> Option<Vec<Clause>> {
    let opens = |at: &usize| sentence[*at].gap == Gap::Open;
    if (0..sentence.len()).filter(opens).count() < 2
        || verbs::find(sentence, 0..sentence.len()).is_some()
    {
        return None;
    }
    let lead = sentence.iter().position(|word| word.gap == Gap::Colon).unwrap_or(0);
    let mut found: Vec<Clause> = Vec::new();
    let mut has_bracket = true;
    for (at, word) in sentence.iter().enumerate().skip(lead) {
        let is_next = matches!(word.gap, Gap::Comma | Gap::Clause) || at == lead;
        if has_bracket && is_next && found.len() < MAX_CLAUSES {
            found.push(Clause { words: (0..lead).collect(), ..Clause::default() });
            has_bracket = false;
        }
        has_bracket |= opens(&at);
        found.last_mut()?.words.push(at);
    }
    Some(found)
}

/// The clauses as texts of their own, where there are several.
pub(super) fn apart(sentence: &[Word]) -> Vec<Vec<Word>> {
    let clauses = read(sentence);
    if clauses.len() < 2 {
        return Vec::new();
    }
    let words = |clause: &Clause| clause.words.iter().map(|at| sentence[*at].clone()).collect();
    clauses.iter().map(words).collect()
}

/// Whether a word stands for what was named before it.
fn is_named(sentence: &[Word], at: usize) -> bool {
    match &*sentence[at].key {
        "it" | "them" | "they" | "he" | "she" | "him" => true,
        // `Her deputy` is somebody else.
        "her" | "this" => !sentence.get(at + 1).is_some_and(Word::is_content),
        _ => false,
    }
}

/// What the pronouns of a segment stand for in the clause before it.
fn meant(sentence: &[Word], segment: &Segment, before: &Clause) -> Vec<usize> {
    let verb = segment.verb.unwrap_or(segment.range.end);
    let is_named = |at: usize| is_named(sentence, at);
    let mut found = Vec::new();
    if (segment.range.start..verb).any(is_named) {
        let is_thing = |at: &usize| sentence[*at].is_content() && Some(*at) != before.verb;
        found.extend(before.words.iter().copied().filter(is_thing));
    }
    if (verb..segment.range.end).any(is_named) {
        // The thing alone: not where it is, nor how often something was done to it.
        let is_more = |at: &usize| {
            sentence[*at].number().is_some() || verbs::is_preposition(&sentence[*at].key)
        };
        let mut behind = before.words.iter().copied().filter(|at| Some(*at) > before.verb);
        let object = behind.by_ref().take_while(|at| !is_more(at));
        let object: Vec<usize> = object.filter(|at| sentence[*at].is_content()).collect();
        found.extend(if object.is_empty() { before.subject.clone() } else { object });
    }
    found
}

fn segments(sentence: &[Word]) -> Vec<Segment> {
    let begins =
        |at: usize| at == 0 || sentence[at].gap >= Gap::Comma || is_conjunction(&sentence[at].key);
    let starts: Vec<usize> = (0..sentence.len())
        // `, and` begins once.
        .filter(|at| begins(*at) && !(*at > 0 && is_conjunction(&sentence[*at - 1].key)))
        .collect();
    let ends = starts.iter().skip(1).copied().chain([sentence.len()]);
    let segment = |(start, end): (usize, usize)| {
        let verb = verbs::find(sentence, start..end);
        let is_thing = |word: &Word| {
            let is_named = word.is_content() && !is_conjunction(&word.key);
            // `Nobody pays the lift` has a subject, too.
            is_named
                || word.number().is_some()
                || vocabulary::is_pronoun(&word.key)
                || is_nobody(&word.key)
        };
        let has_subject = sentence[start..verb.unwrap_or(start)].iter().any(is_thing);
        Segment { range: start..end, verb, has_subject }
    };
    starts.iter().copied().zip(ends).map(segment).collect()
}

/// The first word of a segment behind its conjunction.
fn head<'a>(sentence: &'a [Word], segment: &Range<usize>) -> &'a str {
    let words = sentence[segment.clone()].iter();
    words.map(|word| &*word.key).find(|key| !is_conjunction(key)).unwrap_or_default()
}

/// Whether a segment says where or when, or is named by a colon: `In Oslo,`, `Note:`.
fn is_fronted(sentence: &[Word], segment: Range<usize>) -> bool {
    verbs::is_preposition(head(sentence, &segment))
        && sentence.get(segment.end).is_some_and(|next| next.gap == Gap::Comma)
}

/// How many words at the beginning of a sentence say where or when, up to a comma.
pub(super) fn fronted(sentence: &[Word]) -> usize {
    let is_comma = |at: &usize| sentence[*at].gap == Gap::Comma;
    let end = (1..sentence.len()).find(is_comma).unwrap_or(0);
    if end > 0 && is_fronted(sentence, 0..end) { end } else { 0 }
}

/// Whether a word stands for those who do not.
fn is_nobody(key: &str) -> bool {
    matches!(key, "nobody" | "none" | "nothing" | "noone")
}

/// Whether a clause may begin at a word.
fn is_conjunction(key: &str) -> bool {
    matches!(key, "and" | "but" | "while" | "whereas" | "although" | "though" | "so" | "yet")
}

/// Whether a clause that begins so says when or why another is so.
pub(super) fn is_subordinator(key: &str) -> bool {
    matches!(
        key,
        "if" | "when"
            | "whenever"
            | "after"
            | "before"
            | "once"
            | "because"
            | "since"
            | "unless"
            | "until"
            | "as"
            | "provided"
    )
}

/// Whether what stands behind a word must be so first.
fn is_condition(key: &str) -> bool {
    matches!(key, "if" | "when" | "whenever" | "unless" | "once" | "provided")
}

/// Whether a clause that begins so says more of what was named before it.
fn is_relative(key: &str) -> bool {
    matches!(key, "who" | "whom" | "whose" | "which" | "that" | "where")
}

#[cfg(test)]
mod tests {
    use super::{super::words, *};

    /// Parts a sentence and shows each clause as its words.
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let sentence = words::read(text);
        let shown = |clause: &Clause| {
            let words = clause.words.iter().map(|at| &*sentence[*at].key);
            words.collect::<Vec<_>>().join(" ")
        };
        let found: Vec<String> = read(&sentence).iter().map(shown).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_subject_with_its_own_verb_begins_a_clause() {
        check(
            "Ann paid the rent and Bob sold the car",
            &["ann paid the rent", "and bob sold the car"],
        );
        check("Cats may sleep, dogs must work", &["cats may sleep", "dogs must work"]);
        check(
            "Paris hosts fairs while Rome trains cooks",
            &["paris hosts fairs", "while rome trains cooks"],
        );
    }

    #[test]
    fn a_verb_alone_shares_the_subject() {
        check("Disks weigh 2 kg and hold 4 TB", &["disks weigh 2 kg", "disks hold 4 tb"]);
        check(
            "Release 4.2 removes 3 calls and adds 6",
            &["release 4.2 removes 3 calls", "release 4.2 adds 6"],
        );
        check("Rent is high, up 4% from 2022", &["rent is high", "rent up 4% from 2022"]);
        check("Review and approve the budget", &["review and approve the budget"]);
    }

    #[test]
    fn lists_are_no_clauses() {
        check("Logs, files and keys are encrypted", &["logs files and keys are encrypted"]);
        check(
            "Email alerts and test reports go to Ann",
            &["email alerts and test reports go to ann"],
        );
        check(
            "Retain logs for 5 days and audit events for 9",
            &["retain logs for 5 days and audit events for 9"],
        );
    }

    #[test]
    fn what_comes_first_or_depends_holds_for_all() {
        check(
            "In Rome, Ann sings and Bob paints the wall",
            &["in rome ann sings and bob paints the wall"],
        );
        check(
            "If it rains, Ann closes the roof and Bob opens the gate",
            &["if it rains ann closes the roof", "if it rains and bob opens the gate"],
        );
    }

    #[test]
    fn pronouns_stand_for_what_was_named() {
        check(
            "The app collects place data but does not share it with us",
            &["the app collects place data", "the app does not share it with us place data"],
        );
        check(
            "Ann visits Rome, and her aide will stay",
            &["ann visits rome", "and her aide will stay"],
        );
        check(
            "Ada fixed the pump 5 times and Grace sold it",
            &["ada fixed the pump 5 times", "and grace sold it pump"],
        );
        check(
            "Ada opened the ticket and Grace closed it",
            &["ada opened the ticket", "and grace closed it ticket"],
        );
        check(
            "Lind, who runs the lab, hired two",
            &["lind who runs the lab", "lind who hired two"],
        );
    }

    #[test]
    fn figures_of_a_list_stand_for_themselves() {
        check(
            "The fee is 9 EUR for men and 5 EUR for boys per day",
            &["the fee is 9 for men per day", "the fee is 5 for boys per day"],
        );
        check(
            "Ann sold 20 seats on Monday, 30 on Friday",
            &["ann sold 20 seats on monday", "ann sold 30 seats on friday"],
        );
        check("It takes 2 hours and 30 minutes", &["it takes 2 hours and 30 minutes"]);
        check(
            "Wait between 2 h in May and 3 h in June",
            &["wait between 2 h in may and 3 h in june"],
        );
    }

    #[test]
    fn items_keep_their_brackets() {
        check("Time: 5 min (gold), 4 h (iron)", &["time 5 min gold", "time 4 h iron"]);
        check("Ann (chair), Bob (clerk)", &["ann chair", "bob clerk"]);
    }
}
