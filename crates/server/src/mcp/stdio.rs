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
    client::{Client, Params},
    context::{Context, Outbox, Scope},
    dispatch::{self, Work},
    initialize,
    rpc::{self, Message, Request, RpcError},
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
        // A client that does not read makes us wait, but not for ever.
        tokio::select! {
            () = door.receive(line) => {}
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
    /// What both eras need: the requests that are open, the questions that are asked. The
    /// client in it is the one that `initialize` described, once it did.
    session: Arc<Session>,
    /// The one before `initialize`: requests of the modern era may be open in it.
    before: Arc<Session>,
    initialized: bool,
    running: JoinSet<()>,
}

impl Stdio {
    fn new(app: Arc<App>, toolset: Option<&str>, outbox: Outbox) -> Self {
        let (scope, caller) = (toolset.map(Arc::from), Caller::named("stdio"));
        let nobody = Client {
            version: Version::NEWEST_LEGACY,
            can_ask: gate::CanAsk::default(),
            tasks: false,
            log_level: None,
        };
        let session = Session::new(nobody, caller.clone(), scope.clone());
        let running = JoinSet::new();
        let before = session.clone();
        Self { app, scope, caller, outbox, session, before, initialized: false, running }
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
        match rpc::parse(bytes) {
            Ok(Message::Request(request)) => self.answer(request).await,
            Ok(Message::Notification { method, params }) => {
                initialize::notified(&self.session, &method, params);
                initialize::notified(&self.before, &method, params);
            }
            Ok(Message::Response { id, result }) => {
                self.session.answer(&id, initialize::answer_of(result));
            }
            Err(malformed) => {
                let batch = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
                let error = if batch {
                    &RpcError::invalid_request("a line is one message; batches are not spoken here")
                } else {
                    &malformed.1
                };
                self.outbox.send(rpc::error(malformed.0.as_ref(), error)).await;
            }
        }
    }

    async fn too_long(&self) {
        let max = self.app.settings.max_body_bytes;
        let message = format!("the line has more than {max} bytes (server.max_body_bytes)");
        self.outbox.send(rpc::error(None, &RpcError::invalid_request(message))).await;
    }

    async fn answer(&mut self, request: Request<'_>) {
        let id = request.id.clone();
        if &*request.method == "initialize" && !is_modern(request.params) {
            let answer = self.initialize(request.params);
            self.outbox.send(rpc::answer(&id, &answer)).await;
            return;
        }
        let stop = CancellationToken::new();
        let open = match self.session.begin(&id, &stop) {
            Ok(open) => open,
            Err(reason) => {
                let error = RpcError::invalid_request(reason);
                self.outbox.send(rpc::error(Some(&id), &error)).await;
                return;
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
            drop(open);
            outbox.send(rpc::answer(&id, &reply)).await;
        });
    }

    fn initialize(&mut self, params: Option<&RawValue>) -> Result<Vec<u8>, RpcError> {
        if self.initialized {
            return Err(RpcError::invalid_request("this connection is initialized already"));
        }
        let (session, result) = initialize::begin(&self.app, &self.caller, &self.scope, params)?;
        self.session = session;
        self.initialized = true;
        let told = subscriptions::tell(self.app.clone(), self.session.clone(), self.outbox.clone());
        self.running.spawn(told);
        Ok(result)
    }

    fn begin(&self, request: &Request<'_>, stop: CancellationToken) -> Result<Work, RpcError> {
        let params = Params::read(request.params)?;
        let meta = params.meta()?;
        let client = if meta.protocol_version.is_some() || &*request.method == "server/discover" {
            meta.client()?
        } else if self.initialized || &*request.method == "ping" {
            self.session.client()
        } else {
            return Err(RpcError::invalid_request(
                "not initialized: send `initialize`, or a request of 2026-07-28 with its own _meta",
            ));
        };
        let listens = &*request.method == "subscriptions/listen";
        let context = Context {
            app: self.app.clone(),
            client,
            scope: self.scope.clone(),
            caller: self.caller.clone(),
            request_id: RequestId::new(self.app.gate.clock().now()),
            door: Door::McpStdio,
            stop,
            outbox: Some(self.outbox.clone()),
            session: Some(self.session.clone()),
            subscription: listens.then(|| request.id.value()),
        };
        Ok(dispatch::begin(context, &request.method, &params, &meta, None))
    }

    /// The client is gone: nothing of its goes on, tasks included.
    async fn end(&mut self) {
        self.session.end();
        self.before.end();
        let gate = self.app.gate.clone();
        gate.begin_stopping();
        gate.stop_all();
        let over = async {
            while self.running.join_next().await.is_some() {}
            while gate.is_running() {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        if tokio::time::timeout(LAST_MOMENT, over).await.is_err() {
            tracing::warn!("calls were still running when the time to stop was up");
        }
        self.running.shutdown().await;
    }
}

/// How often to look whether everything has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

fn is_modern(params: Option<&RawValue>) -> bool {
    let meta = Params::read(params).and_then(|params| params.meta());
    meta.is_ok_and(|meta| meta.protocol_version.is_some())
}
