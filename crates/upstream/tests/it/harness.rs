//! Shared by the tests: servers that are scripts, and waiting.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use guard::process::{ResourceLimits, Spawner};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use upstream::connection::{
    ConnectError, ConnectOptions, Connection, ConnectionEvent, ConnectionLimits, InterimMessage,
    Program, ProtocolChoice, RequestError, RequestOptions, ResponseFuture, ServerInputRequest,
    Target, connect,
};

/// Generous for a loaded machine: a test that passes does not wait for it.
pub const DEADLINE: Duration = Duration::from_mins(1);

pub fn spawner() -> Spawner {
    Spawner::new(PathBuf::from(env!("CARGO_BIN_EXE_upstream-supervise")))
}

pub async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, future).await.expect("took too long")
}

/// A server that is a Python script after the prelude.
pub fn python(script: &str) -> Program {
    // The one of the system: a wrapper of the user's would be a tree of its own.
    let system = "/usr/bin/python3";
    let command = if Path::new(system).exists() { system } else { "python3" };
    let script = format!("{}\n{script}", include_str!("prelude.py"));
    program(command, &["-I", "-S", "-u", "-c", &script])
}

pub fn shell(script: &str) -> Program {
    program("sh", &["-c", script])
}

fn program(command: &str, args: &[&str]) -> Program {
    Program {
        command: command.to_owned(),
        args: args.iter().map(ToString::to_string).collect(),
        env: vec![("PATH".to_owned(), std::env::var("PATH").unwrap())],
        cwd: "/".into(),
        limits: ResourceLimits::default(),
        sandbox: None,
    }
}

pub fn options() -> ConnectOptions {
    ConnectOptions {
        limits: ConnectionLimits {
            connect_timeout: DEADLINE,
            request_timeout: DEADLINE,
            ..ConnectionLimits::default()
        },
        protocol: ProtocolChoice::Auto,
        client: json!({ "name": "toolgate", "version": "1" }),
        capabilities: json!({ "elicitation": { "form": {} } }),
    }
}

pub async fn try_connect(
    program: Program,
    options: ConnectOptions,
) -> Result<Connection, ConnectError> {
    within(connect(&Target::Program(program), &options, &spawner())).await
}

/// A connection to a script, in whatever protocol version it speaks.
pub async fn connected(script: &str) -> Connection {
    try_connect(python(script), options()).await.unwrap()
}

/// A connection to a legacy server that does this with every message after the beginning.
pub async fn serving(body: &str) -> Connection {
    serving_with(body, |_| ()).await
}

pub async fn serving_with(body: &str, change: impl FnOnce(&mut ConnectOptions)) -> Connection {
    let mut options = ConnectOptions { protocol: ProtocolChoice::Legacy, ..options() };
    change(&mut options);
    let script = format!("for message in messages():\n    if legacy(message): continue\n{body}");
    try_connect(python(&script), options).await.unwrap()
}

pub fn call_options() -> RequestOptions<'static> {
    RequestOptions { name: Some("x"), ..RequestOptions::new(DEADLINE) }
}

/// A request that was sent: its response, and the messages before it.
pub struct SentRequest {
    pub response: ResponseFuture,
    interim: mpsc::Receiver<InterimMessage>,
}

impl SentRequest {
    /// Calls a tool.
    pub fn call(connection: &Connection, params: &str) -> Self {
        Self::call_with(connection, params, call_options())
    }

    pub fn call_with(connection: &Connection, params: &str, options: RequestOptions<'_>) -> Self {
        let (sender, interim) = mpsc::channel(64);
        let options = RequestOptions { interim: Some(sender), ..options };
        Self { response: connection.request("tools/call", params, options), interim }
    }

    /// The next message before the response; none when that is there.
    pub async fn message(&mut self) -> Option<InterimMessage> {
        let next = async {
            tokio::select! {
                biased;
                Some(message) = self.interim.recv() => Some(message),
                response = &mut self.response => {
                    self.response = Box::pin(std::future::ready(response));
                    self.interim.try_recv().ok()
                }
            }
        };
        within(next).await
    }

    /// The input request that comes next.
    pub async fn input_request(&mut self) -> ServerInputRequest {
        match self.message().await {
            Some(InterimMessage::InputRequest(asked)) => asked,
            other => panic!("no input request: {other:?}"),
        }
    }

    /// The response. Messages before it are dropped.
    pub async fn finish(&mut self) -> Result<Value, RequestError> {
        while self.message().await.is_some() {}
        let response = within(&mut self.response).await?;
        Ok(serde_json::from_str(response.json()).unwrap())
    }
}

pub async fn answer(connection: &Connection, params: &str) -> Result<Value, RequestError> {
    let response = within(connection.request("tools/call", params, call_options())).await?;
    Ok(serde_json::from_str(response.json()).unwrap())
}

/// Waits for the event that a connection is over.
pub async fn closed(connection: &Connection) -> String {
    let mut events = connection.events().unwrap();
    loop {
        let event = within(events.recv()).await.expect("the last event is never lost");
        if let ConnectionEvent::Closed(why) = event {
            return why;
        }
    }
}

/// A number that no other test uses, by which a test finds its processes.
pub struct Mark(String);

impl Mark {
    pub fn new() -> Mark {
        static NEXT: AtomicU32 = AtomicU32::new(100);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Mark(format!("77{}{number}", std::process::id()))
    }

    /// The text with the number wherever it says `MARK`.
    pub fn in_text(&self, text: &str) -> String {
        text.replace("MARK", &self.0)
    }

    /// The command lines of all running processes with the number in it, our supervisors included.
    pub fn running(&self) -> Vec<String> {
        testkit::running(&self.0)
    }

    /// The number of them that are `sleep` itself.
    pub fn sleeps(&self) -> usize {
        self.running().iter().filter(|line| line.starts_with("sleep ")).count()
    }
}
