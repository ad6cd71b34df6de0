//! What clients hear without having asked just now: that a listing or a resource has changed.

use std::{
    collections::{HashMap, HashSet},
    future::pending,
    sync::Arc,
};

use gate::{BoxFuture, LiveJob};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Map, Value, json};
use tokio::{
    sync::{mpsc, watch},
    task::AbortHandle,
};

use super::{
    context::{Context, Outbox, Reply},
    params::{self, Params},
    resources,
    rpc::{self, RpcError},
    session::Session,
    tasks,
};
use crate::App;

/// How many resources one stream may watch.
const MAX_WATCHED: usize = 1_024;

/// What a client wants to hear.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Filter {
    tools_list_changed: bool,
    prompts_list_changed: bool,
    resources_list_changed: bool,
    resource_subscriptions: HashSet<String>,
    /// Not told of: whoever has a task asks for it.
    task_ids: Option<IgnoredAny>,
}

/// `subscriptions/listen`: lasts until the client goes away or the server stops.
pub(crate) fn listen(
    context: Context,
    params: &Params<'_>,
) -> Result<BoxFuture<'static, Reply>, RpcError> {
    let mut filter = match params.notifications {
        None => return Err(RpcError::malformed("params must have `notifications`")),
        Some(raw) => params::fields::<Filter>(raw, "`notifications`")?,
    };
    if filter.task_ids.is_some() && !context.client.tasks {
        return Err(tasks::not_declared());
    }
    if filter.resource_subscriptions.len() > MAX_WATCHED {
        let message = format!("at most {MAX_WATCHED} resources can be watched at once");
        return Err(RpcError::malformed(message));
    }
    filter.resource_subscriptions.retain(|uri| resources::job_of(uri).is_some());
    let Some(outbox) = context.outbox.clone() else {
        return Err(RpcError::new(-32600, 406, "the answer is a stream: accept text/event-stream"));
    };
    let Some(id) = context.subscription.clone() else {
        return Err(RpcError::internal("the request has no id"));
    };
    Ok(Box::pin(heard(context, filter, outbox, id)))
}

async fn heard(context: Context, filter: Filter, outbox: Outbox, id: Value) -> Reply {
    let prompts = context.app.library.prompt_changes().filter(|_| filter.prompts_list_changed);
    let mut agreed = Map::new();
    for (name, wanted) in [
        ("toolsListChanged", filter.tools_list_changed),
        ("promptsListChanged", prompts.is_some()),
        ("resourcesListChanged", filter.resources_list_changed),
    ] {
        if wanted {
            agreed.insert(name.into(), json!(true));
        }
    }
    if !filter.resource_subscriptions.is_empty() {
        agreed.insert("resourceSubscriptions".into(), json!(filter.resource_subscriptions));
    }
    let mut changes = Changes::new(&context.app, prompts);
    changes.watch(&context.app, &filter.resource_subscriptions);
    let meta = json!({ "io.modelcontextprotocol/subscriptionId": id });
    let acknowledged = json!({ "_meta": meta, "notifications": agreed });
    let first = rpc::notification("notifications/subscriptions/acknowledged", &acknowledged);
    let telling = async {
        if !outbox.send(first).await {
            return;
        }
        loop {
            let change = changes.next().await;
            for message in change.messages(&filter, Some(&meta)) {
                outbox.send(message).await;
            }
        }
    };
    tokio::select! {
        () = telling => {}
        () = context.stop.cancelled() => {}
        () = outbox.closed() => {}
        () = context.app.gate.closing() => {}
    }
    Ok(context.complete(Map::from_iter([("_meta".to_owned(), meta.clone())])))
}

/// Tells a legacy client everything that it might want to know, until its session is over.
pub(crate) async fn tell(app: Arc<App>, session: Arc<Session>, outbox: Outbox) {
    let filter = Filter {
        tools_list_changed: true,
        prompts_list_changed: true,
        resources_list_changed: true,
        resource_subscriptions: HashSet::new(),
        task_ids: None,
    };
    let mut changes = Changes::new(&app, app.library.prompt_changes());
    let telling = async {
        loop {
            changes.watch(&app, &session.watched());
            let change = tokio::select! {
                change = changes.next() => change,
                () = session.begun_to_watch.notified() => continue,
            };
            if let Change::Resource(uri) = &change
                && !session.watched().contains(uri)
            {
                continue;
            }
            for message in change.messages(&filter, None) {
                outbox.send(message).await;
            }
        }
    };
    tokio::select! {
        () = telling => {}
        () = session.over.cancelled() => {}
        () = outbox.closed() => {}
        () = app.gate.closing() => {}
    }
}

/// Something has changed.
enum Change {
    Tools,
    Prompts,
    Resource(String),
}

impl Change {
    fn messages(&self, filter: &Filter, meta: Option<&Value>) -> Vec<Vec<u8>> {
        let tell = |wanted: bool, method: &str, uri: Option<&str>| {
            let mut params = Map::new();
            if let Some(meta) = meta {
                params.insert("_meta".into(), meta.clone());
            }
            if let Some(uri) = uri {
                params.insert("uri".into(), json!(uri));
            }
            wanted.then(|| rpc::notification(method, &Value::Object(params)))
        };
        let messages = match self {
            // A contract is a resource: where the tools change, the resources do.
            Change::Tools => [
                tell(filter.tools_list_changed, "notifications/tools/list_changed", None),
                tell(filter.resources_list_changed, "notifications/resources/list_changed", None),
            ],
            Change::Prompts => {
                let method = "notifications/prompts/list_changed";
                [tell(filter.prompts_list_changed, method, None), None]
            }
            Change::Resource(uri) => {
                [tell(true, "notifications/resources/updated", Some(uri)), None]
            }
        };
        messages.into_iter().flatten().collect()
    }
}

/// Everything that can change.
struct Changes {
    tools: watch::Receiver<u64>,
    prompts: Option<watch::Receiver<u64>>,
    news: mpsc::Receiver<String>,
    updates: mpsc::Sender<String>,
    /// What is watched, and what follows it where it is a job that runs.
    watched: HashMap<String, Option<AbortOnDrop>>,
}

impl Changes {
    fn new(app: &App, mut prompts: Option<watch::Receiver<u64>>) -> Self {
        let (updates, news) = mpsc::channel(64);
        let tools = app.gate.changes();
        if let Some(prompts) = &mut prompts {
            prompts.mark_unchanged();
        }
        Self { tools, prompts, news, updates, watched: HashMap::new() }
    }

    /// Watches the jobs among these resources that are still running. Others do not change.
    fn watch(&mut self, app: &App, uris: &HashSet<String>) {
        self.watched.retain(|uri, _| uris.contains(uri));
        for uri in uris {
            if self.watched.contains_key(uri) {
                continue;
            }
            let live = resources::job_of(uri).and_then(|id| app.gate.live(&id));
            let following = live.map(|live| {
                let task = tokio::spawn(follow(live, uri.clone(), self.updates.clone()));
                AbortOnDrop(task.abort_handle())
            });
            self.watched.insert(uri.clone(), following);
        }
    }

    async fn next(&mut self) -> Change {
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
                Ok(()) => Change::Tools,
                Err(_) => pending().await,
            },
            () = prompts => Change::Prompts,
            Some(uri) = self.news.recv() => Change::Resource(uri),
        }
    }
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
