//! The settings file: one YAML document, read strictly, with a few overrides.

mod compatibility;
pub mod env_file;
pub mod environment;
mod errors;
pub mod listen;
mod load;
mod log;
pub mod mcp_servers;
pub mod mlx_host;
mod model;
pub mod operator_paths;
mod reference;
mod restart_keys;
pub mod secret_values;
mod source_files;

pub use errors::{FileErrors, SettingsError};
pub use load::{DEFAULT_FILE, Flags, LoadedSettings, read, schema};
pub use log::{LogFormat, LogSection};
pub use model::{
    AllowlistSetting, ApprovalRule, PolicyPreset, PolicySection, RuleRequirement, ServerSection,
    StoreDurability, TokenEntry, ToolNames, ToolgateSettings,
};
pub use reference::markdown;
pub use restart_keys::keep_bound;
pub use source_files::{FileStamp, FileState, SourceFiles};
