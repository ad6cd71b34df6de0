//! Work on contracts that no call needs: for the people and commands that write, compare and
//! review them.
//!
//! This crate is pure, like [`contract`]: text comes in, values and texts go out.
//!
//! - [`compare`] says what changed between two versions of a tool, and whom it concerns.
//! - [`infer`] makes a schema from values; [`mod@widen`] changes one so that one more value fits.
//! - [`documents`] reads contracts from Markdown documents.
//! - [`suspicious`] finds hidden characters and injected instructions in texts that models read.

pub mod compare;
pub mod documents;
pub mod infer;
pub mod suspicious;
pub mod widen;
