//! Numbers, dates and times of a claim: they must be in the evidence, counting the same thing, and
//! said of the same thing.

use super::{
    Ungrounded,
    support::{Claim, Part, Passage},
    vocabulary,
    words::{Gap, Kind, Word},
};

/// How far behind a number its unit may stand: `30 full calendar days`.
const MAX_UNIT_WORDS: usize = 3;
/// At how many places of a quote a number is looked at. Each is held against the whole quote.
const MAX_PLACES: usize = 64;
/// How many words a comma or a conjunction counts for, between a number and what it is said of.
const BREAK_WORDS: usize = 10;

/// Whether the evidence bears out the numbers of a claim.
pub(super) fn check(claim: &Claim, passage: &Passage<'_>) -> Result<(), Ungrounded> {
    for at in 0..claim.words.len() {
        if is_figure(&claim.words[at]) {
            let label = passage.label(claim);
            Figure { claim: &claim.words, at, label }.check(passage)?;
        }
    }
    Ok(())
}

/// Numbers, dates, and codes such as `10:30`.
fn is_figure(word: &Word) -> bool {
    match word.kind {
        Kind::Number(_) | Kind::Date(_) => true,
        Kind::Code => word.text.starts_with(|one: char| one.is_ascii_digit()),
        _ => false,
    }
}

fn is_kin(one: &Word, other: &Word) -> bool {
    matches!(
        (&one.kind, &other.kind),
        (Kind::Number(_), Kind::Number(_))
            | (Kind::Date(_), Kind::Date(_))
            | (Kind::Code, Kind::Code)
    )
}

/// Whether evidence says what a claim says.
fn is_said(claimed: &Word, quoted: &Word) -> bool {
    match (&claimed.kind, &quoted.kind) {
        (Kind::Number(one), Kind::Number(other)) => one.is(other),
        (Kind::Date(one), Kind::Date(other)) => one.is_within(*other),
        (Kind::Code, Kind::Code) => claimed.key == quoted.key,
        _ => false,
    }
}

/// A figure of a claim.
struct Figure<'a> {
    claim: &'a [Word],
    at: usize,
    /// What the property is called whose value the evidence is.
    label: &'a [Word],
}

