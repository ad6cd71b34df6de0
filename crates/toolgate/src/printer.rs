//! The one printer: data on stdout, words on stderr, colour only on a terminal.
//!
//! Much of what is printed was written by others: servers, programs, files. Characters that could control a
//! terminal or hide something are escaped here, in one place, except in JSON and in documents for other programs.
//! Tables fit the terminal (`cells`), and what takes long shows its progress (`progress`); both share stderr with the log
//! (`stderr`).

mod cells;
pub mod progress;
mod stderr;
mod terminal;

use std::{
    io::{IsTerminal, Write},
    sync::atomic::{AtomicBool, Ordering},
};

pub use contract::counted;
use contract::{Diagnostic, Severity};
use gate::visible_text::{visible, visible_line};
use serde::Serialize;

pub use self::{
    stderr::Stderr,
    terminal::{ColourMode, has_colours},
};
use crate::settings::FileErrors;

/// Prints for people and for programs.
pub struct Printer {
    /// Colours on stderr.
    colour: bool,
    /// Colours on stdout.
    data_colour: bool,
}

impl Printer {
    /// A printer that uses colours on a terminal, or as this mode says.
    pub fn new(mode: ColourMode) -> Self {
        mode.apply();
        Self {
            colour: has_colours(&std::io::stderr()),
            data_colour: has_colours(&std::io::stdout()),
        }
    }

    /// Prints a line of data.
    pub fn data(&self, text: impl AsRef<str>) {
        print_line(&visible(text.as_ref()));
    }

    /// Prints a document that another program may read: unchanged, unless stdout is a terminal.
    pub fn document(&self, text: impl AsRef<str>) {
        if std::io::stdout().is_terminal() {
            self.data(text);
        } else {
            print_line(text.as_ref());
        }
    }

    /// Prints data as indented JSON.
    pub fn json(&self, value: &impl Serialize) {
        let text = serde_json::to_string_pretty(value).unwrap_or_default();
        if std::io::stdout().is_terminal() {
            print_line(&escaped_json(&text));
        } else {
            print_line(&text);
        }
    }

    /// Prints the JSON of a text for people: escaped as on a terminal, wherever it goes.
    pub fn json_in_text(&self, value: &impl Serialize) {
        print_line(&escaped_json(&serde_json::to_string_pretty(value).unwrap_or_default()));
    }

    /// Prints a line for people, on stderr.
    pub fn say(&self, text: impl AsRef<str>) {
        say_line(&visible(text.as_ref()));
    }

    /// Asks the person at the terminal; an empty line is a yes, and the end of the input a no.
    pub fn confirm(&self, question: &str) -> std::io::Result<bool> {
        let mut stderr = std::io::stderr();
        write!(stderr, "{} [Y/n] ", visible_line(question))?;
        stderr.flush()?;
        let mut answer = String::new();
        let read = std::io::stdin().read_line(&mut answer)?;
        Ok(read > 0 && matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes"))
    }

    /// Prints the error that ended a command, with all causes; errors in files are shown in place.
    pub fn error(&self, error: &anyhow::Error) {
        if let Some(FileErrors(diagnostics)) = error.downcast_ref() {
            self.diagnostics(diagnostics);
            return;
        }
        let style = anstyle::Style::new().bold().fg_color(Some(anstyle::AnsiColor::Red.into()));
        let (on, off) = marks(style, self.colour);
        say_line(&format!("{on}error{off}: {}", visible(&format!("{error:#}"))));
    }

    /// Prints errors and warnings about files; true if there is an error.
    pub fn diagnostics(&self, diagnostics: &[Diagnostic]) -> bool {
        for diagnostic in diagnostics {
            say_line(&rendered(diagnostic, self.colour));
            self.say("");
        }
        diagnostics.iter().any(|one| one.severity == Severity::Error)
    }

    /// Prints a name and a text of others, on one line.
    pub fn field(&self, name: &str, text: &str) {
        self.data(format!("{name:<10} {}", visible_line(text)));
    }

    /// Prints columns, as wide as their widest cell. On a terminal every row fits into its line.
    pub fn table(&self, header: &[&str], rows: &[Vec<String>]) {
        let whole = |row: &Vec<String>| row.iter().map(|cell| visible_line(cell)).collect();
        let rows: Vec<Vec<String>> = rows.iter().map(whole).collect();
        let mut widths: Vec<usize> = header.iter().map(|cell| cells::width(cell)).collect();
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cells::width(cell));
            }
        }
        let columns = terminal::width_of_stdout();
        let widths = cells::fit(widths, columns);
        let (on, off) = marks(anstyle::Style::new().bold(), self.data_colour);
        let header = cells::row(header.iter().copied(), &widths, columns);
        print_line(&format!("{on}{}{off}", visible(&header)));
        for row in &rows {
            self.data(cells::row(row.iter().map(String::as_str), &widths, columns));
        }
    }
}

