//! What the model that plans is told.

mod prompt;
mod shape;

pub(crate) use prompt::{again, question, system};
pub(crate) use shape::{closed, shape};
