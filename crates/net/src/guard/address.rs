//! Which addresses are not the public internet, and what they are instead. Not the policy: whether an address of
//! a kind may be used is decided by [`super::Guard`].
//!
//! Invariant: what is not in the table and lies in the public ranges is public; for IPv6 everything outside
//! `2000::/3` is reserved, so that a range handed out in the future is refused until someone has looked at it.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

/// What an address is, when it is not a public one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AddressKind {
    /// This machine.
    Loopback,
    /// A private network (RFC 1918, unique local IPv6, old site-local).
    Private,
    /// The provider's side of a carrier-grade NAT.
    CarrierNat,
    /// This network segment only.
    LinkLocal,
    /// Where a cloud provider hands out credentials to its machines.
    Metadata,
    /// "This host on this network", which many systems take for loopback.
    Unspecified,
    /// Everybody at once.
    Broadcast,
    /// A group of machines.
    Multicast,
    /// For examples in text.
    Documentation,
    /// For measuring equipment.
    Benchmarking,
    /// Set aside, or never assigned.
    Reserved,
    /// IPv6 that carries an IPv4 address: mapped, compatible, NAT64, 6to4 or Teredo. It can reach any of the above.
    EmbeddedIpv4,
}

impl fmt::Display for AddressKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Loopback => "a loopback address",
            Self::Private => "a private address",
            Self::CarrierNat => "a carrier-grade NAT address",
            Self::LinkLocal => "a link-local address",
            Self::Metadata => "a cloud metadata address",
            Self::Unspecified => "an unspecified address",
            Self::Broadcast => "the broadcast address",
            Self::Multicast => "a multicast address",
            Self::Documentation => "a documentation address",
            Self::Benchmarking => "a benchmarking address",
            Self::Reserved => "a reserved address",
            Self::EmbeddedIpv4 => "an IPv4 address wrapped in IPv6",
        })
    }
}

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6(s: [u16; 8], prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]), prefix)
}

/// The first row that contains the address counts, so single addresses stand before the ranges around them.
const SPECIAL_V4: &[(Ipv4Net, AddressKind)] = &[
    (v4(169, 254, 169, 254, 32), AddressKind::Metadata), // most clouds
    (v4(169, 254, 170, 2, 32), AddressKind::Metadata),   // Amazon ECS
    (v4(100, 100, 100, 200, 32), AddressKind::Metadata), // Alibaba
    (v4(192, 0, 0, 192, 32), AddressKind::Metadata),     // Oracle
    (v4(168, 63, 129, 16, 32), AddressKind::Metadata),   // Azure; lies in a public range
    (v4(255, 255, 255, 255, 32), AddressKind::Broadcast),
    (v4(0, 0, 0, 0, 8), AddressKind::Unspecified),
    (v4(10, 0, 0, 0, 8), AddressKind::Private),
    (v4(100, 64, 0, 0, 10), AddressKind::CarrierNat),
    (v4(127, 0, 0, 0, 8), AddressKind::Loopback),
    (v4(169, 254, 0, 0, 16), AddressKind::LinkLocal),
    (v4(172, 16, 0, 0, 12), AddressKind::Private),
    (v4(192, 0, 0, 0, 24), AddressKind::Reserved),
    (v4(192, 0, 2, 0, 24), AddressKind::Documentation),
    (v4(192, 88, 99, 0, 24), AddressKind::Reserved),
    (v4(192, 168, 0, 0, 16), AddressKind::Private),
    (v4(198, 18, 0, 0, 15), AddressKind::Benchmarking),
    (v4(198, 51, 100, 0, 24), AddressKind::Documentation),
    (v4(203, 0, 113, 0, 24), AddressKind::Documentation),
    (v4(224, 0, 0, 0, 4), AddressKind::Multicast),
    (v4(240, 0, 0, 0, 4), AddressKind::Reserved),
];

