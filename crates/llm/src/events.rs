//! Server-sent events, taken out of the bytes as they come.

use crate::Error;

/// The longest line, in bytes. A word takes a few hundred.
pub(crate) const MAX_LINE_BYTES: usize = 262_144;

/// What of a stream has come and is not yet an event.
#[derive(Default)]
pub(crate) struct Events {
    /// The beginning of a line.
    line: Vec<u8>,
    /// The data of the event so far, and whether there was any.
    data: Option<Vec<u8>>,
    /// Whether the last byte was `\r`, so that a `\n` belongs to it.
    returned: bool,
}

impl Events {
    /// Takes more bytes in, and hands over the data of every event that they end.
    pub(crate) fn feed(
        &mut self,
        mut bytes: &[u8],
        mut event: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.returned) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) else {
                return self.keep(bytes);
            };
            self.keep(&bytes[..end])?;
            self.returned = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            let line = std::mem::take(&mut self.line);
            if let Some(data) = self.take_line(&line) {
                event(&data)?;
            }
            // Its room is used for the next one.
            self.line = line;
            self.line.clear();
        }
        Ok(())
    }

    /// The event that no empty line ended: some servers just close.
    pub(crate) fn end(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.take_line(&line);
        }
        self.data.take()
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let so_far = self.line.len() + self.data.as_ref().map_or(0, Vec::len);
        if so_far + bytes.len() > MAX_LINE_BYTES {
            return Err(Error::TooLarge { what: "a line", limit: MAX_LINE_BYTES });
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    /// Takes a line in; the data of the event where the line is the empty one that ends it.
    fn take_line(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        if line.is_empty() {
            return self.data.take();
        }
        // Names of events, numbers and comments say nothing that is wanted.
        let data = line.strip_prefix(b"data:")?;
        let data = data.strip_prefix(b" ").unwrap_or(data);
        match &mut self.data {
            Some(before) => {
                before.push(b'\n');
                before.extend_from_slice(data);
            }
            None => self.data = Some(data.to_vec()),
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(stream: &[u8], piece: usize) -> Vec<String> {
        let mut events = Events::default();
        let mut all = Vec::new();
        for bytes in stream.chunks(piece) {
            let take = |data: &[u8]| {
                all.push(String::from_utf8_lossy(data).into_owned());
                Ok(())
            };
            events.feed(bytes, take).unwrap();
        }
        all.extend(events.end().map(|data| String::from_utf8_lossy(&data).into_owned()));
        all
    }

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        let check = |stream: &str, expected: &[&str]| {
            for piece in [1, 2, 3, 7, 1_000] {
                assert_eq!(read(stream.as_bytes(), piece), expected, "{stream:?} by {piece}");
            }
        };
        check("data: one\n\ndata: two\n\n", &["one", "two"]);
        check("data: one\r\n\r\ndata:two\r\n\r\n", &["one", "two"]);
        check("data: one\r\rdata: two\r\r", &["one", "two"]);
        check(": hello\n\nevent: x\nid: 4\ndata: a\ndata: b\n\n", &["a\nb"]);
        check("data: without an end", &["without an end"]);
        check("data: one\n\ndata: [DONE]\n", &["one", "[DONE]"]);
        check("\n\n\n", &[]);
        check("data\n\ndata:\n\n", &[""]);
    }

    #[test]
    fn a_line_without_an_end_is_refused() {
        let mut events = Events::default();
        let piece = vec![b'x'; 65_536];
        let mut fed = 0;
        let error = loop {
            match events.feed(&piece, |_| Ok(())) {
                Ok(()) => fed += piece.len(),
                Err(error) => break error,
            }
        };
        assert!(fed <= MAX_LINE_BYTES);
        assert_eq!(error, Error::TooLarge { what: "a line", limit: MAX_LINE_BYTES });
        // Many lines of one event are no way around it.
        let mut events = Events::default();
        let lines = "data: xxxxxxxxxxxxxxxx\n".repeat(MAX_LINE_BYTES / 16 + 2);
        assert!(events.feed(lines.as_bytes(), |_| Ok(())).is_err());
    }
}
