//! A connection that stands: requests are made over it, in the server's own era.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use guard::process::SandboxLevel;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{
    Event, Flight, Happening, Limits, Oddities, Prepared, Reply, RequestError, Server, Wire,
    listening::Listening, outgoing, protocol,
};

const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// A request to make.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// Its method.
    pub method: &'static str,
    /// What it names: the tool, the prompt, the resource.
    pub name: Option<&'a str>,
    /// Its parameters: the text of a JSON object without `_meta`, which is sent as it is.
    pub params: &'a str,
    /// More headers, for a wire that has any.
    pub headers: Vec<(String, String)>,
    /// How long it may take. Time in which somebody is asked something does not count.
    pub timeout: Duration,
    /// Whether anybody wants to know how far it has come.
    pub wants_progress: bool,
    /// The least that anybody wants to read of the server's log (modern era).
    pub log_level: Option<&'a str>,
    /// What can be done for the server during this request, as JSON text, where that differs from what
    /// was said when the connection was made (modern era).
    pub capabilities: Option<&'a str>,
}

impl<'a> Request<'a> {
    /// A request that names nothing, and of which only the end is wanted.
    pub fn new(method: &'static str, params: &'a str, timeout: Duration) -> Request<'a> {
        Request {
            method,
            name: None,
            params,
            headers: Vec::new(),
            timeout,
            wants_progress: false,
            log_level: None,
            capabilities: None,
        }
    }
}

/// What every request says of us: everything in the modern era, nothing in the legacy one. Printed once.
#[derive(Debug)]
pub(crate) struct Meta {
    /// Without the capabilities.
    client: Option<String>,
    capabilities: String,
}

impl Meta {
    pub(crate) fn legacy() -> Meta {
        Meta { client: None, capabilities: String::new() }
    }

