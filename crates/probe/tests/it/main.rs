//! The crate's promises, seen from outside.
#![allow(clippy::unwrap_used, reason = "a panic in a test is its message")]

mod generating;
