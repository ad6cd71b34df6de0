//! What is about HTTP itself.

pub(crate) mod accept;
pub(crate) mod answer;
pub(crate) mod body;
pub(crate) mod connection;
pub(crate) mod front;
