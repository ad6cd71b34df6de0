//! What a program that we start may reach of this machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The files and the network that a program may reach. Without `read` and `write` these are all files but those of Toolgate itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SandboxSettings {
    /// `false` starts the program without a sandbox. It can then do what the operator can, also approve calls.
    #[serde(skip_serializing_if = "is_true")]
    pub enabled: bool,
    /// Folders and files that it may read. With this or `write`, it can reach these alone, and programs and libraries of the
    /// system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<Vec<String>>,
    /// Folders and files that it may read and change. `/` stands for everything but the folders of the system and
    /// the files of Toolgate, which have to be named themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<Vec<String>>,
    /// Folders and files that it is started with and that are data: tools may write there. Everything else that its words and
    /// variables name counts as code.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<String>,
    /// True if it can reach the network. A command cannot unless this is `true`, an upstream can unless it is
    /// `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<bool>,
    /// Start the program even if the kernel cannot enforce `read` and `write`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
}

impl Default for SandboxSettings {
    fn default() -> Self {
        let (read, write, network) = (None, None, None);
        Self { enabled: true, read, write, data: Vec::new(), network, optional: false }
    }
}

impl SandboxSettings {
    /// True if it says nothing.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks like that")]
fn is_true(value: &bool) -> bool {
    *value
}
