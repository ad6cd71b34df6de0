//! HTTP itself: connections, bodies, the sender of a request.

pub(crate) mod body;
pub(crate) mod connection;
pub(crate) mod event_stream;
pub(crate) mod identity;
pub(crate) mod page_session;
pub(crate) mod places;
pub(crate) mod unread;
