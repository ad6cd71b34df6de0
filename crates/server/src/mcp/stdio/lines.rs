//! Lines of a stream, none of them longer than the limit.

use std::io;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};

/// A line.
pub(super) enum Line {
    Message(Bytes),
    /// It was longer than the limit, and is gone.
    TooLong,
}

pub(super) struct Lines<R> {
    input: R,
    buffer: BytesMut,
    /// How much of the buffer is known to have no end of a line.
    searched: usize,
    max_bytes: usize,
    /// Within a line that is too long.
    skipping: bool,
    /// Nothing more comes.
    ended: bool,
}

/// How much is read at a time.
const CHUNK_BYTES: usize = 64 * 1_024;

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(input: R, max_bytes: usize) -> Self {
        Self {
            input,
            buffer: BytesMut::new(),
            searched: 0,
            max_bytes,
            skipping: false,
            ended: false,
        }
    }

    /// The next line without its end, or nothing at the end of the input. Dropping the future
    /// loses nothing.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            if let Some(line) = self.cut() {
                return Ok(Some(line));
            }
            if self.ended || self.read().await? == 0 {
                return Ok(self.last());
            }
        }
    }

    async fn read(&mut self) -> io::Result<usize> {
        self.buffer.reserve(CHUNK_BYTES);
        self.input.read_buf(&mut self.buffer).await
    }

    /// Waits for the end of the input while nobody takes lines. What comes before it is kept,
    /// up to the length of one line.
    pub(super) async fn ended(&mut self) {
        while self.buffer.len() <= self.max_bytes {
            match self.read().await {
                Ok(1..) => {}
                Ok(0) | Err(_) => {
                    self.ended = true;
                    return;
                }
            }
        }
        std::future::pending::<()>().await;
    }

    /// A line that is in the buffer whole, or the news that one is too long.
    fn cut(&mut self) -> Option<Line> {
        loop {
            let end = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n');
            let Some(end) = end.map(|end| self.searched + end) else {
                self.searched = self.buffer.len();
                if self.skipping {
                    self.forget(self.searched);
                } else if self.searched > self.max_bytes {
                    self.forget(self.searched);
                    self.skipping = true;
                    return Some(Line::TooLong);
                }
                return None;
            };
            let line = self.buffer.split_to(end + 1).freeze();
            self.searched = 0;
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            let line = line.slice(..end);
            return Some(if end > self.max_bytes { Line::TooLong } else { Line::Message(line) });
        }
    }

    fn forget(&mut self, bytes: usize) {
        let _ = self.buffer.split_to(bytes);
        self.searched = 0;
    }

    /// What the input ended with, where that was no end of a line.
    fn last(&mut self) -> Option<Line> {
        self.searched = 0;
        let rest = std::mem::take(&mut self.buffer).freeze();
        (!rest.is_empty() && !self.skipping).then_some(Line::Message(rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(text: &str, max_bytes: usize) -> Vec<String> {
        let mut lines = Lines::new(text.as_bytes(), max_bytes);
        let mut seen = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            seen.push(match line {
                Line::Message(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
                Line::TooLong => "too long".into(),
            });
        }
        seen
    }

    #[tokio::test]
    async fn lines_are_cut_and_bounded() {
        assert_eq!(lines("a\nbc\n\nd", 10).await, ["a", "bc", "", "d"]);
        let long = "x".repeat(200_000);
        assert_eq!(lines(&format!("a\n{long}\nb\n"), 1_000).await, ["a", "too long", "b"]);
        assert_eq!(lines(&format!("{long}\n"), 200_000).await, std::slice::from_ref(&long));
        assert_eq!(lines(&format!("{long}\nb"), 199_999).await, ["too long", "b"]);
        assert_eq!(lines(&long, 1_000).await, ["too long"]);
        assert_eq!(lines("", 1_000).await, Vec::<String>::new());
    }
}
