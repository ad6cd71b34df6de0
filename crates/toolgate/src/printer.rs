//! The one printer: data on stdout, words on stderr, colour only on a terminal.

use std::io::{IsTerminal, Write};

use contract::{Diagnostic, Severity};
use serde::Serialize;

/// Prints.
pub struct Printer {
    colour: bool,
}

impl Printer {
    /// A printer that knows whether it prints to a terminal.
    pub fn new() -> Self {
        let wanted = anstream::AutoStream::choice(&std::io::stderr());
        Self { colour: std::io::stderr().is_terminal() && wanted != anstream::ColorChoice::Never }
    }

    /// A line of data.
    pub fn data(&self, text: impl AsRef<str>) {
        // Whoever reads may have gone; that is no reason to fail.
        let _ = writeln!(std::io::stdout(), "{}", text.as_ref());
    }

    /// Data as JSON, indented for people.
    pub fn json(&self, value: &impl Serialize) {
        self.data(serde_json::to_string_pretty(value).unwrap_or_default());
    }

    /// A line for the person.
    pub fn say(&self, text: impl AsRef<str>) {
        let _ = writeln!(std::io::stderr(), "{}", text.as_ref());
    }

    /// Why a command could not do its work, with all causes.
    pub fn error(&self, error: &anyhow::Error) {
        let style = anstyle::Style::new().bold().fg_color(Some(anstyle::AnsiColor::Red.into()));
        let (on, off) = if self.colour {
            (style.render().to_string(), style.render_reset().to_string())
        } else {
            (String::new(), String::new())
        };
        self.say(format!("{on}error{off}: {error:#}"));
    }

    /// What is wrong in files; true if something is refused.
    pub fn diagnostics(&self, diagnostics: &[Diagnostic]) -> bool {
        for diagnostic in diagnostics {
            self.say(diagnostic.render(self.colour));
            self.say("");
        }
        diagnostics.iter().any(|one| one.severity == Severity::Error)
    }

    /// Columns, as wide as their widest cell; the last one may be of any width.
    pub fn table(&self, header: &[&str], rows: &[Vec<String>]) {
        let mut widths: Vec<usize> = header.iter().map(|cell| cell.chars().count()).collect();
        for row in rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let mut text = String::new();
            for (cell, width) in cells.zip(&widths) {
                text.push_str(&format!("{cell:width$}  "));
            }
            self.data(text.trim_end());
        };
        line(&mut header.iter().copied());
        for row in rows {
            line(&mut row.iter().map(String::as_str));
        }
    }
}
