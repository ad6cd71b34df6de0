//! For tests only: a [`World`] with a real server on a port of its own, and what a test
//! needs to talk to it.
//!
//! ```no_run
//! # async fn example() {
//! let world = testkit::World::start("target/debug/toolgate", "").await;
//! let answer = world.post("/v1/tools/echo_json", r#"{"args":{"message":"hi"}}"#).await;
//! assert_eq!(answer.status, 200);
//! # }
//! ```

#![allow(clippy::missing_panics_doc, clippy::unwrap_used)] // A panic is how a test fails.
#![allow(clippy::disallowed_methods)] // A test connects to the server that it started.

mod answer;
pub mod arbitrary;
mod cli_output;
mod hostile;
pub mod mcp;
mod peer;
mod process;
mod raw;
pub mod replay;
mod shapes;
mod shell;
mod tmpfs;
mod upstream;
mod wait;
mod world;

pub use answer::{Answer, texts};
pub use cli_output::{Arguments, CliOutput};
pub use hostile::{Authority, Hostile};
pub use peer::{Act, Peer, PeerRequest, free_port};
pub use process::{
    anonymous_bytes, forget_peak, peak_bytes, resident_bytes, running, signal, threads,
};
pub use raw::Raw;
pub use shell::Shell;
pub use tmpfs::{BindMount, TmpfsMount, skipped};
pub use tokio_rustls::rustls::version as tls_version;
pub use upstream::{Reply, Upstream};
pub use wait::{Condition, eventually, next_millisecond, until};
pub use world::World;
