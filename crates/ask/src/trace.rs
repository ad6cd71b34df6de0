//! What happened in a run, step by step, for whoever wants to know why.

mod cut;
mod secrets;

use gate::{Clock, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use secrets::Secrets;

/// Before the ULID of a trace.
const PREFIX: &str = "trace_";

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When, in milliseconds since 1970.
    pub ts_ms: i64,
    /// What.
    pub name: String,
    /// More about it; a text that ends with `…[TRUNCATED]…` where it was larger than the limit.
    pub payload: Value,
}

/// A run, step by step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Its name.
    pub trace_id: String,
    /// What it is about: the component, the model, where the time went.
    pub meta: Map<String, Value>,
    /// What happened, in order.
    pub events: Vec<Event>,
    /// What came of it.
    pub final_output: Value,
}

impl Trace {
    /// The name of the file that it is kept in.
    pub fn file_name(&self) -> String {
        format!("{}.json", self.trace_id)
    }

    /// Whether a file has a name of that form.
    pub fn is_file_name(name: &str) -> bool {
        let id = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(".json"));
        id.is_some_and(gate::is_ulid)
    }
}

/// Somebody who watches a run.
pub trait Watch: Send + Sync {
    /// Something happened.
    fn event(&self, event: &Event);

    /// The model has written so many characters by now.
    fn writing(&self, stage: &str, characters: usize) {
        let _ = (stage, characters);
    }
}

/// Nobody watches.
impl Watch for () {
    fn event(&self, _: &Event) {}
}

/// How long a secret usually is.
const SECRET_CHARACTERS: usize = 256;

/// Writes down what happens.
pub(crate) struct Recorder<'a> {
    events: Vec<Event>,
    watch: &'a dyn Watch,
    clock: &'a dyn Clock,
    secrets: &'a Secrets,
    max_characters: usize,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(
        watch: &'a dyn Watch,
        clock: &'a dyn Clock,
        secrets: &'a Secrets,
        max_characters: usize,
    ) -> Self {
        Self { events: Vec::new(), watch, clock, secrets, max_characters }
    }

    /// This has happened.
    pub(crate) fn event(&mut self, name: &str, payload: Value) {
        let payload = self.kept(payload);
        let event = Event { ts_ms: self.clock.now().0, name: name.to_owned(), payload };
        self.watch.event(&event);
        self.events.push(event);
    }

    pub(crate) fn watch(&self) -> &'a dyn Watch {
        self.watch
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The whole, with what came of it.
    pub(crate) fn into_trace(self, meta: Map<String, Value>, output: Value) -> Trace {
        let final_output = match output {
            Value::Object(fields) => {
                let kept = fields.into_iter().map(|(name, field)| (name, self.kept(field)));
                Value::Object(kept.collect())
            }
            other => self.kept(other),
        };
        let trace_id = format!("{PREFIX}{}", gate::ulid(self.clock.now()));
        Trace { trace_id, meta, events: self.events, final_output }
    }

    /// As it may be kept: small, and without secrets. Cut first, so that what is huge costs little, and with some room, so
    /// that a secret is still known as one where the cut goes through it.
    fn kept(&self, payload: Value) -> Value {
        let (mut payload, is_cut) = cut::cut(payload, self.max_characters, SECRET_CHARACTERS);
        self.secrets.hide(&mut payload);
        if is_cut { cut::cut(payload, self.max_characters, 0).0 } else { payload }
    }
}
