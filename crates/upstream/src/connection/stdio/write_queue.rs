//! The messages that wait to be written to a program.

use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::{mpsc, mpsc::error::TrySendError},
};

/// How many bytes may wait for a program that does not read. One message may be larger, if nothing waits.
const MAX_WAITING_BYTES: usize = 8 << 20;
/// How many messages may wait.
const MAX_WAITING_MESSAGES: usize = 16_384;
/// How many messages are written at once.
const BATCH: usize = 64;
/// How large a buffer is kept between two writes.
const MAX_IDLE_BYTES: usize = 64 * 1_024;

/// Takes messages. Nobody waits here: a message that finds no room is refused.
#[derive(Debug)]
pub(super) struct WriteQueue {
    queue: mpsc::Sender<Bytes>,
    waiting_bytes: AtomicUsize,
}

impl WriteQueue {
    pub(super) fn new() -> (WriteQueue, mpsc::Receiver<Bytes>) {
        let (queue, messages) = mpsc::channel(MAX_WAITING_MESSAGES);
        (WriteQueue { queue, waiting_bytes: AtomicUsize::new(0) }, messages)
    }

    /// Puts a message at the end of the queue, or says why it will not be sent.
    pub(super) fn push(&self, message: Bytes) -> Result<(), String> {
        let length = message.len();
        let before = self.waiting_bytes.fetch_add(length, Ordering::Relaxed);
        let refused = if before > 0 && before.saturating_add(length) > MAX_WAITING_BYTES {
            format!(
                "the server does not read its input: {before} bytes wait (at most {MAX_WAITING_BYTES})"
            )
        } else {
            match self.queue.try_send(message) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Closed(_)) => "the server's input is closed".to_owned(),
                Err(TrySendError::Full(_)) => format!(
                    "the server does not read its input: {MAX_WAITING_MESSAGES} messages wait, the most that may"
                ),
            }
        };
        self.waiting_bytes.fetch_sub(length, Ordering::Relaxed);
        Err(refused)
    }

    /// Writes messages as they come, until nobody can read them.
    pub(super) async fn write(
        &self,
        mut messages: mpsc::Receiver<Bytes>,
        mut stdin: impl AsyncWrite + Unpin,
    ) {
        let mut batch = Vec::new();
        let mut buffer = Vec::new();
        while messages.recv_many(&mut batch, BATCH).await > 0 {
            let mut length = 0;
            for message in batch.drain(..) {
                length += message.len();
                append_line(&mut buffer, &message);
            }
            if stdin.write_all(&buffer).await.is_err() {
                return;
            }
            self.waiting_bytes.fetch_sub(length, Ordering::Relaxed);
            buffer.clear();
            buffer.shrink_to(MAX_IDLE_BYTES);
        }
    }
}

/// Appends a message as one line. An end of a line within it stands between two tokens, because no
/// string in JSON holds one as it is.
fn append_line(buffer: &mut Vec<u8>, message: &[u8]) {
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
        let (queue, messages) = WriteQueue::new();
        for text in ["{}", "{\n  \"a\": \"b\\n\"\r\n}", "[]"] {
            queue.push(Bytes::from_static(text.as_bytes())).unwrap();
        }
        let (ours, theirs) = tokio::io::duplex(10);
        let read = async {
            let mut lines = tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(theirs));
            let mut read = Vec::new();
            for _ in 0..3 {
                read.push(lines.next_line().await.unwrap().unwrap());
            }
            read
        };
        tokio::select! {
            () = queue.write(messages, ours) => panic!("ended"),
            read = read => assert_eq!(read, ["{}", "{   \"a\": \"b\\n\"  }", "[]"]),
        }
        assert_eq!(queue.waiting_bytes.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn a_message_that_finds_no_room_is_refused() {
        let (queue, messages) = WriteQueue::new();
        let large = Bytes::from(vec![b' '; MAX_WAITING_BYTES * 2]);
        queue.push(large).unwrap();
        let refused = queue.push(Bytes::from_static(b"{}")).unwrap_err();
        assert!(refused.contains("does not read its input"), "{refused}");
        drop(messages);
        let (queue, messages) = WriteQueue::new();
        for _ in 0..MAX_WAITING_MESSAGES {
            queue.push(Bytes::from_static(b"{}")).unwrap();
        }
        let refused = queue.push(Bytes::from_static(b"{}")).unwrap_err();
        assert!(refused.contains("16384 messages wait"), "{refused}");
        let waiting = queue.waiting_bytes.load(Ordering::Relaxed);
        assert_eq!(waiting, 2 * MAX_WAITING_MESSAGES, "a refused message does not count");
        drop(messages);
        let (queue, messages) = WriteQueue::new();
        drop(messages);
        assert!(queue.push(Bytes::new()).is_err());
    }
}
