//! Errors of settings and contracts that know the place that they are about.

use std::fmt;

use contract::Diagnostic;

/// Mistakes in a settings file or in contracts. The printer shows each in its place.
#[derive(Debug)]
pub struct FileErrors(pub Vec<Diagnostic>);

impl fmt::Display for FileErrors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            [first, rest @ ..] => {
                let Diagnostic { file, line, column, message, .. } = first;
                write!(formatter, "{file}:{line}:{column}: {message}")?;
                match rest.len() {
                    0 => Ok(()),
                    more => write!(formatter, " ({more} more errors)"),
                }
            }
            [] => write!(formatter, "the file cannot be used"),
        }
    }
}

impl std::error::Error for FileErrors {}

/// A mistake in the settings that only shows when they are used, such as a toolset that nobody has.
#[derive(Debug)]
pub struct SettingsError {
    pointer: String,
    message: String,
}

impl SettingsError {
    /// An error of the setting at a JSON pointer, such as `/tools/enable/0`.
    pub fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into() }
    }

    /// The setting, as a JSON pointer.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// The setting as people write it: `tools.enable`, without the index in a list.
    pub fn key(&self) -> String {
        let keys = self.pointer.split('/').filter(|key| !key.is_empty());
        let keys: Vec<_> = keys.filter(|key| key.parse::<usize>().is_err()).collect();
        keys.join(".")
    }

    /// The error, without its setting.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for SettingsError {
    /// `tools.enable: …`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.key(), self.message)
    }
}

impl std::error::Error for SettingsError {}
