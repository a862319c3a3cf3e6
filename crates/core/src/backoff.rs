//! How long to wait after failures in a row: twice as long after each, up to a limit. The one rule for hosts, sources, the
//! store and our own network.

use std::time::Duration;

/// A pause that doubles with every failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The pause after the first failure.
    pub first: Duration,
    /// No pause is longer.
    pub longest: Duration,
}

impl Backoff {
    /// The pause after that many failures in a row; none after none.
    pub fn after(self, n_failures: u32) -> Duration {
        let Some(doublings) = n_failures.checked_sub(1) else { return Duration::ZERO };
        self.first.saturating_mul(1 << doublings.min(31)).min(self.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let backoff = Backoff { first: Duration::from_secs(3), longest: Duration::from_secs(20) };
        let pauses = [0, 1, 2, 3, 4, 5, u32::MAX].map(|n_failures| backoff.after(n_failures).as_secs());
        assert_eq!(pauses, [0, 3, 6, 12, 20, 20, 20]);
        let slow = Backoff { first: Duration::from_millis(1), longest: Duration::MAX };
        assert_eq!(slow.after(40), slow.after(50), "it ends somewhere");
    }
}
