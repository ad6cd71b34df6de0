//! Step 3 of 9: check the input.

use std::sync::Arc;

use contract::Violation;
use serde_json::Value;

use super::{CallRefusal, CallState, admit::AdmittedCall};
use crate::{EnforcementMode, Failure, PayloadDirection, Tool};

/// Arguments that may go on, with the defaults of the contract filled in: they match it, or the
/// tool is not held to it.
pub(crate) struct CheckedInput {
    admitted: AdmittedCall,
    input: Value,
}

impl CheckedInput {
    pub(super) fn tool(&self) -> &Tool {
        self.admitted.tool()
    }

    pub(super) fn tool_owned(&self) -> Arc<Tool> {
        self.admitted.tool().clone()
    }

    pub(super) fn input(&self) -> &Value {
        &self.input
    }

    /// Lends the arguments to somebody who only looks at them; they come back by
    /// [`CheckedInput::give_back`].
    pub(super) fn take_input(&mut self) -> Value {
        std::mem::take(&mut self.input)
    }

    pub(super) fn give_back(&mut self, input: Value) {
        self.input = input;
    }

    pub(super) fn into_parts(self) -> (AdmittedCall, Value) {
        (self.admitted, self.input)
    }
}

impl CallState {
    pub(crate) fn check_input(
        &mut self,
        admitted: AdmittedCall,
    ) -> Result<CheckedInput, CallRefusal> {
        let tool = admitted.tool();
        let mut input = std::mem::take(&mut self.call.input);
        tool.input.fill_defaults(&mut input);
        self.input_sha256 = Some(contract::canonical::sha256(&input));
        if self.is_job() || tool.contract.journal_values {
            self.input_kept = tool.to_keep(&input);
        }
        if tool.mode != EnforcementMode::Off && !tool.input.is_valid(&input) {
            let violations = tool.input.violations(&input);
            if tool.mode == EnforcementMode::Enforce {
                return Err(Failure::invalid_input(&tool.contract, &violations).into());
            }
            let tool = tool.clone();
            self.warn(&tool, PayloadDirection::Input, Violation::list(&violations), None);
        }
        Ok(CheckedInput { admitted, input })
    }
}
