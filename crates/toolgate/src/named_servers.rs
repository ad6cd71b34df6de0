//! MCP servers that a person names on the command line: an upstream of the settings, a URL, or a command.

use anyhow::{Context, bail};
use clap::Args;
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

use crate::{commands, settings::LoadedSettings, wiring::upstream_targets};

/// HTTP headers for a server that is not in the settings.
#[derive(Args, Default)]
pub struct HeaderArguments {
    /// HTTP header for a URL, such as 'Authorization: Bearer ${TOKEN}'; repeatable
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
}

impl HeaderArguments {
    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.headers.is_empty()
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
    pub fn at(address: &str, headers: &HeaderArguments) -> anyhow::Result<Self> {
        let url = guard::net::Url::parse(address)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.host().is_some())
            .with_context(|| format!("`{address}` is not an http or https URL"))?;
        let transport = HttpTransport::Auto;
        let headers = headers.expanded()?;
        let endpoint = Endpoint { url, headers, transport, extra_ca: Vec::new() };
        Ok(Self::unknown(address, Target::Endpoint(endpoint)))
    }

    /// A program, started in the current directory with the current environment.
    pub fn program(program: &str, arguments: &[String]) -> anyhow::Result<Self> {
        let env = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            // Our own settings.
            .filter(|(name, _)| !name.starts_with("TOOLGATE_"));
        let target = Target::Program(Program {
            command: program.to_owned(),
            args: arguments.to_vec(),
            env: env.collect(),
            cwd: std::env::current_dir().context("cannot find the current directory")?,
            limits: upstream::settings::UpstreamSettings::default().resource_limits(),
            sandbox: None,
        });
        let words: Vec<&str> =
            std::iter::once(program).chain(arguments.iter().map(String::as_str)).collect();
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
