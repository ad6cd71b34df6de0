//! Step 3 of 9: check the input.

use std::{sync::Arc, time::Duration};

use contract::{Interrupted, Violation, codes};
use serde_json::{Value, value::RawValue};

use super::{CallRefusal, CallState, admit::AdmittedCall};
use crate::{EnforcementMode, Failure, JobId, PayloadDirection, Tool, journal::StartedCallEntry};

/// Arguments that may go on, with the defaults of the contract filled in: they match it, or the
/// tool is not held to it.
pub(crate) struct CheckedInput {
    admitted: AdmittedCall,
    input: Value,
    matches: bool,
}

impl CheckedInput {
    /// The arguments as they may be written down.
    pub(super) fn to_keep(&self) -> Option<Box<RawValue>> {
        self.tool().to_keep(&self.input, self.matches)
    }

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
        let digest = contract::canonical::digest(&input);
        self.input_sha256 = Some(digest.sha256);
        // Of a tool that is not held to its contract it only matters where secrets stand.
        let violations = if tool.mode != EnforcementMode::Off || tool.input.has_secrets() {
            self.violations(&tool.input, &input, digest.bytes, Duration::ZERO)
                .map_err(|Interrupted| self.unchecked_input())?
        } else {
            Vec::new()
        };
        let matches = violations.is_empty();
        if self.is_job() || tool.contract.journal_values {
            self.input_kept = tool.to_keep(&input, matches);
        }
        match tool.mode {
            EnforcementMode::Enforce if !matches => {
                return Err(Failure::invalid_input(&tool.contract, &violations).into());
            }
            EnforcementMode::Warn if !matches => {
                let tool = tool.clone();
                self.warn(&tool, PayloadDirection::Input, Violation::list(&violations), None);
            }
            _ => {}
        }
        if tool.contract.effects.changes_the_world() {
            self.reserve_line()?;
        }
        Ok(CheckedInput { admitted, input, matches })
    }

    /// The failure of a call whose arguments took too long to check.
    fn unchecked_input(&self) -> Failure {
        if self.call.stop.is_cancelled() || self.gate.halt.is_cancelled() {
            return Failure::new(codes::CANCELLED, "the call was cancelled");
        }
        let message = format!(
            "the arguments could not be checked against the input schema within {} ms (timeout_ms); \
             send fewer, or shorter ones",
            self.limits.timeout_ms
        );
        Failure::new(codes::TIMEOUT, message)
    }

    /// What cannot be recorded does not happen. That is known before anything lasts: a key, an approval.
    fn reserve_line(&mut self) -> Result<(), Failure> {
        let values = self.tool.as_ref().is_some_and(|tool| tool.contract.journal_values);
        let arguments =
            self.input_kept.as_ref().filter(|_| values).map_or(0, |kept| kept.get().len());
        let room = self.gate.journal.reserve(arguments as u64, &self.started_entry());
        self.journal_room = room.map_err(|error| unrecordable(&error))?;
        Ok(())
    }

    /// Writes down that a call with effects begins to run: whatever ends the process now, what it has done
    /// has a line.
    pub(super) fn write_down_start(&mut self) -> Result<(), Failure> {
        let mut room = std::mem::take(&mut self.journal_room);
        let written = self.gate.journal.started(&self.started_entry(), &mut room);
        self.journal_room = room;
        written.map_err(|error| unrecordable(&error))
    }

    fn started_entry(&self) -> StartedCallEntry<'_> {
        StartedCallEntry {
            time: self.gate.clock.now(),
            event: "call_started",
            request_id: self.call.request_id.as_str(),
            job_id: self.job_id.as_ref().filter(|_| self.is_job()).map(JobId::as_str),
            caller: self.call.caller.name(),
            door: self.call.door.word(),
            tool: self.tool.as_ref().map_or(&*self.call.tool, |tool| &tool.contract.name),
            input_sha256: self.input_sha256.as_deref(),
        }
    }
}

fn unrecordable(error: &std::io::Error) -> Failure {
    Failure::unavailable(&"the journal cannot be written").operator(error.to_string())
}
