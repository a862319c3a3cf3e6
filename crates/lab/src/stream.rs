//! Random numbers that do not depend on the order of use: every source and profile has its own stream.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// What the numbers are for. The same seed may make a trace and blur the knowledge of it; the two must not
/// be made of the same numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    Noise,
    Updates,
    Profiles,
    Conditions,
}

/// The numbers for one source or profile.
pub(crate) fn stream(seed: u64, purpose: Purpose, idx: u32) -> ChaCha8Rng {
    let purpose = match purpose {
        Purpose::Noise => 0,
        Purpose::Updates => 1,
        Purpose::Profiles => 2,
        Purpose::Conditions => 3,
    };
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(purpose << 32 | u64::from(idx));
    rng
}
