//! The hosts that a client may reach, and the check of a URL against them.

use url::{Host, Url};

use super::{DomainPattern, HostPort, NetError, NetErrorReason, SetupError, address, name, ports};

/// The longest URL, in bytes. Browsers and servers agree on far less.
pub const MAX_URL_BYTES: usize = 16_384;

/// The number of redirects that are followed unless the operator says otherwise.
pub const DEFAULT_MAX_REDIRECTS: usize = 5;

/// The hosts that a client may reach. Every hop of a request is held to it, and so is every address.
#[derive(Debug, Clone)]
pub struct NetRules {
    /// The hosts that may be reached; every public one where the list is empty.
    pub allowed_domains: Vec<DomainPattern>,
    /// The hosts that may be reached although their addresses are not public, and on ports that
    /// are otherwise refused. They have to be among the allowed domains too, if there are any.
    pub private_hosts: Vec<HostPort>,
    /// The ports that may be reached; where the list is empty all but those of other services.
    pub allowed_ports: Vec<u16>,
    /// True if a redirect may lead from `https` to `http`.
    pub allow_downgrade: bool,
    /// The number of redirects that are followed.
    pub max_redirects: usize,
}

impl Default for NetRules {
    fn default() -> Self {
        Self {
            allowed_domains: Vec::new(),
            private_hosts: Vec::new(),
            allowed_ports: Vec::new(),
            allow_downgrade: false,
            max_redirects: DEFAULT_MAX_REDIRECTS,
        }
    }
}

impl NetRules {
    /// The rules for a service of the operator's own: nothing but the host and port of this URL,
    /// wherever that is, and no redirect away from it.
    pub fn only(base_url: &str) -> Result<Self, SetupError> {
        let service = HostPort::of_url(base_url)?;
        let domain = service.domain();
        Ok(Self {
            allowed_domains: vec![domain],
            allowed_ports: vec![service.port()],
            private_hosts: vec![service],
            ..Self::default()
        })
    }

    /// Reads a URL as a browser would and says whether it may be fetched, as far as that can be
    /// said without asking for the addresses of a name.
    pub fn check(&self, text: &str) -> Result<Url, NetError> {
        if text.len() > MAX_URL_BYTES {
            let message = format!("the URL has more than {MAX_URL_BYTES} bytes");
            return Err(NetError::new(NetErrorReason::BadUrl, message));
        }
        match Url::parse(text) {
            Ok(url) => self.check_url(url),
            // A URL of another scheme is refused for that, whatever else is wrong with it.
            Err(_) if has_other_scheme(text) => Err(bad_scheme()),
            Err(error) => Err(NetError::new(NetErrorReason::BadUrl, error.to_string())),
        }
    }

    /// The same for a redirect: where it leads from a page that may be fetched.
    pub(super) fn check_redirect(&self, from: &Url, location: &str) -> Result<Url, NetError> {
        let joined = from.join(location).map(String::from);
        let url = self.check(joined.as_deref().unwrap_or(location))?;
        if from.scheme() == "https" && url.scheme() == "http" && !self.allow_downgrade {
            let message = "a redirect leads from https to http";
            return Err(NetError::new(NetErrorReason::Downgrade, message));
        }
        Ok(url)
    }

    fn check_url(&self, mut url: Url) -> Result<Url, NetError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(bad_scheme());
        }
        if !url.username().is_empty() || url.password().is_some() {
            let message = "the URL has a user name or a password";
            return Err(NetError::new(NetErrorReason::Credentials, message));
        }
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return Err(NetError::new(NetErrorReason::BadUrl, "the URL has no host"));
        };
        if let Host::Domain(name) = host
            && let Some(problem) = name::impossible(name)
        {
            return Err(NetError::new(NetErrorReason::BadUrl, problem));
        }
        let plain = name::plain(&host);
        let private = self.is_private_host(&plain, port);
        if !private && self.is_bad_port(port) {
            return Err(NetError::new(
                NetErrorReason::BadPort,
                format!("port {port} is not allowed"),
            ));
        }
        if !self.is_allowed_domain(&plain) {
            let message = format!("`{plain}` is not among the allowed domains");
            return Err(NetError::new(NetErrorReason::Domain, message));
        }
        if !private {
            check_public(&host)?;
        }
        url.set_fragment(None);
        Ok(url)
    }

    /// True if the operator lists this host, in its plain form, with this port.
    pub(super) fn is_private_host(&self, host: &str, port: u16) -> bool {
        self.private_hosts.iter().any(|listed| listed.is(host, port))
    }

    fn is_bad_port(&self, port: u16) -> bool {
        if self.allowed_ports.is_empty() {
            ports::is_bad(port)
        } else {
            !self.allowed_ports.contains(&port)
        }
    }

    fn is_allowed_domain(&self, host: &str) -> bool {
        self.allowed_domains.is_empty()
            || self.allowed_domains.iter().any(|pattern| pattern.matches(host))
    }
}

/// Refuses an address that is not public and a name that cannot be.
fn check_public(host: &Host<&str>) -> Result<(), NetError> {
    let what = match host {
        Host::Domain(name) if name::is_local(name) => Some("local name"),
        Host::Domain(_) => None,
        Host::Ipv4(address) => address::special((*address).into()),
        Host::Ipv6(address) => address::special((*address).into()),
    };
    match what {
        Some(what) => Err(private(&name::plain(host)).for_operator(what)),
        None => Ok(()),
    }
}

/// The refusal of a host that is not public.
pub(super) fn private(host: &str) -> NetError {
    NetError::new(NetErrorReason::PrivateAddr, format!("`{host}` is not a public host"))
}

fn bad_scheme() -> NetError {
    NetError::new(NetErrorReason::BadScheme, "only http and https are fetched")
}

/// True if a text that is no URL begins like one of another scheme.
fn has_other_scheme(text: &str) -> bool {
    let text = text.trim_matches(|c: char| c <= ' ');
    let Some((scheme, _)) = text.split_once(':') else { return false };
    let mut bytes = scheme.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        && !scheme.eq_ignore_ascii_case("http")
        && !scheme.eq_ignore_ascii_case("https")
}
