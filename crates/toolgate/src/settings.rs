//! The settings file: one YAML document, read strictly, with a few overrides.

mod load;
mod model;
mod reference;

pub use load::{Flags, Loaded, schema};
pub use model::{Durability, Log, LogFormat, Settings};
pub use reference::markdown;