    pub(crate) fn modern(client: &Value, capabilities: &Value) -> Meta {
        let version = json!(protocol::MODERN);
        let client = format!(r#""{PROTOCOL_VERSION}":{version},"{CLIENT_INFO}":{client}"#);
        Meta { client: Some(client), capabilities: capabilities.to_string() }
    }

    /// The whole message.
    fn print(&self, id: u64, request: &Request<'_>) -> bytes::Bytes {
        let capabilities = self.client.as_ref().map(|_| {
            let said = request.capabilities.unwrap_or(&self.capabilities);
            format!(r#""{CLIENT_CAPABILITIES}":{said}"#)
        });
        let level = request.log_level.filter(|_| self.client.is_some());
        let level = level.map(|level| format!(r#""{LOG_LEVEL}":{}"#, json!(level)));
        let token = request.wants_progress.then(|| format!(r#""progressToken":{id}"#));
        let fields = [&self.client, &capabilities, &level, &token];
        let fields: Vec<&str> = fields.into_iter().flatten().map(String::as_str).collect();
        outgoing::request(id, request.method, request.params, &fields)
    }
}

/// A wire, and the numbers of its requests.
#[derive(Clone)]
pub(crate) struct Line {
    wire: Arc<dyn Wire>,
    last_id: Arc<AtomicU64>,
}

impl Line {
    pub(crate) fn new(wire: Arc<dyn Wire>) -> Line {
        Line { wire, last_id: Arc::new(AtomicU64::new(0)) }
    }

    pub(crate) fn wire(&self) -> &Arc<dyn Wire> {
        &self.wire
    }

    pub(crate) fn begin(&self, request: Request<'_>, meta: &Meta) -> Box<dyn Flight> {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let body = meta.print(id, &request);
        self.wire.begin(Prepared {
            id,
            method: request.method,
            name: request.name.map(str::to_owned),
            body,
            headers: request.headers,
            timeout: request.timeout,
        })
    }

    pub(crate) async fn request(
        &self,
        request: Request<'_>,
        meta: &Meta,
    ) -> Result<Reply, RequestError> {
        let mut flight = self.begin(request, meta);
        loop {
            // A question is dropped, which answers that nobody can be asked.
            if let Happening::Done(outcome) = flight.next().await {
                return outcome;
            }
        }
    }
}

/// A connection to a server. Cheap to clone; it ends with the last clone and the last request.
#[derive(Clone)]
pub struct Connection {
    inner: Arc<Inner>,
}

struct Inner {
    line: Line,
    server: Server,
    meta: Arc<Meta>,
    limits: Limits,
    events: Mutex<Option<mpsc::Receiver<Event>>>,
    listening: Option<Listening>,
}

impl Connection {
    pub(crate) fn new(
        line: Line,
        server: Server,
        meta: Meta,
        limits: Limits,
        (sender, events): (mpsc::Sender<Event>, mpsc::Receiver<Event>),
    ) -> Connection {
        let meta = Arc::new(meta);
        let listening = Listening::begin(&line, &server, &meta, sender);
        let events = Mutex::new(Some(events));
        Connection { inner: Arc::new(Inner { line, server, meta, limits, events, listening }) }
    }

    /// Who is on the other side.
    pub fn server(&self) -> &Server {
        &self.inner.server
    }

    /// How much it may take of us.
    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// Makes a request, and follows it.
    pub fn begin(&self, request: Request<'_>) -> Box<dyn Flight> {
        self.inner.line.begin(request, &self.inner.meta)
    }

    /// Makes a request, and waits for its end. What the server asks meanwhile, nobody answers.
    pub async fn request(&self, request: Request<'_>) -> Result<Reply, RequestError> {
        self.inner.line.request(request, &self.inner.meta).await
    }

    /// What happens beside requests. Only the first who asks gets it.
    pub fn events(&self) -> Option<mpsc::Receiver<Event>> {
        self.inner.events.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The latest of what the server printed for people.
    pub fn stderr(&self) -> String {
        self.inner.line.wire.stderr()
    }

    /// What it sent that could not be used.
    pub fn oddities(&self) -> Oddities {
        self.inner.line.wire.oddities()
    }

    /// How much of a sandbox it runs in; nothing where none was asked for.
    pub fn sandbox(&self) -> Option<SandboxLevel> {
        self.inner.line.wire.sandbox()
    }

    /// Ends it, and waits until nothing of it is left. Requests that run are lost.
    pub async fn close(&self) {
        if let Some(listening) = &self.inner.listening {
            listening.stop();
        }
        self.inner.line.wire.close().await;
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Connection")
            .field("server", &self.inner.server)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(meta: &Meta, request: &Request<'_>) -> String {
        String::from_utf8(meta.print(7, request).to_vec()).unwrap()
    }

    #[test]
    fn each_era_says_what_it_has_to() {
        let second = Duration::from_secs(1);
        let plain = Request::new("tools/list", "{}", second);
        let followed = Request {
            wants_progress: true,
            log_level: Some("info"),
            capabilities: Some(r#"{"sampling":{}}"#),
            ..Request::new("tools/call", r#"{"name":"x"}"#, second)
        };
        let legacy = Meta::legacy();
        assert_eq!(
            printed(&legacy, &plain),
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{}}"#
        );
        assert_eq!(
            printed(&legacy, &followed),
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":{"progressToken":7},"name":"x"}}"#
        );
        let modern = Meta::modern(&json!({ "name": "toolgate" }), &json!({ "roots": {} }));
        let text = printed(&modern, &plain);
        let message: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            message["params"]["_meta"],
            json!({
                PROTOCOL_VERSION: "2026-07-28",
                CLIENT_INFO: { "name": "toolgate" },
                CLIENT_CAPABILITIES: { "roots": {} },
            })
        );
        let text = printed(&modern, &followed);
        let message: Value = serde_json::from_str(&text).unwrap();
        let meta = &message["params"]["_meta"];
        assert_eq!(meta[CLIENT_CAPABILITIES], json!({ "sampling": {} }));
        assert_eq!((&meta[LOG_LEVEL], &meta["progressToken"]), (&json!("info"), &json!(7)));
        assert_eq!(message["params"]["name"], "x");
    }
}
