//! Server-sent events, taken out of a stream piece by piece.

use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};

/// The longest id of an event that is remembered, in bytes.
const MAX_ID_BYTES: usize = 1_024;
/// By how much a line may be longer than what it carries.
const LINE_SLACK_BYTES: usize = 64;
/// The shortest and the longest time that a server may want us to wait before we come back.
const LEAST_RETRY: Duration = Duration::from_millis(50);
const LONGEST_RETRY: Duration = Duration::from_mins(1);

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    /// `message` where it has no other name.
    pub(super) kind: Kind,
    pub(super) data: Bytes,
}

/// What an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Kind {
    /// A message of JSON-RPC.
    #[default]
    Message,
    /// Where messages are to be sent (2024-11-05).
    Endpoint,
    /// Anything else.
    Other,
}

/// An event is larger than allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLarge;

/// What came of a stream and was not taken out yet.
pub(super) struct Events {
    buffer: BytesMut,
    /// How much of it is known to hold no end of a line.
    scanned: usize,
    max_bytes: usize,
    /// Nothing of the stream was read yet, so a byte order mark may come.
    at_start: bool,
    /// The last line ended with a carriage return, to which a line feed may belong.
    after_return: bool,
    kind: Kind,
    data: Option<Bytes>,
    last_id: Option<Box<str>>,
    retry: Option<Duration>,
}

