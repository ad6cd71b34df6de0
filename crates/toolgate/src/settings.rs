//! The settings file: one YAML document, read strictly, with a few overrides.

mod compatibility;
pub mod environment;
mod errors;
mod load;
mod log;
mod model;
pub mod model_host;
pub mod pasted;
mod reference;

pub use errors::{FileErrors, SettingsError};
pub use load::{Flags, Loaded, schema};
pub use log::{Log, LogFormat};
pub use model::{
    AllowlistSetting, ApprovalRule, Durability, Policy, Require, Server, Settings, Token,
};
pub use reference::markdown;
