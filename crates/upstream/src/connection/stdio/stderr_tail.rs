//! The end of the standard error of a program.

use std::collections::VecDeque;

/// The number of characters of the last line that an error repeats.
const MAX_LINE_CHARS: usize = 300;

/// A ring of bytes.
#[derive(Debug)]
pub(super) struct StderrTail {
    bytes: VecDeque<u8>,
    max_bytes: usize,
}

impl StderrTail {
    pub(super) fn new(max_bytes: usize) -> StderrTail {
        StderrTail { bytes: VecDeque::new(), max_bytes }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(self.max_bytes)..];
        let excess = (self.bytes.len() + bytes.len()).saturating_sub(self.max_bytes);
        self.bytes.drain(..excess);
        self.bytes.extend(bytes);
    }

    pub(super) fn text(&self) -> String {
        let (first, second) = self.bytes.as_slices();
        String::from_utf8_lossy(&[first, second].concat()).into_owned()
    }

    /// The last line that is not empty.
    pub(super) fn last_line(&self) -> Option<String> {
        let text = self.text();
        let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
        Some(line.chars().take(MAX_LINE_CHARS).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept() {
        let mut tail = StderrTail::new(10);
        assert_eq!(tail.last_line(), None);
        tail.push(b"one\ntwo\n");
        assert_eq!(tail.last_line().as_deref(), Some("two"));
        tail.push(b"three\n\n");
        assert_eq!(tail.text(), "wo\nthree\n\n"[..].to_owned());
        assert_eq!(tail.last_line().as_deref(), Some("three"));
        tail.push(&[b'x'; 100]);
        assert_eq!(tail.text(), "x".repeat(10));
    }
}
