//! What waits to be written to a child.

use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::mpsc,
};

/// How many bytes may wait for a child that does not read. One message may be larger, if nothing waits.
pub(super) const MAX_WAITING_BYTES: usize = 8 << 20;
/// How many messages are written at once.
const BATCH: usize = 64;
/// How large a buffer is kept between two writes.
const MAX_IDLE_BYTES: usize = 64 * 1_024;

/// Takes messages; nobody waits here.
#[derive(Debug)]
pub(super) struct Outbox {
    queue: mpsc::UnboundedSender<Bytes>,
    waiting: AtomicUsize,
}

impl Outbox {
    pub(super) fn new() -> (Outbox, mpsc::UnboundedReceiver<Bytes>) {
        let (queue, messages) = mpsc::unbounded_channel();
        (Outbox { queue, waiting: AtomicUsize::new(0) }, messages)
    }

    /// Puts a message at the end of the queue, or says why it will not be sent.
    pub(super) fn push(&self, message: Bytes) -> Result<(), String> {
        let length = message.len();
        let before = self.waiting.fetch_add(length, Ordering::Relaxed);
        if before > 0 && before.saturating_add(length) > MAX_WAITING_BYTES {
            self.waiting.fetch_sub(length, Ordering::Relaxed);
            return Err(format!(
                "the server does not read its input: {before} bytes wait for it, and at most {MAX_WAITING_BYTES} may"
            ));
        }
        self.queue.send(message).map_err(|_| "the server's input is closed".to_owned())
    }

    /// Writes what comes, until nobody can read it.
    pub(super) async fn write(
        &self,
        mut messages: mpsc::UnboundedReceiver<Bytes>,
        mut stdin: impl AsyncWrite + Unpin,
    ) {
        let mut batch = Vec::new();
        let mut buffer = Vec::new();
        while messages.recv_many(&mut batch, BATCH).await > 0 {
            let mut length = 0;
            for message in batch.drain(..) {
                length += message.len();
                append(&mut buffer, &message);
            }
            if stdin.write_all(&buffer).await.is_err() {
                return;
            }
            self.waiting.fetch_sub(length, Ordering::Relaxed);
            buffer.clear();
            buffer.shrink_to(MAX_IDLE_BYTES);
        }
    }
}

/// Appends a message as one line. An end of a line within it stands between two tokens, because no
/// text in JSON holds one as it is.
fn append(buffer: &mut Vec<u8>, message: &[u8]) {
    let start = buffer.len();
    buffer.extend_from_slice(message);
    for byte in memchr::memchr2_iter(b'\n', b'\r', message) {
        buffer[start + byte] = b' ';
    }
    buffer.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_message_is_one_line() {
        let (outbox, messages) = Outbox::new();
        for text in ["{}", "{\n  \"a\": \"b\\n\"\r\n}", "[]"] {
            outbox.push(Bytes::from_static(text.as_bytes())).unwrap();
        }
        let (ours, theirs) = tokio::io::duplex(10);
        let read = async {
            let mut lines = tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(theirs));
            let mut seen = Vec::new();
            for _ in 0..3 {
                seen.push(lines.next_line().await.unwrap().unwrap());
            }
            seen
        };
        tokio::select! {
            () = outbox.write(messages, ours) => panic!("ended"),
            seen = read => assert_eq!(seen, ["{}", "{   \"a\": \"b\\n\"  }", "[]"]),
        }
        assert_eq!(outbox.waiting.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn what_finds_no_room_is_refused() {
        let (outbox, messages) = Outbox::new();
        let large = Bytes::from(vec![b' '; MAX_WAITING_BYTES * 2]);
        outbox.push(large).unwrap();
        let refused = outbox.push(Bytes::from_static(b"{}")).unwrap_err();
        assert!(refused.contains("does not read its input"), "{refused}");
        drop(messages);
        let (outbox, messages) = Outbox::new();
        drop(messages);
        assert!(outbox.push(Bytes::new()).is_err());
    }
}
