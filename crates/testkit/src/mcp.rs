//! MCP by hand: exactly the messages that a test wants to send, over a real connection.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Stdio},
    sync::mpsc,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{Answer, Raw, World};

/// The timeout for a message of the server.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The extension for calls that go on by themselves.
pub const TASKS: &str = "io.modelcontextprotocol/tasks";

/// The capabilities of a client that knows tasks.
pub fn with_tasks() -> Value {
    json!({ "extensions": { TASKS: {} } })
}

/// Parameters with more of them.
pub fn extended(mut params: Value, more: &Value) -> Value {
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    params
}

/// The notification that nobody waits for this request any more.
pub fn cancelled(id: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } })
}

/// `_meta` of a modern request whose client can do this.
pub fn meta(capabilities: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "testkit", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

pub fn request(id: impl Into<Value>, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

/// The messages of an answer: one of JSON, several of a stream.
pub fn messages(answer: &Answer) -> Vec<Value> {
    let kind = answer.headers.get("content-type").map_or("", String::as_str);
    if !kind.starts_with("text/event-stream") {
        return vec![answer.json()];
    }
    let text = answer.text();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The headers of every request: what it has, and what it takes.
pub const JSON: (&str, &str) = ("content-type", "application/json");
pub const ACCEPT: (&str, &str) = ("accept", "application/json, text/event-stream");

/// The parameters of `initialize`.
fn initialize(version: &str, capabilities: &Value) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": capabilities,
        "clientInfo": { "name": "testkit", "version": "1" },
    })
}

/// A request as bytes, for a connection by hand.
pub fn frame(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n");
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    text += &format!("content-length: {}\r\n\r\n{body}", body.len());
    text.into_bytes()
}

/// A client of the modern protocol version over HTTP.
pub struct Modern<'a> {
    world: &'a World,
    /// The path of its requests.
    pub path: String,
    pub capabilities: Value,
    /// Headers that it sends beside the usual ones.
    pub headers: Vec<(String, String)>,
}

impl<'a> Modern<'a> {
    /// A client that can do nothing but call.
    pub fn new(world: &'a World) -> Self {
        let headers = Vec::new();
        Self { world, path: "/mcp".into(), capabilities: json!({}), headers }
    }

    /// The same, able to do this.
    #[must_use]
    pub fn able(mut self, capabilities: Value) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// The same at another path.
    #[must_use]
    pub fn at(mut self, path: &str) -> Self {
        path.clone_into(&mut self.path);
        self
    }

    /// The same with one more header.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sends a request as a client should, and reads the whole answer.
    pub async fn send(&self, method: &str, mut params: Value) -> Answer {
        if params.get("_meta").is_none() {
            params["_meta"] = meta(&self.capabilities);
        }
        let name = ["name", "uri", "taskId"].iter().find_map(|key| params[*key].as_str());
        let mut headers =
            vec![JSON, ACCEPT, ("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
        if let Some(name) = name {
            headers.push(("mcp-name", name));
        }
        for (name, value) in &self.headers {
            headers.retain(|(known, _)| known != name);
            headers.push((name, value));
        }
        let body = request(1, method, &params).to_string();
        self.world.send("POST", &self.path, &headers, Some(body.into_bytes())).await
    }

    /// The answer to a request: the last message.
    pub async fn ask(&self, method: &str, params: Value) -> Value {
        messages(&self.send(method, params).await).pop().unwrap()
    }

    /// The result of a call.
    pub async fn call(&self, tool: &str, arguments: &Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = self.ask("tools/call", params).await;
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }
}

/// A client of a legacy protocol version over HTTP.
pub struct Legacy<'a> {
    world: &'a World,
    /// The path of its requests.
    pub path: String,
    pub session: String,
    /// The result of `initialize`.
    pub opened: Value,
}

impl<'a> Legacy<'a> {
    /// A session of the newest legacy version.
    pub async fn open(world: &'a World) -> Self {
        Self::able(world, &json!({})).await
    }

    /// The same with a client that can do this.
    pub async fn able(world: &'a World, capabilities: &Value) -> Self {
        Self::open_at(world, "/mcp", "2025-11-25", capabilities).await
    }

    /// A session of this version, with a client that can do this.
    pub async fn open_at(
        world: &'a World,
        path: &str,
        version: &str,
        capabilities: &Value,
    ) -> Self {
        let body = request(0, "initialize", &initialize(version, capabilities)).to_string();
        let answer = world.send("POST", path, &[JSON, ACCEPT], Some(body.into_bytes())).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let session = answer.header("mcp-session-id").to_owned();
        let client = Self { world, path: path.into(), session, opened: answer.json() };
        let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(client.post(&told.to_string()).await.status, 202);
        client
    }

