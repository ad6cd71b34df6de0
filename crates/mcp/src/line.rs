//! The framing of stdio: a message a line, none of them longer than the limit.

use std::{cell::Cell, io};

use bytes::{Bytes, BytesMut};
use serde::{
    Deserializer as _,
    de::{IgnoredAny, MapAccess, Visitor},
};
use tokio::io::{AsyncRead, AsyncReadExt};

/// The number of bytes that are read at a time.
const CHUNK_BYTES: usize = 64 * 1_024;
/// The largest buffer that is kept between two lines.
const MAX_IDLE_BYTES: usize = 4 * CHUNK_BYTES;
/// The number of bytes at the beginning and at the end of a line that are kept of one that is too long.
const EDGE_BYTES: usize = 512;

/// A line without its end.
#[derive(Debug)]
pub enum Line {
    /// A line within the limit.
    Message(Bytes),
    /// The line that has begun is longer than the limit. It is passed over, and `Discarded` follows.
    TooLong,
    /// The end of a line that was too long.
    Discarded(LineEdges),
}

/// The edges of a line that was too long, or that is not a message.
#[derive(Debug, Default)]
pub struct LineEdges {
    head: Vec<u8>,
    tail: Vec<u8>,
}

/// Reads lines.
#[derive(Debug)]
pub struct LineReader<R> {
    input: R,
    buffer: BytesMut,
    /// The number of bytes of the buffer that are known to have no end of a line.
    searched: usize,
    max_bytes: usize,
    /// Within a line that is too long.
    discarding: Option<LineEdges>,
    /// The input has ended.
    ended: bool,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Reads lines of at most so many bytes.
    pub fn new(input: R, max_bytes: usize) -> Self {
        let buffer = BytesMut::new();
        Self { input, buffer, searched: 0, max_bytes, discarding: None, ended: false }
    }

    /// The next line, or nothing at the end of the input. Cancel-safe.
    pub async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            if let Some(line) = self.buffered() {
                return Ok(Some(line));
            }
            if self.ended || self.read().await? == 0 {
                self.ended = true;
                return Ok(self.last());
            }
        }
    }

    async fn read(&mut self) -> io::Result<usize> {
        self.buffer.reserve(CHUNK_BYTES);
        self.input.read_buf(&mut self.buffer).await
    }

    /// Waits for the end of the input while nobody takes lines. What comes before it is kept, up to the
    /// length of one line.
    pub async fn ended(&mut self) {
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

    /// The next line, as far as the buffer has it.
    fn buffered(&mut self) -> Option<Line> {
        let Some(end) = memchr::memchr(b'\n', &self.buffer[self.searched..]) else {
            self.searched = self.buffer.len();
            return match &mut self.discarding {
                Some(edges) => {
                    edges.add(&std::mem::take(&mut self.buffer));
                    self.searched = 0;
                    None
                }
                None => (self.searched > self.max_bytes).then(|| self.too_long()),
            };
        };
        let end = self.searched + end;
        if self.discarding.is_none() && end > self.max_bytes {
            // Its end is found again when its edges are taken.
            return Some(self.too_long());
        }
        let line = self.buffer.split_to(end + 1).freeze().slice(..end);
        self.searched = 0;
        if self.buffer.is_empty() && self.buffer.capacity() > MAX_IDLE_BYTES {
            self.buffer = BytesMut::new();
        }
        Some(self.finish(line))
    }

    fn too_long(&mut self) -> Line {
        self.discarding = Some(LineEdges::default());
        self.searched = 0;
        Line::TooLong
    }

    fn finish(&mut self, line: Bytes) -> Line {
        match self.discarding.take() {
            Some(mut edges) => {
                edges.add(&line);
                Line::Discarded(edges)
            }
            None => Line::Message(line),
        }
    }

    /// The line that the input ended with, without an end of its own.
    fn last(&mut self) -> Option<Line> {
        self.searched = 0;
        let rest = std::mem::take(&mut self.buffer).freeze();
        (!rest.is_empty() || self.discarding.is_some()).then(|| self.finish(rest))
    }
}

impl LineEdges {
    /// The edges of a whole line.
    pub fn of(line: &[u8]) -> Self {
        let mut edges = Self::default();
        edges.add(line);
        edges
    }

