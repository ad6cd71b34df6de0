//! What a message of the server's means to us.

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::connection::{
    Asked, Event, Happening, Reply, RequestError,
    incoming::{self, Incoming, Notice},
    questions::{self, Question},
};

/// Something that the server says.
#[derive(Debug)]
pub(super) enum Said {
    /// The answer to a request, with its number where it has one that we could have given.
    Answer(Option<u64>, Result<Reply, RequestError>),
    /// How far the request of that number has come.
    Progress(u64, Happening),
    /// A line of the log.
    Log(Happening),
    /// Something may have changed.
    Changed(Event),
    /// It asks something that is answered by this message.
    Answered(Bytes),
    /// It asks something that somebody has to be asked.
    Asked(Opened),
}

/// A question, and where its answer will be.
#[derive(Debug)]
pub(super) struct Opened {
    /// The server's own id of it.
    pub(super) id: Box<str>,
    pub(super) asked: Asked,
    pub(super) answer: oneshot::Receiver<Value>,
}

/// Takes a message apart; why it is none, otherwise.
pub(super) fn read(message: &Bytes) -> Result<Vec<Said>, String> {
    let Some(all) = incoming::batch(message) else {
        return Ok(one(message)?.into_iter().collect());
    };
    let mut said = Vec::new();
    for message in all {
        said.extend(one(&message)?);
    }
    Ok(said)
}

/// One message.
fn one(message: &Bytes) -> Result<Option<Said>, String> {
    Ok(match incoming::read(message)? {
        Incoming::Response { id, outcome } => {
            Some(Said::Answer(id, incoming::reply(message, outcome)))
        }
        Incoming::Notification { method, params } => match incoming::notice(&method, params) {
            Notice::Progress { token, note } => Some(Said::Progress(token, note)),
            Notice::Log(note) => Some(Said::Log(note)),
            Notice::Changed(event) => Some(Said::Changed(event)),
            Notice::Cancelled(_) | Notice::Other => None,
        },
        Incoming::Request { id, method, params } => {
            Some(match questions::look(&id, &method, params) {
                Question::Answered(message) => Said::Answered(message),
                Question::Open(asked, answer) => Said::Asked(Opened { id, asked, answer }),
            })
        }
    })
}
