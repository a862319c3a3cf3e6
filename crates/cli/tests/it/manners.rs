//! What a web site's log says of a client's manners.

use std::collections::BTreeMap;
use std::time::Duration;

use dunlin_testbed::Logged;

/// Asserts that no page was asked for again sooner than `gap` after its last answer. The site's own times count: the client
/// cannot have had an answer before it was given.
pub(crate) fn gap_is_kept(log: &[Logged], gap: Duration) {
    let mut by_page: BTreeMap<&str, Vec<&Logged>> = BTreeMap::new();
    for request in log {
        by_page.entry(&request.target).or_default().push(request);
    }
    for (page, requests) in by_page {
        for pair in requests.windows(2) {
            // One that was cut off has no answer.
            let last = pair[0].answered.unwrap_or(pair[0].received);
            let paused = pair[1].received.since(last);
            // Two clocks are read, and one of them may be slewed meanwhile.
            assert!(paused + Duration::from_millis(1) >= gap, "{page}: asked again after {paused:?}");
        }
    }
}

/// The most of these instants, in microseconds, in any window of this length.
pub(crate) fn most_within(micros: &[i64], seconds: f64) -> usize {
    let mut micros = micros.to_vec();
    micros.sort_unstable();
    let length = (seconds * 1e6) as i64;
    let (mut first, mut most) = (0, 0);
    for (last, end) in micros.iter().enumerate() {
        while end - micros[first] >= length {
            first += 1;
        }
        most = most.max(last + 1 - first);
    }
    most
}
