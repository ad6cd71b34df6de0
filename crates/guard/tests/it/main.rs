//! What the crate promises, seen from outside.
#![allow(clippy::unwrap_used, reason = "a panic in a test is its message")]

mod commands;
mod detached;
mod folder;
mod harness;
mod ledger;
mod limits;
mod net;
mod open_child;
mod process_cleanup;
mod sandbox;
mod tree;
