//! Notifications of changes: that a listing or a resource has changed.

use std::{
    collections::{HashMap, HashSet},
    future::pending,
    sync::Arc,
};

use gate::{BoxFuture, LiveJob};
use mcp::{
    ListKind, RpcError, code, encode_notification,
    params::{self, Params, SUBSCRIPTION_ID},
};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Map, Value, json};
use tokio::{
    sync::{mpsc, watch},
    task::AbortHandle,
};

use super::{
    context::{McpContext, MessageSender, RpcResult, Scope},
    resources,
    session::Session,
    tasks,
};
use crate::App;

/// The number of resources that one stream may watch.
const MAX_WATCHED: usize = 1_024;

/// The notifications that a client wants.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SubscriptionFilter {
    tools_list_changed: bool,
    prompts_list_changed: bool,
    resources_list_changed: bool,
    resource_subscriptions: HashSet<String>,
    /// Not sent: tasks are polled.
    task_ids: Option<IgnoredAny>,
}

/// `subscriptions/listen`: lasts until the client goes away or the server stops.
pub(crate) fn listen(
    context: McpContext,
    params: &Params<'_>,
) -> Result<BoxFuture<'static, RpcResult>, RpcError> {
    let mut filter = match params.notifications {
        None => return Err(RpcError::invalid_params("params must have `notifications`")),
        Some(raw) => params::fields::<SubscriptionFilter>(raw.get(), "`notifications`")?,
    };
    if filter.task_ids.is_some() && !context.client.tasks {
        return Err(tasks::not_declared());
    }
    if filter.resource_subscriptions.len() > MAX_WATCHED {
        let message = format!("at most {MAX_WATCHED} resources can be watched at once");
        return Err(RpcError::invalid_params(message));
    }
    filter.resource_subscriptions.retain(|uri| resources::job_of(uri).is_some());
    let Some(messages) = context.messages.clone() else {
        return Err(RpcError::new(
            code::INVALID_REQUEST,
            406,
            "the response is a stream: accept text/event-stream",
        ));
    };
    let Some(id) = context.subscription.clone() else {
        return Err(RpcError::internal("the request has no id"));
    };
    Ok(Box::pin(subscribe(context, filter, messages, id)))
}

async fn subscribe(
    context: McpContext,
    mut filter: SubscriptionFilter,
    messages: MessageSender,
    id: Value,
) -> RpcResult {
    let mut watched = HashSet::new();
    for uri in filter.resource_subscriptions {
        if is_in_scope(&context.app, &context.scope, &uri).await {
            watched.insert(uri);
        }
    }
    filter.resource_subscriptions = watched;
    let prompts = context.app.library.prompt_changes().filter(|_| filter.prompts_list_changed);
    let mut agreed = Map::new();
    for (name, wanted) in [
        (ListKind::Tools.subscription(), filter.tools_list_changed),
        (ListKind::Prompts.subscription(), prompts.is_some()),
        (ListKind::Resources.subscription(), filter.resources_list_changed),
    ] {
        if wanted {
            agreed.insert(name.into(), json!(true));
        }
    }
    if !filter.resource_subscriptions.is_empty() {
        agreed.insert("resourceSubscriptions".into(), json!(filter.resource_subscriptions));
    }
    let mut changes = ChangeWatcher::new(&context.app, prompts);
    changes.watch(&context.app, &context.scope, &filter.resource_subscriptions).await;
    let meta = json!({ SUBSCRIPTION_ID: id });
    let acknowledged = json!({ "_meta": meta, "notifications": agreed });
    let first =
        encode_notification("notifications/subscriptions/acknowledged", Some(&acknowledged));
    let telling = async {
        if !messages.send(first).await {
            return;
        }
        loop {
            let change = changes.next().await;
            for message in change.messages(&filter, Some(&meta)) {
                messages.send(message).await;
            }
        }
    };
    tokio::select! {
        () = telling => {}
        () = context.stop.cancelled() => {}
        () = messages.closed() => {}
        () = context.app.is_locked_out(&context.caller) => {}
        () = context.app.gate.closing() => {}
    }
    Ok(context.complete(Map::from_iter([("_meta".to_owned(), meta.clone())])))
}

/// Notifies a legacy client of all changes, until its session is over.
pub(crate) async fn notify(
    app: Arc<App>,
    scope: Scope,
    session: Arc<Session>,
    messages: MessageSender,
) {
    let filter = SubscriptionFilter {
        tools_list_changed: true,
        prompts_list_changed: true,
        resources_list_changed: true,
        resource_subscriptions: HashSet::new(),
        task_ids: None,
    };
    let mut changes = ChangeWatcher::new(&app, app.library.prompt_changes());
    let telling = async {
        loop {
            changes.watch(&app, &scope, &session.watched()).await;
            let change = tokio::select! {
                change = changes.next() => change,
                () = session.begun_to_watch.notified() => continue,
            };
            if let ListingChange::Resource(uri) = &change
                && !session.watched().contains(uri)
            {
                continue;
            }
            for message in change.messages(&filter, None) {
                messages.send(message).await;
            }
        }
    };
    tokio::select! {
        () = telling => {}
        () = session.ended() => {}
        () = messages.closed() => {}
        () = app.is_locked_out(&session.caller) => {}
        () = app.gate.closing() => {}
    }
}

