//! When in the week and when in the hour a source changes: counts by bin and the factors they give. Not how often: the
//! factors have mean 1, and the rate is beside them in the model.
//!
//! Invariants: the factors are a function of the counts, the beginning and the time of the last update alone, so only
//! those are stored; an update takes a bounded number of steps, whatever it has to cover.

use dunlin_core::Time;

use super::Parts;
use super::calendar::{HOUR, HOURS, MINUTE, MINUTES, WEEK, WeekTime, each_hour, each_minute, seconds};
use super::observed_time::{kept_weeks, observed_hours, observed_minutes};
use super::shrink::{VariancePrior, balance, refine};

/// A number with eight bits of precision and the range of `f32`: half the space, and a factor is not known better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Short(u16);

impl Short {
    const ONE: Self = Self(0x3f80);

    fn from(value: f64) -> Self {
        // Rounded to nearest; factors are far from overflow.
        Self(((value as f32).to_bits().saturating_add(0x8000) >> 16) as u16)
    }

    fn get(self) -> f64 {
        f64::from(f32::from_bits(u32::from(self.0) << 16))
    }
}

/// What has been seen by hour of the week and by minute of the hour, and what it means.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rhythm {
    /// Changes by hour of the week; older weeks count for less.
    pub(super) by_hour: [f32; HOURS],
    /// The same changes by minute of the hour.
    pub(super) by_minute: [f32; MINUTES],
    /// How much each view of the counts would vary by chance.
    pub(super) noise: BinNoise,
    /// What the counts are up to.
    pub(super) updated: Time,
    hours: [Short; HOURS],
    minutes: [Short; MINUTES],
    hour_scale: f32,
    minute_scale: f32,
    /// How much better than a flat rate the factors predicted what probes have shown, in logarithms.
    pub(super) odds: f32,
}

/// What is known of changes that are spread over a stretch of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum UndatedChanges {
    /// There was at least one, and none had been expected with the chance `surprise`.
    AtLeastOne { surprise: f64 },
    /// None was seen; so many are assumed.
    Supposed,
}

/// Assumed changes go where the factors already say, so that the noise in those comes back again and again.
const SUPPOSED_NOISE: f32 = 2.0;

/// Sums of the variances of the counts in all bins. A change of a known time adds 1; one that may have happened in any of
/// many bins is spread over them, and what is spread varies less.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct BinNoise {
    pub(super) week_hours: f32,
    pub(super) day_hours: f32,
    pub(super) weekdays: f32,
    pub(super) minutes: f32,
}

impl BinNoise {
    const fn views(&mut self) -> [&mut f32; 4] {
        [&mut self.week_hours, &mut self.day_hours, &mut self.weekdays, &mut self.minutes]
    }

    fn scale(&mut self, factor: f32) {
        self.views().into_iter().for_each(|view| *view *= factor);
    }

    fn add_all(&mut self, noise: f32) {
        self.views().into_iter().for_each(|view| *view += noise);
    }

    /// `weight` times the squares of the counts in each view.
    fn add(&mut self, weight: f64, hours: &[f64; HOURS], minutes: &[f64; MINUTES]) {
        let squares =
            |counts: &[f64]| (weight * counts.iter().map(|count| count * count).sum::<f64>()) as f32;
        self.week_hours += squares(hours);
        self.day_hours += squares(&by_day_hour(hours));
        self.weekdays += squares(&by_weekday(hours));
        self.minutes += squares(minutes);
    }
}

fn by_day_hour(table: &[f64; HOURS]) -> [f64; 24] {
    std::array::from_fn(|hour| (0..7).map(|day| table[day * 24 + hour]).sum())
}

fn by_weekday(table: &[f64; HOURS]) -> [f64; 7] {
    std::array::from_fn(|day| table[day * 24..][..24].iter().sum())
}

/// Where the rate changes next, and what it is until then.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Piece {
    pub(crate) factor: f64,
    /// Microseconds from the instant asked for; above 0.
    pub(crate) lasts: i64,
}

