//! Tools that are not served: those of one server with one reason are one entry, with the command that mends them.

use upstream::admission::{self, Rejection};

use crate::printer::{Printer, shortened};

/// The most characters of the names that an entry shows.
const MAX_NAMES_CHARS: usize = 400;

/// Prints the entries.
pub fn show(id: &str, rejected: &[Rejection], printer: &Printer) {
    for group in admission::grouped(id, rejected) {
        printer.data(format!("\n{}", group.message));
        if let [_, _, ..] = &group.tools[..] {
            printer
                .data(format!("  tools: {}", shortened(&group.tools.join(", "), MAX_NAMES_CHARS)));
        }
        printer.data(format!("  fix: {}", group.fix));
    }
}
