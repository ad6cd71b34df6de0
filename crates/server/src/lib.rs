//! The doors of HTTP: they parse a request and render an outcome, and decide nothing.
//!
//! [`App`] holds what the doors need; [`serve`] answers connections until it is told to
//! stop. `http` is about HTTP itself (sizes, times, names, who may knock), `rest` has a
//! file for every noun.

mod app;
mod ask_service;
mod current_app;
mod http;
pub mod mcp;
mod reload_status;
mod rest;

pub use app::{App, ServerSettings, ServerToken};
pub use ask_service::{AskService, AskServiceRequest, AskServiceResponse, MAX_QUEUED_EVENTS};
pub use current_app::CurrentApp;
pub use http::{connection::serve, identity::OPERATOR};
pub use mcp::Library;
pub use reload_status::{FailedReload, ReloadReport, ReloadStatus};
pub use rest::openapi;
