//! Synthetic worlds: sources with names, content and rhythms, for demonstrations. A function of the seed.

mod auctions;
mod matches;

use std::collections::BTreeMap;

use dunlin_lab::files::TraceFile;
use dunlin_lab::generate::{Daily, Periodic, Rate, Span};

use crate::{Family, Plan, Repeat, Speed};

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;
const WEEK: i64 = 7 * DAY;

const AUCTIONS: &[&str] = &[
    "auction-harbour-antiques",
    "auction-old-customs-house",
    "auction-clocks-and-instruments",
    "auction-estate-of-a-captain",
    "auction-garden-furniture",
    "auction-books-and-maps",
];
const NEWS: &[&str] = &[
    "news-evening-courier",
    "news-harbour-gazette",
    "news-island-radio",
    "news-market-letter",
    "news-northern-post",
    "news-science-notes",
    "news-sound-observer",
    "news-town-hall",
];
const BULLETINS: &[&str] = &[
    "bulletin-airfield",
    "bulletin-eastern-strait",
    "bulletin-harbour",
    "bulletin-lighthouse",
    "bulletin-mountain-hut",
    "bulletin-river-gauge",
];
const MATCHES: &[&str] =
    &["match-centre-court", "match-harbour-stadium", "match-park-ground", "match-quay-arena"];

/// Sources and a week of their updates, which repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct World {
    /// What changes when: seconds from midnight before a Monday.
    pub trace: TraceFile,
    /// How each source speaks.
    pub families: BTreeMap<String, Family>,
    seed: u64,
}

impl World {
    /// Two dozen sources: auctions (bids pour in at the end of a lot), news (by day more than by night), bulletins
    /// (every hour at the same minute), matches (nothing for hours, then much).
    #[expect(clippy::missing_panics_doc, reason = "the generators take these parameters")]
    pub fn demo(seed: u64) -> Self {
        let span = |names: &[&str]| Span { sources: names.len() as u32, seconds: WEEK as u32 };
        let news = Daily {
            span: span(NEWS),
            rate: Rate { per_day: 110.0, spread: 0.4 },
            peak_hour: 14.0,
            amplitude: 0.8,
            weekend_factor: 0.7,
        };
        let bulletins = Periodic { span: span(BULLETINS), period_seconds: HOUR as u32, jitter_seconds: 5.0 };
        let mut updates: BTreeMap<&str, (Family, Vec<i64>)> = BTreeMap::new();
        let mut add = |names: &[&'static str], family, times: Vec<Vec<i64>>| {
            updates.extend(names.iter().copied().zip(times.into_iter().map(|own| (family, own))));
        };
        add(AUCTIONS, Family::Auction, auctions::times(AUCTIONS.len(), seed));
        add(MATCHES, Family::Match, matches::times(MATCHES.len(), seed));
        let made = news.generate(seed).expect("the parameters are within limits");
        add(NEWS, Family::News, made.times);
        let made = bulletins.generate(seed).expect("the parameters are within limits");
        add(BULLETINS, Family::Bulletin, made.times);

        let families = updates.iter().map(|(id, (family, _))| ((*id).to_owned(), *family)).collect();
        let sources = updates.keys().map(|id| (*id).to_owned()).collect();
        let times = updates.into_values().map(|(_, own)| own).collect();
        Self { trace: TraceFile { sources, times, warnings: Vec::new() }, families, seed }
    }

    /// The world as a site: a minute per second, from Wednesday at two in the afternoon, for ever.
    #[expect(clippy::missing_panics_doc, reason = "sixty is a speed")]
    pub fn into_plan(self) -> Plan {
        Plan {
            families: self.families,
            seed: self.seed,
            speed: Speed::new(60.0).expect("within limits"),
            from: Some(2 * DAY + 14 * HOUR),
            repeat: Repeat::Every(WEEK),
            ..Plan::of(self.trace)
        }
    }
}

/// The same moments in order, each a second apart at least, so that none is lost.
fn apart(mut moments: Vec<i64>) -> Vec<i64> {
    moments.sort_unstable();
    for place in 1..moments.len() {
        moments[place] = moments[place].max(moments[place - 1] + 1);
    }
    moments
}
