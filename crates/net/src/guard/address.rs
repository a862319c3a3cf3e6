//! Which addresses are not the public internet, and what they are instead. Not the policy: whether an address of
//! a kind may be used is decided by [`super::Guard`].
//!
//! Invariant: what is not in the table and lies in the public ranges is public; for IPv6 everything outside
//! `2000::/3` is reserved, so that a range handed out in the future is refused until it has been reviewed.

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
    /// Multicast.
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
    (v4(169, 254, 170, 23, 32), AddressKind::Metadata),  // Amazon EKS
    (v4(169, 254, 0, 23, 32), AddressKind::Metadata),    // Tencent
    (v4(169, 254, 42, 42, 32), AddressKind::Metadata),   // Scaleway
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
    (v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23], 128), AddressKind::Metadata),  // Amazon EKS
    (v6([0xfe80, 0, 0, 0, 0, 0, 0xa9fe, 0xa9fe], 128), AddressKind::Metadata), // OpenStack
    (v6([0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42], 128), AddressKind::Metadata),   // Scaleway
    (v6([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254], 128), AddressKind::Metadata),  // Google
    (v6([0, 0, 0, 0, 0, 0, 0, 0], 128), AddressKind::Unspecified),
    (v6([0, 0, 0, 0, 0, 0, 0, 1], 128), AddressKind::Loopback),
    (v6([0, 0, 0, 0, 0, 0xffff, 0, 0], 96), AddressKind::EmbeddedIpv4), // mapped
    (v6([0, 0, 0, 0, 0xffff, 0, 0, 0], 96), AddressKind::EmbeddedIpv4), // translated
    (v6([0, 0, 0, 0, 0, 0, 0, 0], 96), AddressKind::EmbeddedIpv4),      // compatible
    (v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 32), AddressKind::EmbeddedIpv4), // NAT64, well-known and local
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

/// The IPv4 addresses that an IPv6 one may stand for, where it stands for any.
///
/// An allow-list that opens such a range (NAT64 is how an IPv6-only network reaches most of the web) must not
/// thereby open every private IPv4 address.
pub(super) fn embedded(address: IpAddr) -> Vec<Ipv4Addr> {
    let IpAddr::V6(v6) = address else { return Vec::new() };
    if classify(address) != Some(AddressKind::EmbeddedIpv4) {
        return Vec::new();
    }
    let octets = v6.octets();
    let at = |places: [usize; 4]| Ipv4Addr::from(places.map(|place| octets[place]));
    match v6.segments()[0] {
        0x2002 => vec![at([2, 3, 4, 5])],
        // Where the server is, and, upside down, the client.
        0x2001 => vec![at([4, 5, 6, 7]), Ipv4Addr::from(at([12, 13, 14, 15]).octets().map(|octet| !octet))],
        0x64 => {
            // Where the address is depends on the length of the prefix (RFC 6052, 2.2), which only the network knows. All
            // readings count, except those whose position is empty.
            let readings = NAT64_PLACES.map(at);
            let mut meant: Vec<Ipv4Addr> =
                readings.into_iter().filter(|read| read.octets()[0] != 0).collect();
            if meant.is_empty() {
                meant.push(at([12, 13, 14, 15]));
            }
            meant
        }
        _ => vec![at([12, 13, 14, 15])],
    }
}

