//! Server-sent events (`text/event-stream`), taken out of the bytes of a body as they come.

use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};

/// The longest id of an event that is remembered, in bytes.
const MAX_ID_BYTES: usize = 1_024;
/// The longest name of an event that is told apart, in bytes.
const MAX_NAME_BYTES: usize = 64;
/// By how much a line may be longer than the data that it carries.
const LINE_SLACK_BYTES: usize = 64;
/// The shortest and the longest time that a server may want a client to wait before it reconnects.
const MIN_RETRY: Duration = Duration::from_millis(50);
const MAX_RETRY: Duration = Duration::from_mins(1);
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One event. Its data is a slice of the body where it stands in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSentEvent {
    /// Its name, unless that is `message`.
    pub name: Option<Box<str>>,
    /// Its data, never empty.
    pub data: Bytes,
}

/// An event is larger than allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventTooLarge;

/// Takes events out of a stream.
#[derive(Debug)]
pub struct EventStreamParser {
    /// The part of the stream that is not taken out yet.
    buffer: BytesMut,
    /// The length of its beginning that is known to hold no end of a line.
    scanned: usize,
    max_bytes: usize,
    /// Nothing of the stream was read yet, so a byte order mark may come.
    at_start: bool,
    /// The last line ended with a carriage return, to which a line feed may belong.
    after_return: bool,
    name: Option<Box<str>>,
    data: Option<Bytes>,
    /// The id that holds from this event on, once all of the event has come.
    next_id: Option<Box<str>>,
    last_id: Option<Box<str>>,
    retry: Option<Duration>,
}

