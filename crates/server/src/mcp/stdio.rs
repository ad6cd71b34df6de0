//! MCP on stdin and stdout: a message a line, both eras in one process.

mod lines;

use std::{future::Future, sync::Arc, time::Duration};

use bytes::Bytes;
use gate::{Caller, Door, RequestId};
use serde_json::value::RawValue;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    sync::mpsc,
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use self::lines::{Line, Lines};
use super::{
    batch::{self, Batch},
    client::Client,
    context::{Context, Outbox, Scope},
    dispatch::{self, Work},
    initialize,
    params::Params,
    requests::Requests,
    rpc::{self, Id, Message, Request, RpcError},
    session::Session,
    subscriptions,
    version::Version,
};
use crate::App;

/// Answers until the input ends or the server is told to stop; then whatever still runs is
/// cancelled.
pub async fn serve(
    app: Arc<App>,
    toolset: Option<&str>,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
    stop: impl Future<Output = ()>,
) {
    let (outbox, messages) = Outbox::channel();
    let writer = tokio::spawn(write(messages, output));
    let mut door = Stdio::new(app, toolset, outbox);
    let mut lines = Lines::new(input, door.app.settings.max_body_bytes);
    let mut stop = std::pin::pin!(stop);
    loop {
        let line = tokio::select! {
            line = lines.next() => line,
            () = &mut stop => break,
            // Nobody reads what we say: nobody is there.
            () = door.outbox.closed() => break,
        };
        let line = match line {
            Ok(Some(line)) => line,
            Ok(None) => break,
            Err(error) => {
                tracing::warn!(%error, "stdin cannot be read");
                break;
            }
        };
        // A client that does not read makes us wait, but not for long after it has gone.
        let gone = async {
            lines.ended().await;
            tokio::time::sleep(LAST_MOMENT).await;
        };
        tokio::select! {
            biased;
            () = door.receive(line) => {}
            () = gone => break,
            () = &mut stop => break,
        }
    }
    door.end().await;
    drop(door);
    let _ = tokio::time::timeout(LAST_MOMENT, writer).await;
}

/// How long calls that were told to stop have to be recorded, and their answers to be read.
const LAST_MOMENT: Duration = Duration::from_secs(4);

