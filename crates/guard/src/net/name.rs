//! Host names: which are possible, which are never public, which are among the allowed ones.

use url::Host;

use super::SetupError;

/// The longest name that DNS can carry, in octets, without the final dot.
const MAX_NAME_BYTES: usize = 253;
/// The longest part of one.
const MAX_LABEL_BYTES: usize = 63;

/// Names that mean something on this machine or this network only, each with all that is below it.
/// They are refused before anybody is asked for their address, so that the question does not leave
/// either. A name without a dot is one of them, whatever it is.
const LOCAL_NAMES: [&str; 13] = [
    "localhost",
    "localdomain",
    "local",
    "internal",
    "intranet",
    "private",
    "corp",
    "home",
    "lan",
    "svc",
    "home.arpa",
    // Tor's, which must not be asked for in DNS (RFC 7686).
    "onion",
    // A namespace for machines of one site (RFC 9476).
    "alt",
];

/// The problem with a name that DNS cannot carry.
pub(super) fn impossible(name: &str) -> Option<&'static str> {
    let name = without_dot(name);
    if name.len() > MAX_NAME_BYTES {
        return Some("the host name has more than 253 octets");
    }
    // A browser takes more; no name that means a host has any of it, and resolvers differ on it.
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) {
        return Some("the host name has a character that names do not have");
    }
    name.split('.').find_map(|label| match label.len() {
        0 => Some("the host name has an empty part"),
        length if length > MAX_LABEL_BYTES => {
            Some("a part of the host name has more than 63 octets")
        }
        _ => None,
    })
}

/// True if a name can only mean something here.
pub(super) fn is_local(name: &str) -> bool {
    let name = without_dot(name);
    !name.contains('.') || LOCAL_NAMES.iter().any(|local| name == *local || is_below(name, local))
}

/// A host as it is compared: IDN in punycode, lower case, no dot at the end.
pub(super) fn plain<S: AsRef<str>>(host: &Host<S>) -> String {
    match host {
        Host::Domain(name) => without_dot(name.as_ref()).to_owned(),
        Host::Ipv4(address) => address.to_string(),
        Host::Ipv6(address) => format!("[{address}]"),
    }
}

/// The dot at the end only says that the name is whole.
fn without_dot(name: &str) -> &str {
    name.strip_suffix('.').unwrap_or(name)
}

fn is_below(name: &str, parent: &str) -> bool {
    name.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.'))
}

/// An entry of a list of domains: `example.com` is that host alone, `.example.com` or
/// `*.example.com` are the hosts below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainPattern {
    name: String,
    below: bool,
}

impl DomainPattern {
    /// Reads an entry. IDN is taken in either spelling.
    pub fn parse(text: &str) -> Result<Self, SetupError> {
        let wrong = |problem: &str| SetupError::new(text, problem);
        let rest = text.strip_prefix("*.").or_else(|| text.strip_prefix('.'));
        let host = rest.unwrap_or(text);
        if host.contains(['/', '@', '?', '#', '\\', '*']) {
            return Err(wrong(
                "must be a domain like `example.com`, or `.example.com` for its subdomains",
            ));
        }
        let host = Host::parse(host).map_err(|error| wrong(&error.to_string()))?;
        if let Host::Domain(name) = &host
            && let Some(problem) = impossible(name)
        {
            return Err(wrong(problem));
        }
        let below = rest.is_some();
        if below && !matches!(host, Host::Domain(_)) {
            return Err(wrong("an IP address has no subdomains"));
        }
        Ok(Self { name: plain(&host), below })
    }

    /// True if a host, in the form that [`plain`] gives it, is meant.
    pub(super) fn matches(&self, host: &str) -> bool {
        if self.below { is_below(host, &self.name) } else { host == self.name }
    }
}

/// A host and a port, exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPort {
    /// The host as it is compared.
    host: String,
    port: u16,
}

impl HostPort {
    /// Reads `host:port`, where the host is a name, an IPv4 address, or an IPv6 address in brackets.
    pub fn parse(text: &str) -> Result<Self, SetupError> {
        let wrong = |problem: &str| SetupError::new(text, problem);
        let (host, port) = text.rsplit_once(':').ok_or_else(|| wrong("must be `host:port`"))?;
        let port = port.parse().map_err(|_| wrong("must end in a port from 0 to 65535"))?;
        let host = Host::parse(host).map_err(|error| wrong(&error.to_string()))?;
        Ok(Self { host: plain(&host), port })
    }

    /// The host and port that a URL leads to, in the same form: for a client that may reach exactly
    /// one service of the operator's.
    pub fn of_url(text: &str) -> Result<Self, SetupError> {
        let wrong = |problem: &str| SetupError::new(text, problem);
        let url = url::Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
        match (url.host(), url.port_or_known_default()) {
            (Some(host), Some(port)) if matches!(url.scheme(), "http" | "https") => {
                Ok(Self { host: plain(&host), port })
            }
            _ => Err(wrong("is not an http or https URL with a host")),
        }
    }

    pub(super) fn domain(&self) -> DomainPattern {
        DomainPattern { name: self.host.clone(), below: false }
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn is(&self, host: &str, port: u16) -> bool {
        self.port == port && self.host == host
    }
}
