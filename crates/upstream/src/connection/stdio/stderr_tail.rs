//! The end of the standard error of a program.

use std::collections::VecDeque;

use gate::secrets;

use crate::ServerText;

/// The number of characters of the last line that an error repeats.
const MAX_LINE_CHARS: usize = 300;

/// A ring of bytes.
#[derive(Debug)]
pub(super) struct StderrTail {
    bytes: VecDeque<u8>,
    max_bytes: usize,
    /// The beginning was lost.
    is_cut: bool,
}

impl StderrTail {
    pub(super) fn new(max_bytes: usize) -> StderrTail {
        // A secret that the beginning cuts off is not shown in part: there is room for a whole one before it.
        let max_bytes = max_bytes + secrets::longest();
        StderrTail { bytes: VecDeque::new(), max_bytes, is_cut: false }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.is_cut |= self.bytes.len() + bytes.len() > self.max_bytes;
        let bytes = &bytes[bytes.len().saturating_sub(self.max_bytes)..];
        let excess = (self.bytes.len() + bytes.len()).saturating_sub(self.max_bytes);
        self.bytes.drain(..excess);
        self.bytes.extend(bytes);
    }

    pub(super) fn text(&self) -> ServerText {
        let (first, second) = self.bytes.as_slices();
        let bytes = [first, second].concat();
        if self.is_cut {
            ServerText::end_of(&bytes)
        } else {
            ServerText::new(&String::from_utf8_lossy(&bytes))
        }
    }

    /// The last line that is not empty.
    pub(super) fn last_line(&self) -> Option<ServerText> {
        Some(self.text().last_line()?.beginning(MAX_LINE_CHARS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept() {
        let mut tail = StderrTail::new(10);
        let last_line = |tail: &StderrTail| tail.last_line().map(|line| line.to_string());
        assert_eq!(last_line(&tail), None);
        tail.push(b"one\ntwo\n");
        assert_eq!(last_line(&tail).as_deref(), Some("two"));
        tail.push(b"three\n\n");
        assert_eq!(tail.text().for_programs(), "wo\nthree\n\n");
        assert_eq!(last_line(&tail).as_deref(), Some("three"));
        tail.push(&[b'x'; 100]);
        assert_eq!(tail.text().for_programs(), "x".repeat(10));
    }
}
