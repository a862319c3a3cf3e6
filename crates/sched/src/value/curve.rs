//! What a probe of a source is worth as time goes by: the expected utility of [`super`] in continuous time,
//!
//! ```text
//! g(t) = W · hope · ∫ from the last probe to t of  urgency(t−u) · λ(u) · life(u, t)  du
//! ```
//!
//! for a rate λ that is constant in stretches, and the first time at which it reaches a given worth. Ages are in
//! chronons, as real numbers; what lasts `w` chronons in whole steps is worth something up to the age of w+1, so
//! that both ways of counting cover the same time. Neither a forecast nor a decision.
//!
//! Invariant: a curve is a function of its arguments alone, and the work for it is bounded, however odd the forecast.

mod antiderivative;
mod numeric;

use std::time::Duration;

use dunlin_core::Time;

use super::{Life, Urgency, ValueModel};
use crate::forecast::{Forecast, Segment};

/// What a curve needs to know about the time to come.
pub trait Rates {
    /// The rate at an instant, and until when it stays the same.
    fn segment(&self, at: Time) -> Segment;
    /// The chance of any change in the time from the last probe on, as [`Forecast::chance_since`].
    fn chance_since(&self, last_probe: Time, now: Time) -> f64;
    /// How many changes are expected by the time that this chance is reached, as [`Forecast::changes_for`].
    fn changes_for(&self, chance: f64) -> f64;
    /// By how much more a probe is worth for what it teaches, as [`Forecast::hope`].
    fn hope(&self) -> f64;
    /// How many changes are expected from one instant to another, as [`Forecast::expected`].
    fn expected(&self, from: Time, to: Time) -> f64;
}

impl Rates for Forecast<'_> {
    fn segment(&self, at: Time) -> Segment {
        Forecast::segment(self, at)
    }

    fn chance_since(&self, last_probe: Time, now: Time) -> f64 {
        Forecast::chance_since(self, last_probe, now)
    }

    fn changes_for(&self, chance: f64) -> f64 {
        Forecast::changes_for(self, chance)
    }

    fn hope(&self) -> f64 {
        Forecast::hope(self)
    }

    fn expected(&self, from: Time, to: Time) -> f64 {
        Forecast::expected(self, from, to)
    }
}

/// Past this many stretches the last rate is assumed to continue: a year of minutes would take too long.
const MOST_SEGMENTS: usize = 4096;
/// Points at which a curve that may rise and fall is tried between two instants.
const GRID: u32 = 48;
/// From one of these points to the next there is at least this share of the time since the last probe.
const GRID_GROWTH: f64 = 0.04;

/// The worth of a probe of one source, from its last probe on.
#[derive(Debug, Clone, Copy)]
pub struct Curve<'a, R> {
    value: &'a ValueModel,
    rates: R,
    since: Time,
    /// Seconds.
    chronon: f64,
}

/// A stretch of constant rate, in seconds before the instant for which the curve is evaluated.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    oldest: f64,
    newest: f64,
    rate: f64,
}

/// How a curve can be computed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    /// Λ, the number of changes expected.
    AllChanges,
    /// g' = λ − (decay + λ·[overwritten])·g: one number carries it from stretch to stretch.
    Carried { decay: f64, is_overwritten: bool },
    /// 1 − (1+Λ/a)^−a: the chance of any change, over all rates that may be true.
    AnyChange,
    /// Nothing but its age changes what something is worth, and that can be integrated.
    ByAge,
    /// Everything else, point by point.
    Numeric,
}

impl<'a, R: Rates> Curve<'a, R> {
    /// The curve of a source that was last seen at `since`.
    pub const fn new(value: &'a ValueModel, rates: R, since: Time, chronon: Duration) -> Self {
        Self { value, rates, since, chronon: chronon.as_secs_f64() }
    }

    /// The worth of a probe at `now`; 0 up to the last one.
    pub fn at(&self, now: Time) -> f64 {
        let scale = self.scale();
        if scale > 0.0 { scale * self.gathered(now) } else { 0.0 }
    }