const SPECIAL_V6: &[(Ipv6Net, AddressKind)] = &[
    (v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254], 128), AddressKind::Metadata), // Amazon
    (v6([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254], 128), AddressKind::Metadata),  // Google
    (v6([0, 0, 0, 0, 0, 0, 0, 0], 128), AddressKind::Unspecified),
    (v6([0, 0, 0, 0, 0, 0, 0, 1], 128), AddressKind::Loopback),
    (v6([0, 0, 0, 0, 0, 0xffff, 0, 0], 96), AddressKind::EmbeddedIpv4), // mapped
    (v6([0, 0, 0, 0, 0xffff, 0, 0, 0], 96), AddressKind::EmbeddedIpv4), // translated
    (v6([0, 0, 0, 0, 0, 0, 0, 0], 96), AddressKind::EmbeddedIpv4),      // compatible
    (v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96), AddressKind::EmbeddedIpv4), // NAT64
    (v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48), AddressKind::EmbeddedIpv4), // NAT64, local prefixes
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32), AddressKind::EmbeddedIpv4), // Teredo
    (v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), AddressKind::EmbeddedIpv4), // 6to4
    (v6([0x2001, 2, 0, 0, 0, 0, 0, 0], 48), AddressKind::Benchmarking),
    (v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), AddressKind::Documentation),
    (v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), AddressKind::Documentation),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), AddressKind::Reserved), // protocol assignments
    (v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), AddressKind::Private),
    (v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10), AddressKind::LinkLocal),
    (v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10), AddressKind::Private),
    (v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8), AddressKind::Multicast),
];

const PUBLIC_V6: Ipv6Net = v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

/// What `address` is, or `None` when it belongs to the public internet.
pub fn classify(address: IpAddr) -> Option<AddressKind> {
    match address {
        IpAddr::V4(v4) => SPECIAL_V4.iter().find(|(net, _)| net.contains(&v4)).map(|&(_, kind)| kind),
        IpAddr::V6(v6) => SPECIAL_V6
            .iter()
            .find(|(net, _)| net.contains(&v6))
            .map(|&(_, kind)| kind)
            .or_else(|| (!PUBLIC_V6.contains(&v6)).then_some(AddressKind::Reserved)),
    }
}

/// The IPv4 address inside an IPv6 one, where there is one.
///
/// An allow-list that opens such a range (NAT64 is how an IPv6-only network reaches most of the web) must not
/// thereby open every private IPv4 address.
pub(super) fn embedded(address: IpAddr) -> Option<Ipv4Addr> {
    let IpAddr::V6(v6) = address else { return None };
    if classify(address) != Some(AddressKind::EmbeddedIpv4) {
        return None;
    }
    let segments = v6.segments();
    Some(match segments[0] {
        0x2002 => from_segments(segments[1], segments[2]),
        0x2001 => from_segments(!segments[6], !segments[7]),
        _ => from_segments(segments[6], segments[7]),
    })
}

fn from_segments(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(high) << 16 | u32::from(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(address: &str) -> Option<AddressKind> {
        classify(address.parse().unwrap())
    }

    #[test]
    fn ranges_end_where_they_should() {
        for public in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "128.0.0.0",
            "169.253.255.255",
            "172.15.255.255",
            "172.32.0.0",
            "192.167.255.255",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2001:200::1",
            "2606:4700:4700::1111",
            "2a00::1",
        ] {
            assert_eq!(kind_of(public), None, "{public}");
        }
        for (special, kind) in [
            ("100.127.255.255", AddressKind::CarrierNat),
            ("172.31.255.255", AddressKind::Private),
            ("198.19.255.255", AddressKind::Benchmarking),
            ("239.255.255.255", AddressKind::Multicast),
            ("254.0.0.1", AddressKind::Reserved),
            ("169.254.169.253", AddressKind::LinkLocal),
            ("fdff::1", AddressKind::Private),
            ("febf::1", AddressKind::LinkLocal),
            ("5f00::1", AddressKind::Reserved),
            ("4000::1", AddressKind::Reserved),
            ("2001:1ff::1", AddressKind::Reserved),
        ] {
            assert_eq!(kind_of(special), Some(kind), "{special}");
        }
    }

    #[test]
    fn wrapped_addresses_are_unwrapped() {
        for wrapped in [
            "::ffff:10.0.0.1",
            "::10.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::10.0.0.1",
            "2002:a00:1::",
            "2001:0:4136:e378:8000:63bf:f5ff:fffe",
        ] {
            let address = wrapped.parse().unwrap();
            assert_eq!(classify(address), Some(AddressKind::EmbeddedIpv4), "{wrapped}");
            assert_eq!(embedded(address), Some(Ipv4Addr::new(10, 0, 0, 1)), "{wrapped}");
        }
        assert_eq!(embedded("2606:4700::1".parse().unwrap()), None);
    }
}