impl Figure<'_> {
    fn word(&self) -> &Word {
        &self.claim[self.at]
    }

    fn check(&self, passage: &Passage<'_>) -> Result<(), Ungrounded> {
        self.check_in(&passage.parts, passage).or_else(|reason| {
            // `Disks weigh 2.5 kg and hold 4 TB` says without any kilogram what disks hold.
            let clauses: Vec<Part> = passage.parts.iter().flat_map(Part::clauses).collect();
            if clauses.is_empty() {
                Err(reason)
            } else {
                self.check_in(&clauses, passage).map_err(|_| reason)
            }
        })
    }

    fn check_in(&self, parts: &[Part], passage: &Passage<'_>) -> Result<(), Ungrounded> {
        let word = self.word();
        let mut places: Vec<(&Part, usize)> = Vec::new();
        for part in parts {
            let quoted = part.quoted.clone();
            places.extend(quoted.filter(|at| is_said(word, &part.words[*at])).map(|at| (part, at)));
        }
        places.truncate(MAX_PLACES);
        if places.is_empty() {
            let text = word.text.clone();
            return Err(match word.kind {
                Kind::Date(_) => Ungrounded::Date(text),
                _ => Ungrounded::Number(text),
            });
        }
        places.retain(|(part, at)| !self.is_turned(part, *at) && !self.is_total(part, *at));
        if places.is_empty() {
            return Err(Ungrounded::Number(word.text.clone()));
        }
        if let Some(unit) = self.unit() {
            places.retain(|(part, at)| self.counts(part, *at, unit));
            if places.is_empty() {
                let (number, unit) = (word.text.clone(), unit.text.clone());
                return Err(Ungrounded::Unit { number, unit });
            }
        }
        let subjects = self.subjects(passage);
        if let Some(nearest) = subjects.first()
            && !places.iter().any(|(part, at)| self.is_said_of(part, *at, &subjects))
        {
            let (number, word) = (word.text.clone(), self.claim[*nearest].text.clone());
            return Err(Ungrounded::Elsewhere { number, word });
        }
        Ok(())
    }

    /// Whether the claim says `to` where the sentence says `from`, or says of what was left behind
    /// that it is so.
    fn is_turned(&self, part: &Part, place: usize) -> bool {
        let words = &part.words;
        let (by, to) = (is_step(self.claim, self.at), is_behind(self.claim, self.at, TO));
        let is_end = is_behind(words, place, TO) && has_change(words, place);
        if (by && (is_end || is_origin(words, place))) || (to && is_step(words, place)) {
            return true;
        }
        let comes_from = is_behind(self.claim, self.at, FROM);
        if is_origin(&part.words, place) {
            !comes_from
        } else {
            (comes_from && is_behind(words, place, TO)) || (to && is_behind(words, place, FROM))
        }
    }

    /// Whether the figure is a total of which the sentence counts a part that the claim leaves
    /// out: `412 of 980 files`.
    fn is_total(&self, part: &Part, place: usize) -> bool {
        let of = (0..place).rev().find(|at| part.words[*at].kind != Kind::Stop);
        let counted = of.map(|at| &part.words[at]).filter(|word| word.number().is_some());
        let is_of = |word: &Word| matches!(&*word.key, "of" | "von" | "de" | "sur" | "out");
        let Some(counted) = counted else { return false };
        part.words[..place].last().is_some_and(|word| {
            is_of(word) || (word.key == "the" && place > 1 && is_of(&part.words[place - 2]))
        }) && !self.claim.iter().any(|word| is_said(word, counted))
    }

    /// What the number counts: the word right behind it.
    fn unit(&self) -> Option<&Word> {
        self.word().number()?;
        let next = self.claim.get(self.at + 1)?;
        let is_noun = matches!(next.kind, Kind::Content | Kind::Run) || measure(next).is_some();
        // `{"seats": "25"}` counts seats.
        let is_label = self.label.iter().any(|one| one.key == next.key);
        (next.gap == Gap::None && is_noun && !is_label).then_some(next)
    }

    /// What the claim says the figure of, the nearest first: its words before the figure, back to
    /// the figure before that, as far as the evidence has them; or else the next one behind it.
    fn subjects(&self, passage: &Passage<'_>) -> Vec<usize> {
        let is_quoted = |at: &usize| {
            let word = &self.claim[*at];
            word.is_content() && !is_figure(word) && passage.quote().any(|one| word.is_like(one))
        };
        let is_unit = |at: &usize| *at > 0 && is_figure(&self.claim[*at - 1]);
        let before = (0..self.at).rev();
        let mut run =
            before.clone().take_while(|at| !is_figure(&self.claim[*at])).collect::<Vec<_>>();
        run.retain(|at| is_quoted(at) && !is_unit(at));
        if run.is_empty() {
            run.extend(before.filter(is_quoted).find(|at| !is_unit(at)));
        }
        let is_share = self.word().text.contains('%');
        if run.is_empty() && !is_share && self.unit().is_some_and(|unit| measure(unit).is_none()) {
            // What it counts is what it is said of, and that was looked at.
            return run;
        }
        if run.is_empty() {
            let behind =
                (self.at + 1..self.claim.len()).take_while(|at| !is_figure(&self.claim[*at]));
            let all = behind.filter(is_quoted).filter(|at| is_share || !is_unit(at));
            // `27 % prefer the office` is said of the office, not only of what is preferred.
            run.extend(all.take(if is_share { usize::MAX } else { 1 }));
        }
        run
    }

    /// Whether a sentence says the figure at a place of the same things.
    fn is_said_of(&self, part: &Part, place: usize, subjects: &[usize]) -> bool {
        let (mut near, mut far_verbs) = (0, 0);
        for (rank, subject) in subjects.iter().enumerate() {
            let word = &self.claim[*subject];
            if part.lead_quoted && part.lead.iter().any(|one| word.is_like(one)) {
                near += 1;
                continue;
            }
            let mut there =
                part.quoted.clone().filter(|at| word.is_like(&part.words[*at])).peekable();
            if there.peek().is_none() {
                return false;
            }
            if there.any(|at| self.is_nearest(part, at, place, *subject, rank > 0)) {
                near += 1;
            } else if vocabulary::contrast(&word.stem).is_some()
                && !self.has_other_verb(part, word, place)
            {
                // `Retain logs for 30 days and events for 180 days` says `retain` of both.
                far_verbs += 1;
            } else {
                return false;
            }
        }
        near > 0 || far_verbs == 0
    }

    /// Whether a sentence says something else of a figure than a word that stands farther away:
    /// `costs fell 3 %`, behind `revenue rose 12 %`.
    fn has_other_verb(&self, part: &Part, word: &Word, place: usize) -> bool {
        let between = part.words[..place].iter().rev().take_while(|one| !word.is_like(one));
        let is_claimed = |one: &Word| self.claim.iter().any(|claimed| claimed.is_like(one));
        between.take_while(|one| !is_figure(one)).any(|one| {
            vocabulary::contrast(&one.stem).is_some() && one.is_content() && !is_claimed(one)
        })
    }

    /// Whether no other figure is nearer to a word than this one is. One that is as near in the
    /// claim does not count, nor, where others are `free`, any that the claim has.
    fn is_nearest(
        &self,
        part: &Part,
        word: usize,
        place: usize,
        subject: usize,
        free: bool,
    ) -> bool {
        let reach = distance(&part.words, word, place);
        let claimed = distance(self.claim, subject, self.at);
        part.quoted.clone().all(|other| {
            let figure = &part.words[other];
            if !is_kin(figure, self.word())
                || is_said(self.word(), figure)
                || is_origin(&part.words, other)
                || is_step(&part.words, other) != is_step(&part.words, place)
                    && is_behind(&part.words, place, TO)
            {
                return true;
            }
            let is_claimed = |at: usize| {
                is_said(&self.claim[at], figure)
                    && (free || distance(self.claim, subject, at) <= claimed)
            };
            distance(&part.words, word, other) >= reach || (0..self.claim.len()).any(is_claimed)
        })
    }

    /// Whether the number belongs to a name, as in `Windows 11`, and counts nothing. The first word
    /// of a sentence has a capital and may be no name.
    fn is_named(&self, part: &Part, place: usize) -> bool {
        let (Some(ours), Some(theirs)) = (self.at.checked_sub(1), place.checked_sub(1)) else {
            return false;
        };
        let is_name = |word: &Word| word.is_content() && word.text.starts_with(char::is_uppercase);
        let (one, other) = (&self.claim[ours], &part.words[theirs]);
        is_name(one) && is_name(other) && one.key == other.key && ours + theirs > 0
    }

    /// Whether the number at a place of a sentence counts the same thing.
    fn counts(&self, part: &Part, place: usize, unit: &Word) -> bool {
        let next = (place + 1 < part.quoted.end).then(|| &part.words[place + 1]);
        if unit.kind == Kind::Run {
            // `30日`: the character behind the number, if nothing stands between them in the claim.
            let next = next.filter(|next| next.kind == Kind::Run);
            return self.word().range.end != unit.range.start
                || next.is_some_and(|next| next.text.chars().next() == unit.text.chars().next());
        }
        let Some(claimed) = measure(unit) else {
            if self.is_named(part, place) {
                return true;
            }
            let mut like = part.quoted.clone().filter(|at| unit.is_like(&part.words[*at]));
            return next.and_then(measure).is_none()
                && like.any(|at| self.is_nearest(part, at, place, self.at + 1, false));
        };
        let is_number = |at: &usize| part.words[*at].number().is_some();
        let behind =
            (place + 1..part.quoted.end).take(MAX_UNIT_WORDS).take_while(|at| !is_number(at));
        // `retention in days: 30`
        let before =
            (part.quoted.start..place).rev().take(MAX_UNIT_WORDS).take_while(|at| !is_number(at));
        behind.chain(before).find_map(|at| measure(&part.words[at])) == Some(claimed)
    }
}

