//! The settings file: one YAML document, read strictly, with a few overrides.

mod compatibility;
pub mod env_file;
pub mod environment;
mod errors;
mod load;
mod log;
pub mod mcp_servers;
pub mod mlx_host;
mod model;
pub mod operator_paths;
mod reference;
pub mod secret_values;

pub use errors::{FileErrors, SettingsError};
pub use load::{DEFAULT_FILE, Flags, LoadedSettings, read, schema};
pub use log::{LogFormat, LogSection};
pub use model::{
    AllowlistSetting, ApprovalRule, PolicyPreset, PolicySection, RetentionSection, RuleRequirement,
    ServerSection, StoreDurability, TokenEntry, ToolNames, ToolgateSettings,
};
pub use reference::markdown;
