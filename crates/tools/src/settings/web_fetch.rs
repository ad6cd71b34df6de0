//! The settings of `fetch_url` and `web.fetch`.

use std::{path::PathBuf, time::Duration};

use guard::net::{self, DomainPattern, HostPort, NetRules, SetupError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Types that are not fetched as text. A type that ends in `+xml` or `+json` is text all the same.
const BINARY_TYPES: &str = include_str!("binary_types.txt");

/// The sites that may be fetched from, and the limits.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WebFetchSettings {
    /// Domains that may be reached; every public one where the list is empty. `example.com` is that
    /// host alone, `.example.com` or `*.example.com` the hosts below it.
    pub allowed_domains: Vec<String>,
    /// Hosts that may be reached although they are not public, each as `host:port`. Where
    /// `allowed_domains` is not empty, they have to be there too.
    pub allow_private_hosts: Vec<String>,
    /// Ports that may be reached; where the list is empty all but those that belong to other
    /// services (the list of the Fetch standard).
    pub allowed_ports: Vec<u16>,
    /// The largest body, in bytes after decompression.
    #[schemars(range(min = 1, max = 67_108_864))]
    pub max_bytes: u64,
    /// The time for everything: name, connection, redirects and body, in milliseconds.
    #[schemars(range(min = 100, max = 110_000))]
    pub total_timeout_ms: u64,
    /// The time to find the address, connect and agree on encryption, in milliseconds.
    #[schemars(range(min = 100, max = 110_000))]
    pub connect_timeout_ms: u64,
    /// The time that the other side may be silent, in milliseconds.
    #[schemars(range(min = 100, max = 110_000))]
    pub idle_timeout_ms: u64,
    /// The most redirects that are followed.
    #[schemars(range(max = 20))]
    pub max_redirects: usize,
    /// True if a redirect may lead from https to http.
    pub allow_downgrade: bool,
    /// The largest head of an answer, in bytes.
    #[schemars(range(min = 8_192, max = 1_048_576))]
    pub max_header_bytes: usize,
    /// The most headers that an answer may have.
    #[schemars(range(min = 1, max = 1_000))]
    pub max_headers: usize,
    /// The most text of a page that `web.fetch` returns at once, in characters.
    #[schemars(range(min = 1, max = 67_108_864))]
    pub max_text_chars: usize,
    /// The most raw HTML that `web.fetch` returns where it is asked for it, in characters.
    #[schemars(range(min = 1, max = 67_108_864))]
    pub max_raw_html_chars: usize,
    /// Types of content that `fetch_url` refuses; `*` stands for anything.
    pub refused_types: Vec<String>,
    /// The `User-Agent`; Toolgate's own where this is left out.
    #[schemars(length(min = 1, max = 200))]
    pub user_agent: Option<String>,
    /// Files of certificates (PEM) that are trusted beside those of the machine.
    pub extra_ca: Vec<PathBuf>,
    /// True if the `robots.txt` of a site is obeyed. It is meant for crawlers, which choose their
    /// pages themselves; an agent fetches the one page that somebody asked for.
    pub robots: bool,
    /// The bytes of answers that are kept in memory, as long as their servers allow it; none where
    /// it is 0.
    #[schemars(range(max = 1_073_741_824))]
    pub cache_bytes: usize,
    /// A folder that is asked instead of the network. Not set by hand: examples have one.
    #[serde(skip)]
    pub stand_in: Option<PathBuf>,
}

impl Default for WebFetchSettings {
    fn default() -> Self {
        Self {
            allowed_domains: Vec::new(),
            allow_private_hosts: Vec::new(),
            allowed_ports: Vec::new(),
            max_bytes: 5_242_880,
            total_timeout_ms: 30_000,
            connect_timeout_ms: 10_000,
            idle_timeout_ms: 15_000,
            max_redirects: net::DEFAULT_MAX_REDIRECTS,
            allow_downgrade: false,
            max_header_bytes: 65_536,
            max_headers: 200,
            max_text_chars: 5_242_880,
            max_raw_html_chars: 5_242_880,
            refused_types: BINARY_TYPES.lines().map(str::to_owned).collect(),
            user_agent: None,
            extra_ca: Vec::new(),
            robots: false,
            cache_bytes: 0,
            stand_in: None,
        }
    }
}

impl WebFetchSettings {
    /// The entries that mean nothing: the key and the place in its list, and what is wrong.
    pub fn mistakes(&self) -> Vec<(String, String)> {
        let mut mistakes = Vec::new();
        let mut note = |key: &str, index: usize, error: Option<SetupError>| {
            mistakes.extend(error.map(|error| (format!("{key}/{index}"), error.problem)));
        };
        for (index, domain) in self.allowed_domains.iter().enumerate() {
            note("allowed_domains", index, DomainPattern::parse(domain).err());
        }
        for (index, host) in self.allow_private_hosts.iter().enumerate() {
            note("allow_private_hosts", index, HostPort::parse(host).err());
        }
        if self.user_agent.as_deref().is_some_and(|text| net::HeaderValue::from_str(text).is_err())
        {
            mistakes.push(("user_agent".into(), "must be a valid header value".into()));
        }
        mistakes
    }

    /// The same for the client. An entry that means nothing allows nothing.
    pub fn client(&self) -> net::HttpClientSettings {
        // A list of mistakes alone must not become the empty list, which allows everything.
        let refuse_all = !self.allowed_domains.is_empty();
        let mut allowed: Vec<_> =
            self.allowed_domains.iter().flat_map(|one| DomainPattern::parse(one)).collect();
        if refuse_all && allowed.is_empty() {
            allowed.extend(DomainPattern::parse("invalid"));
        }
        let defaults = net::HttpClientSettings::default();
        net::HttpClientSettings {
            rules: NetRules {
                allowed_domains: allowed,
                private_hosts: self
                    .allow_private_hosts
                    .iter()
                    .flat_map(|one| HostPort::parse(one))
                    .collect(),
                allowed_ports: self.allowed_ports.clone(),
                allow_downgrade: self.allow_downgrade,
                max_redirects: self.max_redirects,
            },
            connect_timeout: Duration::from_millis(self.connect_timeout_ms),
            idle_timeout: Duration::from_millis(self.idle_timeout_ms),
            max_header_bytes: self.max_header_bytes,
            max_headers: self.max_headers,
            user_agent: self.user_agent.clone().unwrap_or(defaults.user_agent),
            extra_ca: self.extra_ca.clone(),
            robots: self.robots,
            cache_bytes: self.cache_bytes,
            stand_in: self.stand_in.clone(),
            ..net::HttpClientSettings::default()
        }
    }

    /// The bounds of one request.
    pub fn limits(&self) -> net::RequestLimits {
        net::RequestLimits {
            max_body_bytes: usize::try_from(self.max_bytes).unwrap_or(usize::MAX),
            total: Duration::from_millis(self.total_timeout_ms),
        }
    }
}
