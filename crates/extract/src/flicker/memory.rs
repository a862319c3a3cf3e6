//! A bounded set that forgets what was longest not seen.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Up to `N` fingerprints, the most recently seen last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Memory<const N: usize> {
    fingerprints: Vec<u64>,
}

impl<const N: usize> Memory<N> {
    pub(super) const fn is_empty(&self) -> bool {
        self.fingerprints.is_empty()
    }

    pub(super) fn knows(&self, fingerprint: u64) -> bool {
        self.fingerprints.contains(&fingerprint)
    }

    pub(super) fn len(&self) -> usize {
        self.fingerprints.len()
    }

    pub(super) fn remember(&mut self, fingerprint: u64) {
        self.fingerprints.retain(|known| *known != fingerprint);
        if self.fingerprints.len() == N {
            self.fingerprints.remove(0);
        }
        self.fingerprints.push(fingerprint);
    }
}

impl<const N: usize> Serialize for Memory<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.fingerprints.serialize(serializer)
    }
}

impl<'de, const N: usize> Deserialize<'de> for Memory<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fingerprints = Vec::<u64>::deserialize(deserializer)?;
        // What was stored by a version with a longer memory.
        let n_forgotten = fingerprints.len().saturating_sub(N);
        fingerprints.drain(..n_forgotten);
        Ok(Self { fingerprints })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_unseen_is_forgotten() {
        let mut memory = Memory::<2>::default();
        for fingerprint in [1, 2, 1, 3] {
            memory.remember(fingerprint);
        }
        assert_eq!([1, 2, 3].map(|fingerprint| memory.knows(fingerprint)), [true, false, true]);
        let stored = serde_json::to_string(&memory).unwrap();
        assert_eq!(stored, "[1,3]");
        assert_eq!(serde_json::from_str::<Memory<1>>(&stored).unwrap(), Memory { fingerprints: vec![3] });
    }
}
