//! What the crate promises, seen from outside.
#![allow(clippy::unwrap_used, reason = "a panic in a test is its message")]

mod arbitrary;
mod comparing;
mod dialects;
mod documents;
mod foreign;
mod generating;
mod learning;
mod suite;
