//! The crate from outside: real children that behave, and that do not.
#![allow(clippy::unwrap_used, reason = "a panic in a test is its message")]

mod calls;
mod ends;
mod harness;
mod hostile;
mod http;
mod listings;
mod protocol_versions;