/// What stands before a number that something was changed from.
const FROM: &[&str] = &["from", "von"];
/// What stands before a number that something was changed to.
const TO: &[&str] = &["to", "auf"];

/// What stands before a number that something was changed by.
const BY: &[&str] = &["by", "um"];

fn is_behind(words: &[Word], at: usize, before: &[&str]) -> bool {
    at > 0 && before.contains(&&*words[at - 1].key)
}

/// Whether a figure is what something was changed from: `from 60 s to 15 s`.
fn is_origin(words: &[Word], at: usize) -> bool {
    let behind = at + 1..words.len().min(at + 2 + MAX_UNIT_WORDS);
    is_behind(words, at, FROM)
        && behind.into_iter().any(|next| is_figure(&words[next]) && is_behind(words, next, TO))
}

/// Whether a figure is by how much something changed: `by 5 %`, or right behind `rose`.
fn is_step(words: &[Word], at: usize) -> bool {
    is_behind(words, at, BY) || (at > 0 && is_change(&words[at - 1]))
}

fn is_change(word: &Word) -> bool {
    let groups = [vocabulary::contrast("increas"), vocabulary::contrast("decreas")];
    word.kind == Kind::Content
        && vocabulary::contrast(&word.stem).is_some_and(|group| groups.contains(&Some(group)))
}

