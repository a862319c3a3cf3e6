//! Auction lots: the same number of bids for each, so that a version number tells lot and bid.

use rand::RngExt;

use super::words::pick;
use super::{Content, Edition};

/// Versions per lot: an opening, bids, and the fall of the hammer.
pub(crate) const BIDS_PER_LOT: u64 = 20;

const MADE_OF: &[&str] =
    &["brass", "walnut", "silver", "ivory-coloured", "enamelled", "oak", "pewter", "gilt"];
const THINGS: &[&str] = &[
    "sextant",
    "barometer",
    "writing desk",
    "pocket watch",
    "tea caddy",
    "ship's bell",
    "music box",
    "lantern",
    "globe",
    "telescope",
    "chess set",
    "mantel clock",
];
const STEPS: &[u64] = &[5, 10, 20, 25];

pub(super) fn content(edition: Edition<'_>) -> Content {
    let nth = edition.number.saturating_sub(1);
    let (lot, bids) = (nth / BIDS_PER_LOT + 1, nth % BIDS_PER_LOT);
    let mut numbers = edition.numbers(lot);
    let thing = format!("{} {}", pick(MADE_OF, &mut numbers), pick(THINGS, &mut numbers));
    let step = STEPS[numbers.random_range(0..STEPS.len())];
    let opening = step * numbers.random_range(2..12);
    let bid = opening + step * (0..bids).map(|_| numbers.random_range(1..4)).sum::<u64>();
    let bidder = numbers.random_range(100..400);
    let (title, summary) = match bids {
        0 => (
            format!("Lot {lot}: {thing}, opens at {bid}"),
            format!("A {thing} is on offer. Bidding starts at {bid}, in steps of {step}."),
        ),
        bids if bids == BIDS_PER_LOT - 1 => (
            format!("Lot {lot}: {thing}, sold for {bid}"),
            format!("The hammer fell at {bid} after {bids} bids. Paddle {bidder} takes the {thing} home."),
        ),
        bids => (
            format!("Lot {lot}: {thing}, bid {bid}"),
            format!("Paddle {bidder} bids {bid} for the {thing}, the bid number {bids} on this lot."),
        ),
    };
    let facts =
        vec![("lot", lot.to_string()), ("item", thing), ("bid", bid.to_string()), ("bids", bids.to_string())];
    Content { title, summary, facts }
}
