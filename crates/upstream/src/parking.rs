//! Calls that wait for a person: what an upstream has asked, and we have passed on to our own caller.
//!
//! A legacy server waits inside its call, so the call stays open here until it is answered; a modern one
//! wants to hear its own state again. Either is found by a name that nobody can guess.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use gate::{Question, Questions, Respondent};
use rand::RngExt;
use serde_json::{Map, Value, json};
use tokio::sync::OwnedSemaphorePermit;

use crate::{
    answer::Asks,
    callers::Calling,
    connection::{Asked, Flight},
};

/// How many calls may wait at once, for each upstream.
const MAX_PARKED: usize = 256;
/// How long one may wait.
const MAX_WAIT: Duration = Duration::from_mins(10);
/// What divides the name of a parked call from that of its question.
const BETWEEN: char = '.';

/// What a call holds as long as it is open: its place among the calls that run at once, and whose it is,
/// where the server cannot tell.
pub(crate) type Held = (OwnedSemaphorePermit, Option<Calling>);

/// A call that waits.
pub(crate) enum Parked {
    /// The server waits with it.
    Open {
        /// The call.
        flight: Box<dyn Flight>,
        /// What the server waits for.
        asked: Asked,
        /// What it holds as long as it is open.
        held: Held,
    },
    /// The server has forgotten it.
    Closed {
        /// What it wants to hear again.
        state: Option<String>,
    },
}

/// The calls of one upstream that wait.
#[derive(Default)]
pub(crate) struct Parking {
    calls: Mutex<HashMap<String, (Instant, Parked)>>,
}

impl Parking {
    /// Takes the call that these replies belong to, with the replies by the server's own names.
    pub(crate) fn take(
        &self,
        replies: &Map<String, Value>,
    ) -> Option<(Parked, Map<String, Value>)> {
        let mut calls = self.lock();
        // The latest question of a call that was asked more than once is the one that still waits.
        let handle = replies.keys().rev().find_map(|name| {
            let (handle, _) = name.split_once(BETWEEN)?;
            calls.contains_key(handle).then(|| handle.to_owned())
        })?;
        let (_, parked) = calls.remove(&handle)?;
        let own = replies.iter().filter_map(|(name, reply)| {
            let own = name.strip_prefix(&handle)?.strip_prefix(BETWEEN)?;
            Some((own.to_owned(), reply.clone()))
        });
        Some((parked, own.collect()))
    }

    /// Keeps an open call; the question to pass on.
    pub(crate) fn open(
        &self,
        flight: Box<dyn Flight>,
        asked: Asked,
        held: Held,
    ) -> Option<Questions> {
        let question = question(&asked.method, asked.params.clone())?;
        let handle = self.keep(Parked::Open { flight, asked, held });
        Some(Questions::from([(format!("{handle}{BETWEEN}{OPEN}"), question)]))
    }

    /// Keeps what a modern server wants to hear again; the questions to pass on.
    pub(crate) fn closed(&self, asks: Asks) -> Option<Questions> {
        let questions: Option<Vec<_>> = asks
            .questions
            .into_iter()
            .map(|(name, request)| {
                let method = request.get("method").and_then(Value::as_str)?;
                let params = request.get("params").cloned().unwrap_or_else(|| json!({}));
                Some((name, question(method, params)?))
            })
            .collect();
        let handle = self.keep(Parked::Closed { state: asks.state });
        let named = questions?.into_iter();
        Some(named.map(|(name, one)| (format!("{handle}{BETWEEN}{name}"), one)).collect())
    }

    fn keep(&self, parked: Parked) -> String {
        let mut calls = self.lock();
        let now = Instant::now();
        calls.retain(|_, (since, _)| now.duration_since(*since) < MAX_WAIT);
        if calls.len() >= MAX_PARKED
            && let Some(oldest) =
                calls.iter().min_by_key(|(_, (since, _))| *since).map(|(name, _)| name.clone())
        {
            calls.remove(&oldest);
        }
        let handle = format!("{:032x}", rand::rng().random::<u128>());
        calls.insert(handle.clone(), (now, parked));
        handle
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, (Instant, Parked)>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name of the only question of an open call.
pub(crate) const OPEN: &str = "question";

/// A server's question as the gate knows it.
fn question(method: &str, params: Value) -> Option<Question> {
    let to = match method {
        "elicitation/create" => Respondent::Person,
        "sampling/createMessage" => Respondent::Model,
        "roots/list" => Respondent::Roots,
        _ => return None,
    };
    Some(Question { to, params })
}

/// Who would have to answer a server's question.
pub(crate) fn respondent(method: &str) -> Option<Respondent> {
    question(method, Value::Null).map(|question| question.to)
}