    /// The first time from `from` on, up to `horizon`, at which a probe is worth at least `threshold`. A curve that
    /// rises and falls is tried at a bounded number of points, so a peak between two of them may be missed.
    pub fn crossing(&self, from: Time, threshold: f64, horizon: Time) -> Option<Time> {
        let scale = self.scale();
        let wanted = threshold / scale;
        if scale <= 0.0 || !wanted.is_finite() || from > horizon {
            return None;
        }
        match self.shape() {
            Shape::Carried { decay, is_overwritten } if self.horizon().is_none() => {
                self.carried_crossing(decay, is_overwritten, from, wanted, horizon)
            }
            Shape::AllChanges if self.horizon().is_none() => {
                self.carried_crossing(0.0, false, from, wanted, horizon)
            }
            Shape::AnyChange if self.horizon().is_none() => {
                if wanted >= 1.0 {
                    return None;
                }
                self.carried_crossing(0.0, false, from, self.rates.changes_for(wanted), horizon)
            }
            _ => self.tried_crossing(from, wanted, horizon),
        }
    }

    /// W · hope, by which everything is multiplied.
    fn scale(&self) -> f64 {
        self.value.weight * self.rates.hope()
    }

    /// Seconds after which a change is worth nothing, if there is such an age.
    fn horizon(&self) -> Option<f64> {
        self.value.horizon().map(|chronons| f64::from(chronons) * self.chronon)
    }

    fn shape(&self) -> Shape {
        let decay = |ratio: f64| -ratio.ln() / self.chronon;
        let has_no_decay = matches!(
            self.value.urgency,
            // What is worth nothing after one chronon is a window too.
            Urgency::Uniform | Urgency::Sliding(_) | Urgency::Exponential(0.0)
        );
        // A window cuts the curve; what is inside is carried as if there were none.
        match (self.value.life, self.value.urgency) {
            (Life::Append | Life::Window(_), _) if has_no_decay => Shape::AllChanges,
            (Life::Overwrite | Life::Changes(1), _) if has_no_decay => Shape::AnyChange,
            (Life::Append | Life::Window(_), Urgency::Exponential(ratio)) => {
                Shape::Carried { decay: decay(ratio), is_overwritten: false }
            }
            (Life::Overwrite | Life::Changes(1), Urgency::Exponential(ratio)) => {
                Shape::Carried { decay: decay(ratio), is_overwritten: true }
            }
            (Life::Append | Life::Window(_), Urgency::Polynomial(_) | Urgency::Chordal(_)) => Shape::ByAge,
            _ => Shape::Numeric,
        }
    }

    /// The integral alone, at `now`.
    fn gathered(&self, now: Time) -> f64 {
        let mut sum = 0.0;
        if now <= self.since {
            return sum;
        }
        match self.shape() {
            Shape::AllChanges => sum = self.rates.expected(self.begin(now), now),
            Shape::Carried { decay, is_overwritten } => self.walk(now, |stretch| {
                let overwriting = if is_overwritten { stretch.rate } else { 0.0 };
                sum = carry(sum, stretch.rate, decay + overwriting, stretch.oldest - stretch.newest);
            }),
            Shape::AnyChange => {
                // What is worth nothing any more is as if it had been seen.
                sum = self.rates.chance_since(self.begin(now), now);
            }
            Shape::ByAge => self.walk(now, |stretch| {
                let [to, from] = [stretch.oldest, stretch.newest]
                    .map(|age| antiderivative::of_urgency(self.value.urgency, age / self.chronon));
                sum += stretch.rate * self.chronon * (to - from);
            }),
            Shape::Numeric => {
                let mut stretches = Vec::new();
                self.walk(now, |stretch| stretches.push(stretch));
                sum = numeric::integral(self.value, &stretches, self.chronon);
            }
        }
        sum
    }

    /// From when on a change counts at `now`.
    fn begin(&self, now: Time) -> Time {
        let seconds = now.since(self.since).as_secs_f64();
        let counted = self.horizon().map_or(seconds, |horizon| horizon.min(seconds));
        self.since.plus(Duration::from_secs_f64((seconds - counted).max(0.0)))
    }

