//! Messages of a server that cannot be used: counted, ignored, and shown to whoever looks for the reason.

use std::sync::{Mutex, MutexGuard, PoisonError};

use gate::secrets;

use crate::ServerText;

/// The number of lines that are kept of those that are not messages.
const MAX_SAMPLES: usize = 5;
/// The number of characters that are kept of each.
const MAX_SAMPLE_CHARS: usize = 200;

/// The messages of a server that could not be used. None of them closes a connection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiscardedMessages {
    /// Lines or events that are not messages: logs on standard output, for example.
    pub malformed: u64,
    /// Messages that were longer than the limit.
    pub too_long: u64,
    /// Responses that no request waits for: late ones, second ones, wrong ids.
    pub unexpected: u64,
    /// The first lines that are not messages.
    pub samples: Vec<ServerText>,
}

/// The count of them, shared by the tasks of a connection.
#[derive(Debug, Default)]
pub(crate) struct DiscardCounter(Mutex<DiscardedMessages>);

impl DiscardCounter {
    /// Counts a line or an event that is not a message.
    pub(crate) fn malformed(&self, line: &[u8], why: &dyn std::fmt::Display) {
        tracing::debug!(%why, "a line or event of an MCP server is not a message");
        let mut count = self.lock();
        count.malformed += 1;
        if count.samples.len() < MAX_SAMPLES {
            // A character takes at most four bytes, and a secret is not cut before it is found.
            let enough = MAX_SAMPLE_CHARS * 4 + secrets::longest();
            let beginning = &line[..line.len().min(enough)];
            let text = ServerText::new(String::from_utf8_lossy(beginning).trim());
            count.samples.push(text.beginning(MAX_SAMPLE_CHARS));
        }
    }

    /// Counts a message that is longer than the limit.
    pub(crate) fn too_long(&self) {
        self.lock().too_long += 1;
    }

    /// Counts a response that no request waits for.
    pub(crate) fn unexpected(&self) {
        self.lock().unexpected += 1;
    }

    /// The count so far.
    pub(crate) fn get(&self) -> DiscardedMessages {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, DiscardedMessages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_lines_are_kept_and_all_are_counted() {
        let counter = DiscardCounter::default();
        counter.malformed("ä".repeat(1_000).as_bytes(), &"long");
        for _ in 0..100 {
            counter.malformed(b" starting \xff\r", &"not JSON");
        }
        let count = counter.get();
        assert_eq!(count.malformed, 101);
        assert_eq!(count.samples.len(), MAX_SAMPLES);
        assert_eq!(count.samples[0].for_programs(), "ä".repeat(MAX_SAMPLE_CHARS));
        assert_eq!(count.samples[1].for_programs(), "starting \u{fffd}");
    }
}
