//! The built-in tools, one file each, and the provider of users' commands.
//!
//! A new tool is `contracts/<name>.yaml`, `src/<name>.rs` and one line in [`built_in`].
//! Everything else follows from its contract.

pub mod command;
mod echo_json;
mod file_io;
mod hello;
mod integer;
mod json_size;
pub mod mlx;
mod read_repo_file;
pub mod search_web;
pub mod settings;
mod sys_audit;
mod transcript_clean;
mod web;
mod write_memory_entry;
mod write_text_artifact;

use std::sync::Arc;

use gate::{BoxFuture, Clock, Provider, RunningCall, SystemClock, ToolError, ToolOutput};
pub use settings::ToolSettings;
use tokio::task::JoinError;
pub use write_memory_entry::WriteMemoryEntry;

/// A tool that is part of the binary.
pub struct BuiltIn {
    /// Its contract, as YAML.
    pub contract: &'static str,
    /// The provider that runs it.
    pub provider: Arc<dyn Provider>,
}

macro_rules! tool {
    ($name:literal, $provider:expr) => {
        BuiltIn {
            contract: include_str!(concat!("../../../contracts/", $name, ".yaml")),
            provider: Arc::new($provider),
        }
    };
}

/// Every tool that is part of the binary. Nothing is opened or made before a tool is called.
pub fn built_in(settings: &ToolSettings) -> Vec<BuiltIn> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let files = file_io::AgentFolder::new(&settings.file_io);
    // One pool and one cache for both views of the web.
    let web = guard::net::HttpClient::new(&settings.web_fetch.client());
    let key_packages = sys_audit::key_packages(&settings.sys_audit);
    vec![
        tool!("diff_baseline", sys_audit::DiffBaseline(key_packages.clone())),
        tool!("echo_json", PureTool(echo_json::run)),
        tool!("edit_file", file_io::EditFile(files.clone())),
        tool!("fetch_url", web::FetchUrl::new(&settings.web_fetch, web.clone())),
        tool!("hello", PureTool(hello::run)),
        tool!("list_dir", file_io::ListDir(files.clone())),
        tool!("list_hardware", sys_audit::ListHardware),
        tool!("list_software", sys_audit::ListSoftware(key_packages)),
        tool!("mlx.load", mlx::MlxLoad::new(&settings.mlx, &clock)),
        tool!("mlx.unload", mlx::MlxUnload::new(&settings.mlx)),
        tool!("read_file", file_io::ReadFile(files.clone())),
        tool!("read_repo_file", read_repo_file::ReadRepoFile::new(&settings.repo)),
        tool!("search.web", search_web::SearchWeb::new(&settings.search, &clock)),
        tool!("search_text", file_io::SearchText(files.clone())),
        tool!("stat", file_io::Stat(files.clone())),
        tool!(
            "transcript.clean",
            transcript_clean::TranscriptClean::new(&settings.transcript, &settings.llm)
        ),
        tool!("web.fetch", web::WebFetch::new(&settings.web_fetch, web)),
        tool!("write_file", file_io::WriteFile(files)),
        tool!("write_memory_entry", WriteMemoryEntry::new(&settings.memory, &clock)),
        tool!("write_text_artifact", write_text_artifact::WriteTextArtifact),
    ]
}

/// Does work that takes a core or waits for a disk where no other call waits for it.
async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let failed = |error: JoinError| ToolError::internal("the tool failed", error.to_string());
    tokio::task::spawn_blocking(work).await.map_err(failed)?
}

/// A tool that computes its answer from its arguments and waits for nothing.
struct PureTool(fn(&RunningCall) -> Result<ToolOutput, ToolError>);

impl Provider for PureTool {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move { (self.0)(call) })
    }
}
