//! Which addresses are public.
//!
//! The tables are IANA's registries of special-purpose addresses, taken whole: a block that the
//! registry calls reachable but that no web server lives in (anycast of the IETF's own protocols)
//! is refused too. An address that carries another one inside it is judged by both.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Blocks of IPv4 that nothing is fetched from: network, length of its prefix, what it is.
const SPECIAL_V4: [([u8; 4], u32, &str); 17] = [
    ([0, 0, 0, 0], 8, "this network"),
    ([10, 0, 0, 0], 8, "private"),
    ([100, 64, 0, 0], 10, "shared by a carrier"),
    ([127, 0, 0, 0], 8, "loopback"),
    // Not special to anyone but a machine in Azure, which finds its own secrets there.
    ([168, 63, 129, 16], 32, "the platform of a cloud"),
    ([169, 254, 0, 0], 16, "link-local"),
    ([172, 16, 0, 0], 12, "private"),
    ([192, 0, 0, 0], 24, "protocol assignments"),
    ([192, 0, 2, 0], 24, "documentation"),
    ([192, 88, 99, 0], 24, "6to4 relays"),
    ([192, 168, 0, 0], 16, "private"),
    ([198, 18, 0, 0], 15, "benchmarking"),
    ([198, 51, 100, 0], 24, "documentation"),
    ([203, 0, 113, 0], 24, "documentation"),
    ([224, 0, 0, 0], 4, "multicast"),
    ([240, 0, 0, 0], 4, "reserved"),
    ([255, 255, 255, 255], 32, "broadcast"),
];

/// Blocks inside `2000::/3`, the only part of IPv6 that is given out, that nothing is fetched from.
const SPECIAL_V6: [([u16; 2], u32, &str); 3] = [
    // Teredo, ORCHID, benchmarking and the rest of the protocol assignments.
    ([0x2001, 0x0000], 23, "protocol assignments"),
    ([0x2001, 0x0db8], 32, "documentation"),
    ([0x3fff, 0x0000], 20, "documentation"),
];

/// The special purpose of an address that nothing may be fetched from; nothing for a public one.
pub fn special(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) => special_v6(address),
    }
}

fn special_v4(address: Ipv4Addr) -> Option<&'static str> {
    let bits = address.to_bits();
    SPECIAL_V4.iter().find_map(|(network, length, what)| {
        let apart = bits ^ Ipv4Addr::from(*network).to_bits();
        (apart.leading_zeros() >= *length).then_some(*what)
    })
}

fn special_v6(address: Ipv6Addr) -> Option<&'static str> {
    let parts = address.segments();
    match parts {
        // Mapped, where the system connects to the IPv4 address; NAT64, where a translator on the
        // way does; 6to4, where the packet goes to the router at the IPv4 address.
        [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => return special_v4(v4(high, low)),
        // ISATAP, within any prefix: the last hop goes to the IPv4 address.
        [_, _, _, _, 0 | 0x0200, 0x5efe, high, low] => {
            if let Some(what) = special_v4(v4(high, low)) {
                return Some(what);
            }
        }
        _ => {}
    }
    if parts[0] & 0xe000 != 0x2000 {
        return Some(outside_of_the_given_out(parts));
    }
    let bits = u32::from(parts[0]) << 16 | u32::from(parts[1]);
    SPECIAL_V6.iter().find_map(|([first, second], length, what)| {
        let apart = bits ^ (u32::from(*first) << 16 | u32::from(*second));
        (apart.leading_zeros() >= *length).then_some(*what)
    })
}

/// The name of what lies outside `2000::/3`. All of it is refused, named or not.
fn outside_of_the_given_out(parts: [u16; 8]) -> &'static str {
    match parts {
        [0, 0, 0, 0, 0, 0, 0, 0] => "unspecified",
        [0, 0, 0, 0, 0, 0, 0, 1] => "loopback",
        [0, 0, 0, 0, 0 | 0xffff, 0, ..] => "an embedded IPv4 address",
        [0x64, 0xff9b, 1, ..] => "a translator's own network",
        [0x100, 0, 0, ..] => "discarded",
        [0x5f00, ..] => "segment routing",
        [first, ..] if first & 0xfe00 == 0xfc00 => "unique local",
        [first, ..] if first & 0xffc0 == 0xfe80 => "link-local",
        [first, ..] if first & 0xffc0 == 0xfec0 => "site-local",
        [first, ..] if first & 0xff00 == 0xff00 => "multicast",
        _ => "reserved",
    }
}

fn v4(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low))
}
