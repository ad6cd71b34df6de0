//! An answer, while it is written.

use std::{collections::VecDeque, time::Duration};

use guard::net::{
    Bytes, ResponseBody,
    event_stream::{EventStreamParser, EventTooLarge},
};
use tokio_util::sync::CancellationToken;

use crate::{Error, Finish, message};

/// The mark that some begin their texts with.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// The beginning of the lines of a stream.
const FIELDS: [&[u8]; 5] = [b":", b"data:", b"event:", b"id:", b"retry:"];
/// The word that ends a stream.
const DONE: &[u8] = b"[DONE]";

/// The largest event, in bytes. A word takes a few hundred.
const MAX_EVENT_BYTES: usize = 262_144;

fn too_large(EventTooLarge: EventTooLarge) -> Error {
    Error::TooLarge { what: "an event", limit: MAX_EVENT_BYTES }
}

/// An answer, while it is written. Dropping it closes the connection, at which an endpoint stops writing.
pub struct ReplyStream {
    body: ResponseBody,
    form: ReplyForm,
    /// Text that was read and not yet handed over.
    pieces: VecDeque<String>,
    finish: Option<Finish>,
    model: Option<String>,
    has_choice: bool,
    is_over: bool,
    read_bytes: usize,
    limits: ReplyLimits,
    stop: CancellationToken,
}

/// The bounds of an answer.
pub(crate) struct ReplyLimits {
    pub max_bytes: usize,
    pub stall_ms: u64,
}

/// The form of an answer. An endpoint that does not stream says so by what it sends.
enum ReplyForm {
    /// Not a byte of it has come.
    Unknown,
    Events(EventStreamParser),
    /// One JSON document.
    Whole(Vec<u8>),
}

impl ReplyStream {
    pub(crate) fn new(body: ResponseBody, limits: ReplyLimits, stop: CancellationToken) -> Self {
        Self {
            body,
            form: ReplyForm::Unknown,
            pieces: VecDeque::new(),
            finish: None,
            model: None,
            has_choice: false,
            is_over: false,
            read_bytes: 0,
            limits,
            stop,
        }
    }

    /// The next piece; nothing at the end. Never an empty piece.
    pub async fn next(&mut self) -> Result<Option<String>, Error> {
        loop {
            if let Some(piece) = self.pieces.pop_front() {
                return Ok(Some(piece));
            }
            if self.is_over {
                return Ok(None);
            }
            let stall_ms = self.limits.stall_ms;
            self.body.set_timeout(Some(Duration::from_millis(stall_ms)));
            let read = tokio::select! {
                biased;
                () = self.stop.cancelled() => return Err(Error::Cancelled),
                read = self.body.chunk() => read,
            };
            let taken = match read {
                Ok(Some(bytes)) => self.take(bytes),
                Ok(None) => self.end(),
                Err(error) => Err(Error::of_net(error, stall_ms, true)),
            };
            match taken {
                // It has said why it stops: whatever comes or does not come after that is no part of the answer.
                Err(_) if self.finish.is_some() && self.has_choice => self.is_over = true,
                other => other?,
            }
        }
    }

    /// Why the model stopped; nothing before the end, and where the endpoint does not say.
    pub fn finish(&self) -> Option<Finish> {
        self.finish
    }

    /// The model that answers, as the endpoint calls it: not always the one that was asked for.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    fn take(&mut self, mut bytes: Bytes) -> Result<(), Error> {
        self.read_bytes += bytes.len();
        if self.read_bytes > self.limits.max_bytes {
            return Err(Error::TooLarge { what: "a body", limit: self.limits.max_bytes });
        }
        if matches!(self.form, ReplyForm::Unknown) {
            let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes).trim_ascii_start();
            bytes = bytes.slice_ref(text);
            let Some(first) = bytes.first() else { return Ok(()) };
            let begins = |name: &&[u8]| bytes.starts_with(name) || name.starts_with(&bytes);
            self.form = match first {
                b'{' => ReplyForm::Whole(Vec::new()),
                // Lines of a stream begin with a name or a colon.
                _ if FIELDS.iter().any(begins) => {
                    ReplyForm::Events(EventStreamParser::new(MAX_EVENT_BYTES))
                }
                _ => {
                    let problem = "it is neither a stream of events nor JSON";
                    return Err(Error::Unreadable { problem, operator: None });
                }
            };
        }
        match &mut self.form {
            ReplyForm::Unknown => {}
            ReplyForm::Whole(all) => all.extend_from_slice(&bytes),
            ReplyForm::Events(events) => {
                events.push(bytes);
                while let ReplyForm::Events(events) = &mut self.form
                    && let Some(event) = events.next_event().map_err(too_large)?
                {
                    self.event(&event.data)?;
                }
            }
        }
        Ok(())
    }

    fn event(&mut self, data: &[u8]) -> Result<(), Error> {
        if self.is_over {
            return Ok(());
        }
        if data.trim_ascii() == DONE {
            self.is_over = true;
            return self.check_choice();
        }
        self.piece(data)
    }

    fn piece(&mut self, json: &[u8]) -> Result<(), Error> {
        let piece = message::read(json)?;
        self.has_choice |= piece.has_choice;
        self.finish = piece.finish.or(self.finish);
        self.model = piece.model.or(self.model.take());
        if !piece.text.is_empty() {
            self.pieces.push_back(piece.text);
        }
        Ok(())
    }

    /// The body is over.
    fn end(&mut self) -> Result<(), Error> {
        self.is_over = true;
        match std::mem::replace(&mut self.form, ReplyForm::Unknown) {
            ReplyForm::Unknown => {
                return Err(Error::Unreadable { problem: "it is empty", operator: None });
            }
            ReplyForm::Whole(all) => self.piece(&all)?,
            ReplyForm::Events(events) => {
                self.is_over = false;
                if let Some(event) = events.finish().map_err(too_large)? {
                    self.event(&event.data)?;
                }
                // Some never say that they are done, but all say why they stop.
                if !self.is_over && self.finish.is_none() {
                    return Err(Error::BrokeOff { operator: None });
                }
                self.is_over = true;
            }
        }
        self.check_choice()
    }

    fn check_choice(&self) -> Result<(), Error> {
        if self.has_choice {
            return Ok(());
        }
        Err(Error::Unreadable { problem: "its `choices` are empty", operator: None })
    }
}
