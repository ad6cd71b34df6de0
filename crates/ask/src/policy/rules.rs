//! The rules that hold unless the settings leave them out. They are data: `rules.yaml` beside this file.

use std::sync::LazyLock;

use contract::{Document, document::to_yaml};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{PolicyRule, PolicySettings};

/// The rules as they are written, with their fragments.
const RULES_YAML: &str = include_str!("rules.yaml");

/// A rule that holds unless the settings leave it out.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DefaultRule {
    /// Its name.
    pub name: String,
    /// Its purpose, in a sentence.
    pub about: String,
    /// A message that the person is told in addition.
    pub message: String,
    /// A question that it stops.
    pub stops: String,
    /// A question about the same subject that it lets pass.
    pub passes: String,
    /// The regular expression that is looked for in the normal form of a question.
    pub pattern: String,
}

impl DefaultRule {
    /// As an operator would write it.
    pub(super) fn to_rule(&self) -> PolicyRule {
        let (name, pattern) = (self.name.clone(), self.pattern.clone());
        PolicyRule { name, pattern, message: Some(self.message.clone()) }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RulesFile {
    fragments: Vec<PatternFragment>,
    rules: Vec<DefaultRule>,
}

/// A part that the patterns of several rules share.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PatternFragment {
    name: String,
    pattern: String,
}

static DEFAULT_RULES: LazyLock<Vec<DefaultRule>> = LazyLock::new(|| {
    let document =
        Document::parse("rules.yaml", RULES_YAML).expect("the embedded rules are tested");
    let mut file: RulesFile = document.check().expect("the embedded rules are tested");
    for rule in &mut file.rules {
        rule.pattern = expand(&rule.pattern, &file.fragments);
    }
    file.rules
});

/// The rules, in the order in which they are looked at.
pub fn default_rules() -> &'static [DefaultRule] {
    &DEFAULT_RULES
}

/// The rules that hold with these settings, as YAML: the embedded file without those that are left out, and the operator's own.
pub fn rules_yaml(settings: &PolicySettings) -> String {
    // Every rule of the file begins so, and the fragments stand before all rules.
    const START: &str = "\n  - name: ";
    let (fragments, rules) = RULES_YAML.split_once("\nrules:").unwrap_or((RULES_YAML, ""));
    let mut text = format!("{fragments}\nrules:");
    for (number, rule) in rules.split(START).enumerate() {
        let name = rule.lines().next().unwrap_or_default();
        if number == 0 {
            text.push_str(rule);
        } else if !settings.without.iter().any(|left_out| left_out == name) {
            text.push_str(&format!("{START}{rule}"));
        }
    }
    for rule in &settings.block {
        for line in to_yaml(&json!([rule])).lines() {
            text.push_str(&format!("  {line}\n"));
        }
    }
    text
}

/// The pattern with its fragments in place and its lines joined. `\b` means ASCII, which keeps the engine fast on any
/// text.
fn expand(pattern: &str, fragments: &[PatternFragment]) -> String {
    let joined = |text: &str| text.lines().map(str::trim).collect::<String>();
    let mut pattern = joined(pattern);
    for fragment in fragments {
        pattern = pattern.replace(&format!("<{}>", fragment.name), &joined(&fragment.pattern));
    }
    pattern.replace(r"\b", r"(?-u:\b)")
}
