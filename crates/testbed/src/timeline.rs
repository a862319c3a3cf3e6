//! When what changes: a trace laid along the real clock, sped up, and repeated if asked. It reads no clock.
//!
//! Invariant: everything is derived from [`Timeline::change`], so that pages, feeds and the truth never disagree
//! by a microsecond about whether a change has happened.

use dunlin_core::{SourceIdx, Time};

use crate::Error;

const SLOWEST: f64 = 0.001;
const FASTEST: f64 = 1_000_000.0;
const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;
/// How far from its first update a trace may be joined: what has happened by then has to be counted.
const FARTHEST: u64 = 1_000 * 366 * DAY as u64;

/// Trace seconds per real second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speed(f64);

impl Speed {
    /// As fast as the trace was recorded.
    pub const REAL: Self = Self(1.0);

    /// That many trace seconds per real second, 0.001 to 1,000,000.
    pub fn new(speed: f64) -> Result<Self, Error> {
        if (SLOWEST..=FASTEST).contains(&speed) {
            return Ok(Self(speed));
        }
        Err(Error::BadSpeed { speed, least: SLOWEST, most: FASTEST })
    }

    /// Trace seconds per real second.
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// What follows the last update of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Repeat {
    /// Nothing: the site stays as it is.
    #[default]
    Never,
    /// The trace again, and again; version numbers go on. A trace longer than a day is taken to last whole days,
    /// one longer than an hour whole hours, so that what happens at a time of day keeps to it. A shorter one is followed by
    /// its first update a second after its last.
    Always,
    /// The same, every so many trace seconds; at least as many as lie between the first update and the last.
    Every(i64),
}

/// The updates of every source in real time.
#[derive(Debug, Clone)]
pub(crate) struct Timeline {
    /// Ascending, each time once.
    times: Vec<Vec<i64>>,
    /// Trace seconds after which everything happens again.
    period: Option<i64>,
    speed: Speed,
    /// The real time at which the trace stands at `from`.
    started: Time,
    from: i64,
    earliest: i64,
}

impl Timeline {
    pub(crate) fn new(
        times: Vec<Vec<i64>>,
        repeat: Repeat,
        speed: Speed,
        started: Time,
        from: Option<i64>,
    ) -> Result<Self, Error> {
        if let Some(place) = times.iter().position(|own| !own.is_sorted_by(|a, b| a < b)) {
            let what = format!("the updates of source {place} are not in ascending order");
            return Err(Error::MalformedTrace { what });
        }
        let earliest = times.iter().filter_map(|own| own.first()).min().copied().unwrap_or(0);
        let from = from.unwrap_or(earliest);
        if from.abs_diff(earliest) > FARTHEST {
            let expected = format!("a second of the trace, within 1000 years of its first, {earliest}");
            return Err(Error::BadSetting { setting: "start", value: from.to_string(), expected });
        }
        let latest = times.iter().filter_map(|own| own.last()).max().copied().unwrap_or(earliest);
        let span = latest.saturating_sub(earliest).saturating_add(1);
        let period = match repeat {
            Repeat::Never => None,
            Repeat::Always if span > DAY => Some(whole(span, DAY)),
            Repeat::Always if span > HOUR => Some(whole(span, HOUR)),
            Repeat::Always => Some(span),
            Repeat::Every(period) if period >= span => Some(period),
            Repeat::Every(period) => {
                let expected = format!("at least the {span} seconds from first to last update");
                return Err(Error::BadSetting { setting: "repetition", value: period.to_string(), expected });
            }
        };
        Ok(Self { times, period, speed, started, from, earliest })
    }

    pub(crate) const fn speed(&self) -> Speed {
        self.speed
    }

    pub(crate) const fn started(&self) -> Time {
        self.started
    }

    /// The trace second at which the site started.
    pub(crate) const fn from(&self) -> i64 {
        self.from
    }

    /// How many updates of the source have happened by `now`; those before the start count.
    pub(crate) fn version(&self, source: SourceIdx, now: Time) -> u64 {
        let n_own = self.times[source.index()].len() as u64;
        let (mut happened, mut bound) = (0, n_own);
        if let Some(period) = self.period {
            // The round as far as floating point can tell; one more on either side makes up for its rounding.
            let rounds = (self.trace_now(now) - self.earliest as f64) / period as f64;
            let round = rounds.clamp(0.0, u64::MAX as f64 / 4.0 / n_own.max(1) as f64).floor();
            #[expect(clippy::cast_sign_loss, reason = "clamped to what fits")]
            let round = round as u64;
            happened = round.saturating_sub(1).saturating_mul(n_own);
            bound = (round + 2).saturating_mul(n_own);
        }
        while happened < bound {
            let middle = happened + (bound - happened) / 2;
            if self.change(source, middle + 1).at <= now {
                happened = middle + 1;
            } else {
                bound = middle;
            }
        }
        happened
    }

    /// The update that makes version `number`, counted from 1.
    pub(crate) fn change(&self, source: SourceIdx, number: u64) -> Moment {
        let own = &self.times[source.index()];
        let n_own = own.len().max(1) as u64;
        let nth = number.saturating_sub(1);
        let round = i64::try_from(nth / n_own).unwrap_or(i64::MAX);
        let in_trace = own.get((nth % n_own) as usize).copied().unwrap_or(i64::MAX);
        let trace_second = in_trace.saturating_add(round.saturating_mul(self.period.unwrap_or(0)));
        let real_micros =
            (i128::from(trace_second) - i128::from(self.from)) as f64 * 1_000_000.0 / self.speed.0;
        // A cast of a float that does not fit stays at the last value that does.
        let at = Time::from_micros(self.started.micros().saturating_add(real_micros.ceil() as i64));
        Moment { at, trace_second }
    }

    /// Where in the trace the site stands.
    pub(crate) fn trace_now(&self, now: Time) -> f64 {
        let real_micros = i128::from(now.micros()) - i128::from(self.started.micros());
        (real_micros as f64 / 1_000_000.0).mul_add(self.speed.0, self.from as f64)
    }
}

/// When an update happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) at: Time,
    pub(crate) trace_second: i64,
}

const fn whole(span: i64, unit: i64) -> i64 {
    span.saturating_add(unit - 1) / unit * unit
}
