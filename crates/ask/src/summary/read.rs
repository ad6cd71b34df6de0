//! The strict reading of a summary that a model wrote.

use contract::json;
use serde_json::{Map, Value};

use super::{DroppedBullet, MAX_BULLETS, MAX_OTHERS};
use crate::quotation::DraftBullet;

/// A summary as a model wrote it. Nothing in it is delivered.
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryDraft {
    /// The lines that it picked.
    pub bullets: Vec<DraftBullet>,
    /// Those that say what could go wrong.
    pub risks: Vec<DraftBullet>,
    /// Those that say what to do.
    pub recommendations: Vec<DraftBullet>,
    /// Entries that are no bullets.
    pub malformed: Vec<DroppedBullet>,
}

const KEYS: [&str; 4] = ["type", "bullets", "risks", "recommendations"];

/// Reads a text that is a summary and nothing else. One bad bullet among good ones is a bullet less.
pub fn read(text: &str) -> Result<SummaryDraft, String> {
    let value = json::parse(text.as_bytes())
        .map_err(|error| format!("it is not exactly one JSON object: {error}"))?;
    let Value::Object(mut fields) = value else {
        return Err(format!("it must be an object and is of type {}", json::kind(&value)));
    };
    if let Some(key) = fields.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(format!("it has an unknown field `{key}`"));
    }
    match fields.get("type") {
        Some(Value::String(kind)) if kind == "summary" => {}
        Some(other) => return Err(format!("its `type` must be \"summary\" and is {other}")),
        None => return Err("it has no field `type`".into()),
    }
    if !fields.contains_key("bullets") {
        return Err("it has no field `bullets`".into());
    }
    let mut malformed = Vec::new();
    let mut list = |name, most| bullets(&mut fields, name, most, &mut malformed);
    let bullets = list("bullets", MAX_BULLETS)?;
    let risks = list("risks", MAX_OTHERS)?;
    let recommendations = list("recommendations", MAX_OTHERS)?;
    if bullets.is_empty() {
        let why = malformed.into_iter().next().map_or("it has no bullets".into(), |one| one.reason);
        return Err(why);
    }
    Ok(SummaryDraft { bullets, risks, recommendations, malformed })
}

/// The list of that name. One that may be left out may be null too.
fn bullets(
    fields: &mut Map<String, Value>,
    name: &str,
    most: usize,
    malformed: &mut Vec<DroppedBullet>,
) -> Result<Vec<DraftBullet>, String> {
    let list = match fields.remove(name) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(other) => {
            return Err(format!("`{name}` must be a list and is of type {}", json::kind(&other)));
        }
    };
    if list.len() > most {
        return Err(format!("it has {} {name}; at most {most} are allowed", list.len()));
    }
    let mut good = Vec::with_capacity(list.len());
    for entry in list {
        match bullet(&entry) {
            Ok(bullet) => good.push(bullet),
            Err(why) => {
                let claim = entry.get("claim").and_then(Value::as_str).unwrap_or_default();
                let reason = format!("an entry of `{name}` {why}");
                malformed.push(DroppedBullet { claim: claim.to_owned(), reason });
            }
        }
    }
    Ok(good)
}

/// The evidence and a claim, if there is one, and nothing else.
fn bullet(entry: &Value) -> Result<DraftBullet, String> {
    let Value::Object(fields) = entry else {
        return Err(format!("must be an object and is of type {}", json::kind(entry)));
    };
    let text = |name: &str| match fields.get(name) {
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(format!("has a field `{name}` of type {}", json::kind(other))),
        None => Ok(None),
    };
    let evidence = text("evidence")?.ok_or("has no field `evidence`")?;
    let bullet = DraftBullet { claim: text("claim")?, evidence };
    match fields.keys().find(|key| !matches!(key.as_str(), "claim" | "evidence")) {
        Some(key) => Err(format!("has an unknown field `{key}`")),
        None => Ok(bullet),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_summary_is_one() {
        let good = r#"{"type":"summary","bullets":[{"claim":"a","evidence":"b"}]}"#;
        assert_eq!(read(good).unwrap().bullets.len(), 1);
        let check = |text: &str, expected: &str| {
            let why = read(text).unwrap_err();
            assert!(why.contains(expected), "{text}: {why}");
        };
        check("no", "not exactly one JSON object");
        check("[]", "must be an object");
        check(&format!("{good}{good}"), "not exactly one");
        check(r#"{"type":"summary","bullets":[]}"#, "no bullets");
        check(
            r#"{"type":"plan","bullets":[{"claim":"a","evidence":"b"}]}"#,
            "`type` must be \"summary\"",
        );
        check(r#"{"bullets":[{"claim":"a","evidence":"b"}]}"#, "no field `type`");
        check(r#"{"type":"summary","bullets":[{"claim":"a"}]}"#, "no field `evidence`");
        check(
            r#"{"type":"summary","bullets":[{"claim":"a","evidence":"b","x":1}]}"#,
            "unknown field",
        );
        check(r#"{"type":"summary","bullets":[{"claim":1,"evidence":"b"}]}"#, "`claim` of type");
        check(r#"{"type":"summary","bullets":{}}"#, "must be a list");
        check(r#"{"type":"summary","type":"summary","bullets":[]}"#, "appears twice");
        check(
            r#"{"type":"summary","bullets":[{"claim":"a","evidence":"b"}],"more":1}"#,
            "unknown field",
        );
        let many = [r#"{"claim":"a","evidence":"b"}"#; 6].join(",");
        check(&format!(r#"{{"type":"summary","bullets":[{many}]}}"#), "6 bullets; at most 5");
        let risks = [r#"{"claim":"a","evidence":"b"}"#; 4].join(",");
        let text = format!(
            r#"{{"type":"summary","bullets":[{{"claim":"a","evidence":"b"}}],"risks":[{risks}]}}"#
        );
        check(&text, "4 risks; at most 3");
    }
    #[test]
    fn one_bad_bullet_is_a_bullet_less() {
        let good = r#"{"claim":"a","evidence":"b"}"#;
        for (bad, why) in [
            (r#"{"claim":"no evidence"}"#, "has no field `evidence`"),
            (r#""text""#, "must be an object and is of type string"),
            (r#"{"claim":"a","evidence":null}"#, "has a field `evidence` of type null"),
            (r#"{"claim":"a","evidence":"b","sure":true}"#, "has an unknown field `sure`"),
        ] {
            for name in ["bullets", "risks", "recommendations"] {
                let bullets = if name == "bullets" { format!("{good},{bad}") } else { good.into() };
                let more =
                    if name == "bullets" { String::new() } else { format!(r#","{name}":[{bad}]"#) };
                let draft =
                    read(&format!(r#"{{"type":"summary","bullets":[{bullets}]{more}}}"#)).unwrap();
                assert_eq!((draft.bullets.len(), draft.malformed.len()), (1, 1));
                let reason = &draft.malformed[0].reason;
                assert!(reason.contains(why) && reason.contains(name), "{reason}");
            }
        }
        let none = format!(r#"{{"type":"summary","bullets":[{good}],"risks":null}}"#);
        assert_eq!(read(&none).unwrap().malformed, []);
    }
}
