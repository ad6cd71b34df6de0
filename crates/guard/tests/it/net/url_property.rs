//! What must hold of every URL that passes, whatever the text was. The fuzz target has it too.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use guard::net::{HostPort, NetRules, Url};

/// A text that passes is a URL that may be fetched, in the only way that it can be read.
pub fn what_passes_is_public(text: &str) {
    let rules = NetRules::default();
    let Ok(url) = rules.check(text) else { return };
    assert!(matches!(url.scheme(), "http" | "https"), "{text:?}: {url}");
    assert!(url.username().is_empty() && url.password().is_none(), "{text:?}: {url}");
    assert!(url.fragment().is_none(), "{text:?}: {url}");
    let host = url.host_str().expect("a host");
    assert!(!host.contains(['@', '%', ' ', '\\', '/']), "{text:?}: {url}");
    let bare = host.trim_matches(['[', ']']).trim_end_matches('.');
    match bare.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => assert!(may_be_public(address), "{text:?}: {url}"),
        Ok(IpAddr::V6(address)) => assert!(may_be_public_v6(address), "{text:?}: {url}"),
        Err(_) => {
            let last = bare.rsplit('.').next().unwrap_or_default();
            assert!(bare.contains('.'), "{text:?}: {url}");
            assert!(!["localhost", "local", "internal", "localdomain"].contains(&last), "{text:?}");
            // A name that ends in a number is an address to somebody.
            let hex = last.strip_prefix("0x");
            let is_hex = hex.is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
            assert!(last.parse::<u32>().is_err() && !is_hex, "{text:?}: {url}");
        }
    }
    assert_eq!(rules.check(url.as_str()).expect("the same again"), url, "{text:?}");
}

/// The same for where a page leads.
pub fn where_a_redirect_leads_is_public(text: &str) {
    let base = Url::parse("https://example.com/a/b").expect("a URL");
    if let Ok(joined) = base.join(text) {
        what_passes_is_public(joined.as_str());
    }
    // No text may make a list of the operator's fail otherwise than with a word.
    let _ = HostPort::parse(text);
    let _ = guard::net::DomainPattern::parse(text);
}

/// What the standard library knows of it, which is less than we do.
fn may_be_public(address: Ipv4Addr) -> bool {
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_unspecified()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_multicast())
}

fn may_be_public_v6(address: Ipv6Addr) -> bool {
    let inner = address.to_ipv4_mapped();
    inner.is_none_or(may_be_public)
        && !address.is_loopback()
        && !address.is_unspecified()
        && !address.is_unique_local()
        && !address.is_unicast_link_local()
        && !address.is_multicast()
}
