//! `toolgate mcp`: serves MCP on stdin and stdout.

mod pipe;

use std::{path::PathBuf, sync::Arc, time::Duration};

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use gate::Jobs;
use serde_json::{Value, json};
use server::App;
use store::DataFolder;

use crate::{
    Exit, commands, interrupts, logging,
    printer::Printer,
    reload::{self, PreparedServer, Reloader},
    server_settings,
    settings::{Flags, LoadedSettings},
    wiring::{
        self,
        upstream_library::UpstreamLibrary,
        upstreams::{self, UpstreamFilter},
    },
};

/// Serve MCP on stdin and stdout
///
/// Ends when stdin is closed. Only the protocol is written to stdout; logs go to stderr. A server
/// may run on the same data folder.
#[derive(Args)]
pub struct McpCommand {
    /// Serve only the tools of this toolset, under its name
    #[arg(long, value_name = "NAME")]
    toolset: Option<String>,
    /// Print the configuration for a client, and exit
    #[arg(long, value_name = "CLIENT")]
    print_config: Option<ClientKind>,
}

/// The environment variable of `mcp.names`.
const NAMES_VARIABLE: &str = "TOOLGATE_MCP__NAMES";

/// A client with its own format of configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ClientKind {
    Claude,
    Vscode,
    Cursor,
    Generic,
}

impl McpCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        let running = flags.of_running();
        let PreparedServer { loaded, fixed, host: mut config, warnings, .. } =
            reload::prepare(&running, self.which(), Arc::default(), None)?;
        commands::tell_left_out(&fixed.absent, printer);
        let catalogue = fixed.catalogue();
        if let Some(name) = &self.toolset
            && catalogue.toolset(name).is_none()
            && !loaded.settings.upstreams.contains_key(name)
        {
            let ids = loaded.settings.upstreams.keys().map(String::as_str);
            let known = catalogue.toolsets().map(|(name, _)| name.as_str()).chain(ids);
            bail!("there is no toolset `{name}`{}", contract::did_you_mean(name, known));
        }
        if let Some(kind) = self.print_config {
            printer.json(&self.config(kind, flags, &loaded)?);
            printer.say(kind.place());
            return Ok(Exit::Ok);
        }
        let _log = logging::start(&loaded.settings.log)?;
        for warning in warnings {
            tracing::warn!("{warning}");
        }
        let data = DataFolder::open(&loaded.data_dir())?;
        let _visit = data.visit()?;
        let opened = wiring::gate(catalogue, &loaded, data, None)?;
        config.observer = Some(Arc::new(upstreams::UpstreamRecorder(opened.gate.clone())));
        // One client: a message that hops between threads takes twice as long.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let start_wait = Duration::from_millis(loaded.settings.server.start_wait_ms);
        let lock_file = config.rules.lock.as_ref().map(|_| loaded.path(&loaded.settings.lock));
        runtime.block_on(upstreams::with_starting_host(config, async |host| {
            let keeper = upstreams::keep_catalogue(&opened.gate, host, fixed, start_wait);
            let gate = opened.gate.clone();
            let settings = server_settings::settings(&loaded, &opened.data, Vec::new())?;
            let jobs = Jobs::visiting(gate.clone(), server_settings::jobs(&loaded));
            let library = Arc::new(UpstreamLibrary::new(host.clone()));
            let app = App::with_library(gate.clone(), jobs.clone(), settings, library);
            let reloader = Reloader {
                flags: running,
                toolset: self.toolset.clone(),
                loaded: Arc::new(loaded),
                lock_file,
                gate,
                jobs,
                host: host.clone(),
                keeper,
                door: None,
            };
            let stop = async { interrupts::token().cancelled().await };
            let (input, output) = (pipe::input()?, pipe::output()?);
            let served =
                server::mcp::serve_stdio(app, self.toolset.as_deref(), input, output, stop);
            // The client decides when its server ends: a hangup is none of its signals.
            tokio::select! {
                () = served => {}
                () = Box::pin(reloader.run(None)) => {}
            }
            anyhow::Ok(())
        }))?;
        runtime.shutdown_timeout(Duration::from_secs(1));
        Ok(Exit::Ok)
    }

    /// The upstreams that this client can use.
    fn which(&self) -> UpstreamFilter<'_> {
        self.toolset.as_deref().map_or(UpstreamFilter::All, UpstreamFilter::One)
    }

    /// The command that a client starts us with. Every path is absolute: a client may start its servers in any folder.
    fn config(
        &self,
        kind: ClientKind,
        flags: &Flags,
        loaded: &LoadedSettings,
    ) -> anyhow::Result<Value> {
        let whole = |path: PathBuf| {
            std::path::absolute(&path)
                .map(|path| path.display().to_string())
                .with_context(|| format!("cannot make `{}` an absolute path", path.display()))
        };
        let program = std::env::current_exe().context("cannot find the path of this program")?;
        let mut arguments = vec!["mcp".to_owned()];
        match flags.file() {
            Some(file) => arguments.extend(["--config".to_owned(), whole(file)?]),
            // A client may start us in any folder, whose settings could start any program.
            None => arguments.push("--no-config".to_owned()),
        }
        arguments.extend(["--data-dir".to_owned(), whole(loaded.data_dir())?]);
        if let Some(toolset) = &self.toolset {
            arguments.extend(["--toolset".to_owned(), toolset.clone()]);
        }
        let name = self.toolset.as_deref().unwrap_or("toolgate");
        let mut server = json!({ "command": whole(program)?, "args": arguments });
        if kind.wants_portable_names() {
            server["env"] = json!({ NAMES_VARIABLE: "portable" });
        }
        Ok(match kind {
            ClientKind::Claude | ClientKind::Cursor => json!({ "mcpServers": { name: server } }),
            ClientKind::Vscode => {
                server["type"] = json!("stdio");
                json!({ "servers": { name: server } })
            }
            ClientKind::Generic => {
                server["type"] = json!("stdio");
                json!({ "mcpServers": { name: server } })
            }
        })
    }
}

impl ClientKind {
    /// True if the models behind this client take no dots in the names of tools.
    fn wants_portable_names(self) -> bool {
        match self {
            ClientKind::Claude | ClientKind::Vscode | ClientKind::Cursor => true,
            ClientKind::Generic => false,
        }
    }

    /// The file that the block belongs in.
    fn place(self) -> &'static str {
        match self {
            ClientKind::Claude => {
                "paste it into claude_desktop_config.json (Claude Desktop) or .mcp.json (Claude Code)"
            }
            ClientKind::Vscode => "paste it into .vscode/mcp.json",
            ClientKind::Cursor => "paste it into ~/.cursor/mcp.json or .cursor/mcp.json",
            ClientKind::Generic => "paste it where your client lists its MCP servers",
        }
    }
}
