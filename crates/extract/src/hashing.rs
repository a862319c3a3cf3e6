//! Fingerprints of texts: equal on every machine and in every version, since they are stored.

/// A 128-bit fingerprint in hexadecimal, for ids that are kept.
pub(crate) fn content_id(parts: &[&str]) -> String {
    let hash = digest(parts);
    hash.to_hex()[..32].to_owned()
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

/// A 32-bit fingerprint that continues another (FNV-1a): for the few hundred places and lines of one page, where a collision
/// costs one silent change.
pub(crate) fn mixed(hash: u32, text: &str) -> u32 {
    let start = hash ^ 0x811c_9dc5;
    text.bytes().chain([0]).fold(start, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
