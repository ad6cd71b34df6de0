//! The address that a server listens on: `127.0.0.1:8000`, `localhost:8000`, or a port alone.

use std::{
    borrow::Cow,
    fmt, io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

/// The longest host name, in bytes.
const MAX_HOST_NAME_BYTES: usize = 253;

/// An address as it was written. YAML reads a port alone as a number.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct ListenAddress(String);

/// The place that an address means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListenTarget {
    Address(SocketAddr),
    /// A name that the machine resolves, and a port.
    Name(String, u16),
}

/// The reason why a text is not an address, and what to write instead.
#[derive(Debug, PartialEq, Eq)]
pub struct ListenProblem {
    pub message: String,
    pub hint: String,
}

impl From<&str> for ListenAddress {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl<'de> Deserialize<'de> for ListenAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Port(u16),
            Text(String),
        }
        Ok(match Written::deserialize(deserializer)? {
            Written::Port(port) => Self(port.to_string()),
            Written::Text(text) => Self(text),
        })
    }
}

impl JsonSchema for ListenAddress {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ListenAddress".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer"], "minimum": 0, "maximum": u16::MAX })
    }
}

impl ListenAddress {
    /// The place that it means. A port alone is one of this machine: nobody opens a server to a network by leaving
    /// something out.
    pub fn target(&self) -> Result<ListenTarget, ListenProblem> {
        let text = self.0.trim();
        if let Ok(address) = text.parse() {
            return Ok(ListenTarget::Address(address));
        }
        if text.bytes().all(|one| one.is_ascii_digit()) && !text.is_empty() {
            let port = port(text)?;
            return Ok(ListenTarget::Address(SocketAddr::from((Ipv4Addr::LOCALHOST, port))));
        }
        let problem = |message: String, hint: String| Err(ListenProblem { message, hint });
        if text.contains("://") {
            return problem(format!("`{text}` is a URL"), "write `127.0.0.1:8000`".to_owned());
        }
        let bare = text.trim_start_matches('[').trim_end_matches(']');
        if bare.parse::<Ipv6Addr>().is_ok() {
            let hint = format!("write `[{bare}]:8000`");
            return problem(format!("`{text}` is an IPv6 address without a port"), hint);
        }
        let Some((host, digits)) = text.rsplit_once(':') else {
            if is_host_name(text) {
                let hint = format!("write `{text}:8000`, or a port alone");
                return problem(format!("`{text}` has no port"), hint);
            }
            return problem(not_an_address(text), "write `127.0.0.1:8000`".to_owned());
        };
        let port = port(digits)?;
        match host {
            "" => problem(
                format!("`{text}` does not say who can reach the server"),
                format!(
                    "write `{port}` for this machine alone, or `0.0.0.0:{port}` for all networks"
                ),
            ),
            "*" => problem(not_an_address(text), format!("all networks are `0.0.0.0:{port}`")),
            name if is_host_name(name) => Ok(ListenTarget::Name(name.to_owned(), port)),
            _ => problem(not_an_address(text), format!("write `127.0.0.1:{port}`")),
        }
    }
}

impl ListenTarget {
    /// The addresses that the name has on this machine.
    pub async fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        match self {
            Self::Address(address) => Ok(vec![*address]),
            Self::Name(name, port) => {
                Ok(tokio::net::lookup_host((name.as_str(), *port)).await?.collect())
            }
        }
    }
}

impl fmt::Display for ListenTarget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => write!(formatter, "{address}"),
            Self::Name(name, port) => write!(formatter, "{name}:{port}"),
        }
    }
}

impl fmt::Display for ListenProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}; {}", self.message, self.hint)
    }
}

fn not_an_address(text: &str) -> String {
    format!("`{text}` is not an address like 127.0.0.1:8000")
}

fn port(digits: &str) -> Result<u16, ListenProblem> {
    digits.parse().map_err(|_| ListenProblem {
        message: format!("`{digits}` is not a port"),
        hint: "a port is a number from 0 to 65535; 0 lets the system choose one".to_owned(),
    })
}

/// True for a text that can be a host name. One of digits alone is an address with a mistake.
fn is_host_name(text: &str) -> bool {
    let fits = |one: char| one.is_ascii_alphanumeric() || "-._".contains(one);
    let is_number = |text: &str| text.chars().all(|one| one.is_ascii_digit() || one == '.');
    !text.is_empty()
        && text.len() <= MAX_HOST_NAME_BYTES
        && text.chars().all(fits)
        && (!is_number(text) || text.parse::<Ipv4Addr>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_meant() {
        for (text, meant) in [
            ("8057", "127.0.0.1:8057"),
            (" 8057 ", "127.0.0.1:8057"),
            ("0", "127.0.0.1:0"),
            ("127.0.0.1:8000", "127.0.0.1:8000"),
            ("0.0.0.0:1", "0.0.0.0:1"),
            ("[::1]:8000", "[::1]:8000"),
            ("localhost:80", "localhost:80"),
            ("tools.example:80", "tools.example:80"),
        ] {
            let target = ListenAddress::from(text).target();
            assert_eq!(target.map(|target| target.to_string()).as_deref(), Ok(meant), "{text}");
        }
        for (text, message, hint) in [
            ("", "not an address", "127.0.0.1:8000"),
            ("foo", "no port", "foo:8000"),
            ("127.0.0.1", "no port", "127.0.0.1:8000"),
            (":8057", "who can reach", "`8057` for this machine alone, or `0.0.0.0:8057`"),
            ("*:8057", "not an address", "0.0.0.0:8057"),
            ("65536", "`65536` is not a port", "65535"),
            ("localhost:99999", "`99999` is not a port", "65535"),
            ("localhost:", "`` is not a port", "65535"),
            ("localhost:http", "`http` is not a port", "65535"),
            ("::1", "IPv6", "[::1]:8000"),
            ("[::1]", "IPv6", "[::1]:8000"),
            ("http://127.0.0.1:8000", "URL", "127.0.0.1:8000"),
            ("256.1.1.1:80", "not an address", "127.0.0.1:80"),
            ("1.2.3:80", "not an address", "127.0.0.1:80"),
            ("a b:80", "not an address", "127.0.0.1:80"),
        ] {
            let problem = ListenAddress::from(text).target().unwrap_err();
            assert!(problem.message.contains(message), "{text}: {problem}");
            assert!(problem.hint.contains(hint), "{text}: {problem}");
        }
    }
}