    fn add(&mut self, part: &[u8]) {
        let room = EDGE_BYTES - self.head.len();
        self.head.extend_from_slice(&part[..part.len().min(room)]);
        self.tail.extend_from_slice(&part[part.len().saturating_sub(EDGE_BYTES)..]);
        let excess = self.tail.len().saturating_sub(EDGE_BYTES);
        self.tail.drain(..excess);
    }

    /// The id of the response that the line was, where that can be seen. Some servers write the id
    /// before the result, others after it. A wrong guess ends a request with an error, and no more.
    pub fn response_id(&self) -> Option<u64> {
        self.id_before_result().or_else(|| self.id_after_result())
    }

    fn id_before_result(&self) -> Option<u64> {
        let id = Cell::new(None);
        // Always an error, because the end is missing; the id was seen by then, or was not.
        let _ =
            serde_json::Deserializer::from_slice(&self.head).deserialize_map(IdVisitor { id: &id });
        id.get()
    }

    fn id_after_result(&self) -> Option<u64> {
        let graphic = self.tail.iter().filter(|byte| byte.is_ascii_graphic());
        let tail: String = graphic.copied().map(char::from).collect();
        let tail = tail.strip_suffix(r#","jsonrpc":"2.0"}"#).or_else(|| tail.strip_suffix('}'))?;
        let (_, number) = tail.rsplit_once(r#","id":"#)?;
        number.parse().ok()
    }
}

/// Looks for `id` among the first fields of an object.
struct IdVisitor<'a> {
    id: &'a Cell<Option<u64>>,
}

impl<'de> Visitor<'de> for IdVisitor<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            match &*name {
                "id" => self.id.set(map.next_value()?),
                // A request of the peer's, with an id of its own.
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
        let mut lines = LineReader::new(text.as_bytes(), max_bytes);
        let mut read = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            read.push(match line {
                Line::Message(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
                Line::TooLong => "too long".to_owned(),
                Line::Discarded(edges) => format!("discarded {:?}", edges.response_id()),
            });
        }
        read
    }

    #[tokio::test]
    async fn lines_are_cut_and_bounded() {
        let gone = ["too long", "discarded None"];
        let long = "x".repeat(200_000);
        assert_eq!(lines("a\nbc\n\nd", 10).await, ["a", "bc", "", "d"]);
        assert_eq!(lines(&format!("{long}\n"), 200_000).await, [&*long]);
        assert_eq!(lines("", 1_000).await, Vec::<String>::new());
        for (text, max_bytes, before, after) in [
            (format!("a\n{long}\nb\n"), 1_000, &["a"][..], &["b"][..]),
            (format!("{long}\nb"), 199_999, &[], &["b"]),
            (long.clone(), 1_000, &[], &[]),
            (long.clone(), 199_999, &[], &[]),
            ("abc\nd\n".to_owned(), 2, &[], &["d"]),
        ] {
            assert_eq!(lines(&text, max_bytes).await, [before, &gone, after].concat());
        }
    }

    #[tokio::test]
    async fn the_id_of_a_discarded_response_is_seen_where_it_can_be() {
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
            let expected = ["too long".to_owned(), format!("discarded {id:?}")];
            assert_eq!(lines(&line, 1_000).await, expected, "{}", &line[..40]);
        }
    }

    #[tokio::test]
    async fn a_large_buffer_is_given_back() {
        let text = format!("{}\n", "x".repeat(3_000_000));
        let mut lines = LineReader::new(text.as_bytes(), 4_000_000);
        assert!(matches!(lines.next().await, Ok(Some(Line::Message(_)))));
        assert!(lines.buffer.capacity() <= MAX_IDLE_BYTES);
        let mut lines = LineReader::new(text.as_bytes(), 1_000);
        while lines.next().await.unwrap().is_some() {}
        assert!(lines.buffer.capacity() <= MAX_IDLE_BYTES);
    }

    #[tokio::test]
    async fn the_end_is_seen_while_nobody_takes_lines() {
        let mut lines = LineReader::new(&b"a\nb"[..], 10);
        lines.ended().await;
        for expected in [Some(&b"a"[..]), Some(b"b"), None] {
            let line = lines.next().await.unwrap();
            let read = line.map(|line| match line {
                Line::Message(bytes) => bytes,
                other => panic!("{other:?}"),
            });
            assert_eq!(read.as_deref(), expected);
        }
    }
}
