//! What is accepted and what is refused: by hand for every rule, generated for many texts.

mod clauses;
mod corpus;
mod fresh;
mod generated;
mod properties;
mod rules;

use serde_json::{Value, json};

use super::{Bullet, Grounded, Source, Ungrounded};

fn ground(value: &Value, claim: &str, evidence: &str) -> Result<Grounded, Ungrounded> {
    let bullet = Bullet { claim: claim.to_owned(), evidence: evidence.to_owned() };
    Source::of(value).ground(&bullet)
}

/// Holds a claim against a text and a quote of it.
#[track_caller]
fn check(text: &str, claim: &str, evidence: &str, expected: Result<(), &str>) {
    let found = ground(&json!({ "content": text }), claim, evidence);
    let found = found.map(|_| ()).map_err(|reason| reason.to_string());
    let agrees = match (&found, expected) {
        (Ok(()), Ok(())) => true,
        (Err(reason), Err(part)) => reason.contains(part),
        _ => false,
    };
    assert!(agrees, "{claim:?} on {evidence:?} of {text:?}: {found:?}, expected {expected:?}");
}

#[track_caller]
fn accepts(text: &str, claim: &str) {
    check(text, claim, text, Ok(()));
}

#[track_caller]
fn refuses(text: &str, claim: &str, reason: &str) {
    check(text, claim, text, Err(reason));
}
