//! The settings of the rules, and what may be wrong with them beyond their schema.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{compile, default_rules};

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
    /// Everything that is wrong with them beyond the schema: where (`block/0/pattern`), and what.
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
        // The name of a default rule that is left out is free for another one.
        let mut taken: HashSet<&str> = default_rules()
            .iter()
            .map(|rule| rule.name.as_str())
            .filter(|name| !left_out.contains(name))
            .collect();
        for (index, rule) in self.block.iter().enumerate() {
            let what = match compile(&rule.pattern, true) {
                Err(what) => Some(what),
                // A pattern that is found in nothing is found in everything: an empty one, or `a*`.
                Ok(pattern) => pattern.is_match("").then(|| "stops every question".to_owned()),
            };
            found.extend(what.map(|what| (format!("block/{index}/pattern"), what)));
            if !taken.insert(&rule.name) {
                let what = format!("there is already a rule `{}`", rule.name);
                found.push((format!("block/{index}/name"), what));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use contract::Document;
    use serde_json::{Value, json};

    use super::*;

    /// The mistakes of settings, where they are and what they are: those of the schema, or else the others.
    fn mistakes(settings: &Value) -> Vec<String> {
        let document = Document::parse("settings", &settings.to_string()).unwrap();
        match document.check::<PolicySettings>() {
            Ok(read) => {
                read.mistakes().iter().map(|(place, what)| format!("{place} {what}")).collect()
            }
            Err(found) => found.into_iter().map(|one| one.message).collect(),
        }
    }

    #[test]
    fn every_mistake_is_found_where_it_is() {
        let rule = |name: &str, pattern: &str| json!({ "name": name, "pattern": pattern });
        let block = |rules: &[Value]| json!({ "block": rules });
        let pattern = |pattern: &str| block(&[rule("own", pattern)]);
        let many: Vec<_> = (0..201).map(|at| rule(&format!("r{at}"), "x")).collect();
        let nested = format!("{}x{}", "(".repeat(60), ")".repeat(60));
        let wordy = json!({ "name": "own", "pattern": "x", "message": "m".repeat(1_001) });
        for (settings, expected) in [
            (json!({}), &[][..]),
            (json!({ "without": ["weapons", "malware"] }), &[]),
            (block(&[rule("merger", r"\bproject falcon\b")]), &[]),
            (json!({ "without": ["weapons"], "block": [rule("weapons", "scam")] }), &[]),
            (
                json!({ "without": ["nothing"] }),
                &["without/0 there is no rule `nothing`; the rules are `self_harm`, "],
            ),
            (
                json!({ "without": ["weapons", "weapons"] }),
                &["without/1 `weapons` is left out twice"],
            ),
            (
                block(&[rule("A b", "x"), rule("", "x")]),
                &["`/block/0/name` must match", "`/block/1/name` must match"],
            ),
            (block(&[rule(&"x".repeat(65), "x")]), &["`/block/0/name` must match"]),
            (
                block(&[rule("weapons", "("), rule("own", "x"), rule("own", "y")]),
                &[
                    "block/0/pattern must be a regular expression: unclosed group",
                    "block/0/name there is already a rule `weapons`",
                    "block/2/name there is already a rule `own`",
                ],
            ),
            (pattern(""), &["`/block/0/pattern` must"]),
            (pattern("a*"), &["block/0/pattern stops every question"]),
            (pattern("(?=a)b"), &["block/0/pattern must be a regular expression: look-around"]),
            (
                pattern(r"(a)\1"),
                &["block/0/pattern must be a regular expression: backreferences are not supported"],
            ),
            (pattern(r"\w{1000}{1000}"), &["block/0/pattern is too large"]),
            (
                pattern(&nested),
                &[
                    "block/0/pattern must be a regular expression: exceed the maximum number of nested",
                ],
            ),
            (pattern(&"x".repeat(2_001)), &["`/block/0/pattern` must"]),
            (block(&[wordy]), &["`/block/0/message` must"]),
            (block(&many), &["`/block` must"]),
            (json!({ "allow": [] }), &["unknown key `allow`"]),
        ] {
            let found = mistakes(&settings);
            let fits = |(found, part): (&String, &&str)| found.starts_with(part);
            let are_right = found.len() == expected.len() && found.iter().zip(expected).all(fits);
            assert!(are_right, "{found:?}, not {expected:?}");
        }
    }
}
