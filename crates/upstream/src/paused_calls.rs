//! Calls that wait for input: an upstream has asked something during the call, and our own caller has to respond.
//!
//! A legacy upstream waits inside its call, so that the call stays open here; a modern one has ended it, and wants its
//! own state back with the responses. Either is found by a handle that nobody can guess, and resumed only by the call
//! that paused it: the same caller, tool and arguments.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use contract::codes;
use gate::{InputRequest, InputRequests, RunningCall, ToolError};
use mcp::InputMethod;
use rand::RngExt;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use crate::{
    connection::{InterimMessage, ResponseFuture, ServerInputRequest},
    slots::UpstreamSlot,
    tool_output::InputRequired,
};

/// The largest number of calls that may wait at once, for each upstream.
const MAX_PAUSED_CALLS: usize = 256;
/// Divides the handle of a paused call from the name of its request.
const SEPARATOR: char = '.';
/// The longest name of an input request, in bytes.
const MAX_NAME_BYTES: usize = 128;
/// The length of a handle, in hexadecimal digits.
const HANDLE_DIGITS: usize = 32;
/// The name of the only input request of a call that the upstream waits in.
pub(crate) const ONLY_REQUEST: &str = "question";

/// A call that waits for input.
pub(crate) enum PausedCall {
    /// The upstream waits inside the call (legacy).
    Waiting {
        response: ResponseFuture,
        /// The messages before it.
        interim: Option<mpsc::Receiver<InterimMessage>>,
        /// The request that the upstream waits for.
        input_request: ServerInputRequest,
        /// Its slot among the calls that run at once.
        slot: UpstreamSlot,
    },
    /// The upstream has ended the call (modern).
    Ended {
        /// The state that it wants back.
        request_state: Option<String>,
    },
}

/// A call to go on with, and the responses by the upstream's own names.
pub(crate) type ResumedCall = (PausedCall, Map<String, Value>);

/// The identity of a call: somebody else who knows its handle cannot resume it.
#[derive(PartialEq, Eq)]
struct CallOwner {
    caller: String,
    tool: String,
    input_sha256: String,
}

impl CallOwner {
    fn of(call: &RunningCall) -> Self {
        Self {
            caller: call.caller.name().to_owned(),
            tool: call.contract.name.clone(),
            input_sha256: contract::canonical::sha256(&call.input),
        }
    }
}

struct PausedEntry {
    owner: CallOwner,
    /// By the upstream's own names.
    requests: InputRequests,
    call: PausedCall,
    paused_at: Instant,
}

/// The paused calls of one upstream.
pub(crate) struct PausedCalls {
    by_handle: Mutex<HashMap<String, PausedEntry>>,
    max: usize,
}

impl PausedCalls {
    /// Those of an upstream with so many slots. Half of them stay for calls that run.
    pub(crate) fn new(slots: usize) -> Arc<Self> {
        let max = (slots / 2).clamp(1, MAX_PAUSED_CALLS);
        Arc::new(Self { by_handle: Mutex::default(), max })
    }

    /// Takes the paused call that the input responses of this call belong to; none where there are no responses.
    pub(crate) fn resume(&self, call: &RunningCall) -> Result<Option<ResumedCall>, ToolError> {
        let replies = call.replies();
        // Of a call that was paused more than once, the latest request still waits.
        let Some(handle) = replies.keys().rev().find_map(|name| handle(name)) else {
            return Ok(None);
        };
        let mut paused = self.lock();
        let Some(entry) = paused.get(handle).filter(|entry| entry.owner == CallOwner::of(call))
        else {
            let message =
                "the input request has expired; make the call again without input responses";
            return Err(ToolError::invalid_input(message));
        };
        let mut own = Map::new();
        for (name, request) in &entry.requests {
            let reply = replies.get(&format!("{handle}{SEPARATOR}{name}"));
            let Some(reply) = reply.filter(|reply| request.accepts(reply)) else {
                // It stays: the caller may respond again.
                let message = "the input response does not match the input request";
                return Err(ToolError::invalid_input(message));
            };
            own.insert(name.clone(), reply.clone());
        }
        Ok(paused.remove(handle).map(|entry| (entry.call, own)))
    }