/// Hours: a broad shape of the day first, then single hours, then weekdays, then hours of single weekdays. Each is
/// believed to differ less from what is known by then.
const DAYPARTS: VariancePrior = VariancePrior { variance: 0.3, weight: 20.0 };
const DAY_HOURS: VariancePrior = VariancePrior { variance: 0.1, weight: 4.0 };
const WEEKDAYS: VariancePrior = VariancePrior { variance: 0.2, weight: 20.0 };
const WEEK_HOURS: VariancePrior = VariancePrior { variance: 0.05, weight: 4.0 };
/// Minutes: neighbours together, then each.
const QUARTERS: VariancePrior = VariancePrior { variance: 0.1, weight: 20.0 };
const SINGLE_MINUTES: VariancePrior = VariancePrior { variance: 0.05, weight: 4.0 };

const BROAD: [f64; 5] = [1.0 / 9.0, 2.0 / 9.0, 3.0 / 9.0, 2.0 / 9.0, 1.0 / 9.0];
const BROADER: [f64; 7] =
    [1.0 / 16.0, 2.0 / 16.0, 3.0 / 16.0, 4.0 / 16.0, 3.0 / 16.0, 2.0 / 16.0, 1.0 / 16.0];

const LEAST_NOISE: f64 = 0.01;

/// An assumed change can be placed better later, when the minutes are known better. So where changes are
/// spread, the table holds no more than the last few: that finds a minute several times sooner.
const MOST_SUPPOSED: f32 = 30.0;

/// Factors nearer to 1 than this count as 1: stopping at every minute for them is not worth the time.
const NOTICEABLE: f64 = 0.02;

/// How far the factors are believed before they have been tried, in logarithms.
pub(super) const SUPPOSED_ODDS: f32 = 1.0;
/// The most that they are believed or disbelieved.
pub(super) const MOST_ODDS: f32 = 6.0;
/// The most that one probe says about it.
const MOST_SAID: f64 = 2.0;
/// What is left of what one probe said after the next.
const ODDS_KEPT: f32 = 0.99;

impl Rhythm {
    /// Nothing seen yet, up to `now`.
    pub(super) const fn new(now: Time) -> Self {
        Self {
            by_hour: [0.0; HOURS],
            by_minute: [0.0; MINUTES],
            noise: BinNoise { week_hours: 0.0, day_hours: 0.0, weekdays: 0.0, minutes: 0.0 },
            updated: now,
            hours: [Short::ONE; HOURS],
            minutes: [Short::ONE; MINUTES],
            hour_scale: 1.0,
            minute_scale: 1.0,
            odds: SUPPOSED_ODDS,
        }
    }

    /// How far the factors are believed: from 0 for not at all to 1.
    fn belief(&self) -> f64 {
        1.0 / (1.0 + (-f64::from(self.odds)).exp())
    }

    /// A factor as far as it is believed.
    fn mixed(&self, factor: f64) -> f64 {
        self.belief().mul_add(factor - 1.0, 1.0)
    }

    /// A probe has shown something that was likelier by so much if the factors are true, in logarithms.
    pub(super) fn judge(&mut self, said: f64) {
        let said = said.clamp(-MOST_SAID, MOST_SAID) as f32;
        self.odds = self.odds.mul_add(ODDS_KEPT, said).clamp(-MOST_ODDS, MOST_ODDS);
    }

    /// The factor at an instant if the factors are true.
    pub(super) fn factor_if_true(&self, at: Time) -> f64 {
        let week_time = WeekTime::of(at);
        self.hour_factor(week_time.hour()) * self.minute_factor(week_time.minute())
    }

    fn hour_factor(&self, hour: usize) -> f64 {
        self.hours[hour].get() * f64::from(self.hour_scale)
    }

    fn minute_factor(&self, minute: usize) -> f64 {
        self.minutes[minute].get() * f64::from(self.minute_scale)
    }

    /// A scale of exactly 1 is only ever set together with factors of exactly 1.
    fn has_minutes(&self) -> bool {
        self.minute_scale != 1.0
    }

