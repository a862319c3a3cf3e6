//! Compressed bodies that attack the decoder.

use std::io::Write as _;

use flate2::write::{DeflateEncoder, GzEncoder};
use flate2::{Compression, Crc};

const MEGABYTE: usize = 1_000_000;

/// A gzip member of so many megabytes of zeros, a thousandth of that in size.
///
/// One megabyte is packed, and its bytes repeated: a sync flush ends at a whole byte, and zeros look back only at
/// zeros. One member, because many decoders stop after the first.
pub(super) fn bomb(megabytes: u64) -> Vec<u8> {
    let zeros = vec![0; MEGABYTE];
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&zeros).and_then(|()| encoder.flush()).expect("writing to memory does not fail");
    let block = encoder.get_ref().clone();
    let mut crc_of_one = Crc::new();
    crc_of_one.update(&zeros);
    let mut crc = Crc::new();
    let mut body = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255];
    for _ in 0..megabytes {
        body.extend_from_slice(&block);
        crc.combine(&crc_of_one);
    }
    // An empty last block.
    body.extend_from_slice(&[3, 0]);
    body.extend_from_slice(&crc.sum().to_le_bytes());
    let length = megabytes.wrapping_mul(MEGABYTE as u64) as u32;
    body.extend_from_slice(&length.to_le_bytes());
    body
}

/// Well packed at first, then not.
pub(super) fn broken(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("writing to memory does not fail");
    let mut body = encoder.finish().expect("writing to memory does not fail");
    let middle = body.len() / 2;
    body[middle..].fill(0xff);
    body
}