impl EventStreamParser {
    /// A parser for events whose data has at most so many bytes.
    pub fn new(max_bytes: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            scanned: 0,
            max_bytes,
            at_start: true,
            after_return: false,
            name: None,
            data: None,
            next_id: None,
            last_id: None,
            retry: None,
        }
    }

    /// Takes more of the stream in.
    pub fn push(&mut self, piece: Bytes) {
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

    /// The next event that is complete.
    pub fn next_event(&mut self) -> Result<Option<ServerSentEvent>, EventTooLarge> {
        loop {
            let Some(end) = self.line()? else { return Ok(None) };
            if end == 0 {
                self.skip(0);
                if let Some(event) = self.take_event() {
                    return Ok(Some(event));
                }
                continue;
            }
            self.field(end)?;
        }
    }

    /// The event that the stream ended within: some servers close without the empty line.
    pub fn finish(mut self) -> Result<Option<ServerSentEvent>, EventTooLarge> {
        self.push(Bytes::from_static(b"\n\n"));
        self.next_event()
    }

    /// The id of the last event that is complete, after which the stream can be resumed.
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// The time that a client should wait before it reconnects.
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Goes on after that event, until the stream names another.
    pub fn resume_after(&mut self, id: &str, retry: Duration) {
        self.next_id = Some(id.into());
        self.last_id.clone_from(&self.next_id);
        self.retry = Some(retry);
    }

    fn take_event(&mut self) -> Option<ServerSentEvent> {
        let name = self.name.take();
        if self.last_id != self.next_id {
            self.last_id.clone_from(&self.next_id);
        }
        // One without data only says its id.
        let data = self.data.take().filter(|data| !data.is_empty())?;
        Some(ServerSentEvent { name, data })
    }

    /// The end of the next line.
    fn line(&mut self) -> Result<Option<usize>, EventTooLarge> {
        if self.at_start {
            if self.buffer.len() < BYTE_ORDER_MARK.len()
                && BYTE_ORDER_MARK.starts_with(&self.buffer)
            {
                return Ok(None);
            }
            if self.buffer.starts_with(BYTE_ORDER_MARK) {
                self.buffer.advance(BYTE_ORDER_MARK.len());
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
            Some(end) => Ok(Some(self.scanned + end)),
            None if self.buffer.len() > self.max_bytes.saturating_add(LINE_SLACK_BYTES) => {
                Err(EventTooLarge)
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
    fn field(&mut self, end: usize) -> Result<(), EventTooLarge> {
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
                    return Err(EventTooLarge);
                }
                self.after_return = self.buffer[end] == b'\r';
                let line = self.buffer.split_to(end).freeze();
                self.buffer.advance(1);
                self.scanned = 0;
                self.append_data(line.slice(start..));
                return Ok(());
            }
            b"event" => {
                let name = std::str::from_utf8(&value[..value.len().min(MAX_NAME_BYTES)]);
                self.name = match name {
                    Ok("message" | "") => None,
                    Ok(name) => Some(name.into()),
                    Err(_) => Some("".into()),
                };
            }
            b"id" if value.len() <= MAX_ID_BYTES && !value.contains(&0) => {
                // An empty one takes back the one before.
                let id = std::str::from_utf8(value).ok().filter(|id| !id.is_empty());
                self.next_id = id.map(Into::into);
            }
            b"retry" => {
                let milliseconds =
                    std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                let retry = milliseconds.map(Duration::from_millis);
                self.retry = retry.map(|retry| retry.clamp(MIN_RETRY, MAX_RETRY)).or(self.retry);
            }
            _ => {}
        }
        self.skip(end);
        Ok(())
    }

    fn append_data(&mut self, line: Bytes) {
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

    type Events = Vec<(Option<Box<str>>, String)>;

    /// The events of a text that comes in pieces of so many bytes, the unfinished last one included.
    fn events(text: &str, size: usize, max_bytes: usize) -> Result<Events, EventTooLarge> {
        let mut parser = EventStreamParser::new(max_bytes);
        let mut events = Vec::new();
        for piece in text.as_bytes().chunks(size) {
            parser.push(Bytes::copy_from_slice(piece));
            while let Some(event) = parser.next_event()? {
                events.push(event);
            }
        }
        events.extend(parser.finish()?);
        let text = |data: &Bytes| String::from_utf8(data.to_vec()).unwrap();
        Ok(events.into_iter().map(|event| (event.name, text(&event.data))).collect())
    }

    #[test]
    fn events_are_the_same_however_they_are_cut_and_ended() {
        let stream = "\u{feff}: hello\n\nevent: message\ndata: {\"a\":1}\n\n\
                      data:one\ndata\ndata: two\n\nevent: endpoint\ndata: /m\n\n\
                      id: 7\ndata:\n\nevent: ping\ndata: x\n\nfoo: bar\ndata: last\n\n\n\n";
        let named = |name: &str| Some(Box::from(name));
        let complete = [
            (None, "{\"a\":1}".to_owned()),
            (None, "one\n\ntwo".to_owned()),
            (named("endpoint"), "/m".to_owned()),
            (named("ping"), "x".to_owned()),
            (None, "last".to_owned()),
        ];
        for (rest, last) in
            [("", None), ("data: cut", Some("cut")), ("data: [DONE]\n", Some("[DONE]"))]
        {
            let mut expected = complete.to_vec();
            expected.extend(last.map(|last| (None, last.to_owned())));
            for ending in ["\n", "\r\n", "\r"] {
                let text = format!("{stream}{rest}").replace('\n', ending);
                for size in [1, 2, 3, 5, 7, 64, 10_000] {
                    let found = events(&text, size, 1_000).unwrap();
                    assert_eq!(found, expected, "ended by {ending:?}, in pieces of {size}");
                }
            }
        }
    }

    #[test]
    fn the_id_and_the_retry_time_are_remembered() {
        let mut parser = EventStreamParser::new(100);
        parser.push(Bytes::from_static(b"id: a-1\nretry: 500\ndata:\n\nretry: soon\n\n"));
        assert_eq!(parser.next_event(), Ok(None));
        assert_eq!(parser.last_id(), Some("a-1"));
        assert_eq!(parser.retry(), Some(Duration::from_millis(500)));
        parser.push(Bytes::from_static(b"retry: 99999999\nid: bad\0\n\n"));
        assert_eq!(parser.next_event(), Ok(None));
        assert_eq!(parser.last_id(), Some("a-1"));
        assert_eq!(parser.retry(), Some(MAX_RETRY));
        parser.push(Bytes::from_static(b"id\n\n"));
        assert_eq!(parser.next_event(), Ok(None));
        assert_eq!(parser.last_id(), None);
    }

    #[test]
    fn an_event_that_was_cut_is_not_the_one_to_resume_after() {
        let mut parser = EventStreamParser::new(100);
        parser.push(Bytes::from_static(b"id: 1\ndata: whole\n\nid: 2\ndata: hal"));
        while parser.next_event().unwrap().is_some() {}
        assert_eq!(parser.last_id(), Some("1"));
        parser.push(Bytes::from_static(b"f\n\ndata: without an id\n\n"));
        while parser.next_event().unwrap().is_some() {}
        assert_eq!(parser.last_id(), Some("2"));
    }

    #[test]
    fn what_is_too_large_is_refused_and_what_is_just_not_is_taken() {
        let data = "x".repeat(100);
        assert!(events(&format!("data: {data}\n\n"), 7, 100).is_ok());
        assert_eq!(events(&format!("data: {data}\n\n"), 7, 99), Err(EventTooLarge));
        // Many lines of one event.
        let lines = "data: xxxxxxxxx\n".repeat(11);
        assert_eq!(events(&lines, 7, 100), Err(EventTooLarge));
        // A comment without an end.
        assert_eq!(events(&format!(":{}", "x".repeat(1_000)), 100, 100), Err(EventTooLarge));
        // Many that have one.
        assert!(events(&": still here\n\n".repeat(1_000), 100, 100).unwrap().is_empty());
    }
}
