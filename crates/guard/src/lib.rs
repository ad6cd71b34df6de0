//! The only ways to the outside world.
//!
//! Tools act through this crate, and it keeps them inside the limits of their call:
//!
//! - [`process`] runs a command so that nothing of it outlives the call: [`process::Spawner`] starts
//!   it, [`process::Launch`] says what and within which limits, [`process::FinishedCommand`] is how it ended.
//! - [`files`] works below an open directory, never on a path string: [`files::Folder`] for our own
//!   files, [`files::FileTree`] for callers' paths below a folder of the operator's.
//! - [`net`] fetches over HTTP what its rules allow: [`net::HttpClient`] follows a request to its end,
//!   [`net::NetRules`] say where it may lead.
//! - [`variables`] are the environment variables that settings name.
//!
//! It may touch this: it connects to hosts that the rules of a client allow, starts children, signals
//! those that it started, reads `/proc` to find them, and changes files below a folder that its
//! caller named. It never reads settings, knows nothing of
//! contracts, and depends on no other crate of the workspace.
//!
//! ```no_run
//! use guard::{files::Folder, process::{Launch, Spawner}};
//! use tokio_util::sync::CancellationToken;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = Folder::open_or_create("data/work".as_ref())?.create_dir("call-1")?;
//! let launch = Launch { stdin: b"hello".to_vec(), ..Launch::new("cat", folder.path()) };
//! let finished = Spawner::of_this_program().run(launch, &CancellationToken::new(), None).await?;
//! assert_eq!(finished.stdout.bytes, b"hello");
//! # Ok(())
//! # }
//! ```

// Supervision rests on child subreapers, parent-death signals and `/proc`. Another Unix needs its own
// answer to "what did this command fork?" before this crate may claim to run commands there.
#[cfg(not(target_os = "linux"))]
compile_error!("guard supports Linux only: supervision needs child subreapers and /proc");

pub mod files;
pub mod net;
pub mod process;
pub mod variables;