    /// The factor at a place, and how long it stays.
    pub(crate) fn piece(&self, week_time: WeekTime) -> Piece {
        let hour = self.hour_factor(week_time.hour());
        if self.has_minutes() {
            let factor = self.mixed(hour * self.minute_factor(week_time.minute()));
            Piece { factor, lasts: MINUTE - week_time.micros % MINUTE }
        } else {
            Piece { factor: self.mixed(hour), lasts: HOUR - week_time.micros % HOUR }
        }
    }

    /// Seconds from one instant to another, each weighed by its factor as far as that is believed.
    pub(crate) fn exposure(&self, from: Time, to: Time) -> f64 {
        let flat = seconds(to.micros().saturating_sub(from.micros()).max(0));
        self.belief().mul_add(self.exposure_if_true(from, to) - flat, flat)
    }

    /// Seconds from one instant to another, each weighed by its factor.
    pub(super) fn exposure_if_true(&self, from: Time, to: Time) -> f64 {
        if to <= from {
            return 0.0;
        }
        let micros = to.micros().saturating_sub(from.micros());
        let (weeks, rest) = (micros / WEEK, micros % WEEK);
        weeks as f64 * seconds(WEEK) + self.exposure_of(WeekTime::of(from).micros, rest)
    }

    /// The same for less than a week, from a place in it.
    fn exposure_of(&self, from: i64, micros: i64) -> f64 {
        let mut sum = 0.0;
        each_hour(from, micros, |hour, begin, end| {
            sum += self.hour_factor(hour) * self.exposure_in_hour(begin, end);
        });
        sum
    }

    /// Seconds between two places in an hour, each weighed by its minute's factor.
    fn exposure_in_hour(&self, begin: i64, end: i64) -> f64 {
        if !self.has_minutes() || end - begin == HOUR {
            return seconds(end - begin);
        }
        let mut sum = 0.0;
        each_minute(begin, end, |minute, micros| sum += self.minute_factor(minute) * seconds(micros));
        sum
    }

    /// How many microseconds after a place the exposure has grown by `exposure` seconds; as good as exact.
    pub(crate) fn time_for(&self, from: WeekTime, exposure: f64) -> i64 {
        let weeks = (exposure / seconds(WEEK)).floor();
        if weeks >= (i64::MAX / WEEK - 1) as f64 {
            return i64::MAX;
        }
        let mut left = weeks.mul_add(-seconds(WEEK), exposure);
        let mut passed = weeks as i64 * WEEK;
        let mut week_time = WeekTime { week: 0, micros: from.micros };
        // One week and one hour more than covers what is left, whatever rounding did.
        for _ in 0..=HOURS + 1 {
            let begin = week_time.micros % HOUR;
            let factor = self.hour_factor(week_time.hour());
            let flat = seconds(HOUR - begin);
            let whole = self.belief().mul_add(factor * self.exposure_in_hour(begin, HOUR) - flat, flat);
            if whole >= left {
                return passed.saturating_add(self.time_in_hour(begin, factor, left));
            }
            left -= whole;
            passed = passed.saturating_add(HOUR - begin);
            week_time.micros = (week_time.micros + HOUR - begin) % WEEK;
        }
        passed
    }

    fn time_in_hour(&self, begin: i64, hour: f64, exposure: f64) -> i64 {
        if !self.has_minutes() {
            return (exposure / self.mixed(hour) * 1e6).ceil() as i64;
        }
        let (mut left, mut found, mut passed) = (exposure, None, 0);
        each_minute(begin, HOUR, |minute, micros| {
            let factor = self.mixed(hour * self.minute_factor(minute));
            let whole = factor * seconds(micros);
            if found.is_none() && whole >= left {
                found = Some(passed + (left / factor * 1e6).ceil() as i64);
            }
            left -= whole;
            passed += micros;
        });
        found.unwrap_or(HOUR - begin)
    }

    /// Brings what was counted up to `now`: whole weeks fade it.
    pub(super) fn advance(&mut self, now: Time) {
        let weeks = WeekTime::of(now).week.saturating_sub(WeekTime::of(self.updated).week);
        if weeks > 0 {
            let kept = kept_weeks(weeks) as f32;
            self.by_hour.iter_mut().chain(&mut self.by_minute).for_each(|count| *count *= kept);
            self.noise.scale(kept * kept);
        }
        self.updated = self.updated.max(now);
    }

