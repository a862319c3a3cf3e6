//! Maps by numbers that the program itself assigns. An attacker cannot choose these, so they need no hash that resists
//! collisions; std's does, and the lookups of a probe would take a tenth of control's time for it.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by number of a probe or of a source.
pub(crate) type ById<K, V> = HashMap<K, V, BuildHasherDefault<IdHasher>>;

/// Spreads numbers that follow one another.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct IdHasher(u64);

/// An odd number without a pattern: the golden ratio as a fraction of 2^64.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(SPREAD);
    }

    fn write_i64(&mut self, number: i64) {
        self.write_u64(number.cast_unsigned());
    }

    fn finish(&self) -> u64 {
        // The upper half is mixed better, and the map picks buckets by the lower.
        self.0 ^ (self.0 >> 32)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::hash::BuildHasher as _;

    use dunlin_store::{ProbeId, SourceId};

    use super::*;

    #[test]
    fn numbers_in_a_row_fall_into_different_buckets() {
        let first = 0x1234_5678_9abc_def0_u64;
        let probes =
            (0..4096).map(|n| BuildHasherDefault::<IdHasher>::new().hash_one(ProbeId(first.wrapping_add(n))));
        let sources = (0..4096).map(|n| BuildHasherDefault::<IdHasher>::new().hash_one(SourceId(n * 7)));
        for hashes in [probes.collect::<Vec<_>>(), sources.collect()] {
            let low: BTreeSet<u64> = hashes.iter().map(|hash| hash & 4095).collect();
            let high: BTreeSet<u64> = hashes.iter().map(|hash| hash >> 57).collect();
            // As many as for random numbers: 1 - 1/e of all buckets.
            assert!(low.len() > 2400, "{}", low.len());
            assert_eq!(high.len(), 128);
        }
    }
}
