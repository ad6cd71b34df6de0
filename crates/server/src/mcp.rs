//! The MCP doors: both families of the protocol, over HTTP and on stdin and stdout.
//!
//! - `rpc`, `params`, `client`, `version`: messages taken apart; `dispatch` knows the methods.
//! - `call`, `result`, `rounds`, `questions`, `seal`: one call, also in several rounds.
//! - `tasks`, `resources`, `prompts`, `completion`, `listing`, `subscriptions`: the other nouns.
//! - `http` and `stdio` carry them; `requests` are those that are not answered yet;
//!   `initialize`, `session`, `sessions` and `batch` are the legacy era.
//!
//! The protocol is written out here and not taken from an SDK: listings go out as bytes that
//! were rendered once, a call is parsed once, every refusal has the code and the status that
//! its revision asks for, and nothing waits without a bound.

mod batch;
mod call;
mod client;
mod completion;
mod context;
mod dispatch;
pub(crate) mod http;
mod initialize;
mod library;
mod listing;
mod params;
mod prompts;
mod questions;
mod requests;
mod resources;
mod result;
mod rounds;
mod rpc;
mod seal;
mod session;
mod sessions;
mod settings;
mod stdio;
mod subscriptions;
mod tasks;
mod version;

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use gate::Gate;
use tokio::sync::Semaphore;

pub use library::{Completing, EmptyLibrary, Library, LibraryError};
pub use settings::Settings;
pub use stdio::serve as serve_stdio;

use self::{listing::Listings, seal::Seal, sessions::Sessions};

/// How many resources are read at once.
const MAX_READS: usize = 16;

/// What the MCP doors remember.
pub(crate) struct State {
    pub seal: Seal,
    pub sessions: Sessions,
    /// Places for resources that are read whole.
    pub reads: Semaphore,
    listings: ArcSwapOption<Listings>,
}

impl State {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            seal: Seal::new(settings.state_key, settings.answer_timeout),
            sessions: Sessions::new(settings.max_sessions, settings.session_idle),
            reads: Semaphore::new(MAX_READS),
            listings: ArcSwapOption::empty(),
        }
    }

    /// The listings of the catalogue of now.
    pub(crate) fn listings(&self, gate: &Gate) -> Arc<Listings> {
        let catalogue = gate.catalogue_owned();
        if let Some(known) = &*self.listings.load()
            && known.describe(&catalogue)
        {
            return known.clone();
        }
        let fresh = Arc::new(Listings::new(catalogue));
        self.listings.store(Some(fresh.clone()));
        fresh
    }
}