    /// A change at a known time, not after the last update.
    pub(super) fn count(&mut self, at: Time) {
        let week_time = WeekTime::of(at);
        let weight = kept_weeks(WeekTime::of(self.updated).week.saturating_sub(week_time.week).max(0)) as f32;
        self.by_hour[week_time.hour()] += weight;
        self.by_minute[week_time.minute()] += weight;
        self.noise.add_all(weight * weight);
    }

    /// So many changes somewhere between two instants, the later not after the last update: each bin gets the share
    /// that the present factors give it.
    pub(super) fn spread(&mut self, from: Time, to: Time, changes: f64, undated: UndatedChanges) {
        let exposure = self.exposure_if_true(from, to);
        if !(exposure > 0.0 && changes > 0.0) {
            return;
        }
        let per_second = changes / exposure;
        let micros = to.micros().saturating_sub(from.micros());
        let (weeks, rest) = (micros / WEEK, micros % WEEK);
        // The rest lies before the whole weeks, which are counted back from the end.
        let age = WeekTime::of(self.updated).week.saturating_sub(WeekTime::of(to).week).max(0);
        let oldest = kept_weeks(age.saturating_add(weeks));
        let whole_weeks = kept_weeks(age) * (1.0 - kept_weeks(weeks)) / (1.0 - kept_weeks(1));
        let mut hours: [f64; HOURS] =
            std::array::from_fn(|hour| per_second * whole_weeks * self.hour_factor(hour) * seconds(HOUR));
        let mut minutes = [0.0; MINUTES];
        // What falls into whole hours, over which minutes differ only by their factors.
        let mut in_whole_hours: f64 = hours.iter().sum();
        each_hour(WeekTime::of(from).micros, rest, |hour, begin, end| {
            let density = per_second * oldest * self.hour_factor(hour);
            let count = density * self.exposure_in_hour(begin, end);
            hours[hour] += count;
            if end - begin == HOUR {
                in_whole_hours += count;
            } else {
                each_minute(begin, end, |minute, micros| {
                    minutes[minute] += density * self.minute_factor(minute) * seconds(micros);
                });
            }
        });
        for (minute, count) in minutes.iter_mut().enumerate() {
            *count += in_whole_hours / MINUTES as f64 * self.minute_factor(minute);
        }
        let kept = MOST_SUPPOSED / (self.by_minute.iter().sum::<f32>() + changes as f32);
        if kept < 1.0 {
            self.by_minute.iter_mut().for_each(|count| *count *= kept);
            self.noise.minutes *= kept * kept;
        }
        match undated {
            UndatedChanges::AtLeastOne { surprise } => self.noise.add(surprise, &hours, &minutes),
            UndatedChanges::Supposed => self.noise.add_all(SUPPOSED_NOISE * hours.iter().sum::<f64>() as f32),
        }
        self.by_hour.iter_mut().zip(hours).for_each(|(count, more)| *count += more as f32);
        self.by_minute.iter_mut().zip(minutes).for_each(|(count, more)| *count += more as f32);
    }

    /// Computes the factors, given the first instant of which anything is known.
    pub(super) fn settle(&mut self, begin: Time, parts: Parts) {
        let hours = if parts.has_week() { self.hours_of_week(begin) } else { [1.0; HOURS] };
        let minutes = if parts.has_hour() { self.minutes_of_hour(begin) } else { [1.0; MINUTES] };
        self.hour_scale = shorten(&hours, &mut self.hours);
        self.minute_scale = shorten(&minutes, &mut self.minutes);
    }