    /// Hands over what counts at `now`, oldest first.
    fn walk(&self, now: Time, mut take: impl FnMut(Stretch)) {
        let mut at = self.begin(now);
        for n_walked in 1.. {
            if at >= now {
                return;
            }
            let segment = self.rates.segment(at);
            let is_last = n_walked >= MOST_SEGMENTS || segment.until <= at;
            let until = if is_last { now } else { segment.until.min(now) };
            take(Stretch {
                oldest: now.since(at).as_secs_f64(),
                newest: now.since(until).as_secs_f64(),
                rate: segment.rate.max(0.0),
            });
            at = until;
        }
    }

    /// Where one number is carried from stretch to stretch, the crossing within one is a logarithm away.
    fn carried_crossing(
        &self,
        decay: f64,
        is_overwritten: bool,
        from: Time,
        wanted: f64,
        horizon: Time,
    ) -> Option<Time> {
        let (mut at, mut sum) = (self.since, 0.0);
        for n_walked in 1.. {
            if at >= from && sum >= wanted {
                return Some(at);
            }
            if at >= horizon {
                return None;
            }
            let segment = self.rates.segment(at);
            let is_last = n_walked >= MOST_SEGMENTS || segment.until <= at;
            let mut until = if is_last { horizon } else { segment.until.min(horizon) };
            if at < from {
                until = until.min(from);
            }
            let rate = segment.rate.max(0.0);
            let loss = decay + if is_overwritten { rate } else { 0.0 };
            if at >= from
                && let Some(seconds) = seconds_to(sum, rate, loss, wanted)
            {
                // A rounding less than a microsecond must not bring it to just before the crossing.
                let crossing = at.plus(Duration::from_secs_f64(seconds.min(1e12)) + Duration::from_micros(1));
                if crossing <= until {
                    return Some(crossing);
                }
            }
            sum = carry(sum, rate, loss, until.since(at).as_secs_f64());
            at = until;
        }
        None
    }

    /// The first of a number of points that is worth enough, and the crossing before it by halving.
    fn tried_crossing(&self, from: Time, wanted: f64, horizon: Time) -> Option<Time> {
        if self.gathered(from) >= wanted {
            return Some(from);
        }
        let rest = horizon.since(from).as_secs_f64();
        let first = self.chronon.max(from.since(self.since).as_secs_f64() * GRID_GROWTH);
        let mut low = from;
        for point in 1..=GRID {
            // Short steps while it is young, long ones later, the last of them at the horizon.
            let share = f64::from(point) / f64::from(GRID);
            let offset = f64::max(first * f64::from(point), rest * share * share * share);
            let high = from.plus(Duration::from_secs_f64(offset.min(rest))).min(horizon);
            if self.gathered(high) >= wanted {
                return Some(self.halve(low, high, wanted));
            }
            if high >= horizon {
                return None;
            }
            low = high;
        }
        None
    }

    fn halve(&self, mut low: Time, mut high: Time, wanted: f64) -> Time {
        let fine = Duration::from_secs_f64(self.chronon / 16.0).max(Duration::from_micros(1));
        while high.since(low) > fine {
            let middle = low.plus(high.since(low) / 2);
            if self.gathered(middle) >= wanted {
                high = middle;
            } else {
                low = middle;
            }
        }
        high
    }
}

/// The solution of g' = rate − loss·g after some seconds.
fn carry(sum: f64, rate: f64, loss: f64, seconds: f64) -> f64 {
    let exponent = loss * seconds;
    if exponent < 1e-12 {
        return sum + rate * seconds;
    }
    let gone = -(-exponent).exp_m1();
    sum * (1.0 - gone) + rate * gone / loss
}

/// How long g' = rate − loss·g takes from `sum` to `wanted`, if it gets there by rising.
fn seconds_to(sum: f64, rate: f64, loss: f64, wanted: f64) -> Option<f64> {
    if rate <= 0.0 || sum >= wanted {
        return None;
    }
    // (wanted − sum) of the (rate/loss − sum) that there is to gain.
    let share = (wanted - sum) * loss / (rate - loss * sum);
    if share < 1e-9 {
        return Some((wanted - sum) / (rate - loss * sum)).filter(|seconds| *seconds >= 0.0);
    }
    (share < 1.0).then(|| -(-share).ln_1p() / loss)
}
