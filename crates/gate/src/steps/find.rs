//! Step 1: find the tool.

use std::sync::{Arc, atomic::Ordering};

use super::{Crossing, Refusal};
use crate::{Failure, Tool};

/// A tool that is served, and the limits of this call.
pub(crate) struct Found(Arc<Tool>);

impl Found {
    pub(super) fn into_tool(self) -> Arc<Tool> {
        self.0
    }
}

impl Crossing {
    pub(crate) fn find(&mut self) -> Result<Found, Refusal> {
        let catalogue = self.gate.catalogue();
        let Some(tool) = catalogue.find(&self.call.tool) else {
            self.gate.metrics.unknown_tool.fetch_add(1, Ordering::Relaxed);
            let near = catalogue.nearest(&self.call.tool);
            return Err(Failure::unknown_tool(&self.call.tool, near).into());
        };
        self.limits = tool.limits.with(&self.call.limits);
        self.tool = Some(tool.clone());
        Ok(Found(tool.clone()))
    }
}
