//! The settings file: one YAML document, read strictly, with a few overrides.

mod compatibility;
mod load;
mod model;
pub mod model_host;
pub mod pasted;
mod reference;

pub use load::{Flags, Loaded, schema};
pub use model::{
    AllowlistSetting, ApprovalRule, Durability, Log, LogFormat, Policy, Require, Server, Settings,
};
pub use reference::markdown;
