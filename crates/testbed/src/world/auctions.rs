//! Auctions: one lot after another, with most bids just before a lot closes.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{WEEK, apart};
use crate::content::BIDS_PER_LOT;

/// Sets these random numbers apart from those of other families of the same seed.
const STREAM: u64 = 1 << 40;

/// The updates of so many auction houses over a week: whole lots only.
pub(super) fn times(houses: usize, seed: u64) -> Vec<Vec<i64>> {
    (0..houses as u64).map(|house| one_house(seed, house)).collect()
}

fn one_house(seed: u64, house: u64) -> Vec<i64> {
    let mut numbers = ChaCha8Rng::seed_from_u64(seed);
    numbers.set_stream(STREAM | house);
    let mut moments = Vec::new();
    let mut opens = numbers.random_range(0..5_000_i64);
    loop {
        let closes = opens + numbers.random_range(5_000..11_000_i64);
        if closes + BIDS_PER_LOT.cast_signed() >= WEEK {
            return apart(moments);
        }
        moments.push(opens);
        moments.extend((1..BIDS_PER_LOT).map(|_| {
            // The cube crowds the bids towards the close.
            let before_close = numbers.random::<f64>().powi(3) * (closes - opens) as f64;
            closes - before_close as i64
        }));
        opens = closes + numbers.random_range(600..2_400_i64);
    }
}
