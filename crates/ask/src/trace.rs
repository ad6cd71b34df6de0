//! The trace of a run, event by event.

mod secrets;

use gate::Clock;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Before the ULID of a trace.
const PREFIX: &str = "trace_";

/// One event of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceEvent {
    /// Its time, in milliseconds since 1970.
    pub ts_ms: i64,
    pub name: String,
    /// More about it; a text that ends with `…[TRUNCATED]…` where it was larger than the limit.
    pub payload: Value,
}

/// The trace of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    pub trace_id: String,
    /// The component, the model, and the times that it took.
    pub meta: Map<String, Value>,
    pub events: Vec<TraceEvent>,
    /// The response.
    pub final_output: Value,
}

impl Trace {
    /// The name of the file that it is kept in.
    pub fn file_name(&self) -> String {
        format!("{}.json", self.trace_id)
    }

    /// True if a file has a name of that form.
    pub fn is_file_name(name: &str) -> bool {
        let id = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(".json"));
        id.is_some_and(gate::is_ulid)
    }
}

/// Is told what happens in a run.
pub trait TraceWatcher: Send + Sync {
    fn event(&self, event: &TraceEvent);

    /// The model has written so many characters by now.
    fn writing(&self, stage: &str, characters: usize) {
        let _ = (stage, characters);
    }
}

/// Nobody watches.
impl TraceWatcher for () {
    fn event(&self, _: &TraceEvent) {}
}

/// The end of a payload that was cut.
const CUT_MARK: &str = "\n…[TRUNCATED]…";

/// Records the events of a run.
pub(crate) struct TraceRecorder<'a> {
    events: Vec<TraceEvent>,
    pub(crate) watch: &'a dyn TraceWatcher,
    clock: &'a dyn Clock,
    max_characters: usize,
}

impl<'a> TraceRecorder<'a> {
    pub(crate) fn new(
        watch: &'a dyn TraceWatcher,
        clock: &'a dyn Clock,
        max_characters: usize,
    ) -> Self {
        Self { events: Vec::new(), watch, clock, max_characters }
    }

    pub(crate) fn event(&mut self, name: &str, payload: Value) {
        let payload = self.kept(payload);
        let event = TraceEvent { ts_ms: self.clock.now().0, name: name.to_owned(), payload };
        self.watch.event(&event);
        self.events.push(event);
    }

    /// The trace, with the response.
    pub(crate) fn into_trace(self, meta: Map<String, Value>, mut final_output: Value) -> Trace {
        for field in final_output.as_object_mut().into_iter().flat_map(Map::values_mut) {
            *field = self.kept(field.take());
        }
        let trace_id = format!("{PREFIX}{}", gate::ulid(self.clock.now()));
        Trace { trace_id, meta, events: self.events, final_output }
    }

    /// A payload as it may be kept: without secrets, and small.
    fn kept(&self, mut payload: Value) -> Value {
        secrets::hide(&mut payload);
        cut(payload, self.max_characters)
    }
}

/// The payload, or a text with the beginning of it where it is larger.
fn cut(payload: Value, max_characters: usize) -> Value {
    let text = match &payload {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.char_indices().nth(max_characters) {
        Some((end, _)) => Value::String(format!("{}{CUT_MARK}", &text[..end])),
        None => payload,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_payload_that_is_larger_than_its_limit_ends_early() {
        for (payload, limit, expected) in [
            (json!({ "a": 1 }), 7, json!({ "a": 1 })),
            (json!({ "a": 1 }), 6, json!("{\"a\":1\n…[TRUNCATED]…")),
            (json!("äöü"), 3, json!("äöü")),
            (json!("äöü"), 2, json!("äö\n…[TRUNCATED]…")),
            (json!(["é"]), 5, json!(["é"])),
        ] {
            assert_eq!(cut(payload, limit), expected);
        }
    }
}
