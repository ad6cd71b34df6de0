//! The strict reading of a summary that a model wrote.

use serde::Deserialize;
use serde_json::Value;

use super::{DroppedBullet, MAX_BULLETS, MAX_OTHERS};
use crate::{quotation::DraftBullet, strict_json};

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

/// The form of a summary. A list that may be left out may be null too.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum WrittenSummary {
    Summary { bullets: Vec<Value>, risks: Option<Vec<Value>>, recommendations: Option<Vec<Value>> },
}

/// Reads a text that is a summary and nothing else. One bad bullet among good ones is a bullet less.
pub fn read(text: &str) -> Result<SummaryDraft, String> {
    let WrittenSummary::Summary { bullets, risks, recommendations } = strict_json::read(text)?;
    let mut malformed = Vec::new();
    let mut list = |name: &str, entries: Vec<Value>, most: usize| {
        if entries.len() > most {
            return Err(format!("it has {} {name}; at most {most} are allowed", entries.len()));
        }
        let mut good = Vec::with_capacity(entries.len());
        for entry in entries {
            let claim = entry.get("claim").and_then(Value::as_str).unwrap_or_default().to_owned();
            match strict_json::object(entry) {
                Ok(bullet) => good.push(bullet),
                Err(why) => {
                    let reason = format!("an entry of `{name}` is no bullet: {why}");
                    malformed.push(DroppedBullet { claim, reason });
                }
            }
        }
        Ok(good)
    };
    let bullets: Vec<DraftBullet> = list("bullets", bullets, MAX_BULLETS)?;
    let risks = list("risks", risks.unwrap_or_default(), MAX_OTHERS)?;
    let recommendations = list("recommendations", recommendations.unwrap_or_default(), MAX_OTHERS)?;
    if bullets.is_empty() {
        let why = malformed.into_iter().next().map_or("it has no bullets".into(), |one| one.reason);
        return Err(why);
    }
    Ok(SummaryDraft { bullets, risks, recommendations, malformed })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_summary_is_one() {
        let good = json!({ "claim": "a", "evidence": "b" });
        let summary = |bullets: Value| json!({ "type": "summary", "bullets": bullets });
        let with = |name: &str, value: Value| {
            let mut summary = summary(json!([good]));
            summary[name] = value;
            summary.to_string()
        };
        let text = summary(json!([good])).to_string();
        assert_eq!(read(&text).unwrap().bullets.len(), 1);
        assert_eq!(read(&with("risks", json!(null))).unwrap().malformed, []);
        for (text, expected) in [
            ("no", "not exactly one JSON object"),
            ("[]", "must be an object"),
            (&format!("{text}{text}"), "not exactly one"),
            (r#"{"type":"summary","type":"summary","bullets":[]}"#, "appears twice"),
            (&summary(json!([])).to_string(), "no bullets"),
            (&summary(json!({})).to_string(), "invalid type: map, expected a sequence"),
            (&with("type", json!("plan")), "unknown variant `plan`, expected `summary`"),
            (r#"{"bullets":[]}"#, "missing field `type`"),
            (r#"{"type":"summary"}"#, "missing field `bullets`"),
            (&with("more", json!(1)), "unknown field `more`"),
            (&summary(json!(vec![&good; 6])).to_string(), "6 bullets; at most 5"),
            (&with("risks", json!(vec![&good; 4])), "4 risks; at most 3"),
        ] {
            let why = read(text).unwrap_err();
            assert!(why.contains(expected), "{text}: {why}");
        }
        // One bad bullet among good ones is a bullet less.
        for (bad, expected) in [
            (json!({ "claim": "no evidence" }), "missing field `evidence`"),
            (json!("text"), "must be an object and is of type string"),
            (json!(["a", "b"]), "must be an object and is of type array"),
            (json!({ "claim": "a", "evidence": null }), "invalid type: null, expected a string"),
            (json!({ "claim": 1, "evidence": "b" }), "invalid type: integer `1`"),
            (json!({ "evidence": "b", "sure": true }), "unknown field `sure`"),
        ] {
            assert!(read(&summary(json!([bad])).to_string()).unwrap_err().contains(expected));
            for (name, list) in [
                ("bullets", json!([good, bad])),
                ("risks", json!([bad])),
                ("recommendations", json!([bad])),
            ] {
                let draft = read(&with(name, list)).unwrap();
                assert_eq!((draft.bullets.len(), draft.malformed.len()), (1, 1));
                let reason = &draft.malformed[0].reason;
                assert!(reason.contains(expected) && reason.contains(name), "{reason}");
            }
        }
    }
}
