//! MCP on stdin and stdout: a message a line, both protocol versions in one process.

use std::{future::Future, sync::Arc, time::Duration};

use bytes::Bytes;
use gate::{Caller, Door, RequestId};
use mcp::{Id, Line, LineReader, Message, ProtocolVersion, Request, RpcError, params::Params};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    sync::mpsc,
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use super::{
    batch::Batch,
    context::{Client, McpContext, MessageSender, RpcResult, Scope},
    dispatch::{self, Dispatched},
    initialize,
    open_requests::OpenRequests,
    session::Session,
    subscriptions,
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
    let (sender, messages) = MessageSender::channel();
    let writer = tokio::spawn(write(messages, output));
    let mut door = StdioDoor::new(app, toolset, sender);
    let mut lines = LineReader::new(input, door.app.settings.max_body_bytes);
    let mut stop = std::pin::pin!(stop);
    loop {
        let line = tokio::select! {
            line = lines.next() => line,
            () = &mut stop => break,
            // Nobody reads stdout: the client is gone.
            () = door.messages.closed() => break,
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
            tokio::time::sleep(STOP_TIMEOUT).await;
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
    let _ = tokio::time::timeout(STOP_TIMEOUT, writer).await;
}

/// The time in which cancelled calls are recorded and their responses read.
const STOP_TIMEOUT: Duration = Duration::from_secs(4);

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

struct StdioDoor {
    app: Arc<App>,
    scope: Scope,
    caller: Caller,
    messages: MessageSender,
    /// The requests of both protocol versions that have no response yet.
    requests: Arc<OpenRequests>,
    /// The legacy client, once `initialize` has described it.
    session: Option<Arc<Session>>,
    running: JoinSet<()>,
}

impl StdioDoor {
    fn new(app: Arc<App>, toolset: Option<&str>, messages: MessageSender) -> Self {
        let (scope, caller) = (toolset.map(Arc::from), Caller::named("stdio"));
        let (requests, running) = (Arc::default(), JoinSet::new());
        Self { app, scope, caller, messages, requests, session: None, running }
    }

    async fn receive(&mut self, line: Line) {
        match line {
            Line::Message(bytes) => self.message(bytes).await,
            Line::TooLong => self.too_long().await,
            // Its client has been told.
            Line::Discarded(_) => {}
        }
    }

    async fn message(&mut self, bytes: Bytes) {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        // What has ended needs no place any more.
        while self.running.try_join_next().is_some() {}
        if mcp::is_batch(&bytes) {
            return self.batch(&bytes).await;
        }
        let refused = match Message::read(&bytes) {
            Ok(Message::Request(request)) => return self.answer(request).await,
            Ok(message) => self.no_request(&message).err(),
            Err(malformed) => {
                return self.refuse(malformed.id.as_ref(), &malformed.error).await;
            }
        };
        if let Some(error) = refused {
            self.refuse(None, &error).await;
        }
    }

    /// Takes a notification or a response. Any client may cancel; only a legacy one responds.
    fn no_request(&self, message: &Message<'_>) -> Result<(), RpcError> {
        match &self.session {
            Some(session) => initialize::no_request(session, message),
            None => {
                if let Some(id) = initialize::cancelled(message) {
                    self.requests.cancel(&id);
                }
                Ok(())
            }
        }
    }

    async fn refuse(&self, id: Option<&Id>, error: &RpcError) {
        self.messages.send(mcp::encode_error(id, error)).await;
    }

    async fn batch(&mut self, bytes: &Bytes) {
        let version =
            self.session.as_ref().map_or(ProtocolVersion::NEWEST_LEGACY, |one| one.client.version);
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
        let messages = self.messages.clone();
        self.running.spawn(async move {
            if let Some(responses) = batch.answer(context, session).await {
                messages.send(responses).await;
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
        if request.method == "initialize" && !is_modern(request.params) {
            let outcome = self.initialize(request.params);
            self.messages.send(mcp::encode_response(&id, &outcome)).await;
            return;
        }
        let stop = CancellationToken::new();
        let open = match self.requests.begin(&id, &stop) {
            Ok(open) => open,
            Err(reason) => {
                return self.refuse(Some(&id), &RpcError::invalid_request(reason)).await;
            }
        };
        let work = self.begin(&request, stop).unwrap_or_else(|error| Dispatched::Ready(Err(error)));
        let mut later = match work {
            Dispatched::Ready(outcome) => {
                self.messages.send(mcp::encode_response(&id, &outcome)).await;
                return;
            }
            Dispatched::Pending(later) => later,
        };
        // Most calls are over at once, and then need no task of their own.
        if let std::task::Poll::Ready(outcome) = gate::poll_once(later.as_mut()).await {
            self.messages.send(mcp::encode_response(&id, &outcome)).await;
            return;
        }
        let messages = self.messages.clone();
        self.running.spawn(async move {
            let outcome = later.await;
            // A cancelled request gets no response.
            if !open.was_cancelled() {
                let response = mcp::encode_response(&id, &outcome);
                drop(outcome);
                messages.send(response).await;
            }
        });
    }

    fn initialize(&mut self, params: Option<&str>) -> RpcResult {
        if self.session.is_some() {
            return Err(RpcError::invalid_request("this connection is already initialized"));
        }
        let requests = self.requests.clone();
        let (session, result) =
            initialize::begin(&self.app, &self.caller, &self.scope, params, requests)?;
        let notifying = subscriptions::notify(
            self.app.clone(),
            self.scope.clone(),
            session.clone(),
            self.messages.clone(),
        );
        self.running.spawn(notifying);
        self.session = Some(session);
        Ok(result)
    }

    fn begin(
        &self,
        request: &Request<'_>,
        stop: CancellationToken,
    ) -> Result<Dispatched, RpcError> {
        let (params, meta) = dispatch::read(request)?;
        let client = if meta.protocol_version.is_some() || request.method == "server/discover" {
            Client::modern(&meta)?
        } else if let Some(session) = &self.session {
            session.client()
        } else if request.method == "ping" {
            return Ok(Dispatched::Ready(Ok(b"{}".to_vec().into())));
        } else {
            return Err(RpcError::invalid_request(
                "not initialized: send `initialize`, or a request of 2026-07-28 with its own _meta",
            ));
        };
        let mut context = self.context(client, stop);
        if request.method == "subscriptions/listen" {
            context.subscription = Some(request.id.value());
        }
        Ok(dispatch::begin(context, &request.method, &params, &meta))
    }

    fn context(&self, client: Client, stop: CancellationToken) -> McpContext {
        McpContext {
            app: self.app.clone(),
            client,
            scope: self.scope.clone(),
            caller: self.caller.clone(),
            request_id: RequestId::new(self.app.gate.clock().now()),
            door: Door::McpStdio,
            stop,
            messages: Some(self.messages.clone()),
            session: self.session.clone(),
            subscription: None,
            headers: None,
        }
    }

    /// Ends everything of the client, tasks included.
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
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        };
        if tokio::time::timeout(STOP_TIMEOUT, over).await.is_err() {
            tracing::warn!("calls were still running when the time to stop was up");
        }
        self.running.shutdown().await;
    }
}

/// The number of batches of one client that may be open at once, or of requests beside them.
const MAX_BATCHES: usize = 64;

/// The interval at which to look whether everything has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

fn is_modern(params: Option<&str>) -> bool {
    let meta = Params::read(params).and_then(|params| params.meta());
    meta.is_ok_and(|meta| meta.protocol_version.is_some())
}
