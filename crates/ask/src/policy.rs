//! The rules of what a question must not be about, looked at before anything else happens.
//!
//! A rule is a name and a regular expression that is looked for in the [normal form](text::normal) of a question.
//! The default ones stop what no tool here should be asked for, and let fair questions about the same
//! subjects pass: how to write malware is stopped, what the malware policy says is not.
//!
//! This is a courtesy and no boundary. Somebody who wants to get past it will; what keeps them from
//! harm is that a run may use only what its caller may use, and makes one call.

mod rules;
mod settings;
#[cfg(test)]
mod tests;

use regex::{Regex, RegexBuilder};

use crate::text;

pub use rules::{DefaultRule, default_rules, rules_yaml};
pub use settings::{PolicyRule, PolicySettings};

/// The greatest size of a compiled pattern, in bytes. The largest default rule needs less than half of it.
const MAX_COMPILED_BYTES: usize = 1 << 20;
/// The memory that a pattern may use for its shortcuts while it is looked for, in bytes.
const MAX_CACHE_BYTES: usize = 4 << 20;
/// The greatest depth of groups in a pattern.
const MAX_NESTING: u32 = 50;

/// The rules, ready to be used. Looking for them takes time in proportion to the question.
#[derive(Debug)]
pub struct Policy {
    rules: Vec<(PolicyRule, Regex)>,
}

impl Policy {
    /// The default rules without those that are left out, and the operator's own. Fails with the first
    /// of [`PolicySettings::mistakes`].
    pub fn new(settings: &PolicySettings) -> Result<Self, String> {
        if let Some((place, what)) = settings.mistakes().into_iter().next() {
            return Err(format!("`{place}` {what}"));
        }
        let is_kept = |rule: &&DefaultRule| !settings.without.contains(&rule.name);
        // The text has small letters only, and so have these. They compile several times as fast, because `k` and
        // `s` have relatives far away in Unicode.
        let defaults = default_rules().iter().filter(is_kept).map(|rule| (rule.to_rule(), false));
        let own = settings.block.iter().map(|rule| (rule.clone(), true));
        let compiled = defaults.chain(own).map(|(rule, ignores_case)| {
            let pattern = compile(&rule.pattern, ignores_case)?;
            Ok((rule, pattern))
        });
        Ok(Self { rules: compiled.collect::<Result<_, String>>()? })
    }

    /// The first rule that stops a question.
    pub fn stops(&self, question: &str) -> Option<&PolicyRule> {
        let question = text::normal(question);
        let mut rules = self.rules.iter();
        rules.find(|(_, pattern)| pattern.is_match(&question)).map(|(rule, _)| rule)
    }
}

/// A pattern within limits, whose capitals may stand for small letters.
fn compile(pattern: &str, ignores_case: bool) -> Result<Regex, String> {
    RegexBuilder::new(pattern)
        .case_insensitive(ignores_case)
        .size_limit(MAX_COMPILED_BYTES)
        .dfa_size_limit(MAX_CACHE_BYTES)
        .nest_limit(MAX_NESTING)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => "is too large once it is compiled".to_owned(),
            // The text of the error draws the place over several lines; its last one says what is wrong.
            other => {
                let said = other.to_string();
                let last = said.lines().last().unwrap_or_default().trim();
                format!("must be a regular expression: {}", last.trim_start_matches("error: "))
            }
        })
}
