//! A mistake in a file, shown where it stands.

use std::{ops::Range, sync::Arc};

use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use serde::Serialize;

/// The severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth mending; nothing is refused.
    Warning,
    /// The file is refused.
    Error,
}

/// A problem at a place in a file.
#[derive(Debug, Clone, Serialize)]
pub struct Diagnostic {
    /// `error` if the file is refused for it.
    pub severity: Severity,
    /// The file, as the person named it.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in characters.
    pub column: usize,
    /// The problem.
    pub message: String,
    /// The next step, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// True if the line may hold a secret: only its number is shown.
    #[serde(skip)]
    secret: bool,
    #[serde(skip)]
    span: Range<usize>,
    #[serde(skip)]
    text: Arc<str>,
}

impl Diagnostic {
    /// A mistake at a byte range of the text.
    pub fn new(
        severity: Severity,
        file: &str,
        text: &Arc<str>,
        span: Range<usize>,
        message: impl Into<String>,
    ) -> Self {
        let start = text.floor_char_boundary(span.start);
        let end = text.floor_char_boundary(span.end.max(start));
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            severity,
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: message.into(),
            hint: None,
            secret: false,
            span: start..end,
            text: text.clone(),
        }
    }

    /// The same with a word on what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same without the words of the line, which may hold a secret.
    #[must_use]
    pub fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    /// True if there is a text of which a line can be named.
    pub fn has_text(&self) -> bool {
        !self.text.is_empty()
    }

    /// The file, the line and the offending words underlined.
    pub fn render(&self, colour: bool) -> String {
        let level = match self.severity {
            Severity::Warning => Level::WARNING,
            Severity::Error => Level::ERROR,
        };
        // Only the first line of a longer range is underlined: a whole mapping in red
        // hides the place more than it shows it.
        let first_line = self.text[self.span.clone()].find('\n');
        let end = first_line.map_or(self.span.end, |length| self.span.start + length);
        let title = level.primary_title(&self.message);
        let mut group = if self.secret {
            let origin = Origin::path(&self.file).line(self.line).char_column(self.column);
            title.element(origin)
        } else {
            let snippet = Snippet::source(&*self.text)
                .path(&self.file)
                .annotation(AnnotationKind::Primary.span(self.span.start..end));
            title.element(snippet)
        };
        if let Some(hint) = &self.hint {
            group = group.element(Level::HELP.with_name("hint").message(hint));
        }
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group])
    }
}
