//! Fingerprints of texts: equal on every machine and in every version, since they are stored.

/// A 128-bit fingerprint in hexadecimal, for ids that are kept.
pub(crate) fn content_id(parts: &[&str]) -> String {
    let hash = digest(parts);
    hash.to_hex()[..32].to_owned()
}

/// A 64-bit fingerprint, for memories in which a collision only costs one silent change.
pub(crate) fn short_hash(parts: &[&str]) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&digest(parts).as_bytes()[..8]);
    u64::from_le_bytes(first)
}

fn digest(parts: &[&str]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        // The length keeps ["ab", "c"] and ["a", "bc"] apart.
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize()
}
