//! Notifications of a modern server: a `subscriptions/listen` request that does not end.

use std::{sync::Arc, time::Duration};

use mcp::ListKind;
use serde_json::{Map, json};
use tokio::{sync::mpsc, task::AbortHandle, time::timeout};

use super::{
    ConnectionEvent, ConnectionSender, MetaFields, RequestError, RequestOptions, ServerDescription,
};

/// Between two tries, at first.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Between two tries, at most.
const MAX_PAUSE: Duration = Duration::from_mins(1);
/// A stream that lasts this long has been accepted.
const ACCEPTED_AFTER: Duration = Duration::from_secs(1);
/// The time that a stream may last: as long as it likes.
const STREAM_TIMEOUT: Duration = Duration::from_hours(365 * 24);

/// The task that keeps the subscription. It ends with this.
pub(super) struct Subscription(AbortHandle);

impl Subscription {
    /// Subscribes to a modern server that notifies of changed lists. The transport makes events of its
    /// notifications.
    pub(super) fn begin(
        sender: &ConnectionSender,
        server: &ServerDescription,
        meta: &Arc<MetaFields>,
        events: mpsc::Sender<ConnectionEvent>,
    ) -> Option<Subscription> {
        let notifies = |list: &ListKind| server.notifies_of(*list);
        let lists: Vec<_> = ListKind::ALL.into_iter().filter(notifies).collect();
        if !server.version.is_modern() || lists.is_empty() {
            return None;
        }
        let filter: Map<_, _> =
            lists.iter().map(|list| (list.subscription().into(), json!(true))).collect();
        let params = json!({ "notifications": filter }).to_string();
        let (sender, meta) = (sender.clone(), Arc::clone(meta));
        let task = SubscriptionTask { sender, meta, params, lists, events };
        Some(Subscription(tokio::spawn(task.run()).abort_handle()))
    }

    /// Ends it.
    pub(super) fn stop(&self) {
        self.0.abort();
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.stop();
    }
}

struct SubscriptionTask {
    sender: ConnectionSender,
    meta: Arc<MetaFields>,
    params: String,
    lists: Vec<ListKind>,
    events: mpsc::Sender<ConnectionEvent>,
}

impl SubscriptionTask {
    async fn run(self) {
        let mut pause = FIRST_PAUSE;
        let mut again = false;
        while !self.events.is_closed() {
            let (outcome, accepted) = self.listen(again).await;
            if let Err(RequestError::Rpc(error)) = &outcome {
                tracing::debug!(%error, "an MCP server refused a subscription although it offers it");
                return;
            }
            pause = if accepted { FIRST_PAUSE } else { (pause * 2).min(MAX_PAUSE) };
            again = true;
            tokio::time::sleep(pause).await;
        }
    }

    /// Listens until the stream ends; says whether the server accepted it.
    async fn listen(&self, again: bool) -> (Result<(), RequestError>, bool) {
        let options = RequestOptions::new(STREAM_TIMEOUT);
        let (method, params) = ("subscriptions/listen", &self.params);
        let mut response = self.sender.request(method, params, options, &self.meta);
        if let Ok(ended) = timeout(ACCEPTED_AFTER, &mut response).await {
            return (ended.map(drop), false);
        }
        if again {
            // Notifications in the meantime are lost.
            for list in &self.lists {
                let _ = self.events.try_send(ConnectionEvent::ListChanged(*list));
            }
        }
        (response.await.map(drop), true)
    }
}