/// Something has changed.
enum ListingChange {
    Tools,
    Prompts,
    Resource(String),
}

impl ListingChange {
    fn messages(&self, filter: &SubscriptionFilter, meta: Option<&Value>) -> Vec<Vec<u8>> {
        let notification = |wanted: bool, method: &str, uri: Option<&str>| {
            let mut params = Map::new();
            if let Some(meta) = meta {
                params.insert("_meta".into(), meta.clone());
            }
            if let Some(uri) = uri {
                params.insert("uri".into(), json!(uri));
            }
            wanted.then(|| encode_notification(method, Some(&Value::Object(params))))
        };
        let list_changed =
            |list: ListKind, wanted| notification(wanted, list.changed_method(), None);
        let messages = match self {
            // A contract is a resource: where the tools change, the resources do.
            ListingChange::Tools => [
                list_changed(ListKind::Tools, filter.tools_list_changed),
                list_changed(ListKind::Resources, filter.resources_list_changed),
            ],
            ListingChange::Prompts => {
                [list_changed(ListKind::Prompts, filter.prompts_list_changed), None]
            }
            ListingChange::Resource(uri) => {
                [notification(true, "notifications/resources/updated", Some(uri)), None]
            }
        };
        messages.into_iter().flatten().collect()
    }
}

/// Everything that can change.
struct ChangeWatcher {
    tools: watch::Receiver<u64>,
    prompts: Option<watch::Receiver<u64>>,
    news: mpsc::Receiver<String>,
    updates: mpsc::Sender<String>,
    /// The resources that are watched, and what follows each where it is a job that runs.
    watched: HashMap<String, Option<AbortOnDrop>>,
}

impl ChangeWatcher {
    fn new(app: &App, mut prompts: Option<watch::Receiver<u64>>) -> Self {
        let (updates, news) = mpsc::channel(64);
        let tools = app.gate.changes();
        if let Some(prompts) = &mut prompts {
            prompts.mark_unchanged();
        }
        Self { tools, prompts, news, updates, watched: HashMap::new() }
    }

    /// Watches the jobs among these resources that are still running. Others do not change.
    async fn watch(&mut self, app: &App, scope: &Scope, uris: &HashSet<String>) {
        self.watched.retain(|uri, _| uris.contains(uri));
        for uri in uris {
            if self.watched.contains_key(uri) {
                continue;
            }
            let live = match resources::job_of(uri) {
                Some(id) if is_in_scope(app, scope, uri).await => app.gate.live(&id),
                _ => None,
            };
            let following = live.map(|live| {
                let task = tokio::spawn(follow(live, uri.clone(), self.updates.clone()));
                AbortOnDrop(task.abort_handle())
            });
            self.watched.insert(uri.clone(), following);
        }
    }

    async fn next(&mut self) -> ListingChange {
        let prompts = async {
            let changed = match &mut self.prompts {
                Some(prompts) => prompts.changed().await.is_ok(),
                None => false,
            };
            if !changed {
                pending::<()>().await;
            }
        };
        tokio::select! {
            changed = self.tools.changed() => match changed {
                Ok(()) => ListingChange::Tools,
                Err(_) => pending().await,
            },
            () = prompts => ListingChange::Prompts,
            Some(uri) = self.news.recv() => ListingChange::Resource(uri),
        }
    }
}

/// True if the resource is a job that the door to this scope may tell of.
async fn is_in_scope(app: &App, scope: &Scope, uri: &str) -> bool {
    let Some(id) = resources::job_of(uri) else { return false };
    if scope.is_none() {
        return true;
    }
    let job = app.gate.job(&id).await.ok().flatten();
    job.is_some_and(|job| resources::in_scope(app, scope, &job.tool))
}

/// A task that ends with whoever wanted it.
struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Tells of every new state of a job, until it is over or nobody listens.
async fn follow(live: Arc<LiveJob>, uri: String, updates: mpsc::Sender<String>) {
    // What was before the subscription is known to whoever reads the resource now.
    let mut seen = live.newest();
    loop {
        let (events, over) = tokio::select! {
            news = live.events_after(seen) => news,
            () = updates.closed() => return,
        };
        seen = events.last().map_or(seen, |event| event.number);
        let told = events.iter().any(|event| event.kind == "state");
        if told && updates.send(uri.clone()).await.is_err() || over {
            return;
        }
    }
}