impl Events {
    /// Events whose data has no more bytes than this.
    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            scanned: 0,
            max_bytes,
            at_start: true,
            after_return: false,
            kind: Kind::Message,
            data: None,
            last_id: None,
            retry: None,
        }
    }

    /// More of the stream.
    pub(super) fn push(&mut self, piece: Bytes) {
        if self.buffer.is_empty() {
            self.scanned = 0;
            match piece.try_into_mut() {
                Ok(piece) => self.buffer = piece,
                Err(piece) => self.buffer.extend_from_slice(&piece),
            }
        } else {
            self.buffer.extend_from_slice(&piece);
        }
    }

    /// The id of the last event, by which the stream can be taken up again.
    pub(super) fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// How long the server wants us to wait before that.
    pub(super) fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// The stream goes on after that event, until it says another.
    pub(super) fn begin_after(&mut self, id: &str, wait: Duration) {
        self.last_id = Some(id.into());
        self.retry = Some(wait);
    }

    /// The next event that is there.
    pub(super) fn next(&mut self) -> Result<Option<Event>, TooLarge> {
        loop {
            let Some(end) = self.line()? else { return Ok(None) };
            if end == 0 {
                self.skip(0);
                let kind = std::mem::take(&mut self.kind);
                // One without data only says its id.
                if let Some(data) = self.data.take().filter(|data| !data.is_empty()) {
                    return Ok(Some(Event { kind, data }));
                }
                continue;
            }
            self.field(end)?;
        }
    }

    /// Where the next line ends.
    fn line(&mut self) -> Result<Option<usize>, TooLarge> {
        const MARK: &[u8] = b"\xef\xbb\xbf";
        if self.at_start {
            if self.buffer.len() < MARK.len() && MARK.starts_with(&self.buffer) {
                return Ok(None);
            }
            if self.buffer.starts_with(MARK) {
                self.buffer.advance(MARK.len());
            }
            self.at_start = false;
        }
        if self.after_return && !self.buffer.is_empty() {
            self.after_return = false;
            if self.buffer[0] == b'\n' {
                self.buffer.advance(1);
            }
        }
        match memchr::memchr2(b'\n', b'\r', &self.buffer[self.scanned..]) {
            Some(place) => Ok(Some(self.scanned + place)),
            None if self.buffer.len() > self.max_bytes.saturating_add(LINE_SLACK_BYTES) => {
                Err(TooLarge)
            }
            None => {
                self.scanned = self.buffer.len();
                Ok(None)
            }
        }
    }

    /// Passes over a line of that length, with its end.
    fn skip(&mut self, length: usize) {
        self.after_return = self.buffer[length] == b'\r';
        self.buffer.advance(length + 1);
        self.scanned = 0;
    }

    /// Takes a line that is not empty.
    fn field(&mut self, end: usize) -> Result<(), TooLarge> {
        let line = &self.buffer[..end];
        let colon = memchr::memchr(b':', line).unwrap_or(end);
        let mut start = (colon + 1).min(end);
        if line.get(start) == Some(&b' ') {
            start += 1;
        }
        let value = &line[start..];
        match &line[..colon] {
            b"data" => {
                let length = self.data.as_ref().map_or(0, |data| data.len() + 1);
                if length + value.len() > self.max_bytes {
                    return Err(TooLarge);
                }
                self.after_return = self.buffer[end] == b'\r';
                let line = self.buffer.split_to(end).freeze();
                self.buffer.advance(1);
                self.scanned = 0;
                self.more(line.slice(start..));
                return Ok(());
            }
            b"event" => {
                self.kind = match value {
                    b"message" | b"" => Kind::Message,
                    b"endpoint" => Kind::Endpoint,
                    _ => Kind::Other,
                };
            }
            b"id" if value.len() <= MAX_ID_BYTES && !value.contains(&0) => {
                // An empty one takes back what was said before.
                let id = std::str::from_utf8(value).ok().filter(|id| !id.is_empty());
                self.last_id = id.map(Into::into);
            }
            b"retry" => {
                let milliseconds =
                    std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                let wait = milliseconds.map(Duration::from_millis);
                self.retry = wait.map(|wait| wait.clamp(LEAST_RETRY, LONGEST_RETRY)).or(self.retry);
            }
            _ => {}
        }
        self.skip(end);
        Ok(())
    }

    /// A further line of data.
    fn more(&mut self, line: Bytes) {
        self.data = Some(match self.data.take() {
            None => line,
            Some(before) => {
                let mut joined = match before.try_into_mut() {
                    Ok(joined) => joined,
                    Err(before) => {
                        let mut joined = BytesMut::with_capacity(before.len() + line.len() + 1);
                        joined.extend_from_slice(&before);
                        joined
                    }
                };
                joined.extend_from_slice(b"\n");
                joined.extend_from_slice(&line);
                joined.freeze()
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of a text that comes in pieces of so many bytes.
    fn events(text: &str, size: usize, max_bytes: usize) -> Result<Vec<(Kind, String)>, TooLarge> {
        let mut events = Events::new(max_bytes);
        let mut found = Vec::new();
        for piece in text.as_bytes().chunks(size) {
            events.push(Bytes::copy_from_slice(piece));
            while let Some(event) = events.next()? {
                found.push((event.kind, String::from_utf8(event.data.to_vec()).unwrap()));
            }
        }
        Ok(found)
    }

    #[test]
    fn events_are_found_however_they_are_cut_and_ended() {
        let text = "\u{feff}: hello\n\nevent: message\ndata: {\"a\":1}\n\n\
                    data:one\ndata\ndata: two\n\nevent: endpoint\ndata: /m\n\n\
                    id: 7\ndata:\n\nevent: ping\ndata: x\n\nfoo: bar\ndata: last\n\ndata: cut";
        let expected = [
            (Kind::Message, "{\"a\":1}".to_owned()),
            (Kind::Message, "one\n\ntwo".to_owned()),
            (Kind::Endpoint, "/m".to_owned()),
            (Kind::Other, "x".to_owned()),
            (Kind::Message, "last".to_owned()),
        ];
        for ending in ["\n", "\r\n", "\r"] {
            let text = text.replace('\n', ending);
            for size in [1, 2, 3, 5, 7, 64, 10_000] {
                let found = events(&text, size, 1_000).unwrap();
                assert_eq!(found, expected, "ended by {ending:?}, in pieces of {size}");
            }
        }
    }

    #[test]
    fn the_id_and_the_wait_are_remembered() {
        let mut events = Events::new(100);
        events.push(Bytes::from_static(b"id: a-1\nretry: 500\ndata:\n\nretry: soon\n\n"));
        assert_eq!(events.next(), Ok(None));
        assert_eq!(events.last_id(), Some("a-1"));
        assert_eq!(events.retry(), Some(Duration::from_millis(500)));
        events.push(Bytes::from_static(b"retry: 99999999\nid: bad\0\n\n"));
        assert_eq!(events.next(), Ok(None));
        assert_eq!(events.last_id(), Some("a-1"));
        assert_eq!(events.retry(), Some(LONGEST_RETRY));
        events.push(Bytes::from_static(b"id\n\n"));
        assert_eq!(events.next(), Ok(None));
        assert_eq!(events.last_id(), None);
    }

    #[test]
    fn what_is_too_large_is_refused_and_what_is_just_not_is_taken() {
        let data = "x".repeat(100);
        assert!(events(&format!("data: {data}\n\n"), 7, 100).is_ok());
        assert_eq!(events(&format!("data: {data}\n\n"), 7, 99), Err(TooLarge));
        let lines = "data: xxxxxxxxx\n".repeat(11);
        assert_eq!(events(&lines, 7, 100), Err(TooLarge));
        // A comment without an end.
        assert_eq!(events(&format!(":{}", "x".repeat(1_000)), 100, 100), Err(TooLarge));
        // Many that have one.
        assert!(events(&": still here\n\n".repeat(1_000), 100, 100).unwrap().is_empty());
    }
}
