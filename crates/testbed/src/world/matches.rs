//! Matches: three or four an afternoon, two halves with a break, events in bursts.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{DAY, HOUR, WEEK, apart};
use crate::content::EVENTS_PER_MATCH;

/// Sets these random numbers apart from those of other families of the same seed.
const STREAM: u64 = 2 << 40;
const HALF: i64 = 45 * 60;
const BREAK: i64 = 15 * 60;
const MATCHES_PER_DAY: i64 = 4;

/// The updates of so many grounds over a week: whole matches only.
pub(super) fn times(grounds: usize, seed: u64) -> Vec<Vec<i64>> {
    (0..grounds as u64).map(|ground| one_ground(seed, ground)).collect()
}

fn one_ground(seed: u64, ground: u64) -> Vec<i64> {
    let mut numbers = ChaCha8Rng::seed_from_u64(seed);
    numbers.set_stream(STREAM | ground);
    let mut moments = Vec::new();
    for day in 0..WEEK / DAY {
        for slot in 0..MATCHES_PER_DAY {
            let kick_off = day * DAY + 12 * HOUR + slot * 5 * HOUR / 2 + numbers.random_range(0..1_800);
            moments.push(kick_off);
            let in_half = EVENTS_PER_MATCH / 2 - 1;
            flurries(&mut moments, kick_off, in_half, &mut numbers);
            let half_time = kick_off + HALF;
            moments.push(half_time);
            flurries(&mut moments, half_time + BREAK, in_half - 1, &mut numbers);
            moments.push(half_time + BREAK + HALF);
        }
    }
    apart(moments)
}

/// So many events within a half, most of them soon after another.
fn flurries(moments: &mut Vec<i64>, begins: i64, events: u64, numbers: &mut ChaCha8Rng) {
    // Room at both ends, so that no event slips past the whistle when events are set apart.
    let (first, last) = (begins + 1, begins + HALF - 60);
    let mut moment = first;
    for _ in 0..events {
        if numbers.random_range(0..3) == 0 {
            moment = numbers.random_range(first..last);
        } else {
            moment = (moment + numbers.random_range(5..60)).min(last);
        }
        moments.push(moment);
    }
}
