//! The judge of addresses against another way to say the same: the blocks as ranges of numbers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use guard::net::{NetRules, address::special};
use proptest::prelude::*;

use super::url_property::{what_passes_is_public, where_a_redirect_leads_is_public};

/// The blocks of IPv4 as first and last address.
const RANGES_V4: [(u32, u32); 15] = [
    (0x0000_0000, 0x00ff_ffff),
    (0x0a00_0000, 0x0aff_ffff),
    (0x6440_0000, 0x647f_ffff),
    (0x7f00_0000, 0x7fff_ffff),
    (0xa83f_8110, 0xa83f_8110),
    (0xa9fe_0000, 0xa9fe_ffff),
    (0xac10_0000, 0xac1f_ffff),
    (0xc000_0000, 0xc000_00ff),
    (0xc000_0200, 0xc000_02ff),
    (0xc058_6300, 0xc058_63ff),
    (0xc0a8_0000, 0xc0a8_ffff),
    (0xc612_0000, 0xc613_ffff),
    (0xc633_6400, 0xc633_64ff),
    (0xcb00_7100, 0xcb00_71ff),
    (0xe000_0000, 0xffff_ffff),
];

fn expected_v4(bits: u32) -> bool {
    RANGES_V4.iter().any(|(first, last)| (*first..=*last).contains(&bits))
}

#[allow(clippy::cast_possible_truncation, reason = "the rest is not wanted")]
fn low(bits: u128) -> u32 {
    bits as u32
}

fn expected_v6(bits: u128) -> bool {
    let last = low(bits);
    let high = bits >> 32;
    if high == 0xffff || high == 0x0064_ff9b_0000_0000_0000_0000 {
        return expected_v4(last);
    }
    if bits >> 112 == 0x2002 {
        return expected_v4(low(bits >> 80));
    }
    let isatap = matches!(low(bits >> 32), 0x0000_5efe | 0x0200_5efe);
    let first = low(bits >> 96);
    !(0x2000_0000..=0x3fff_ffff).contains(&first)
        || (0x2001_0000..=0x2001_01ff).contains(&first)
        || first == 0x2001_0db8
        || (0x3fff_0000..=0x3fff_0fff).contains(&first)
        || (isatap && expected_v4(last))
}

/// Numbers near the edges of blocks, where mistakes are.
fn near_an_edge() -> impl Strategy<Value = u32> {
    let edges: Vec<u32> = RANGES_V4.iter().flat_map(|(first, last)| [*first, *last]).collect();
    (proptest::sample::select(edges), -3_i32..=3)
        .prop_map(|(edge, by)| edge.wrapping_add_signed(by))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn ipv4_is_judged_like_the_ranges(random in any::<u32>(), edge in near_an_edge()) {
        for bits in [random, edge] {
            let address = Ipv4Addr::from_bits(bits);
            prop_assert_eq!(special(IpAddr::V4(address)).is_some(), expected_v4(bits), "{}", address);
        }
    }

    #[test]
    fn ipv6_is_judged_like_the_ranges(random in any::<u128>(), edge in near_an_edge(), shape in 0_usize..8) {
        let inner = u128::from(edge);
        let bits = match shape {
            0 => random,
            1 => 0xffff << 32 | inner,
            2 => 0x0064_ff9b << 96 | inner,
            3 => 0x2002 << 112 | inner << 80 | random >> 48,
            4 => (random >> 64) << 64 | 0x5efe << 32 | inner,
            5 => 0x2001 << 112 | random >> 16,
            6 => 0x3fff << 112 | random >> 16,
            _ => inner,
        };
        let address = Ipv6Addr::from_bits(bits);
        prop_assert_eq!(special(IpAddr::V6(address)).is_some(), expected_v6(bits), "{}", address);
    }

    /// However an address is spelled, it is refused if it is refused at all.
    #[test]
    fn every_spelling_of_an_address_is_seen_through(edge in near_an_edge(), random in any::<u32>(), dot in any::<bool>()) {
        for bits in [edge, random] {
            let [a, b, c, d] = bits.to_be_bytes();
            let low = u32::from(c) << 8 | u32::from(d);
            for spelled in [
                format!("{a}.{b}.{c}.{d}"),
                format!("{bits}"),
                format!("0x{bits:x}"),
                format!("0{bits:o}"),
                format!("0x{a:x}.0{b:o}.{c}.0X{d:X}"),
                format!("{a}.{b}.{low}"),
                format!("{a}.{}", u32::from(b) << 16 | low),
            ] {
                let url = format!("http://{spelled}{}/", if dot { "." } else { "" });
                let checked = NetRules::default().check(&url);
                prop_assert_eq!(checked.is_err(), expected_v4(bits), "{} {:?}", url, checked);
            }
        }
    }

    #[test]
    fn what_passes_is_public_whatever_the_text(text in "\\PC{0,60}", host in "[a-z0-9.\\[\\]:@%_-]{0,30}") {
        for url in [text.clone(), format!("http://{host}/{text}"), format!("https://{text}@{host}")] {
            what_passes_is_public(&url);
            where_a_redirect_leads_is_public(&url);
        }
    }
}
