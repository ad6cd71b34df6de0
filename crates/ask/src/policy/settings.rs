//! The settings of the rules, and what may be wrong with them.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LetterCase, compile, default_rules};

/// How many rules an operator may add.
pub const MAX_RULES: usize = 200;
/// How long a pattern may be, in characters.
pub const MAX_PATTERN_CHARACTERS: usize = 2_000;
/// How long a message may be, in characters.
pub const MAX_MESSAGE_CHARACTERS: usize = 1_000;
/// How long a name may be, in characters.
const MAX_NAME_CHARACTERS: usize = 64;

/// Which questions are stopped before anything is looked up for them. This is a courtesy, no security
/// boundary: what a question may reach is settled by what its caller may use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PolicySettings {
    /// Names of default rules that are left out.
    pub without: Vec<String>,
    /// Rules in addition to the default ones.
    #[schemars(length(max = 200))]
    pub block: Vec<PolicyRule>,
}

/// A rule: a question that its pattern is found in is not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyRule {
    /// Its name, which whoever asked is told: small letters, digits, `_` and `-`.
    #[schemars(regex(pattern = r"^[a-z0-9_-]{1,64}$"))]
    pub name: String,
    /// A regular expression (the syntax of Rust's `regex`: no look-around, no back-references). It is
    /// looked for anywhere in the question in its normal form: small letters, compatibility forms
    /// composed (NFKC), nothing invisible, plain quotation marks and dashes, single spaces. So write
    /// it in small letters and with plain spaces, and `ss` for `ß`. Put `\b` around words: `\bmerger\b`.
    #[schemars(length(min = 1, max = 2_000))]
    pub pattern: String,
    /// What the person is told in addition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1_000))]
    pub message: Option<String>,
}

impl PolicySettings {
    /// Everything that is wrong with them: where (`block/0/pattern`), and what.
    pub fn mistakes(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut left_out = HashSet::new();
        for (index, name) in self.without.iter().enumerate() {
            let place = format!("without/{index}");
            if !default_rules().iter().any(|rule| rule.name == *name) {
                let names: Vec<_> =
                    default_rules().iter().map(|rule| format!("`{}`", rule.name)).collect();
                let names = names.join(", ");
                found.push((place, format!("there is no rule `{name}`; the rules are {names}")));
            } else if !left_out.insert(&**name) {
                found.push((place, format!("`{name}` is left out twice")));
            }
        }
        if self.block.len() > MAX_RULES {
            found.push(("block".to_owned(), format!("has more than {MAX_RULES} rules")));
        }
        // The name of a default rule that is left out is free for another one.
        let mut taken: HashSet<&str> = default_rules()
            .iter()
            .map(|rule| rule.name.as_str())
            .filter(|name| !left_out.contains(name))
            .collect();
        for (index, rule) in self.block.iter().take(MAX_RULES).enumerate() {
            for (field, what) in rule.mistakes() {
                found.push((format!("block/{index}/{field}"), what));
            }
            if !taken.insert(&rule.name) {
                let what = format!("there is already a rule `{}`", rule.name);
                found.push((format!("block/{index}/name"), what));
            }
        }
        found
    }
}

impl PolicyRule {
    fn mistakes(&self) -> Vec<(&'static str, String)> {
        let mut found = Vec::new();
        let may_be_named = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
        if self.name.is_empty() || !self.name.bytes().all(may_be_named) {
            found.push(("name", "is made of small letters, digits, `_` and `-`".to_owned()));
        } else if self.name.len() > MAX_NAME_CHARACTERS {
            found.push(("name", format!("is longer than {MAX_NAME_CHARACTERS} characters")));
        }
        found.extend(self.pattern_mistake().map(|what| ("pattern", what)));
        let message = self.message.as_deref().unwrap_or_default();
        if message.chars().nth(MAX_MESSAGE_CHARACTERS).is_some() {
            found.push(("message", format!("is longer than {MAX_MESSAGE_CHARACTERS} characters")));
        }
        found
    }

