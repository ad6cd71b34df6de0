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
        let scope = self.call.toolset.as_deref();
        let tool = catalogue.find(&self.call.tool);
        let within = |tool: &&Arc<Tool>| scope.is_none_or(|name| tool.contract.toolset == name);
        let Some(tool) = tool.filter(within) else {
            self.gate.metrics.unknown_tool.fetch_add(1, Ordering::Relaxed);
            // A door to one toolset says nothing of the others.
            let near = match scope.map(|name| catalogue.toolset(name)) {
                None => catalogue.nearest(&self.call.tool),
                Some(toolset) => toolset.and_then(|toolset| {
                    contract::nearest(&self.call.tool, toolset.tools.iter().map(String::as_str))
                }),
            };
            return Err(Failure::unknown_tool(&self.call.tool, near).into());
        };
        self.limits = tool.limits.with(&self.call.limits);
        self.tool = Some(tool.clone());
        Ok(Found(tool.clone()))
    }
}