/// The octets of an address behind a prefix of 32, 40, 48, 56, 64 and 96 bits; the ninth is always left out.
const NAT64_PLACES: [[usize; 4]; 6] =
    [[4, 5, 6, 7], [5, 6, 7, 9], [6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], [12, 13, 14, 15]];

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(address: &str) -> Option<AddressKind> {
        classify(address.parse().unwrap())
    }

    /// Every range: what lies just before it, its first and last address, and what lies just after it; then what these are.
    const RANGES: &str = "\
- 0.0.0.0 0.255.255.255 1.0.0.0 public Unspecified public
9.255.255.255 10.0.0.0 10.255.255.255 11.0.0.0 public Private public
100.63.255.255 100.64.0.0 100.127.255.255 100.128.0.0 public CarrierNat public
126.255.255.255 127.0.0.0 127.255.255.255 128.0.0.0 public Loopback public
169.253.255.255 169.254.0.0 169.254.255.255 169.255.0.0 public LinkLocal public
172.15.255.255 172.16.0.0 172.31.255.255 172.32.0.0 public Private public
191.255.255.255 192.0.0.0 192.0.0.255 192.0.1.0 public Reserved public
192.0.1.255 192.0.2.0 192.0.2.255 192.0.3.0 public Documentation public
192.88.98.255 192.88.99.0 192.88.99.255 192.88.100.0 public Reserved public
192.167.255.255 192.168.0.0 192.168.255.255 192.169.0.0 public Private public
198.17.255.255 198.18.0.0 198.19.255.255 198.20.0.0 public Benchmarking public
198.51.99.255 198.51.100.0 198.51.100.255 198.51.101.0 public Documentation public
203.0.112.255 203.0.113.0 203.0.113.255 203.0.114.0 public Documentation public
223.255.255.255 224.0.0.0 239.255.255.255 240.0.0.0 public Multicast Reserved
239.255.255.255 240.0.0.0 255.255.255.254 255.255.255.255 Multicast Reserved Broadcast
- :: :: ::1 public Unspecified Loopback
:: ::1 ::1 ::2 Unspecified Loopback EmbeddedIpv4
::1 ::2 ::ffff:ffff ::1:0:0 Loopback EmbeddedIpv4 Reserved
::fffe:ffff:ffff ::ffff:0:0 ::ffff:ffff:ffff ::1:0:0:0 Reserved EmbeddedIpv4 Reserved
::fffe:ffff:ffff:ffff ::ffff:0:0:0 ::ffff:0:ffff:ffff ::ffff:1:0:0 Reserved EmbeddedIpv4 Reserved
64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff 64:ff9b:: 64:ff9b:ffff:ffff:ffff:ffff:ffff:ffff 64:ff9c:: Reserved EmbeddedIpv4 Reserved
2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2001:: 2001:0:ffff:ffff:ffff:ffff:ffff:ffff 2001:1:: public EmbeddedIpv4 Reserved
2001:1:ffff:ffff:ffff:ffff:ffff:ffff 2001:2:: 2001:2:0:ffff:ffff:ffff:ffff:ffff 2001:2:1:: Reserved Benchmarking Reserved
2001:2:0:ffff:ffff:ffff:ffff:ffff 2001:2:1:: 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff 2001:200:: Benchmarking Reserved public
2001:db7:ffff:ffff:ffff:ffff:ffff:ffff 2001:db8:: 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff 2001:db9:: public Documentation public
2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2002:: 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2003:: public EmbeddedIpv4 public
3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff 3fff:: 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff 3fff:1000:: public Documentation public
3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 4000:: fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff fc00:: public Reserved Private
fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff fc00:: fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff fe00:: Reserved Private Reserved
fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff fe80:: febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff fec0:: Reserved LinkLocal Private
febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff fec0:: feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ff00:: LinkLocal Private Multicast
feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ff00:: ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff - Private Multicast public";

    #[test]
    fn ranges_end_where_they_should() {
        let kind_of =
            |address: &str| kind_of(address).map_or("public".to_owned(), |kind| format!("{kind:?}"));
        for row in RANGES.lines() {
            let [before, first, last, after, kind_before, kind, kind_after] =
                row.split(' ').collect::<Vec<_>>().try_into().unwrap();
            for (address, kind) in [(before, kind_before), (first, kind), (last, kind), (after, kind_after)] {
                assert!(
                    address == "-" || kind_of(address) == kind,
                    "{address} is {}, not {kind}",
                    kind_of(address)
                );
            }
        }
        assert_eq!(kind_of("1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), "Reserved");
        for public in ["1.1.1.1", "192.0.1.7", "2000::", "2606:4700:4700::1111", "2a00::1"] {
            assert_eq!(kind_of(public), "public", "{public}");
        }
    }

    #[test]
    fn addresses_that_hand_out_credentials_are_known_one_by_one() {
        for (address, before, after) in [
            ("169.254.169.254", "169.254.169.253", "169.254.169.255"),
            ("169.254.170.2", "169.254.170.1", "169.254.170.3"),
            ("169.254.170.23", "169.254.170.22", "169.254.170.24"),
            ("169.254.0.23", "169.254.0.22", "169.254.0.24"),
            ("169.254.42.42", "169.254.42.41", "169.254.42.43"),
            ("100.100.100.200", "100.100.100.199", "100.100.100.201"),
            ("192.0.0.192", "192.0.0.191", "192.0.0.193"),
            ("168.63.129.16", "168.63.129.15", "168.63.129.17"),
            ("fd00:ec2::254", "fd00:ec2::253", "fd00:ec2::255"),
            ("fd00:ec2::23", "fd00:ec2::22", "fd00:ec2::24"),
            ("fd20:ce::254", "fd20:ce::253", "fd20:ce::255"),
            ("fd00:42::42", "fd00:42::41", "fd00:42::43"),
            ("fe80::a9fe:a9fe", "fe80::a9fe:a9fd", "fe80::a9fe:a9ff"),
        ] {
            assert_eq!(kind_of(address), Some(AddressKind::Metadata), "{address}");
            assert_ne!(kind_of(before), Some(AddressKind::Metadata), "{before}");
            assert_ne!(kind_of(after), Some(AddressKind::Metadata), "{after}");
        }
    }

    #[test]
    fn wrapped_addresses_are_unwrapped() {
        let inside = Ipv4Addr::new(10, 0, 0, 1);
        for wrapped in [
            "::ffff:10.0.0.1",
            "::10.0.0.1",
            "::ffff:0:10.0.0.1",
            "2002:a00:1::",
            "2001:0:4136:e378:8000:63bf:f5ff:fffe",
            "2001:0:a00:1:8000:63bf:a247:28e0",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::10.0.0.1",
            "64:ff9b:1:a00:0:100::",
            // The other lengths of a prefix, with and without something after the address.
            "64:ff9b:a00:1::",
            "64:ff9b:a00:1::7",
            "64:ff9b:a:0:1::",
            "64:ff9b:0:a00:0:100::",
            "64:ff9b:1:a00:0:100:0:7",
            "64:ff9b:0:a:0:1::",
            "64:ff9b:1:a:0:1::7",
            "64:ff9b::a:0:100:0",
            "64:ff9b:1::a:0:100:7",
        ] {
            let address = wrapped.parse().unwrap();
            assert_eq!(classify(address), Some(AddressKind::EmbeddedIpv4), "{wrapped}");
            assert!(embedded(address).contains(&inside), "{wrapped}: {:?}", embedded(address));
        }
        assert!(embedded("2606:4700::1".parse().unwrap()).is_empty());
        // A public address behind the usual prefix has no other reading.
        assert_eq!(embedded("64:ff9b::93.184.216.34".parse().unwrap()), [Ipv4Addr::new(93, 184, 216, 34)]);
        assert_eq!(embedded("64:ff9b::".parse().unwrap()), [Ipv4Addr::UNSPECIFIED]);
    }
}
