//! What the crate promises, seen from outside.
#![allow(clippy::unwrap_used, reason = "a panic in a test is its message")]

mod clearing;
mod files;
mod harness;
mod keeping;
mod ledger;
mod limits;
mod net;
mod opened;
mod running;
mod sandbox;
mod tree;