    /// Pauses a call that a modern upstream has ended; returns the input requests to pass on.
    pub(crate) fn pause_ended(
        self: &Arc<Self>,
        call: &RunningCall,
        required: InputRequired,
        question: impl Fn(InputMethod, &Value) -> Result<InputRequest, String>,
        timeout: Duration,
    ) -> Result<InputRequests, ToolError> {
        let capabilities = call.capabilities();
        let requests: Result<InputRequests, String> = required
            .requests
            .into_iter()
            .map(|(name, request)| {
                let method = request.get("method").and_then(Value::as_str);
                let method = method.and_then(InputMethod::parse).ok_or("it has no known method")?;
                // Clients are shown the name as well.
                let is_plain = |one: char| one.is_ascii_alphanumeric() || "_-.".contains(one);
                if name.len() > MAX_NAME_BYTES || !name.chars().all(is_plain) {
                    return Err("its name hides something, or is too long".to_owned());
                }
                let params = request.get("params").cloned().unwrap_or_else(|| json!({}));
                Ok((name, question(method, &params)?))
            })
            .collect();
        let requests = requests
            .and_then(|all| if all.is_empty() { Err("there is none".to_owned()) } else { Ok(all) });
        match requests {
            // The gate tells a caller who cannot respond that there was something to ask.
            Ok(all) if !all.values().all(|one| capabilities.allows(one.kind)) => Ok(all),
            Ok(all) => {
                let ended = PausedCall::Ended { request_state: required.request_state };
                self.pause(call, ended, all, timeout)
            }
            Err(why) => {
                let message = format!("a question of the upstream is not passed on: {why}");
                Err(ToolError::internal(message.clone(), message))
            }
        }
    }

    /// Pauses a call until the timeout; returns the input requests to pass on.
    pub(crate) fn pause(
        self: &Arc<Self>,
        call: &RunningCall,
        paused: PausedCall,
        requests: InputRequests,
        timeout: Duration,
    ) -> Result<InputRequests, ToolError> {
        let handle = format!("{:0HANDLE_DIGITS$x}", rand::rng().random::<u128>());
        let asked = requests.iter();
        let asked = asked.map(|(name, one)| (format!("{handle}{SEPARATOR}{name}"), one.clone()));
        let asked = asked.collect();
        let mut calls = self.lock();
        let owner = CallOwner::of(call);
        let ended = if calls.len() < self.max {
            None
        } else if let Some(least_missed) = least_missed(&calls, &owner.caller) {
            calls.remove(&least_missed)
        } else {
            let message = format!(
                "{} calls of this upstream wait for input already, half of its `max_concurrency`; answer one of \
                 them, or try later",
                self.max
            );
            return Err(ToolError::new(codes::UNAVAILABLE.code, message));
        };
        let paused_at = Instant::now();
        calls.insert(handle.clone(), PausedEntry { owner, requests, call: paused, paused_at });
        drop(calls);
        // Its slot goes to whoever waits for one.
        drop(ended);
        // Nobody may ever respond, and a waiting call holds a slot.
        let paused = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep(timeout).await;
            if let Some(paused) = paused.upgrade() {
                paused.lock().remove(&handle);
            }
        });
        Ok(asked)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, PausedEntry>> {
        self.by_handle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The oldest call of the caller who has most, if that is another one with more than this one would have.
fn least_missed(calls: &HashMap<String, PausedEntry>, caller: &str) -> Option<String> {
    let mut counts: HashMap<&str, usize> = HashMap::from([(caller, 1)]);
    for entry in calls.values() {
        *counts.entry(&entry.owner.caller).or_default() += 1;
    }
    let (most, count) = counts.iter().max_by_key(|(_, count)| **count)?;
    let theirs = calls.iter().filter(|(_, entry)| entry.owner.caller == *most);
    let oldest = theirs.min_by_key(|(_, entry)| entry.paused_at)?;
    (*count > counts[caller]).then(|| oldest.0.clone())
}

/// The handle of a paused call, in the name of an input request that was passed on.
fn handle(name: &str) -> Option<&str> {
    let (handle, _) = name.split_once(SEPARATOR)?;
    let valid =
        handle.len() == HANDLE_DIGITS && handle.bytes().all(|byte| byte.is_ascii_hexdigit());
    valid.then_some(handle)
}
