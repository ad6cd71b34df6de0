//! The result of a command line, and what a test expects of it.

use serde_json::Value;

/// The arguments of a command line: a list, or a text with blanks between them.
pub trait Arguments: Copy {
    fn list(&self) -> Vec<&str>;
}

impl Arguments for &str {
    fn list(&self) -> Vec<&str> {
        self.split(' ').collect()
    }
}

impl Arguments for &String {
    fn list(&self) -> Vec<&str> {
        self.split(' ').collect()
    }
}

impl<const N: usize> Arguments for &[&str; N] {
    fn list(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl Arguments for &[&str] {
    fn list(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl Arguments for &Vec<&str> {
    fn list(&self) -> Vec<&str> {
        (*self).clone()
    }
}

/// Exit code, stdout and stderr of a command line that has ended.
#[derive(Debug, Clone)]
pub struct CliOutput {
    /// The command line, for messages of failed tests.
    pub command: String,
    /// The exit code; -1 where a signal ended it.
    pub code: i32,
    /// Everything on stdout.
    pub stdout: String,
    /// Everything on stderr.
    pub stderr: String,
}

// A check is often the last thing that is done with an output.
#[allow(clippy::return_self_not_must_use)]
impl CliOutput {
    /// Runs a command to its end.
    #[allow(clippy::disallowed_types)] // As a person runs it.
    pub fn of(command: &mut std::process::Command) -> Self {
        let output = command.output().unwrap();
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let words = words.map(|word| word.to_string_lossy().into_owned());
        Self {
            command: words.collect::<Vec<_>>().join(" "),
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Expects this exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert!(self.code == code, "expected exit code {code}\n{self}");
        self
    }

    /// Expects these words on stdout.
    #[track_caller]
    pub fn stdout_has(self, words: impl AsRef<str>) -> Self {
        let words = words.as_ref();
        assert!(self.stdout.contains(words), "no `{words}` on stdout\n{self}");
        self
    }

    /// Expects these words on stderr.
    #[track_caller]
    pub fn stderr_has(self, words: impl AsRef<str>) -> Self {
        let words = words.as_ref();
        assert!(self.stderr.contains(words), "no `{words}` on stderr\n{self}");
        self
    }

    /// Expects stdout without these words.
    #[track_caller]
    pub fn stdout_lacks(self, words: impl AsRef<str>) -> Self {
        let words = words.as_ref();
        assert!(!self.stdout.contains(words), "`{words}` on stdout\n{self}");
        self
    }

    /// Expects stderr without these words.
    #[track_caller]
    pub fn stderr_lacks(self, words: impl AsRef<str>) -> Self {
        let words = words.as_ref();
        assert!(!self.stderr.contains(words), "`{words}` on stderr\n{self}");
        self
    }

    /// Expects exactly this on stdout.
    #[track_caller]
    pub fn stdout_is(self, text: impl AsRef<str>) -> Self {
        assert!(self.stdout == text.as_ref(), "expected on stdout:\n{}\n{self}", text.as_ref());
        self
    }

    /// Expects exactly this on stderr.
    #[track_caller]
    pub fn stderr_is(self, text: impl AsRef<str>) -> Self {
        assert!(self.stderr == text.as_ref(), "expected on stderr:\n{}\n{self}", text.as_ref());
        self
    }

    /// Expects each of these on stdout.
    #[track_caller]
    pub fn stdout_has_all<const N: usize>(self, all: [&str; N]) -> Self {
        all.iter().fold(self, |output, words| output.stdout_has(words))
    }

    /// Expects each of these on stderr.
    #[track_caller]
    pub fn stderr_has_all<const N: usize>(self, all: [&str; N]) -> Self {
        all.iter().fold(self, |output, words| output.stderr_has(words))
    }

    /// Stdout and then stderr.
    pub fn all(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// The JSON on stdout.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{self}"))
    }
}

impl std::fmt::Display for CliOutput {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { command, code, stdout, stderr } = self;
        write!(out, "$ {command}\nexit {code}\nstdout:\n{stdout}\nstderr:\n{stderr}")
    }
}
