//! Which addresses are public, at the edges of every block.

use std::net::IpAddr;

use guard::net::address::special;

fn is_special(address: &str) -> bool {
    special(address.parse::<IpAddr>().unwrap()).is_some()
}

#[test]
fn the_first_and_the_last_address_of_a_block_are_special_and_its_neighbours_are_not() {
    // Before, first, last, after; where a neighbour is special too it is left out.
    for (before, first, last, after) in [
        ("", "0.0.0.0", "0.255.255.255", "1.0.0.0"),
        ("9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"),
        ("100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"),
        ("126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"),
        ("168.63.129.15", "168.63.129.16", "168.63.129.16", "168.63.129.17"),
        ("169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"),
        ("172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"),
        ("191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"),
        ("192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"),
        ("192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"),
        ("192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"),
        ("198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"),
        ("198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"),
        ("203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"),
        ("223.255.255.255", "224.0.0.0", "239.255.255.255", ""),
        ("", "240.0.0.0", "255.255.255.255", ""),
        ("", "::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2000::"),
        ("2000:ffff:ffff:ffff::", "2001::", "2001:1ff:ffff:ffff::", "2001:200::"),
        ("2001:db7:ffff::", "2001:db8::", "2001:db8:ffff:ffff::", "2001:db9::"),
        ("3ffe:ffff::", "3fff::", "3fff:fff:ffff::", "3fff:1000::"),
        ("3fff:ffff::", "4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""),
    ] {
        for (address, expected) in [(before, false), (first, true), (last, true), (after, false)] {
            assert!(address.is_empty() || is_special(address) == expected, "{address}");
        }
    }
}

#[test]
fn an_address_inside_another_one_is_judged_too() {
    for (pattern, public) in [
        ("::ffff:{}", true),
        ("64:ff9b::{}", true),
        ("2606:4700::5efe:{}", true),
        ("2606:4700::200:5efe:{}", true),
        // Nobody routes these, whatever is inside.
        ("::{}", false),
        ("::ffff:0:{}", false),
        ("64:ff9b:1::{}", false),
        ("fe80::5efe:{}", false),
    ] {
        for private in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "168.63.129.16", "0.0.0.0"] {
            assert!(is_special(&pattern.replace("{}", private)), "{pattern} {private}");
        }
        assert_eq!(is_special(&pattern.replace("{}", "93.184.216.34")), !public, "{pattern}");
    }
    assert!(is_special("2002:7f00:1::") && is_special("2002:a9fe:a9fe::1"));
    assert!(!is_special("2002:5db8:d822::"));
}

#[test]
fn blocks_that_are_known_by_name() {
    for address in [
        "::1",
        "fe80::1",
        "fec0::1",
        "fc00::1",
        "fd20:ce::254",
        "ff02::1",
        "100::1",
        "5f00::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "2001:20::1",
        "2001:10::1",
    ] {
        assert!(is_special(address), "{address}");
    }
    for address in ["2606:4700:4700::1111", "2a00:1450:4001:81b::200e", "8.8.8.8", "1.1.1.1"] {
        assert!(!is_special(address), "{address}");
    }
}
