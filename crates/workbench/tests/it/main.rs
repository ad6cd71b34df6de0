//! Promises of the crate, seen from outside.
#![allow(clippy::unwrap_used, reason = "a panic in a test is its message")]

mod comparing;
mod documents;
mod learning;
mod suspicious;
