//! What carries messages.

use std::time::Duration;

use bytes::Bytes;
use gate::BoxFuture;
use guard::process::SandboxLevel;
use tokio::sync::mpsc;

use super::{Era, Happening, Oddities};

/// A request as it goes out: printed, and with all that a transport has to know of it.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// Its number, which no other request of the connection has.
    pub id: u64,
    /// Its method.
    pub method: &'static str,
    /// What it names: the tool, the prompt, the resource (`Mcp-Name`).
    pub name: Option<String>,
    /// The whole message.
    pub body: Bytes,
    /// More headers, where the wire has any: arguments that are mirrored (`Mcp-Param-…`). Their values are
    /// as they are; the wire encodes those that no header can have.
    pub headers: Vec<(String, String)>,
    /// How long it may take.
    pub timeout: Duration,
}

/// A request on its way. Dropping it tells the server that nobody waits any more.
pub trait Flight: Send {
    /// What happens next. After `Happening::Done` it is not asked again. Cancel-safe.
    fn next(&mut self) -> BoxFuture<'_, Happening>;
}

/// Something that a server says, or that happens to it, beside all requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The tools may have changed.
    ToolsChanged,
    /// The prompts may have changed.
    PromptsChanged,
    /// The resources may have changed.
    ResourcesChanged,
    /// The connection is over, and why.
    Closed(String),
}

/// Where events go. One that finds no room is lost except `Closed`, which is always the last: who
/// listens has a look at everything when there is any.
pub type Events = mpsc::Sender<Event>;

/// Carries messages to one server and back.
pub trait Wire: Send + Sync {
    /// Sends a request.
    fn begin(&self, request: Prepared) -> Box<dyn Flight>;

    /// Sends a notification.
    fn notify(&self, message: Bytes) -> BoxFuture<'_, Result<(), String>>;

    /// From now on both speak this revision: what has to be said with every message is, and what a
    /// server says beside requests is listened to.
    fn established(&self, era: Era, version: &str) -> BoxFuture<'_, ()>;

    /// The latest of what the server printed for people, where it can.
    fn stderr(&self) -> String {
        String::new()
    }

    /// What it sent that could not be used.
    fn oddities(&self) -> Oddities {
        Oddities::default()
    }

    /// How much of a sandbox a child runs in; nothing where none was asked for.
    fn sandbox(&self) -> Option<SandboxLevel> {
        None
    }

    /// Ends it: as the protocol wants it where there is time, and in any case.
    fn close(&self) -> BoxFuture<'_, ()>;
}
