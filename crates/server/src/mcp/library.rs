//! The library: prompts, resources and completions that are offered beside tools.
//!
//! Our own jobs, artifacts and contracts are always there (`resources`); a library adds to
//! them.

use std::sync::Arc;

use gate::{BoxFuture, CallChannel, InputRequests};
use serde_json::{Map, Value, json};
use tokio::sync::watch;

/// Prompts and resources that somebody provides. All of them are in the shapes of MCP.
pub trait Library: Send + Sync {
    /// Every prompt, in the order in which they are listed.
    fn prompts(&self) -> Vec<Value> {
        Vec::new()
    }

    /// The `GetPromptResult` of a prompt.
    fn prompt<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a Map<String, Value>,
        channel: &'a CallChannel,
    ) -> BoxFuture<'a, Result<Value, LibraryError>> {
        let _ = (name, arguments, channel);
        Box::pin(async { Err(LibraryError::Unknown) })
    }

    /// Every resource, in the order in which they are listed.
    fn resources(&self) -> Vec<Value> {
        Vec::new()
    }

    /// Every resource template.
    fn templates(&self) -> Vec<Value> {
        Vec::new()
    }

    /// The `contents` of a resource.
    fn read<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<Value, LibraryError>> {
        let _ = uri;
        Box::pin(async { Err(LibraryError::Unknown) })
    }

    /// The `completion` of an argument of a prompt or of a template.
    fn complete<'a>(&'a self, given: &'a CompletionRequest) -> BoxFuture<'a, Value> {
        let _ = given;
        Box::pin(async { json!({ "values": [], "total": 0, "hasMore": false }) })
    }

    /// The part of this that belongs to one toolset. A client that sees one toolset sees nothing of the others.
    fn within(&self, toolset: &str) -> Arc<dyn Library> {
        let _ = toolset;
        Arc::new(EmptyLibrary)
    }

    /// Says whether anything here belongs to this toolset, or may.
    fn knows(&self, toolset: &str) -> bool {
        let _ = toolset;
        false
    }

    /// The state of the upstreams that this comes from.
    fn upstreams(&self) -> Vec<Value> {
        Vec::new()
    }

    /// Tells when the prompts have changed.
    fn prompt_changes(&self) -> Option<watch::Receiver<u64>> {
        None
    }
}

/// A `completion/complete` request: an argument that somebody has begun to write.
#[derive(Debug)]
pub struct CompletionRequest {
    /// The prompt or the template that it belongs to (`ref`).
    pub reference: Value,
    /// Its name, and what is there of it.
    pub argument: Value,
    /// The other arguments that are known (`context`).
    pub context: Value,
}

/// The reason why something was not handed out.
#[derive(Debug)]
pub enum LibraryError {
    /// There is no such thing.
    Unknown,
    /// It was asked for in the wrong way.
    Invalid(String),
    /// It needs input first.
    InputRequired(InputRequests),
    /// It should be there and cannot be had.
    Failed(String),
}

/// A library with nothing in it.
#[derive(Debug, Default)]
pub struct EmptyLibrary;

impl Library for EmptyLibrary {}