    fn headers(&self) -> [(&str, &str); 3] {
        [JSON, ACCEPT, ("mcp-session-id", &self.session)]
    }

    /// Sends a body within the session.
    pub async fn post(&self, body: &str) -> Answer {
        let body = Some(body.as_bytes().to_vec());
        self.world.send("POST", &self.path, &self.headers(), body).await
    }

    /// Sends a request on a connection of its own, whose response is read as it comes.
    pub async fn stream(&self, request: &Value) -> Raw {
        let request = request.to_string();
        self.world.sent(frame("POST", &self.path, &self.headers(), &request)).await
    }

    /// The answer to a request: the last message.
    pub async fn ask(&self, method: &str, params: &Value) -> Value {
        let answer = self.post(&request(1, method, params).to_string()).await;
        messages(&answer).pop().unwrap()
    }

    /// The result of a call.
    pub async fn call(&self, tool: &str, arguments: &Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = self.ask("tools/call", &params).await;
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }
}

/// A server on stdin and stdout.
pub struct Piped {
    child: Child,
    input: Option<ChildStdin>,
    /// Until somebody listens.
    output: Option<ChildStdout>,
    lines: mpsc::Receiver<String>,
}

impl Piped {
    /// Starts `toolgate mcp` with these further arguments, in the folder of a world.
    pub fn start(world: &World, arguments: &[&str]) -> Self {
        let mut piped = Self::start_unheard(world, arguments);
        piped.listen();
        piped
    }

    /// The same, and nobody reads what it says until [`Self::listen`].
    pub fn start_unheard(world: &World, arguments: &[&str]) -> Self {
        Self::of(&mut world.command(&[&["mcp"], arguments].concat()))
    }

    /// Starts a program that speaks MCP; nobody reads what it says until [`Self::listen`].
    #[allow(clippy::disallowed_types)] // As a client starts it.
    pub fn of(command: &mut std::process::Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take());
        Self { child, input, output, lines: mpsc::channel().1 }
    }

    /// Begins to read what the server says.
    pub fn listen(&mut self) {
        let output = BufReader::new(self.output.take().unwrap());
        let (sender, lines) = mpsc::channel();
        self.lines = lines;
        std::thread::spawn(move || {
            for line in output.lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
    }

    /// Closes the server's stdout, where nobody listens.
    pub fn close_output(&mut self) {
        drop(self.output.take().unwrap());
    }

    /// The server's stdin, for whoever writes more than is read.
    pub fn take_input(&mut self) -> ChildStdin {
        self.input.take().unwrap()
    }

    /// Asks the server to stop.
    pub fn terminate(&self) {
        assert!(crate::signal(self.pid(), "-TERM"));
    }

    /// The exit code, once there is one.
    pub fn ended(&mut self) -> Option<i32> {
        self.child.try_wait().unwrap().map(|status| status.code().unwrap_or(-1))
    }

    /// The process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes.as_ref()).and_then(|()| input.flush()).unwrap();
    }

    /// Sends a message as a line.
    pub fn tell(&mut self, message: &Value) {
        self.send(format!("{message}\n"));
    }

    /// The next message.
    pub fn heard(&mut self) -> Value {
        let line = self.lines.recv_timeout(TIMEOUT).expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// True if the server sends nothing for that long.
    pub fn is_silent(&mut self, time: Duration) -> bool {
        self.lines.recv_timeout(time).is_err()
    }

    /// The next message that is not about a listing: those come whenever an upstream is ready.
    pub fn heard_beside_listings(&mut self) -> Value {
        loop {
            let message = self.heard();
            let method = message["method"].as_str().unwrap_or_default();
            if !method.ends_with("/list_changed") {
                return message;
            }
        }
    }

    /// Sends a request and waits for the next message that is not about a listing.
    pub fn ask(&mut self, id: impl Into<Value>, method: &str, params: &Value) -> Value {
        self.tell(&request(id, method, params));
        self.heard_beside_listings()
    }

    /// Answers a request of the server, and waits for the next message that is not about a listing.
    pub fn respond(&mut self, asked: &Value, result: &Value) -> Value {
        self.tell(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }));
        self.heard_beside_listings()
    }

    /// `initialize`, as a client of the newest legacy version.
    pub fn initialize(&mut self, capabilities: &Value) -> Value {
        let answer = self.ask(0, "initialize", &initialize("2025-11-25", capabilities));
        self.tell(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer
    }

    /// Closes stdin and waits for the end; the exit code and what was said until then.
    pub fn close(mut self) -> (i32, Vec<Value>) {
        drop(self.input.take());
        let said = self.lines.iter().map(|line| serde_json::from_str(&line).unwrap()).collect();
        (self.child.wait().unwrap().code().unwrap_or(-1), said)
    }
}

impl Drop for Piped {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
