//! Tests of the crate from outside.
#![allow(clippy::unwrap_used, reason = "a panic in a test is its message")]

mod dialects;
mod foreign;
mod suite;
