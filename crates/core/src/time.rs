//! Wall-clock time as the live service stores and passes it: microseconds since 1970, UTC. Not a chronon,
//! and not a clock: nothing in this crate knows what time it is.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// An instant, in microseconds since 1970-01-01T00:00:00Z; negative before that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Time(i64);

impl Time {
    /// The instant that many microseconds after 1970 began.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// The instant that many seconds after 1970 began; stays at the last representable one.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1_000_000))
    }

    /// Microseconds since 1970 began.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Whole seconds since 1970 began, rounded down.
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(1_000_000)
    }

    /// The instant that much later; stays at the last representable one.
    #[must_use]
    pub fn plus(self, duration: std::time::Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)))
    }

    /// Time from `earlier` to here; zero when `earlier` is not earlier.
    pub fn since(self, earlier: Self) -> std::time::Duration {
        std::time::Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl From<SystemTime> for Time {
    /// A time before 1970 becomes its beginning.
    fn from(time: SystemTime) -> Self {
        Self(0).plus(time.duration_since(UNIX_EPOCH).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_rounded_down_on_either_side_of_1970() {
        let seconds = [-2_000_000, -1_999_999, -1, 0, 999_999, 1_000_000].map(Time::from_micros);
        assert_eq!(seconds.map(Time::seconds), [-2, -2, -1, 0, 0, 1]);
    }
}
