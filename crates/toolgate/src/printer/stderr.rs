//! The one way to stderr: lines of commands, of the log and of progress do not tear each other.

use std::{
    io::{self, Write},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Goes back to the begin of the line and clears it.
const CLEAR: &[u8] = b"\r\x1b[2K";

/// The changing line of progress, while it is on the screen. Held by whoever writes.
static CHANGING_LINE: Mutex<Option<String>> = Mutex::new(None);

/// Whole lines for stderr.
#[derive(Debug, Clone, Copy)]
pub struct Stderr;

impl Write for Stderr {
    /// Takes whole lines. The changing line makes room, and comes again with its next change.
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        let mut shown = lock();
        let mut stderr = io::stderr().lock();
        if shown.take().is_some() {
            stderr.write_all(CLEAR)?;
        }
        stderr.write_all(lines).map(|()| lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Shows this in the place of the changing line; nothing removes it. `is_wanted` decides while nobody else writes.
pub fn change(text: Option<&str>, is_wanted: impl FnOnce() -> bool) {
    let mut shown = lock();
    if !is_wanted() || shown.as_deref() == text {
        return;
    }
    let line = [CLEAR, text.unwrap_or_default().as_bytes()].concat();
    let mut stderr = io::stderr().lock();
    *shown = text.map(str::to_owned);
    let _ = stderr.write_all(&line).and_then(|()| stderr.flush());
}

fn lock() -> MutexGuard<'static, Option<String>> {
    CHANGING_LINE.lock().unwrap_or_else(PoisonError::into_inner)
}
