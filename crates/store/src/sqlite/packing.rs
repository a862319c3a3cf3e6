//! Contents made small: as they are, compressed, or compressed as a delta against an earlier content. Bytes to
//! bytes; which content serves as the earlier one is decided elsewhere.

use std::cell::{OnceCell, RefCell};
use std::io::{self, Write as _};

use zstd::zstd_safe::{self, DCtx};

use crate::Error;

/// Zstandard's own default: a few hundred MB/s, and what higher levels gain on pages is little.
const LEVEL: i32 = 3;

/// How a content is stored. The numbers are on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    Plain = 0,
    Compressed = 1,
    Delta = 2,
}

impl Packing {
    pub(super) fn from_number(number: i64) -> Result<Self, Error> {
        match number {
            0 => Ok(Self::Plain),
            1 => Ok(Self::Compressed),
            2 => Ok(Self::Delta),
            _ => Err(Error::damaged(format!("a content has the unknown packing {number}"))),
        }
    }
}

/// A content as it is stored.
#[derive(Debug)]
pub(super) struct Packed {
    pub(super) packing: Packing,
    pub(super) body: Vec<u8>,
}

/// A small form of `content`, given an earlier content to differ from, if there is one: the smallest, or a full copy where a delta
/// is not much smaller, so that what comes next has a copy near to it.
pub(super) fn pack(content: &[u8], base: Option<&[u8]>) -> Result<Packed, Error> {
    let failed = |reason: io::Error| Error::system("compressing a version", &reason);
    let base = base.filter(|base| !base.is_empty());
    let delta = base.map(|base| delta(content, base)).transpose().map_err(failed)?;
    // A delta this small is not beaten by a full copy, so the copy need not be tried.
    let delta = match delta {
        Some(body) if body.len() <= content.len() / 16 => {
            return Ok(Packed { packing: Packing::Delta, body });
        }
        other => other,
    };
    let full = zstd::bulk::compress(content, LEVEL).map_err(failed)?;
    let full = if full.len() < content.len() {
        Packed { packing: Packing::Compressed, body: full }
    } else {
        Packed { packing: Packing::Plain, body: content.to_vec() }
    };
    match delta {
        Some(body) if body.len() * 2 < full.body.len() => Ok(Packed { packing: Packing::Delta, body }),
        _ => Ok(full),
    }
}

/// A packed content and the number of bytes it has when unpacked.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) packed: Packed,
    pub(super) size: usize,
}

thread_local! {
    /// For full copies, which refer to nothing.
    static DECODER: RefCell<DCtx<'static>> = RefCell::new(DCtx::create());
}

/// The content at the end of a chain in which each delta follows what it is based on. Its hash is the caller's to
/// compare.
pub(super) fn unpack(chain: &[Step]) -> Result<Vec<u8>, Error> {
    if let [only] = chain {
        return DECODER.with_borrow_mut(|decoder| unpack_step(decoder, only, None));
    }
    // One decoder for all steps, because making one costs more than a small delta; and contents that stay where
    // they are for as long as it may refer to them.
    let contents: Vec<OnceCell<Vec<u8>>> = chain.iter().map(|_| OnceCell::new()).collect();
    let mut decoder = DCtx::create();
    let mut base: Option<&[u8]> = None;
    for (step, place) in chain.iter().zip(&contents) {
        let content = unpack_step(&mut decoder, step, base)?;
        base = Some(place.get_or_init(|| content));
    }
    drop(decoder);
    let last = contents.into_iter().next_back().and_then(OnceCell::into_inner);
    last.ok_or_else(|| Error::damaged("a version without content"))
}

fn unpack_step<'a>(decoder: &mut DCtx<'a>, step: &Step, base: Option<&'a [u8]>) -> Result<Vec<u8>, Error> {
    let damaged = |code| {
        let reason = zstd_safe::get_error_name(code);
        Error::damaged(format!("a version cannot be decompressed: {reason}"))
    };
    match step.packed.packing {
        Packing::Plain => return Ok(step.packed.body.clone()),
        Packing::Compressed => {}
        Packing::Delta => {
            let base = base.ok_or_else(|| Error::damaged("a delta without the content it is based on"))?;
            decoder.ref_prefix(base).map_err(damaged)?;
        }
    }
    // The decoder writes at most the capacity, also for a damaged body.
    let mut content = Vec::with_capacity(step.size);
    decoder.decompress(&mut content, &step.packed.body).map_err(damaged)?;
    Ok(content)
}

