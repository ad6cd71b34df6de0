//! What is about HTTP itself.

pub(crate) mod accept;
pub(crate) mod answer;
pub(crate) mod body;
pub(crate) mod front;
