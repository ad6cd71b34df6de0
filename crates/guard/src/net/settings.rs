//! The settings of a client.

use std::{path::PathBuf, sync::Arc, time::Duration};

use super::{NetRules, Resolve, SystemResolver};

/// Our name for servers. The operator can add where to complain.
pub const USER_AGENT: &str =
    concat!("Toolgate/", env!("CARGO_PKG_VERSION"), " (+tool gateway; fetches on request)");

/// The settings of a client, beside the limits that each request brings.
#[derive(Clone)]
pub struct HttpClientSettings {
    /// The hosts that may be reached.
    pub rules: NetRules,
    /// The time that it may take to resolve a name, connect and agree on encryption, for each hop.
    pub connect_timeout: Duration,
    /// The time that the other side may be silent.
    pub idle_timeout: Duration,
    /// The largest head of an answer, in bytes; at least 8,192.
    pub max_header_bytes: usize,
    /// The number of headers that an answer may have.
    pub max_headers: usize,
    /// The number of unused connections that are kept for each host.
    pub max_idle_per_host: usize,
    /// The `User-Agent` of every request.
    pub user_agent: String,
    /// Files of certificates (PEM) that are trusted beside those of the machine.
    pub extra_ca: Vec<PathBuf>,
    /// True if `robots.txt` is obeyed. Off by default: it is meant for crawlers, which choose their
    /// pages themselves, and a fetch here is of one page that somebody asked for.
    pub robots: bool,
    /// The number of bytes of answers that are kept for another request; none where it is 0.
    pub cache_bytes: usize,
    /// A folder that is asked instead of the network: for trying tools out. Below it is a folder
    /// for each host, with the files that it serves.
    pub stand_in: Option<PathBuf>,
    /// Finds the addresses of names.
    pub resolver: Arc<dyn Resolve>,
}

impl Default for HttpClientSettings {
    fn default() -> Self {
        Self {
            rules: NetRules::default(),
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(15),
            max_header_bytes: 65_536,
            max_headers: 200,
            max_idle_per_host: 8,
            user_agent: USER_AGENT.to_owned(),
            extra_ca: Vec::new(),
            robots: false,
            cache_bytes: 0,
            stand_in: None,
            resolver: Arc::new(SystemResolver::default()),
        }
    }
}
