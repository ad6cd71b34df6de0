//! HTTP itself: connections, bodies, the sender of a request, the shapes of responses.

pub(crate) mod body;
pub(crate) mod connection;
pub(crate) mod identity;
pub(crate) mod response;
