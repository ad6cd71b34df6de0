//! MCP servers that a person names: an upstream of the settings, an address, or a command line.

use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use guard::process::Spawner;
use serde_json::json;
use upstream::{
    Offer,
    connection::{self, Endpoint, HttpKind, Limits, Program, Protocol, Target, Terms},
    variables,
};

use crate::{commands, settings::Loaded, wiring::target};

/// Headers for servers that the settings do not know.
#[derive(Args, Default)]
pub struct Headers {
    /// A header for an address, such as 'Authorization: Bearer ${TOKEN}'; may be given more than once
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
}

impl Headers {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.headers.is_empty()
    }

    /// Names and values, with every variable of the environment filled in. Values are never told.
    fn filled_in(&self) -> anyhow::Result<Vec<(String, String)>> {
        let one = |text: &String| {
            let (name, value) =
                text.split_once(':').context("--header wants a name, a colon and a value")?;
            let name = name.trim();
            let plain = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
            if name.is_empty() || !name.chars().all(plain) {
                bail!("--header: what stands before the colon is no name of a header");
            }
            let value = variables::expand(value.trim(), |name| std::env::var(name).ok())
                .with_context(|| format!("--header {name}"))?;
            Ok((name.to_owned(), value))
        };
        self.headers.iter().map(one).collect()
    }
}

/// A server, and how it is spoken to.
pub struct Server {
    /// What messages call it.
    pub title: String,
    /// Where it is.
    pub target: Target,
    /// How much it may take of us.
    pub limits: Limits,
    /// Which revision of the protocol.
    pub protocol: Protocol,
}

impl Server {
    /// The upstream of that id, with its variables and headers.
    pub fn of_upstream(loaded: &Loaded, id: &str) -> anyhow::Result<Self> {
        commands::upstream::is_known(loaded, Some(id))?;
        let Some(settings) = loaded.settings.upstreams.get(id) else {
            bail!("there is no upstream `{id}`");
        };
        let connect_timeout = Duration::from_millis(settings.connect_timeout_ms);
        let limits = Limits {
            connect_timeout,
            request_timeout: connect_timeout,
            max_message_bytes: settings.max_message_bytes,
            stderr_bytes: settings.max_stderr_bytes,
            max_listed: settings.max_listed,
            max_pages: settings.max_pages,
            max_listing_bytes: settings.max_listing_bytes,
        };
        Ok(Self {
            title: id.to_owned(),
            target: target::of(loaded, id, settings)?,
            limits,
            protocol: settings.protocol,
        })
    }

    /// The server at an address.
    pub fn at(address: &str, headers: &Headers) -> anyhow::Result<Self> {
        let url = guard::net::Url::parse(address)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.host().is_some())
            .with_context(|| format!("`{address}` is no http or https address"))?;
        let kind = HttpKind::Auto;
        let headers = headers.filled_in()?;
        let endpoint = Endpoint { url, headers, kind, extra_ca: Vec::new() };
        Ok(Self::unknown(address, Target::Endpoint(endpoint)))
    }

    /// A program that a person starts from where they are, with what they have.
    pub fn program(program: &str, arguments: &[String]) -> anyhow::Result<Self> {
        let env = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            // Ours, and none of its business.
            .filter(|(name, _)| !name.starts_with("TOOLGATE_"));
        let target = Target::Program(Program {
            command: program.to_owned(),
            args: arguments.to_vec(),
            env: env.collect(),
            cwd: std::env::current_dir().context("cannot tell where we are")?,
            limits: upstream::settings::Upstream::default().resource_limits(),
            sandbox: None,
        });
        let words: Vec<&str> =
            std::iter::once(program).chain(arguments.iter().map(String::as_str)).collect();
        Ok(Self::unknown(&words.join(" "), target))
    }

    fn unknown(title: &str, target: Target) -> Self {
        let (limits, protocol) = (Limits::default(), Protocol::Auto);
        Self { title: title.to_owned(), target, limits, protocol }
    }

    /// Connects, reads everything that it lists, and leaves.
    pub async fn offer(&self) -> anyhow::Result<Offer> {
        let terms = Terms {
            limits: self.limits.clone(),
            protocol: self.protocol,
            client: json!({ "name": "toolgate", "version": env!("CARGO_PKG_VERSION") }),
            capabilities: json!({}),
        };
        let spawner = Spawner::of_this_program();
        let connection = connection::connect(&self.target, &terms, &spawner)
            .await
            .with_context(|| format!("cannot reach `{}`", self.title))?;
        let offer = Offer::read(&connection).await;
        let said = connection.stderr();
        connection.close().await;
        offer.map_err(|error| match said.trim().lines().last() {
            Some(last) => anyhow::anyhow!("`{}`: {error}; it said: {last}", self.title),
            None => anyhow::anyhow!("`{}`: {error}", self.title),
        })
    }
}
