//! Calls that wait for a person: what an upstream has asked, and we have passed on to our own caller.
//!
//! A legacy server waits inside its call, so the call stays open here until it is answered; a modern one
//! wants to hear its own state again. Either is found by a name that nobody can guess, and goes on for
//! the very call that it was parked by: the same caller, tool and arguments.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use contract::{Schema, codes};
use gate::{InputKind, InputRequest, InputRequests, RunningCall, ToolError};
use rand::RngExt;
use serde_json::{Map, Value, json};
use tokio::sync::OwnedSemaphorePermit;

use crate::{
    answer::Asks,
    connection::{Asked, Flight},
};

/// How many calls may wait at once, for each upstream.
const MAX_PARKED: usize = 256;
/// What divides the name of a parked call from that of its question.
const BETWEEN: char = '.';
/// How many hexadecimal digits the name of a parked call has.
const HANDLE_DIGITS: usize = 32;

/// A call that waits.
pub(crate) enum Parked {
    /// The server waits with it.
    Open {
        /// The call.
        flight: Box<dyn Flight>,
        /// What the server waits for.
        asked: Asked,
        /// Its place among the calls that run at once.
        place: OwnedSemaphorePermit,
    },
    /// The server has forgotten it.
    Closed {
        /// What it wants to hear again.
        state: Option<String>,
    },
}

/// A call that goes on, with the replies by the server's own names.
pub(crate) type GoesOn = (Parked, Map<String, Value>);

/// Whose call it is. Who knows a name cannot go on with it in another one's place.
#[derive(PartialEq, Eq)]
struct Owner {
    caller: String,
    tool: String,
    input_sha256: String,
}

impl Owner {
    fn of(call: &RunningCall) -> Self {
        Self {
            caller: call.caller.name().to_owned(),
            tool: call.contract.name.clone(),
            input_sha256: contract::canonical::sha256(&call.input),
        }
    }
}

struct Entry {
    owner: Owner,
    /// By the server's own names.
    questions: InputRequests,
    parked: Parked,
}

/// The calls of one upstream that wait.
#[derive(Default)]
pub(crate) struct Parking {
    calls: Mutex<HashMap<String, Entry>>,
}

impl Parking {
    /// Takes the call that these replies belong to, with the replies by the server's own names. Nothing
    /// where nothing was replied to a server.
    pub(crate) fn take(&self, call: &RunningCall) -> Result<Option<GoesOn>, ToolError> {
        let replies = call.replies();
        // The latest question of a call that was asked more than once is the one that still waits.
        let Some(handle) = replies.keys().rev().find_map(|name| handle(name)) else {
            return Ok(None);
        };
        let mut calls = self.lock();
        let Some(entry) = calls.get(handle).filter(|entry| entry.owner == Owner::of(call)) else {
            let message = "the question is not open any more; make the call again without replies";
            return Err(ToolError::invalid_input(message));
        };
        let mut own = Map::new();
        for (name, question) in &entry.questions {
            let reply = replies.get(&format!("{handle}{BETWEEN}{name}"));
            let Some(reply) = reply.filter(|reply| question.accepts(reply)) else {
                // It stays here: who replies wrongly may reply again.
                let message = "the reply does not answer the question that was asked";
                return Err(ToolError::invalid_input(message));
            };
            own.insert(name.clone(), reply.clone());
        }
        Ok(calls.remove(handle).map(|entry| (entry.parked, own)))
    }

    /// Keeps an open call for so long; the question to pass on.
    pub(crate) fn open(
        self: &Arc<Self>,
        call: &RunningCall,
        parked: Parked,
        question: InputRequest,
        patience: Duration,
    ) -> Result<InputRequests, ToolError> {
        self.keep(call, parked, InputRequests::from([(OPEN.to_owned(), question)]), patience)
    }

    /// Keeps what a modern server wants to hear again for so long; the questions to pass on.
    pub(crate) fn closed(
        self: &Arc<Self>,
        call: &RunningCall,
        asks: Asks,
        patience: Duration,
    ) -> Result<InputRequests, ToolError> {
        let can = call.capabilities();
        let questions: Option<InputRequests> = asks
            .questions
            .into_iter()
            .map(|(name, request)| {
                let method = request.get("method").and_then(Value::as_str)?;
                let params = request.get("params").cloned().unwrap_or_else(|| json!({}));
                Some((name, question(method, params)?))
            })
            .collect();
        match questions.filter(|all| !all.is_empty()) {
            // The gate says to who cannot be asked that there was something to ask.
            Some(all) if !all.values().all(|one| can.allows(one.kind)) => Ok(all),
            Some(all) => self.keep(call, Parked::Closed { state: asks.state }, all, patience),
            None => Err(cannot_pass_on()),
        }
    }

    fn keep(
        self: &Arc<Self>,
        call: &RunningCall,
        parked: Parked,
        questions: InputRequests,
        patience: Duration,
    ) -> Result<InputRequests, ToolError> {
        let handle = format!("{:0HANDLE_DIGITS$x}", rand::rng().random::<u128>());
        let asked = questions.iter();
        let asked = asked.map(|(name, one)| (format!("{handle}{BETWEEN}{name}"), one.clone()));
        let asked = asked.collect();
        let mut calls = self.lock();
        if calls.len() >= MAX_PARKED {
            let message =
                format!("{MAX_PARKED} calls of this upstream wait for a person already; try later");
            return Err(ToolError::new(codes::UNAVAILABLE.code, message));
        }
        calls.insert(handle.clone(), Entry { owner: Owner::of(call), questions, parked });
        drop(calls);
        // Nobody may ever reply, and an open call holds a place.
        let parking = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep(patience).await;
            if let Some(parking) = parking.upgrade() {
                parking.lock().remove(&handle);
            }
        });
        Ok(asked)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Entry>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name of a parked call, in that of a question that it asks.
fn handle(name: &str) -> Option<&str> {
    let (handle, _) = name.split_once(BETWEEN)?;
    let whole =
        handle.len() == HANDLE_DIGITS && handle.bytes().all(|byte| byte.is_ascii_hexdigit());
    whole.then_some(handle)
}

/// The name of the only question of an open call.
pub(crate) const OPEN: &str = "question";

/// A server's question as the gate knows it.
pub(crate) fn question(method: &str, params: Value) -> Option<InputRequest> {
    let kind = match method {
        // One that nobody could answer so that it fits is not asked.
        "elicitation/create" if !can_be_filled_in(&params) => return None,
        "elicitation/create" => InputKind::Elicitation,
        "sampling/createMessage" => InputKind::Sampling,
        "roots/list" => InputKind::Roots,
        _ => return None,
    };
    Some(InputRequest { kind, params })
}

fn can_be_filled_in(form: &Value) -> bool {
    form.get("requestedSchema").is_none_or(|schema| Schema::compile_foreign(schema).is_ok())
}

fn cannot_pass_on() -> ToolError {
    let message = "the upstream asks something that cannot be passed on";
    ToolError::internal(message, message)
}