/// Whether something changes before a place of a sentence.
fn has_change(words: &[Word], at: usize) -> bool {
    words[..at].iter().any(is_change)
}

/// How far two words are from each other.
fn distance(words: &[Word], one: usize, other: usize) -> usize {
    let (first, last) = (one.min(other), one.max(other));
    let breaks = (first + 1..=last)
        .filter(|at| words[*at].gap > Gap::Colon || vocabulary::is_break(&words[*at].key))
        .count();
    last - first + breaks * BREAK_WORDS
}

/// What is measured, for words that measure.
fn measure(word: &Word) -> Option<&'static str> {
    Some(match &*word.key {
        "ms" | "millisecond" | "milliseconds" => "millisecond",
        "s" | "sec" | "secs" | "second" | "seconds" | "sekunde" | "sekunden" | "secondes"
        | "segundos" => "second",
        "min" | "mins" | "minute" | "minutes" | "minuten" | "minutos" => "minute",
        "h" | "hr" | "hrs" | "hour" | "hours" | "stunde" | "stunden" | "heure" | "heures"
        | "hora" | "horas" => "hour",
        "d" | "day" | "days" | "tag" | "tage" | "tagen" | "jour" | "jours" | "día" | "días" => {
            "day"
        }
        "week" | "weeks" | "woche" | "wochen" | "semaine" | "semaines" | "semana" | "semanas" => {
            "week"
        }
        "month" | "months" | "monat" | "monate" | "monaten" | "mois" | "mes" | "meses" => "month",
        "quarter" | "quarters" => "quarter",
        "year" | "years" | "yr" | "yrs" | "jahr" | "jahre" | "jahren" | "ans" | "année"
        | "années" | "año" | "años" => "year",
        "byte" | "bytes" | "b" => "byte",
        "kb" | "kilobytes" | "kib" => "kilobyte",
        "mb" | "megabyte" | "megabytes" | "mib" => "megabyte",
        "gb" | "gigabyte" | "gigabytes" | "gib" => "gigabyte",
        "tb" | "terabyte" | "terabytes" | "tib" => "terabyte",
        "km" | "kilometers" | "kilometres" | "kilometer" => "kilometre",
        "kg" | "kilograms" => "kilogram",
        "m" | "meters" | "metres" | "meter" => "metre",
        "cm" => "centimetre",
        "mm" => "millimetre",
        "g" | "grams" => "gram",
        "mile" | "miles" => "mile",
        "times" | "mal" | "fois" | "veces" => "time",
        _ => return None,
    })
}
