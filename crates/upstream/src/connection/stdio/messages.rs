//! What to do with each line of a child.

use std::sync::Arc;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::AsyncRead;

use super::{
    Shared,
    lines::{Edges, Line, Lines},
};
use crate::connection::{
    RequestError,
    incoming::{self, Incoming, Notice},
    questions::{self, Question},
};

/// Reads until the child says no more.
pub(super) async fn read(shared: Arc<Shared>, stdout: impl AsyncRead + Unpin) {
    let mut lines = Lines::new(stdout, shared.max_message_bytes);
    // An output that cannot be read has no more to say than one that ended.
    while let Ok(Some(line)) = lines.next().await {
        match line {
            Line::Message(line) => messages(&shared, &line),
            Line::TooLong(edges) => too_long(&shared, &edges),
        }
    }
}

/// One message, or a batch of them (2025-03-26). A batch within a batch is none.
fn messages(shared: &Arc<Shared>, line: &Bytes) {
    match incoming::batch(line) {
        Some(messages) => messages.iter().for_each(|one| message(shared, one)),
        None => message(shared, line),
    }
}

fn message(shared: &Arc<Shared>, line: &Bytes) {
    match incoming::read(line) {
        Ok(Incoming::Response { id, outcome }) => {
            let reply = || incoming::reply(line, outcome);
            if !id.is_some_and(|id| shared.running.finish(id, reply)) {
                shared.oddities().unexpected += 1;
            }
        }
        Ok(Incoming::Request { id, method, params }) => asked(shared, id, &method, params),
        Ok(Incoming::Notification { method, params }) => told(shared, &method, params),
        Err(_) if line.trim_ascii().is_empty() => {}
        Err(why) => {
            tracing::debug!(%why, "a line of a server is no message");
            shared.oddities().garbage(line);
        }
    }
}

fn told(shared: &Shared, method: &str, params: Option<&RawValue>) {
    match incoming::notice(method, params) {
        Notice::Progress { token, note } => shared.running.note(token, note),
        Notice::Log(line) => shared.running.log(line),
        Notice::Changed(event) => drop(shared.events.try_send(event)),
        Notice::Cancelled(id) => {
            if let Some(taken_back) = shared.questions().remove(&id) {
                taken_back.cancel();
            }
        }
        Notice::Other => {}
    }
}

fn asked(shared: &Arc<Shared>, id: Box<str>, method: &str, params: Option<&RawValue>) {
    let (question, answer) = match questions::look(&id, method, params) {
        Question::Answered(message) => return drop(shared.outbox.push(message)),
        Question::Open(question, answer) => (question, answer),
    };
    let Some(patience) = shared.running.ask(params.and_then(token), question) else {
        return drop(shared.outbox.push(questions::nobody(&id)));
    };
    let open = patience.open();
    let shared = Arc::clone(shared);
    let taken_back = shared.closing.child_token();
    shared.questions().insert(id.clone(), taken_back.clone());
    tokio::spawn(async move {
        tokio::select! {
            message = questions::answer(&id, answer) => drop(shared.outbox.push(message)),
            () = taken_back.cancelled() => {}
        }
        shared.questions().remove(&id);
        drop(open);
    });
}

/// The request that a question belongs to, where the server repeats the token that we gave.
fn token(params: &RawValue) -> Option<u64> {
    #[derive(Deserialize)]
    struct Params {
        #[serde(rename = "_meta")]
        meta: Meta,
    }
    #[derive(Deserialize)]
    struct Meta {
        #[serde(rename = "progressToken")]
        token: u64,
    }
    serde_json::from_str::<Params>(params.get()).ok().map(|params| params.meta.token)
}

fn too_long(shared: &Shared, edges: &Edges) {
    shared.oddities().too_long += 1;
    if let Some(id) = edges.answered() {
        shared.running.finish(id, || Err(RequestError::TooLarge(shared.max_message_bytes)));
    }
}