/// The earlier content serves as what the decoder has "already seen". It is taken as a prefix, not as a
/// dictionary: a dictionary that happens to begin with zstd's magic number would be read as a trained one.
fn delta(content: &[u8], base: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = zstd::Encoder::with_ref_prefix(Vec::new(), LEVEL, base)?;
    // The window must reach back over all of both, or the beginning of a large page is out of sight.
    let reach = (content.len() + base.len()).max(1 << 10).next_power_of_two().ilog2();
    encoder.window_log(reach.min(27))?;
    // The ordinary search forgets the beginning of a base much larger than its tables.
    encoder.long_distance_matching(base.len() > 1 << 18)?;
    encoder.set_pledged_src_size(Some(content.len() as u64))?;
    encoder.write_all(content)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that do not compress, from a small generator.
    fn noise(len: usize, mut seed: u64) -> Vec<u8> {
        let mut next = || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed >> 32) as u8
        };
        (0..len).map(|_| next()).collect()
    }

    fn round_trip(content: &[u8], base: Option<&[u8]>) -> Packed {
        let packed = pack(content, base).unwrap();
        let full = base.map(|base| Packed { packing: Packing::Plain, body: base.to_vec() });
        let full = full.into_iter().map(|packed| Step { size: packed.body.len(), packed });
        let chain: Vec<Step> = full.chain([Step { packed, size: content.len() }]).collect();
        assert_eq!(unpack(&chain).unwrap(), content);
        chain.into_iter().next_back().unwrap().packed
    }

    #[test]
    fn the_smallest_form_wins_and_a_full_copy_one_that_is_half_as_large() {
        let page = "<li>news of the day</li>".repeat(100);
        assert_eq!(round_trip(page.as_bytes(), None).packing, Packing::Compressed);
        assert_eq!(round_trip(&noise(2000, 1), None).packing, Packing::Plain);
        assert_eq!(round_trip(b"", None).packing, Packing::Plain);

        let old = noise(2000, 1);
        let new = [&old[..900], b"edited", &old[950..]].concat();
        let packed = round_trip(&new, Some(&old));
        assert_eq!(packed.packing, Packing::Delta);
        assert!(packed.body.len() < 60, "{} bytes", packed.body.len());
        let half_of_it = [&old[..800], &noise(1200, 2)].concat();
        assert_eq!(round_trip(&half_of_it, Some(&old)).packing, Packing::Plain);
        let most_of_it = [&old[..1200], &noise(800, 2)].concat();
        assert_eq!(round_trip(&most_of_it, Some(&old)).packing, Packing::Delta);
    }

    #[test]
    fn a_base_that_looks_like_a_trained_dictionary_is_only_a_base() {
        let base = [&[0x37, 0xa4, 0x30, 0xec][..], &noise(4000, 2)].concat();
        let new = [&base[..], b"more"].concat();
        assert_eq!(round_trip(&new, Some(&base)).packing, Packing::Delta);
    }

    #[test]
    fn a_delta_reaches_the_beginning_of_a_large_base() {
        let base = noise(9 << 20, 3);
        let packed = round_trip(&base[..3 << 20], Some(&base));
        assert!(packed.body.len() < 100_000, "{} bytes", packed.body.len());
    }

    #[test]
    fn garbage_is_damage_and_not_a_flood() {
        let bomb = zstd::bulk::compress(&vec![0; 1 << 20], 3).unwrap();
        let step = |packing, body: &[u8]| Step { packed: Packed { packing, body: body.to_vec() }, size: 10 };
        let is_damage = |chain: &[Step]| matches!(unpack(chain), Err(Error::Damaged { .. }));
        assert!(is_damage(&[step(Packing::Compressed, &bomb)]));
        assert!(is_damage(&[step(Packing::Plain, b"base"), step(Packing::Delta, b"garbage")]));
        assert!(is_damage(&[step(Packing::Delta, b"garbage")]));
        assert!(is_damage(&[]));
    }
}
