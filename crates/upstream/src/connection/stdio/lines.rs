//! Lines of a child's output, none of them longer than the limit.

use std::{cell::Cell, io};

use bytes::{Bytes, BytesMut};
use serde::{
    Deserializer as _,
    de::{IgnoredAny, MapAccess, Visitor},
};
use tokio::io::{AsyncRead, AsyncReadExt};

/// How much is read at a time.
const CHUNK_BYTES: usize = 64 * 1_024;
/// How large a buffer is kept between two lines.
const MAX_IDLE_BYTES: usize = 4 * CHUNK_BYTES;
/// As much of the beginning and of the end of a line as is kept of one that is too long.
const EDGE_BYTES: usize = 512;

/// A line without its end.
#[derive(Debug)]
pub(super) enum Line {
    Message(Bytes),
    /// It was longer than the limit, and is gone.
    TooLong(Edges),
}

/// What is left of a line that was too long.
#[derive(Debug, Default)]
pub(super) struct Edges {
    head: Vec<u8>,
    tail: Vec<u8>,
}

pub(super) struct Lines<R> {
    input: R,
    buffer: BytesMut,
    /// How much of the buffer is known to have no end of a line.
    searched: usize,
    max_bytes: usize,
    /// Within a line that is too long.
    skipping: Option<Edges>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(input: R, max_bytes: usize) -> Self {
        Self { input, buffer: BytesMut::new(), searched: 0, max_bytes, skipping: None }
    }

    /// The next line, or nothing at the end of the input.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            if let Some(line) = self.cut() {
                return Ok(Some(line));
            }
            self.buffer.reserve(CHUNK_BYTES);
            if self.input.read_buf(&mut self.buffer).await? == 0 {
                return Ok(self.last());
            }
        }
    }

    /// A line whose end is in the buffer.
    fn cut(&mut self) -> Option<Line> {
        let Some(end) = memchr::memchr(b'\n', &self.buffer[self.searched..]) else {
            self.searched = self.buffer.len();
            if self.skipping.is_some() || self.searched > self.max_bytes {
                self.skip();
            }
            return None;
        };
        let end = self.searched + end;
        let line = self.buffer.split_to(end + 1).freeze().slice(..end);
        self.searched = 0;
        if self.buffer.is_empty() && self.buffer.capacity() > MAX_IDLE_BYTES {
            self.buffer = BytesMut::new();
        }
        Some(self.whole(line))
    }

    /// A line, or the end of one that is being skipped.
    fn whole(&mut self, line: Bytes) -> Line {
        let mut edges = match self.skipping.take() {
            Some(edges) => edges,
            None if line.len() > self.max_bytes => Edges::default(),
            None => return Line::Message(line),
        };
        edges.add(&line);
        Line::TooLong(edges)
    }

    /// Forgets what is in the buffer, and its memory: it is part of a line that is too long.
    fn skip(&mut self) {
        let part = std::mem::take(&mut self.buffer);
        self.skipping.get_or_insert_default().add(&part);
        self.searched = 0;
    }

    /// What the input ended with, where that was no end of a line.
    fn last(&mut self) -> Option<Line> {
        self.searched = 0;
        let rest = std::mem::take(&mut self.buffer).freeze();
        (!rest.is_empty() || self.skipping.is_some()).then(|| self.whole(rest))
    }
}

impl Edges {
    fn add(&mut self, part: &[u8]) {
        let room = EDGE_BYTES - self.head.len();
        self.head.extend_from_slice(&part[..part.len().min(room)]);
        self.tail.extend_from_slice(&part[part.len().saturating_sub(EDGE_BYTES)..]);
        let too_many = self.tail.len().saturating_sub(EDGE_BYTES);
        self.tail.drain(..too_many);
    }

    /// The request of ours that the line answered, where that can be seen. Some servers write the id
    /// before the result, others after it. A wrong guess ends a request with an error, and no more.
    pub(super) fn answered(&self) -> Option<u64> {
        self.id_before_result().or_else(|| self.id_after_result())
    }

    fn id_before_result(&self) -> Option<u64> {
        let id = Cell::new(None);
        // Always an error, because the end is missing; the id was seen by then, or was not.
        let _ =
            serde_json::Deserializer::from_slice(&self.head).deserialize_map(Fields { id: &id });
        id.get()
    }

    fn id_after_result(&self) -> Option<u64> {
        let tail: String = self
            .tail
            .iter()
            .filter(|byte| byte.is_ascii_graphic())
            .copied()
            .map(char::from)
            .collect();
        let tail = tail.strip_suffix(r#","jsonrpc":"2.0"}"#).or_else(|| tail.strip_suffix('}'))?;
        let (_, number) = tail.rsplit_once(r#","id":"#)?;
        number.parse().ok()
    }
}

/// Looks for `id` among the first fields of an object.
struct Fields<'a> {
    id: &'a Cell<Option<u64>>,
}

impl<'de> Visitor<'de> for Fields<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            match &*name {
                "id" => self.id.set(map.next_value()?),
                // A request of the server's, with an id of its own.
                "method" => {
                    self.id.set(None);
                    return Ok(());
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
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
                Line::TooLong(edges) => format!("too long {:?}", edges.answered()),
            });
        }
        seen
    }

    #[tokio::test]
    async fn lines_are_cut_and_bounded() {
        let too_long = "too long None";
        assert_eq!(lines("a\nbc\n\nd", 10).await, ["a", "bc", "", "d"]);
        let long = "x".repeat(200_000);
        assert_eq!(lines(&format!("a\n{long}\nb\n"), 1_000).await, ["a", too_long, "b"]);
        assert_eq!(lines(&format!("{long}\n"), 200_000).await, std::slice::from_ref(&long));
        assert_eq!(lines(&format!("{long}\nb"), 199_999).await, [too_long, "b"]);
        assert_eq!(lines(&long, 1_000).await, [too_long]);
        assert_eq!(lines(&long, 199_999).await, [too_long]);
        assert_eq!(lines("", 1_000).await, Vec::<String>::new());
    }

    #[tokio::test]
    async fn what_a_skipped_line_answered_is_seen_where_it_can_be() {
        let long = "x".repeat(10_000);
        for (line, id) in [
            (format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"t":"{long}"}}}}"#), Some(7)),
            (format!(r#"{{ "id" : 7, "result" : "{long}"}}"#), Some(7)),
            (format!(r#"{{"result":{{"t":"{long}"}},"jsonrpc":"2.0","id":7}}"#), Some(7)),
            (format!(r#"{{"result":"{long}", "id": 7, "jsonrpc": "2.0"}}"#), Some(7)),
            (format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{long}"}}"#), None),
            (format!(r#"{{"jsonrpc":"2.0","id":"7","result":"{long}"}}"#), None),
            (format!(r#"{{"log":"{long}"}}"#), None),
            (long, None),
        ] {
            assert_eq!(lines(&line, 1_000).await, [format!("too long {id:?}")], "{}", &line[..40]);
        }
    }

    #[tokio::test]
    async fn a_large_buffer_is_given_back() {
        let text = format!("{}\n", "x".repeat(3_000_000));
        let mut lines = Lines::new(text.as_bytes(), 4_000_000);
        assert!(matches!(lines.next().await, Ok(Some(Line::Message(_)))));
        assert!(lines.buffer.capacity() <= MAX_IDLE_BYTES);
    }
}
