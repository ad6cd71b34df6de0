//! MCP over HTTP.

use std::sync::Arc;

use super::{Endpoint, Events, Limits, Wire};

/// Makes ready to speak to the address. Nothing has been sent when this returns.
pub(crate) fn open(
    _endpoint: &Endpoint,
    _limits: &Limits,
    _events: Events,
) -> Result<Arc<dyn Wire>, String> {
    Err("MCP over HTTP is not part of this program yet".to_owned())
}
