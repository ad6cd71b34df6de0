//! Reading a tool's output into memory that cannot grow beyond its limit.

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;

use super::CapturedOutput;

/// A line of standard error up to this length is offered to the caller; a longer one is just output.
pub const MAX_STDERR_LINE_BYTES: usize = 8192;

/// As much as a pipe holds by default, so that one read empties it.
const READ_BYTES: usize = 65536;

/// Called with each line of standard error; true if it consumed the line.
pub(super) type OnLine<'call> = &'call mut (dyn FnMut(&str) -> bool + Send);

/// Passes everything that comes out of the pipe to `sink`, until its end.
pub(super) async fn drain(mut pipe: pipe::Receiver, mut sink: impl FnMut(&[u8])) {
    let mut buffer = vec![0; READ_BYTES];
    // A pipe that cannot be read has no more to say than one that ended.
    while let Ok(length @ 1..) = pipe.read(&mut buffer).await {
        sink(&buffer[..length]);
    }
}

/// Keeps the first bytes and counts the rest.
pub(super) struct Capture {
    captured: CapturedOutput,
    limit: usize,
}

impl Capture {
    pub(super) fn new(max_bytes: u64) -> Capture {
        let limit = usize::try_from(max_bytes).unwrap_or(usize::MAX);
        Capture { captured: CapturedOutput::default(), limit }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = self.limit - self.captured.bytes.len();
        let (kept, dropped) = bytes.split_at(room.min(bytes.len()));
        self.captured.bytes.extend_from_slice(kept);
        self.captured.dropped += dropped.len() as u64;
    }

    pub(super) fn finish(self) -> CapturedOutput {
        self.captured
    }
}

/// Standard error on its way to a [`Capture`], with the lines taken out that the caller consumes.
pub(super) struct StderrLines<'call> {
    capture: Capture,
    on_line: Option<OnLine<'call>>,
    /// The beginning of a line that has not ended yet; no longer than a line may be.
    pending: Vec<u8>,
    /// The line is too long to be offered and goes straight to the capture until it ends.
    overlong: bool,
}

impl<'call> StderrLines<'call> {
    pub(super) fn new(capture: Capture, on_line: Option<OnLine<'call>>) -> StderrLines<'call> {
        StderrLines { capture, on_line, pending: Vec::new(), overlong: false }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.on_line.is_none() {
            return self.capture.push(bytes);
        }
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.push_piece(piece);
        }
    }

    /// Takes a piece with at most one line end, and that at its own end.
    fn push_piece(&mut self, piece: &[u8]) {
        let ends = piece.last() == Some(&b'\n');
        let line_end = usize::from(ends);
        if !self.overlong && self.pending.len() + piece.len() - line_end > MAX_STDERR_LINE_BYTES {
            self.overlong = true;
            self.capture.push(&self.pending);
            self.pending.clear();
        }
        if self.overlong {
            self.capture.push(piece);
            self.overlong = !ends;
            return;
        }
        self.pending.extend_from_slice(piece);
        if ends {
            self.offer();
        }
    }

    fn offer(&mut self) {
        let line = self.pending.strip_suffix(b"\n").unwrap_or(&self.pending);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let text = String::from_utf8_lossy(line);
        let consumed = self.on_line.as_mut().is_some_and(|on_line| on_line(&text));
        if !consumed {
            self.capture.push(&self.pending);
        }
        self.pending.clear();
    }

    pub(super) fn finish(mut self) -> CapturedOutput {
        self.capture.push(&self.pending);
        self.capture.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exceeds_the_limit_is_counted() {
        let mut capture = Capture::new(5);
        capture.push(b"abc");
        capture.push(b"defg");
        capture.push(b"h");
        assert_eq!(capture.finish(), CapturedOutput { bytes: b"abcde".to_vec(), dropped: 3 });
    }

    /// Feeds `text` in chunks of `size`; lines that start with `#` are consumed.
    fn check(text: &[u8], size: usize) -> (Vec<String>, Vec<u8>) {
        let mut offered = Vec::new();
        let mut on_line = |line: &str| {
            offered.push(line.to_owned());
            line.starts_with('#')
        };
        let mut lines = StderrLines::new(Capture::new(1 << 20), Some(&mut on_line));
        for chunk in text.chunks(size) {
            lines.push(chunk);
        }
        let captured = lines.finish();
        (offered, captured.bytes)
    }

    #[test]
    fn lines_do_not_depend_on_how_they_arrive() {
        let text = b"one\n#two\r\n\n#\nthr\xffee\nrest";
        for size in 1..=text.len() {
            let (offered, kept) = check(text, size);
            assert_eq!(offered, ["one", "#two", "", "#", "thr\u{fffd}ee"]);
            assert_eq!(kept, b"one\n\nthr\xffee\nrest");
        }
    }

    #[test]
    fn a_line_is_offered_up_to_the_limit_and_kept_beyond_it() {
        let longest = format!("#{}\n", "x".repeat(MAX_STDERR_LINE_BYTES - 1));
        let overlong = format!("#{}\n", "x".repeat(MAX_STDERR_LINE_BYTES));
        let text = format!("{longest}{overlong}#after\n");
        for size in [1, 100, text.len()] {
            let (offered, kept) = check(text.as_bytes(), size);
            assert_eq!(offered, [longest.trim_end(), "#after"]);
            assert_eq!(kept, overlong.as_bytes());
        }
    }
}