    fn pattern_mistake(&self) -> Option<String> {
        if self.pattern.chars().nth(MAX_PATTERN_CHARACTERS).is_some() {
            return Some(format!("is longer than {MAX_PATTERN_CHARACTERS} characters"));
        }
        match compile(&self.pattern, LetterCase::Any) {
            Err(what) => Some(what),
            // A pattern that is found in nothing is found in everything: an empty one, or `a*`.
            Ok(pattern) if pattern.is_match("") => Some("stops every question".to_owned()),
            Ok(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(settings: &serde_json::Value, expected: &[(&str, &str)]) {
        let read: PolicySettings = serde_json::from_value(settings.clone()).unwrap();
        let found = read.mistakes();
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for ((place, what), (at, part)) in found.iter().zip(expected) {
            assert_eq!(place, at, "{found:?}");
            assert!(what.contains(part), "{what}");
        }
    }

    #[test]
    fn settings_without_mistakes_are_taken() {
        check(&json!({}), &[]);
        check(&json!({ "without": ["weapons", "malware"] }), &[]);
        check(&json!({ "block": [{ "name": "merger", "pattern": r"\bproject falcon\b" }] }), &[]);
        check(
            &json!({ "without": ["weapons"], "block": [{ "name": "weapons", "pattern": "scam" }] }),
            &[],
        );
    }

    #[test]
    fn every_mistake_is_found_where_it_is() {
        check(&json!({ "without": ["nothing"] }), &[("without/0", "the rules are `self_harm`, ")]);
        check(&json!({ "without": ["weapons", "weapons"] }), &[("without/1", "twice")]);
        check(
            &json!({ "block": [{ "name": "A b", "pattern": "(" }, { "name": "", "pattern": "x" }] }),
            &[
                ("block/0/name", "small letters"),
                ("block/0/pattern", "must be a regular expression: unclosed group"),
                ("block/1/name", "small letters"),
            ],
        );
        check(
            &json!({ "block": [{ "name": "x".repeat(65), "pattern": "x" }] }),
            &[("block/0/name", "longer than 64")],
        );
        check(
            &json!({ "block": [{ "name": "weapons", "pattern": "x" }, { "name": "own", "pattern": "x" }, { "name": "own", "pattern": "y" }] }),
            &[
                ("block/0/name", "already a rule `weapons`"),
                ("block/2/name", "already a rule `own`"),
            ],
        );
        for (pattern, what) in [
            ("", "stops every question"),
            ("a*", "stops every question"),
            ("(?=a)b", "look-around"),
            (r"(a)\1", "backreferences are not supported"),
            (r"\w{1000}{1000}", "too large"),
            (&format!("{}x{}", "(".repeat(60), ")".repeat(60)), "nest"),
            (&"x".repeat(2_001), "longer than 2000"),
        ] {
            let settings = json!({ "block": [{ "name": "own", "pattern": pattern }] });
            check(&settings, &[("block/0/pattern", what)]);
        }
        check(
            &json!({ "block": [{ "name": "own", "pattern": "x", "message": "m".repeat(1_001) }] }),
            &[("block/0/message", "longer than 1000")],
        );
        let many: Vec<_> =
            (0..201).map(|at| json!({ "name": format!("r{at}"), "pattern": "x" })).collect();
        check(&json!({ "block": many }), &[("block", "more than 200")]);
    }

    #[test]
    fn the_limits_of_the_schema_are_those_that_hold() {
        let schema = serde_json::to_value(schemars::schema_for!(PolicySettings)).unwrap();
        let rule = &schema["$defs"]["PolicyRule"]["properties"];
        assert_eq!(schema["properties"]["block"]["maxItems"], MAX_RULES);
        assert_eq!(rule["pattern"]["maxLength"], MAX_PATTERN_CHARACTERS);
        assert_eq!(rule["message"]["maxLength"], MAX_MESSAGE_CHARACTERS);
        assert_eq!(rule["name"]["pattern"], "^[a-z0-9_-]{1,64}$");
    }

    #[test]
    fn unknown_fields_are_refused() {
        assert!(serde_json::from_value::<PolicySettings>(json!({ "allow": [] })).is_err());
        let rule = json!({ "block": [{ "name": "x", "pattern": "x", "kind": "x" }] });
        assert!(serde_json::from_value::<PolicySettings>(rule).is_err());
    }
}