/// What begins and ends a style; nothing without colours.
fn marks(style: anstyle::Style, has_colours: bool) -> (String, String) {
    if has_colours {
        (style.render().to_string(), style.render_reset().to_string())
    } else {
        (String::new(), String::new())
    }
}

/// The same JSON with everything written out that could command a terminal or deceive: it can only
/// stand inside strings.
fn escaped_json(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for one in json.chars() {
        let plain =
            matches!(one, '\n' | ' '..='~') || visible(one.encode_utf8(&mut [0; 4])).len() <= 4;
        if plain {
            text.push(one);
        } else {
            for unit in one.encode_utf16(&mut [0; 2]) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    text
}

/// True if a write to stdout failed, unless the reader is gone (`BrokenPipe`): that is not a failure.
static WRITE_FAILED: AtomicBool = AtomicBool::new(false);

/// True if something could not be written to stdout.
pub fn write_failed() -> bool {
    WRITE_FAILED.load(Ordering::Relaxed)
}

/// A number of bytes for people: `1.5 MB`.
pub fn size(bytes: u64) -> String {
    const STEP: f64 = 1_000.0;
    let mut units = ["kB", "MB", "GB", "TB"].into_iter().peekable();
    if bytes < 1_000 {
        return counted(bytes, "byte");
    }
    #[allow(clippy::cast_precision_loss, reason = "it is rounded")]
    let mut amount = bytes as f64 / STEP;
    while let Some(unit) = units.next() {
        if amount < STEP || units.peek().is_none() {
            return format!("{amount:.1} {unit}");
        }
        amount /= STEP;
    }
    String::new()
}

/// The first characters of a text, on one line.
pub fn shortened(text: &str, max_characters: usize) -> String {
    let text = visible_line(text);
    match text.char_indices().nth(max_characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn print_line(text: &str) {
    if let Err(error) = writeln!(std::io::stdout(), "{text}")
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        WRITE_FAILED.store(true, Ordering::Relaxed);
    }
}

fn say_line(text: &str) {
    let text = gate::secrets::redact(text);
    let _ = Stderr.write_all(format!("{text}\n").as_bytes());
}

/// A diagnostic in which every control character is escaped but our own colours.
fn rendered(diagnostic: &Diagnostic, colour: bool) -> String {
    let mut safe = diagnostic.clone();
    safe.file = visible(&safe.file);
    safe.message = visible(&safe.message);
    safe.hint = safe.hint.map(|hint| visible(&hint));
    // What is left of others is the line that is shown, in which a terminal is not commanded: the
    // renderer draws controls as pictures. So every escape is ours.
    let mut text = String::new();
    for (index, part) in safe.render(colour).split('\u{1b}').enumerate() {
        if index > 0 {
            text.push('\u{1b}');
        }
        text.push_str(&visible(part));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_for_a_terminal_is_the_same_json() {
        let value = serde_json::json!({ "a\u{9b}": "é\u{1f600}\u{202e}\u{e0041}\u{7f}\n\t" });
        let text = escaped_json(&serde_json::to_string_pretty(&value).unwrap_or_default());
        assert!(text.contains("\\u009b") && text.contains('é') && text.contains('\n'), "{text}");
        assert_eq!(gate::visible_text::visible(&text), text);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).ok(), Some(value));
    }

    #[test]
    fn a_diagnostic_has_no_escapes_but_our_own() {
        let evil = "\u{1b}[2J\u{202e}";
        let text: std::sync::Arc<str> = format!("a: {evil}\r\u{9b}2J\n").into();
        for colour in [false, true] {
            let one = Diagnostic::new(Severity::Error, evil, &text, 0..1, evil).hint(evil);
            let shown = rendered(&one, colour);
            assert!(!shown.contains(['\u{202e}', '\u{9b}', '\r']), "{shown:?}");
            assert!(!shown.contains("\u{1b}[2J"), "{shown:?}");
            assert_eq!(shown.contains('\u{1b}'), colour, "{shown:?}");
        }
    }
}
