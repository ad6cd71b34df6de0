//! Step 1: find the tool.

use std::sync::{Arc, atomic::Ordering};

use contract::codes;

use super::{CallState, Refusal};
use crate::{Failure, Tool};

/// A tool that is served, and the limits of this call.
pub(crate) struct Found(Arc<Tool>);

impl Found {
    pub(super) fn into_tool(self) -> Arc<Tool> {
        self.0
    }
}

impl CallState {
    pub(crate) fn find(&mut self) -> Result<Found, Refusal> {
        let catalogue = self.gate.catalogue();
        let toolset = self.call.toolset.as_deref();
        let Some(tool) = catalogue.find_in(&self.call.tool, toolset) else {
            self.gate.metrics.unknown_tool.fetch_add(1, Ordering::Relaxed);
            return Err(catalogue.unknown(&self.call.tool, toolset).into());
        };
        if self.call.meant.as_ref().is_some_and(|meant| !Arc::ptr_eq(meant, tool)) {
            let message = "another tool has taken this name since it was chosen";
            return Err(Failure::new(codes::CONFLICT, message).into());
        }
        self.limits = tool.limits.with(&self.call.limits);
        self.tool = Some(tool.clone());
        Ok(Found(tool.clone()))
    }
}
