//! The host of other people's MCP servers, the upstreams. An upstream is not trusted.
//!
//! - [`settings`] configures upstreams; a [`Host`] connects to all of them, and supervises each by a task of its own.
//! - [`connection`] speaks MCP over the stdin and stdout of a child or over HTTP, in either protocol version.
//! - [`admission`] turns each listed tool into a contract, or rejects it with a reason.
//! - [`methods`]: resources, prompts and completions, which cross the gate as tools do.
//! - [`lock`] compares what is listed with what was pinned.
//! - `relay` is the provider: it sends a checked call, and returns the result to the gate.
//!
//! The schemas that are enforced are the server's own, in their dialect, with the input closed against undeclared arguments; the contract shows them
//! in 2020-12. A result goes on as the bytes that came, together with the value that the gate checks. A server that comes back
//! may offer another tool of the same name: before a call is sent, its contract is compared with the one that is served now. A call
//! whose server sends an input request is paused (`paused_calls`), and goes on when the same caller makes it again with the reply.

pub mod admission;
mod circuit_breaker;
pub mod connection;
mod content_blocks;
mod host;
mod listings;
pub mod lock;
pub mod methods;
pub mod names;
mod paused_calls;
mod questions;
mod relay;
mod replace_file;
mod server_text;
pub mod settings;
mod slots;
mod tool_output;
pub mod variables;

pub use host::{
    ConfiguredUpstream, DownCause, FILE_CHECK_INTERVAL, Host, HostConfig, HostObserver,
    OverlaySource, ToolPolicy, Unreachable, Upstream, UpstreamState, UpstreamStatus, error_chain,
    with_stderr,
};
pub use listings::ServerListings;
pub use relay::mirror_headers;
pub use replace_file::replace_file;
pub use server_text::ServerText;
