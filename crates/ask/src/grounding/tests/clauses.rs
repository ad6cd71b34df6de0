//! Two things in one sentence: whose verb it is, what was done and what may be done, and what
//! nobody did.
//!
//! A line `@` is a text and the evidence of what follows, `+` an honest claim, `!` a dishonest one.
//! What stands after `||` is a quote that is shorter.

use super::ground;

/// How many honest claims are delivered, at least.
const MIN_HONEST: usize = 105;
/// How many dishonest ones are, at most.
const MAX_DISHONEST: usize = 2;

const PAIRS: &str = include_str!("clauses/pairs.txt");

/// The claims with a mark that are delivered, the others with their reasons.
fn judged(mark: &str) -> (Vec<String>, Vec<String>) {
    let (mut delivered, mut refused) = (Vec::new(), Vec::new());
    let mut text = "";
    for line in PAIRS.lines() {
        let (one, rest) = line.split_once(' ').expect("a line has a mark and a text");
        if one == "@" {
            text = rest;
        } else if one == mark {
            let (claim, evidence) = rest.split_once(" || ").unwrap_or((rest, text));
            match ground(&serde_json::json!({ "text": text }), claim, evidence) {
                Ok(_) => delivered.push(format!("{claim} [{text}]")),
                Err(reason) => refused.push(format!("{claim} [{text}]: {reason}")),
            }
        }
    }
    (delivered, refused)
}

#[test]
fn what_one_clause_says_is_delivered() {
    let (delivered, refused) = judged("+");
    println!(
        "{} honest claims delivered, {} refused\n{refused:#?}",
        delivered.len(),
        refused.len()
    );
    assert!(delivered.len() >= MIN_HONEST, "{} delivered, {refused:#?}", delivered.len());
}

#[test]
fn what_two_clauses_say_is_not_mixed() {
    let (delivered, refused) = judged("!");
    println!(
        "{} dishonest claims refused, {} delivered\n{delivered:#?}",
        refused.len(),
        delivered.len()
    );
    assert!(delivered.len() <= MAX_DISHONEST, "{} refused, {delivered:#?}", refused.len());
}
