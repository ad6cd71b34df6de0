//! The log: format and level.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tracing_subscriber::{EnvFilter, filter::LevelFilter};

/// The levels, from least to most.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// The log, on stderr.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LogSection {
    /// Format of the log.
    pub format: LogFormat,
    /// `error`, `warn`, `info`, `debug`, `trace` or `off`, or a filter of `tracing`: `info,hyper=warn`.
    pub level: String,
}

impl Default for LogSection {
    fn default() -> Self {
        Self { format: LogFormat::default(), level: "info".into() }
    }
}

/// Format of the log.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Lines for people.
    #[default]
    Human,
    /// One JSON object a line.
    Json,
}

impl LogSection {
    /// Errors that the schema cannot see: the key, and the message.
    ///
    /// In a filter a bare word is a module of which everything is logged, and nothing of the others: a typing error
    /// in a level would switch the log off. So a bare word must be a level.
    pub fn mistakes(&self) -> Vec<(String, String)> {
        let mistake = |words: String| vec![("level".to_owned(), words)];
        if self.level.trim().is_empty() {
            return mistake(format!("the level is empty; {}", allowed()));
        }
        for part in parts(&self.level) {
            let word = part.trim();
            if word.contains(['=', '[']) || LevelFilter::from_str(word).is_ok() {
                continue;
            }
            let word: String = word.chars().take(64).collect();
            let near = contract::did_you_mean(&word.to_lowercase(), LEVELS.into_iter());
            return mistake(format!("`{word}` is not a log level{near}; {}", allowed()));
        }
        match EnvFilter::try_new(&self.level) {
            Ok(_) => Vec::new(),
            Err(error) => mistake(format!("not a log filter ({error}); {}", allowed())),
        }
    }
}

/// The allowed values.
fn allowed() -> String {
    let levels = LEVELS.map(|level| format!("`{level}`")).join(", ");
    format!("use {levels} or a filter such as `info,hyper=warn`")
}

/// The parts of a filter. Commas in brackets are part of one.
fn parts(filter: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    filter.split(move |one: char| {
        match one {
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        one == ',' && depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistakes(level: &str) -> Vec<String> {
        let log = LogSection { level: level.into(), ..LogSection::default() };
        log.mistakes().into_iter().map(|(_, words)| words).collect()
    }

    #[test]
    fn levels_and_filters_are_fine() {
        for level in [
            "error",
            "warn",
            "WARN",
            "off",
            "trace",
            "info,hyper=warn",
            "warn,toolgate=debug",
            "hyper=off",
            "info,gate[call]=trace",
            "info,gate[call{tool=x}]=debug",
        ] {
            assert_eq!(mistakes(level), Vec::<String>::new(), "{level}");
        }
    }

    #[test]
    fn a_word_that_is_no_level_is_told() {
        for (level, words) in [
            ("loud", "`loud` is not a log level;"),
            ("debgu", "did you mean `debug`?"),
            ("warning", "did you mean `warn`?"),
            ("info,hyper", "`hyper` is not a log level"),
            ("info,hyper=loud", "not a log filter"),
            (" ", "the level is empty"),
            ("", "`off`, `error`, `warn`, `info`, `debug`, `trace`"),
        ] {
            let found = mistakes(level);
            assert!(found.len() == 1 && found[0].contains(words), "{level}: {found:?}");
        }
    }
}
