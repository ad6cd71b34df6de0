//! MCP servers that a person names on the command line: an upstream of the settings, a URL, or a command.

use anyhow::{Context, bail};
use clap::Args;
use contract::SandboxSettings;
use guard::process::Spawner;
use serde_json::json;
use upstream::{
    ServerListings,
    connection::{
        self, ConnectOptions, ConnectionLimits, Endpoint, HttpTransport, Program, ProtocolChoice,
        Target,
    },
    variables,
};

use crate::{
    commands,
    settings::{Flags, LoadedSettings, operator_paths::ProgramOwner},
    wiring::{sandboxes, upstream_targets},
};

/// How a server is reached that is not in the settings.
#[derive(Args, Default)]
pub struct ServerArguments {
    /// HTTP header for a URL, such as 'Authorization: Bearer ${TOKEN}'; repeatable
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// Start the COMMAND without a sandbox: it can do what you can, and read the operator's token
    #[arg(long)]
    no_sandbox: bool,
}

impl ServerArguments {
    /// True if headers are named.
    pub fn has_headers(&self) -> bool {
        !self.headers.is_empty()
    }

    /// Names and values, with environment variables replaced. Values are never shown.
    fn expanded(&self) -> anyhow::Result<Vec<(String, String)>> {
        let one = |text: &String| {
            let (name, value) =
                text.split_once(':').context("--header needs the form `NAME: VALUE`")?;
            let name = name.trim();
            let plain = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
            if name.is_empty() || !name.chars().all(plain) {
                bail!("--header: the text before the colon is not a header name");
            }
            let value = variables::expand(value.trim(), upstream_targets::secret_variable)
                .with_context(|| format!("--header {name}"))?;
            upstream_targets::hide_header(name, &value);
            Ok((name.to_owned(), value))
        };
        self.headers.iter().map(one).collect()
    }
}

/// A server with its connection options.
pub struct NamedServer {
    /// The name in messages.
    pub title: String,
    /// The program or the address.
    pub target: Target,
    pub limits: ConnectionLimits,
    /// The protocol version.
    pub protocol: ProtocolChoice,
}

impl NamedServer {
    /// The upstream of that id, with its variables and headers.
    pub fn of_upstream(loaded: &LoadedSettings, id: &str) -> anyhow::Result<Self> {
        commands::upstream::is_known(loaded, Some(id))?;
        let Some(settings) = loaded.settings.upstreams.get(id) else {
            bail!("there is no upstream `{id}`");
        };
        Ok(Self {
            title: id.to_owned(),
            target: upstream_targets::of(loaded, id, settings)?,
            limits: settings.connection_limits(),
            protocol: settings.protocol,
        })
    }

    /// The server at a URL.
    pub fn at(address: &str, arguments: &ServerArguments) -> anyhow::Result<Self> {
        let url = guard::net::Url::parse(address)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.host().is_some())
            .with_context(|| format!("`{address}` is not an http or https URL"))?;
        let transport = HttpTransport::Auto;
        let headers = arguments.expanded()?;
        let endpoint = Endpoint { url, headers, transport, extra_ca: Vec::new() };
        Ok(Self::unknown(address, Target::Endpoint(endpoint)))
    }

    /// A program, started in the current directory as an upstream is: in a sandbox, and with its few environment variables.
    pub fn program(
        flags: &Flags,
        program: &str,
        arguments: &[String],
        terms: &ServerArguments,
    ) -> anyhow::Result<Self> {
        let cwd = std::env::current_dir().context("cannot find the current directory")?;
        let sandbox = SandboxSettings { enabled: !terms.no_sandbox, ..SandboxSettings::default() };
        // What is kept from it stands in the settings.
        let loaded = flags.load()?;
        let place = |path: &str| cwd.join(path);
        let words: Vec<String> = std::iter::once(program)
            .chain(arguments.iter().map(String::as_str))
            .map(str::to_owned)
            .collect();
        let mut sandbox = sandboxes::of(&loaded, &ProgramOwner::CommandLine, &sandbox, place, true);
        if let Some(sandbox) = &mut sandbox {
            let paths = loaded.operator_paths();
            let (fixed, own) = paths.for_command(&loaded, words.clone(), cwd.clone());
            sandbox.fixed = fixed;
            sandbox.write.extend(own);
        }
        let target = Target::Program(Program {
            command: program.to_owned(),
            args: arguments.to_vec(),
            env: upstream_targets::passed_variables().collect(),
            limits: upstream::settings::UpstreamSettings::default().resource_limits(),
            sandbox,
            cwd,
        });
        Ok(Self::unknown(&words.join(" "), target))
    }

    fn unknown(title: &str, target: Target) -> Self {
        let (limits, protocol) = (ConnectionLimits::default(), ProtocolChoice::Auto);
        Self { title: title.to_owned(), target, limits, protocol }
    }

    /// Connects, reads all listings, and disconnects.
    pub async fn listings(&self) -> anyhow::Result<ServerListings> {
        let options = ConnectOptions {
            limits: self.limits.clone(),
            protocol: self.protocol,
            client: json!({ "name": "toolgate", "version": env!("CARGO_PKG_VERSION") }),
            capabilities: json!({}),
        };
        let spawner = Spawner::of_this_program();
        let connection = connection::connect(&self.target, &options, &spawner)
            .await
            .with_context(|| format!("cannot reach `{}`", self.title))?;
        let listings = ServerListings::read(&connection).await;
        let stderr = connection.stderr();
        connection.close().await;
        listings.map_err(|error| {
            anyhow::anyhow!("`{}`: {}", self.title, upstream::with_stderr(error.message, &stderr))
        })
    }
}