    fn hours_of_week(&self, begin: Time) -> [f64; HOURS] {
        let counts = self.by_hour.map(f64::from);
        let total = counts.iter().sum();
        let noise = |sum: f32| noise_by_mean(sum, total);
        let expected = in_proportion(&observed_hours(begin, self.updated), total);

        let (own, flat) = (by_day_hour(&counts), by_day_hour(&expected));
        let mut day_hours = [1.0; 24];
        refine(&mut day_hours, &own, &flat, &BROAD, noise(self.noise.day_hours), DAYPARTS);
        balance(&mut day_hours, &flat);
        refine(&mut day_hours, &own, &flat, &[1.0], noise(self.noise.day_hours), DAY_HOURS);
        balance(&mut day_hours, &flat);

        let by_day: [f64; HOURS] = std::array::from_fn(|hour| expected[hour] * day_hours[hour % 24]);
        let (own, flat) = (by_weekday(&counts), by_weekday(&by_day));
        let mut weekdays = [1.0; 7];
        refine(&mut weekdays, &own, &flat, &[1.0], noise(self.noise.weekdays), WEEKDAYS);

        let mut hours = std::array::from_fn(|hour| day_hours[hour % 24] * weekdays[hour / 24]);
        balance(&mut hours, &expected);
        refine(&mut hours, &counts, &expected, &[1.0], noise(self.noise.week_hours), WEEK_HOURS);
        hours
    }

    fn minutes_of_hour(&self, begin: Time) -> [f64; MINUTES] {
        let counts = self.by_minute.map(f64::from);
        let total = counts.iter().sum();
        let noise = noise_by_mean(self.noise.minutes, total);
        let expected = in_proportion(&observed_minutes(begin, self.updated), total);
        let mut minutes = [1.0; MINUTES];
        refine(&mut minutes, &counts, &expected, &BROADER, noise, QUARTERS);
        balance(&mut minutes, &expected);
        refine(&mut minutes, &counts, &expected, &[1.0], noise, SINGLE_MINUTES);
        minutes
    }
}

/// The variance of a count by its mean.
fn noise_by_mean(sum: f32, total: f64) -> f64 {
    if total > 0.0 { (f64::from(sum) / total).max(LEAST_NOISE) } else { 1.0 }
}

/// Stores factors in short and returns the scale that gives them mean 1.
fn shorten<const BINS: usize>(factors: &[f64; BINS], shorts: &mut [Short; BINS]) -> f32 {
    let mean = factors.iter().sum::<f64>() / BINS as f64;
    if factors.iter().all(|factor| (factor / mean - 1.0).abs() < NOTICEABLE) {
        shorts.fill(Short::ONE);
        return 1.0;
    }
    for (short, factor) in shorts.iter_mut().zip(factors) {
        *short = Short::from(*factor);
    }
    let scale = (BINS as f64 / shorts.iter().map(|short| short.get()).sum::<f64>()) as f32;
    if scale == 1.0 { 1.0 + f32::EPSILON } else { scale }
}

/// `total` split in proportion to `weights`.
fn in_proportion<const BINS: usize>(weights: &[f64; BINS], total: f64) -> [f64; BINS] {
    let sum: f64 = weights.iter().sum();
    if sum > 0.0 { weights.map(|weight| weight / sum * total) } else { [total / BINS as f64; BINS] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rhythm_is_small() {
        assert!(size_of::<Rhythm>() <= 1_536, "{}", size_of::<Rhythm>());
        assert!(size_of::<super::super::Model>() <= 72, "{}", size_of::<super::super::Model>());
    }

    #[test]
    fn short_numbers_are_near_what_they_stand_for() {
        assert_eq!(Short::from(1.0), Short::ONE);
        for value in [0.01, 0.3, 1.0, 1.7, 59.9, 167.0] {
            assert!((Short::from(value).get() / value - 1.0).abs() < 0.004, "{value}");
        }
    }

    #[test]
    fn what_is_spread_is_as_much_as_was_given() {
        let now = Time::from_seconds(1_700_000_000);
        let mut rhythm = Rhythm::new(now);
        for seconds_back in [30, 4_000, 200_000, 604_000] {
            rhythm.spread(
                Time::from_seconds(now.seconds() - seconds_back),
                now,
                2.0,
                UndatedChanges::AtLeastOne { surprise: 0.5 },
            );
        }
        let (by_hour, by_minute): (f32, f32) = (rhythm.by_hour.iter().sum(), rhythm.by_minute.iter().sum());
        assert!((by_hour - 8.0).abs() < 1e-3 && (by_minute - 8.0).abs() < 1e-3, "{by_hour} {by_minute}");
        assert!(rhythm.noise.minutes < 8.0 * 0.5);
    }
}
