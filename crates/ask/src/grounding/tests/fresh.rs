//! Bullets written as a model writes them, over results that it might be given.
//!
//! Most were written before the word lists were read, and the rules were then mended by what they
//! showed. `held.txt` was written behind that, to see whether the rules hold for other texts too.
//! A line `@` is a result, `+` an honest bullet, `!` a dishonest one with its kind. What stands
//! after `||` is the evidence; without it the claim is its own evidence.

use std::collections::BTreeMap;

use crate::grounding::{Bullet, Source, Ungrounded};

/// The tables, by what the results are about.
const TABLES: &[&str] = &[
    include_str!("fresh/papers.txt"),
    include_str!("fresh/work.txt"),
    include_str!("fresh/world.txt"),
    include_str!("fresh/tongues.txt"),
    include_str!("fresh/traps.txt"),
    include_str!("fresh/held.txt"),
];

/// How many of a kind are delivered though they are wrong. They need grammar: whose maker, who does
/// it to whom in the passive voice, and what is no longer so. All other kinds have none.
const KNOWN: &[(&str, usize)] = &[("roles", 2), ("tense", 1)];

/// Calls `judge` with the kind of every bullet (`None` for an honest one) and its verdict.
fn each(mut judge: impl FnMut(Option<&str>, &str, Result<(), String>)) {
    for table in TABLES {
        let mut value = serde_json::Value::Null;
        for line in table.lines() {
            let (mark, text) = line.split_once(' ').expect("a line has a mark and a text");
            if mark == "@" {
                value = serde_json::from_str(text).expect("a result is JSON");
                continue;
            }
            let (kind, bullet) = match mark {
                "!" => text.split_once(' ').map(|(kind, rest)| (Some(kind), rest)),
                _ => Some((None, text)),
            }
            .expect("a dishonest bullet has a kind");
            let (claim, evidence) = bullet.split_once(" || ").unwrap_or((bullet, bullet));
            let bullet =
                Bullet { claim: claim.to_owned(), evidence: evidence.replace("\\n", "\n") };
            let verdict =
                Source::of(&value).ground(&bullet).map(drop).map_err(|error| error.to_string());
            judge(kind, line, verdict);
        }
    }
}

#[test]
fn most_honest_bullets_are_delivered() {
    let (mut delivered, mut all, mut refused) = (0, 0, String::new());
    each(|kind, line, verdict| {
        if kind.is_none() {
            all += 1;
            match verdict {
                Ok(()) => delivered += 1,
                Err(error) => refused.push_str(&format!("{line}\n      {error}\n")),
            }
        }
    });
    println!("{delivered} of {all} honest bullets\n{refused}");
    assert!(delivered * 100 >= all * 85, "{delivered} of {all} honest bullets\n{refused}");
}

#[test]
fn honest_bullets_that_are_their_own_evidence_are_delivered() {
    each(|kind, line, verdict| {
        if kind.is_none() && !line.contains(" || ") {
            assert_eq!(verdict, Ok(()), "{line}");
        }
    });
}

#[test]
fn sentences_of_a_result_are_delivered_as_their_own_claims() {
    let mut refused = String::new();
    for line in TABLES.iter().flat_map(|table| table.lines()) {
        let Some(result) = line.strip_prefix("@ ") else { continue };
        let value = serde_json::from_str(result).expect("a result is JSON");
        let source = Source::of(&value);
        for unit in source.units() {
            let bullet = Bullet { claim: unit.to_owned(), evidence: unit.to_owned() };
            match source.ground(&bullet) {
                // Too long, a question, only figures, or two lines.
                Ok(_)
                | Err(
                    Ungrounded::LongClaim
                    | Ungrounded::Question
                    | Ungrounded::IdleClaim
                    | Ungrounded::UnseenInClaim,
                ) => {}
                Err(error) => refused.push_str(&format!("{unit}\n      {error}\n")),
            }
        }
    }
    assert!(refused.is_empty(), "{refused}");
}

#[test]
fn dishonest_bullets_are_dropped() {
    let mut delivered: BTreeMap<String, Vec<String>> = BTreeMap::new();
    each(|kind, line, verdict| {
        if let (Some(kind), Ok(())) = (kind, verdict) {
            delivered.entry(kind.to_owned()).or_default().push(line.to_owned());
        }
    });
    let known: BTreeMap<String, usize> =
        KNOWN.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect();
    let counts: BTreeMap<String, usize> =
        delivered.iter().map(|(kind, lines)| (kind.clone(), lines.len())).collect();
    assert_eq!(counts, known, "{delivered:#?}");
}
