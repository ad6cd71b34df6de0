//! The strict reading of a summary.

use contract::json;
use serde::Deserialize;

use super::{MAX_BULLETS, MAX_OTHERS};
use crate::grounding::Bullet;

/// What a model wrote, in the form of a summary. Nothing in it is believed yet.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    #[serde(rename = "type")]
    kind: Kind,
    /// The claims.
    pub bullets: Vec<Bullet>,
    /// What could go wrong.
    #[serde(default)]
    pub risks: Vec<Bullet>,
    /// What to do.
    #[serde(default)]
    pub recommendations: Vec<Bullet>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Summary,
}

/// The summary that a text is, if it is nothing else, or why it is none.
pub fn read(text: &str) -> Result<Draft, String> {
    let value = json::parse(text.as_bytes())
        .map_err(|error| format!("it is not exactly one JSON object: {error}"))?;
    if !value.is_object() {
        return Err(format!("it must be an object and is of type {}", json::kind(&value)));
    }
    let draft: Draft =
        serde_json::from_value(value).map_err(|error| format!("it is no summary: {error}"))?;
    if draft.bullets.is_empty() {
        return Err("it has no bullets".into());
    }
    let lists = [
        ("bullets", draft.bullets.len(), MAX_BULLETS),
        ("risks", draft.risks.len(), MAX_OTHERS),
        ("recommendations", draft.recommendations.len(), MAX_OTHERS),
    ];
    for (name, count, most) in lists {
        if count > most {
            return Err(format!("it has {count} {name}; at most {most} are allowed"));
        }
    }
    Ok(draft)
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
        check(r#"{"type":"plan","bullets":[{"claim":"a","evidence":"b"}]}"#, "unknown variant");
        check(r#"{"bullets":[{"claim":"a","evidence":"b"}]}"#, "missing field `type`");
        check(r#"{"type":"summary","bullets":[{"claim":"a"}]}"#, "missing field `evidence`");
        check(
            r#"{"type":"summary","bullets":[{"claim":"a","evidence":"b","x":1}]}"#,
            "unknown field",
        );
        check(r#"{"type":"summary","bullets":[{"claim":1,"evidence":"b"}]}"#, "invalid type");
        check(r#"{"type":"summary","bullets":{}}"#, "invalid type");
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
}
