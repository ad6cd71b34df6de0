//! The library: prompts, resources and completions that are offered beside tools.
//!
//! Our own jobs, artifacts and contracts are always there (`resources`); a library adds to
//! them. It lists, and it knows the call that gets a thing; only the gate makes that call.

use std::sync::Arc;

use gate::Catalogue;
use serde_json::{Map, Value};
use tokio::sync::watch;

/// Prompts and resources that somebody provides. All of them are in the shapes of MCP.
pub trait Library: Send + Sync {
    /// Every prompt, in the order in which they are listed.
    fn prompts(&self) -> Vec<Value> {
        Vec::new()
    }

    /// The call that gets a prompt: its output is a `GetPromptResult`.
    fn prompt(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Result<LibraryCall, LibraryError> {
        let _ = (name, arguments);
        Err(LibraryError::Unknown)
    }

    /// Every resource, in the order in which they are listed.
    fn resources(&self) -> Vec<Value> {
        Vec::new()
    }

    /// Every resource template.
    fn templates(&self) -> Vec<Value> {
        Vec::new()
    }

    /// The call that reads a resource: its output has `contents`.
    fn read(&self, uri: &str) -> Result<LibraryCall, LibraryError> {
        let _ = uri;
        Err(LibraryError::Unknown)
    }

    /// The call that completes an argument of a prompt or of a template: its output has a `completion`.
    fn complete(&self, given: &CompletionRequest) -> Result<LibraryCall, LibraryError> {
        let _ = given;
        Err(LibraryError::Unknown)
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

    /// The reasons why the server is not ready, as far as it depends on these upstreams.
    fn unready(&self, catalogue: &Catalogue) -> Vec<String> {
        let _ = catalogue;
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

/// A call of an unlisted tool.
#[derive(Debug)]
pub struct LibraryCall {
    /// The name of the tool.
    pub tool: String,
    pub input: Value,
}

/// The reason why there is no call for something.
#[derive(Debug)]
pub enum LibraryError {
    /// There is no such thing.
    Unknown,
    /// It was asked for in the wrong way.
    Invalid(String),
}

/// A library with nothing in it.
#[derive(Debug, Default)]
pub struct EmptyLibrary;

impl Library for EmptyLibrary {}
