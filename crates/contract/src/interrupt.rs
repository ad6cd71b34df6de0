//! An end for checks that take too long.
//!
//! The validator runs to its end once it is started. So every part of a schema gets one more keyword, which
//! unwinds out of the validator as soon as the interrupt of this thread fires.

use std::{
    cell::RefCell,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use jsonschema::{Keyword, ValidationError};
use serde_json::Value;

/// The keyword. No schema of anybody has it: it is added after all others are read.
pub(crate) const KEYWORD: &str = "x-toolgate-interrupt";

/// Ends a check from another thread.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

/// The check was ended before it knew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted;

impl Interrupt {
    pub fn fire(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn has_fired(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Runs a check that this can end. A check only reads, so that nothing is left half done.
    pub(crate) fn guard<T>(&self, check: impl FnOnce() -> T) -> Result<T, Interrupted> {
        let _reset = Current::set(self);
        catch_unwind(AssertUnwindSafe(check)).map_err(|panic| match panic.downcast() {
            Ok(interrupted) => *interrupted,
            Err(panic) => resume_unwind(panic),
        })
    }
}

thread_local! {
    static CURRENT: RefCell<Option<Interrupt>> = const { RefCell::new(None) };
}

/// The interrupt of this thread, until it is dropped.
struct Current(Option<Interrupt>);

impl Current {
    fn set(interrupt: &Interrupt) -> Self {
        Self(CURRENT.replace(Some(interrupt.clone())))
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

fn unwind_if_fired() {
    if CURRENT.with_borrow(|current| current.as_ref().is_some_and(Interrupt::has_fired)) {
        // Unlike a panic, this prints nothing.
        resume_unwind(Box::new(Interrupted));
    }
}

/// The keyword for the validator of a schema.
pub(crate) fn keyword() -> Box<dyn for<'i> Keyword<'i>> {
    Box::new(InterruptKeyword)
}

struct InterruptKeyword;

impl<'i> Keyword<'i> for InterruptKeyword {
    fn validate(&self, _: &'i Value) -> Result<(), ValidationError<'i>> {
        unwind_if_fired();
        Ok(())
    }

    fn is_valid(&self, _: &'i Value) -> bool {
        unwind_if_fired();
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Schema;

    #[test]
    fn a_check_ends_when_it_is_told_to() {
        let schema = Schema::compile_foreign(&json!({ "items": { "minLength": 2 } })).unwrap();
        let value = json!(["ab", "b"]);
        let interrupt = Interrupt::default();
        assert_eq!(schema.check(&value, &interrupt), Ok(schema.violations(&value)));
        interrupt.fire();
        assert_eq!(schema.check(&value, &interrupt), Err(Interrupted));
        // The keyword is nobody's but ours.
        let closed = json!({ "properties": { "a": { "not": { "type": "string" } },
            "b": { "contains": { "type": "string" } }, "c": { "oneOf": [{ "const": 1 }, { "minimum": 1 }] } } });
        let closed = Schema::compile_foreign(&closed).unwrap();
        let violations =
            closed.check(&json!({ "a": "x", "b": [1], "c": 1 }), &Interrupt::default());
        let violations = violations.unwrap();
        assert_eq!(violations.len(), 3, "{violations:?}");
        assert!(!format!("{violations:?}").contains("x-toolgate"), "{violations:?}");
        // The next check of this thread has an interrupt of its own.
        assert_eq!(schema.check(&json!(["ab"]), &Interrupt::default()), Ok(Vec::new()));
    }
}
