//! The prompt of a plan, and the schema of its answer.

mod prompt;
mod schema;

pub(crate) use prompt::{again, question, system};
pub(crate) use schema::{closed, plan_schema};
