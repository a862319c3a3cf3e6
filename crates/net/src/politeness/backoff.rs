//! A jitter for pauses after failures, which a seed decides. No randomness of its own.

use std::time::Duration;

use dunlin_core::Backoff;

/// The pause after `n_failures` in a row: between three quarters of the full one and all of it.
pub(super) fn pause(backoff: Backoff, n_failures: u32, seed: u64) -> Duration {
    let full = backoff.after(n_failures);
    let share = (mix(seed ^ u64::from(n_failures)) >> 48) as u32; // 0 to 65,535
    full.saturating_sub(full / 4 / 65_536 * share)
}

/// The seed of one scope, derived from the common seed.
pub(super) fn seed_of(seed: u64, key: &str) -> u64 {
    mix(seed ^ fnv1a(&[key]))
}

/// FNV-1a of texts one after the other.
pub(super) fn fnv1a(texts: &[&str]) -> u64 {
    texts.iter().flat_map(|text| text.bytes()).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The finaliser of `SplitMix64`: spreads every bit of the input over the output.
fn mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_differ_between_seeds() {
        let (first, longest) = (Duration::from_secs(10), Duration::from_mins(10));
        for seed in 0..200 {
            let mut full = first;
            let mut last = Duration::ZERO;
            for n_failures in 1..50 {
                let pause = pause(Backoff { first, longest }, n_failures, seed);
                assert!(pause <= full && pause >= full.mul_f64(0.74), "{n_failures}: {pause:?} of {full:?}");
                assert!(full == longest || pause > last, "not longer than before");
                last = pause;
                full = (full * 2).min(longest);
            }
        }
        let pauses = |seed| (1..5).map(|n| pause(Backoff { first, longest }, n, seed)).collect::<Vec<_>>();
        assert_eq!(pauses(7), pauses(7));
        assert_ne!(pauses(7), pauses(8));
        assert_eq!(pause(Backoff { first: Duration::ZERO, longest }, 3, 1), Duration::ZERO);
    }
}
