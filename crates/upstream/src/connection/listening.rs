//! Hearing of changes in the modern era: a request that does not end, over which the server tells them.

use std::{sync::Arc, time::Duration};

use serde_json::{Map, json};
use tokio::{sync::mpsc, task::AbortHandle, time::timeout};

use super::{
    Era, Event, Happening, RequestError, Server,
    connected::{Line, Meta, Request},
};

/// Between two tries, at first.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Between two tries, at most.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// A stream that lasts this long has been accepted.
const ACCEPTED_AFTER: Duration = Duration::from_secs(1);
/// How long a stream may last: as long as it likes.
const STREAM_TIMEOUT: Duration = Duration::from_hours(365 * 24);

/// What can change, as a capability, as a wish and as an event.
const KINDS: [(&str, &str, Event); 3] = [
    ("tools", "toolsListChanged", Event::ToolsChanged),
    ("prompts", "promptsListChanged", Event::PromptsChanged),
    ("resources", "resourcesListChanged", Event::ResourcesChanged),
];

/// The task that listens. It ends with this.
pub(super) struct Listening(AbortHandle);

impl Listening {
    /// Listens to a modern server that tells changes. The wire itself makes events of what is told.
    pub(super) fn begin(
        line: &Line,
        server: &Server,
        meta: &Arc<Meta>,
        events: mpsc::Sender<Event>,
    ) -> Option<Listening> {
        let told: Vec<_> =
            KINDS.into_iter().filter(|(kind, ..)| server.tells_changes_of(kind)).collect();
        if server.era != Era::Modern || told.is_empty() {
            return None;
        }
        let wishes: Map<_, _> =
            told.iter().map(|(_, wish, _)| ((*wish).into(), json!(true))).collect();
        let params = json!({ "notifications": wishes }).to_string();
        let kinds = told.into_iter().map(|(.., event)| event).collect();
        let task = Task { line: line.clone(), meta: Arc::clone(meta), params, kinds, events };
        Some(Listening(tokio::spawn(task.run()).abort_handle()))
    }

    /// Listens no more.
    pub(super) fn stop(&self) {
        self.0.abort();
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.stop();
    }
}

struct Task {
    line: Line,
    meta: Arc<Meta>,
    params: String,
    kinds: Vec<Event>,
    events: mpsc::Sender<Event>,
}

impl Task {
    async fn run(self) {
        let mut pause = FIRST_PAUSE;
        let mut again = false;
        while !self.events.is_closed() {
            let (outcome, accepted) = self.listen(again).await;
            if let Err(RequestError::Rpc(error)) = &outcome {
                tracing::debug!(%error, "a server does not tell of changes after all");
                return;
            }
            pause = if accepted { FIRST_PAUSE } else { (pause * 2).min(LONGEST_PAUSE) };
            again = true;
            tokio::time::sleep(pause).await;
        }
    }

    /// Listens until the stream ends, and says whether there was one.
    async fn listen(&self, again: bool) -> (Result<(), RequestError>, bool) {
        let request = Request::new("subscriptions/listen", &self.params, STREAM_TIMEOUT);
        let mut flight = self.line.begin(request, &self.meta);
        let mut accepted = false;
        loop {
            let happening = if accepted {
                flight.next().await
            } else if let Ok(happening) = timeout(ACCEPTED_AFTER, flight.next()).await {
                happening
            } else {
                accepted = true;
                if again {
                    // What changed in the meantime was told to nobody.
                    self.kinds.iter().for_each(|kind| drop(self.events.try_send(kind.clone())));
                }
                continue;
            };
            if let Happening::Done(outcome) = happening {
                return (outcome.map(drop), accepted);
            }
        }
    }
}