/// Writes messages as lines; those that wait together go together.
async fn write(mut messages: mpsc::Receiver<Bytes>, mut output: impl AsyncWrite + Unpin) {
    let mut text = Vec::new();
    while let Some(message) = messages.recv().await {
        text.clear();
        text.extend_from_slice(&message);
        text.push(b'\n');
        while let Ok(message) = messages.try_recv() {
            text.extend_from_slice(&message);
            text.push(b'\n');
        }
        if output.write_all(&text).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}

struct Stdio {
    app: Arc<App>,
    scope: Scope,
    caller: Caller,
    outbox: Outbox,
    /// The requests of both eras that are not answered yet.
    requests: Arc<Requests>,
    /// The client of the legacy era, once `initialize` has described it.
    session: Option<Arc<Session>>,
    running: JoinSet<()>,
}

impl Stdio {
    fn new(app: Arc<App>, toolset: Option<&str>, outbox: Outbox) -> Self {
        let (scope, caller) = (toolset.map(Arc::from), Caller::named("stdio"));
        let (requests, running) = (Arc::default(), JoinSet::new());
        Self { app, scope, caller, outbox, requests, session: None, running }
    }

    async fn receive(&mut self, line: Line) {
        match line {
            Line::Message(bytes) => self.message(&bytes).await,
            Line::TooLong => self.too_long().await,
        }
    }

    async fn message(&mut self, bytes: &[u8]) {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        // What has ended needs no place any more.
        while self.running.try_join_next().is_some() {}
        if batch::is_one(bytes) {
            return self.batch(bytes).await;
        }
        match rpc::parse(bytes) {
            Ok(Message::Request(request)) => self.answer(request).await,
            Ok(told) => self.told(&told),
            Err(malformed) => self.refuse(malformed.0.as_ref(), &malformed.1).await,
        }
    }

    /// A client of either era may lose interest; only one that was asked answers.
    fn told(&self, message: &Message<'_>) {
        match &self.session {
            Some(session) => initialize::told(session, message),
            None => {
                if let Some(id) = initialize::cancelled(message) {
                    self.requests.cancel(&id);
                }
            }
        }
    }

    async fn refuse(&self, id: Option<&Id>, error: &RpcError) {
        self.outbox.send(rpc::error(id, error)).await;
    }

    async fn batch(&mut self, bytes: &[u8]) {
        let version =
            self.session.as_ref().map_or(Version::NEWEST_LEGACY, |one| one.client.version);
        let batch = match Batch::read(version, bytes) {
            Ok(batch) => batch,
            Err(error) => return self.refuse(None, &error).await,
        };
        let Some(session) = self.session.clone() else { return };
        if self.running.len() >= MAX_BATCHES {
            return self
                .refuse(None, &RpcError::invalid_request("too many batches are open"))
                .await;
        }
        let context = self.context(session.client(), CancellationToken::new());
        let outbox = self.outbox.clone();
        self.running.spawn(async move {
            if let Some(answers) = batch.answer(context, session).await {
                outbox.send(answers).await;
            }
        });
    }

    async fn too_long(&self) {
        let max = self.app.settings.max_body_bytes;
        let message = format!("the line has more than {max} bytes (server.max_body_bytes)");
        self.refuse(None, &RpcError::invalid_request(message)).await;
    }

    async fn answer(&mut self, request: Request<'_>) {
        let id = request.id.clone();
        if &*request.method == "initialize" && !is_modern(request.params) {
            let answer = self.initialize(request.params);
            self.outbox.send(rpc::answer(&id, &answer)).await;
            return;
        }
        let stop = CancellationToken::new();
        let open = match self.requests.begin(&id, &stop) {
            Ok(open) => open,
            Err(reason) => {
                return self.refuse(Some(&id), &RpcError::invalid_request(reason)).await;
            }
        };
        let work = self.begin(&request, stop).unwrap_or_else(|error| Work::Now(Err(error)));
        let mut later = match work {
            Work::Now(reply) => {
                self.outbox.send(rpc::answer(&id, &reply)).await;
                return;
            }
            Work::Later(later) => later,
        };
        // Most calls are over at once, and then need no task of their own.
        if let std::task::Poll::Ready(reply) = gate::poll_once(later.as_mut()).await {
            self.outbox.send(rpc::answer(&id, &reply)).await;
            return;
        }
        let outbox = self.outbox.clone();
        self.running.spawn(async move {
            let reply = later.await;
            // Who has lost interest is told nothing more.
            if !open.was_cancelled() {
                let answer = rpc::answer(&id, &reply);
                drop(reply);
                outbox.send(answer).await;
            }
        });
    }

    fn initialize(&mut self, params: Option<&RawValue>) -> Result<Vec<u8>, RpcError> {
        if self.session.is_some() {
            return Err(RpcError::invalid_request("this connection is initialized already"));
        }
        let requests = self.requests.clone();
        let (session, result) =
            initialize::begin(&self.app, &self.caller, &self.scope, params, requests)?;
        let told = subscriptions::tell(self.app.clone(), session.clone(), self.outbox.clone());
        self.running.spawn(told);
        self.session = Some(session);
        Ok(result)
    }

    fn begin(&self, request: &Request<'_>, stop: CancellationToken) -> Result<Work, RpcError> {
        let (params, meta) = dispatch::read(request)?;
        let client = if meta.protocol_version.is_some() || &*request.method == "server/discover" {
            meta.client()?
        } else if let Some(session) = &self.session {
            session.client()
        } else if &*request.method == "ping" {
            return Ok(Work::Now(Ok(b"{}".to_vec())));
        } else {
            return Err(RpcError::invalid_request(
                "not initialized: send `initialize`, or a request of 2026-07-28 with its own _meta",
            ));
        };
        let mut context = self.context(client, stop);
        if &*request.method == "subscriptions/listen" {
            context.subscription = Some(request.id.value());
        }
        Ok(dispatch::begin(context, &request.method, &params, &meta, None))
    }

    fn context(&self, client: Client, stop: CancellationToken) -> Context {
        Context {
            app: self.app.clone(),
            client,
            scope: self.scope.clone(),
            caller: self.caller.clone(),
            request_id: RequestId::new(self.app.gate.clock().now()),
            door: Door::McpStdio,
            stop,
            outbox: Some(self.outbox.clone()),
            session: self.session.clone(),
            subscription: None,
        }
    }

    /// The client is gone: nothing of its goes on, tasks included.
    async fn end(&mut self) {
        self.requests.stop_all();
        if let Some(session) = &self.session {
            session.end();
        }
        let (gate, jobs) = (self.app.gate.clone(), self.app.jobs.clone());
        gate.begin_stopping();
        gate.stop_all();
        let over = async {
            loop {
                // What was accepted a moment ago may only now be there to be cancelled.
                jobs.cancel_all().await;
                while self.running.try_join_next().is_some() {}
                if self.running.is_empty() && !gate.is_running() && !gate.has_live_jobs() {
                    return;
                }
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        if tokio::time::timeout(LAST_MOMENT, over).await.is_err() {
            tracing::warn!("calls were still running when the time to stop was up");
        }
        self.running.shutdown().await;
    }
}

/// How many batches of one client may be open at once, or requests beside them.
const MAX_BATCHES: usize = 64;

/// How often to look whether everything has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

fn is_modern(params: Option<&RawValue>) -> bool {
    let meta = Params::read(params).and_then(|params| params.meta());
    meta.is_ok_and(|meta| meta.protocol_version.is_some())
}
