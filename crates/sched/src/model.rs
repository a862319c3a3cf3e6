//! What a source has done, as far as probes and its own dates have shown. Learns from observations; predicts nothing
//! itself: [`crate::forecast`] reads it.
//!
//! Three parts: how often on average (`rate`), by what factor more or less at each hour of the week and each minute of
//! the hour (`rhythm`), and whether changes come in bursts (`bursts`). `docs/forecast.md` has the formulas and why.
//!
//! Invariant: a model is a plain value. The same probes in the same order give the same bits, and it can be stored
//! after any of them. The work of a probe is bounded, whatever the gap before it.

pub(crate) mod bursts;
pub(crate) mod calendar;
mod observed_time;
pub(crate) mod rate;
pub(crate) mod rhythm;
mod shrink;
mod stored;

pub use stored::Unreadable;

use dunlin_core::Time;
use serde::{Deserialize, Serialize};

use bursts::{BeforeFirst, Bursts, GapEvidence};
use calendar::seconds_between;
use rate::{Gamma, Rate};
use rhythm::{Rhythm, UndatedChanges};

/// What one probe of a source has shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeEvidence {
    /// The probe before it; `None` at the first.
    pub since: Option<Time>,
    /// When it was.
    pub at: Time,
    /// What it showed.
    #[serde(rename = "seen")]
    pub evidence: Evidence,
}

/// What a probe has shown of the time since the one before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Evidence {
    /// Nothing has changed.
    Unchanged,
    /// It has changed at least once.
    Changed {
        /// Times of changes by the dates of the source itself, in order. Those before the last probe count only at the
        /// first probe, where they are history.
        times: Vec<Time>,
        /// Whether these are all.
        #[serde(rename = "known")]
        completeness: Completeness,
    },
}

/// How much of what happened between two probes is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Completeness {
    /// Every change is dated, as in a feed that has not run over.
    All,
    /// Only the latest is, or none: others may have been overwritten.
    Latest,
}

/// What is assumed of a source before anything is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Prior {
    /// Changes per second.
    pub rate: f64,
    /// How many changes' worth of evidence that assumption counts for; small is humble.
    pub strength: f64,
}

impl Default for Prior {
    /// Four changes a day, hardly trusted.
    fn default() -> Self {
        Self { rate: 4.0 / 86_400.0, strength: 0.5 }
    }
}

impl Prior {
    /// The nearest one that makes sense.
    pub(crate) fn sane(self) -> Self {
        let within = |value: f64, least: f64, most: f64, otherwise: f64| {
            if value.is_nan() { otherwise } else { value.clamp(least, most) }
        };
        let Self { rate, strength } = Self::default();
        Self {
            rate: within(self.rate, 1e-12, 1e3, rate),
            strength: within(self.strength, 1e-3, 1e6, strength),
        }
    }
}

/// Which parts of a model are learned. The rate always is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Parts {
    /// The rate alone. To compare with.
    Rate,
    /// And the hours of the week.
    Week,
    /// And the minutes of the hour.
    Hour,
    /// Everything.
    #[default]
    All,
}

impl Parts {
    const fn has_week(self) -> bool {
        matches!(self, Self::Week | Self::All)
    }

    const fn has_hour(self) -> bool {
        matches!(self, Self::Hour | Self::All)
    }
}

/// What is known of how a source changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "stored::Stored", into = "stored::Stored")]
pub struct Model {
    prior: Prior,
    rate: Rate,
    /// The first instant of which anything is known.
    begin: Option<Time>,
    parts: Parts,
    /// Kept apart, and only once a change has been seen: most sources are quiet, and there are many.
    rhythm: Option<Box<Rhythm>>,
    /// Likewise.
    bursts: Option<Box<Bursts>>,
}

/// A page that claims to have changed within this of the probe reports the current time, not the time of the change.
const SUSPICIOUS_MICROS: i64 = calendar::SECOND;

/// Nothing that is seen was less likely than this.
const LEAST_CHANCE: f64 = 1e-9;

impl Model {
    /// Knows nothing but the prior.
    pub fn new(prior: Prior) -> Self {
        Self::of_parts(prior, Parts::All)
    }

    /// Knows nothing but the prior, and will learn only these parts.
    pub fn of_parts(prior: Prior, parts: Parts) -> Self {
        Self { prior: prior.sane(), rate: Rate::default(), begin: None, parts, rhythm: None, bursts: None }
    }

    /// Learns from a probe.
    pub fn observe(&mut self, probe: &ProbeEvidence) {
        self.observe_among(probe, self.prior);
    }

    /// Learns from a probe, with the prior that other sources suggest.
    pub fn observe_among(&mut self, probe: &ProbeEvidence, prior: Prior) {
        let prior = prior.sane();
        match (probe.since, self.begin) {
            (Some(since), _) if since >= probe.at => {}
            (Some(since), begin) => {
                self.begin = Some(begin.unwrap_or(since));
                self.observe_gap(since, probe.at, &probe.evidence, prior);
            }
            (None, None) => self.observe_history(probe.at, &probe.evidence, prior),
            // Dates of a time that may have been counted before, and nothing to tell what is new.
            (None, Some(_)) => {}
        }
    }

    /// The first probe: dates that the source lists, if any.
    fn observe_history(&mut self, now: Time, evidence: &Evidence, prior: Prior) {
        let (dates, completeness) = dates(evidence, |at| at <= now);
        let Some(&first) = dates.first() else {
            self.begin = Some(now);
            return;
        };
        self.begin = Some(first);
        // A list that was cut after so many entries reaches back as far as that many changes take, so all of them
        // count. One that is complete begins with the source itself: that first entry is not a change.
        let counted = match completeness {
            Completeness::Latest => &dates[..],
            Completeness::All => &dates[1..],
        };
        let before = self.gamma_with(prior);
        let weight: f64 = counted.iter().map(|&at| rate::kept_after(seconds_between(at, now))).sum();
        self.rate.count(weight, rate::faded(seconds_between(first, now)));
        self.learn_rhythm(now, |rhythm| counted.iter().for_each(|&at| rhythm.count(at)));
        if !counted.is_empty() {
            let gaps: Vec<f64> = dates.windows(2).map(|pair| seconds_between(pair[0], pair[1])).collect();
            let silence = seconds_between(*dates.last().unwrap_or(&first), now);
            let shown = GapEvidence::Dated { gaps: &gaps, silence, before_first: BeforeFirst::Silence };
            self.learn_bursts(before, prior, shown);
        }
    }

    /// A probe after another one.
    fn observe_gap(&mut self, since: Time, now: Time, evidence: &Evidence, prior: Prior) {
        let passed = seconds_between(since, now);
        self.rate.fade(passed);
        self.bursts.iter_mut().for_each(|bursts| bursts.fade(passed));
        let before = self.gamma_with(prior);
        let exposure = self.exposure(since, now);
        let (mut dates, completeness) = dates(evidence, |at| since < at && at <= now);
        let latest_believable = calendar::later(now, -SUSPICIOUS_MICROS);
        if completeness == Completeness::Latest
            && dates.first().is_some_and(|&first| first > latest_believable)
        {
            dates.clear();
        }
        self.judge_rhythm(since, now, (evidence, &dates), before);
        if *evidence == Evidence::Unchanged {
            self.rate.count(0.0, exposure);
            if let Some(bursts) = &mut self.bursts {
                bursts.observe(before, prior.strength, GapEvidence::Silence(exposure));
            }
            return;
        }
        let gaps: Vec<f64> = std::iter::once(&since)
            .chain(&dates)
            .zip(&dates)
            .map(|(&from, &to)| self.exposure(from, to))
            .collect();
        let silence = self.exposure(dates.last().copied().unwrap_or(now), now);
        match (completeness, dates.first().copied()) {
            (Completeness::All, Some(_)) => {
                self.rate.count(dates.len() as f64, exposure);
                let before_first = BeforeFirst::Silence;
                self.learn_bursts(before, prior, GapEvidence::Dated { gaps: &gaps, silence, before_first });
                self.learn_rhythm(now, |rhythm| dates.iter().for_each(|&at| rhythm.count(at)));
            }
            // The time from the first date on is known in full; before it, anything may have happened.
            (Completeness::Latest, Some(first)) => {
                self.rate.count(dates.len() as f64, self.exposure(first, now));
                let before_first = BeforeFirst::Unknown;
                self.learn_bursts(before, prior, GapEvidence::Dated { gaps: &gaps, silence, before_first });
                let unseen = before.mean() * self.exposure(since, first);
                self.learn_rhythm(now, |rhythm| {
                    rhythm.spread(since, first, unseen, UndatedChanges::Supposed);
                    dates.iter().for_each(|&at| rhythm.count(at));
                });
            }
            (_, None) => {
                self.rate.count_any(prior, exposure);
                self.learn_bursts(before, prior, GapEvidence::Any(exposure));
                let changes = before.expected_if_any(exposure);
                let undated = UndatedChanges::AtLeastOne { surprise: before.silence(exposure) };
                self.learn_rhythm(now, |rhythm| rhythm.spread(since, now, changes, undated));
            }
        }
    }

    /// Whether the factors or a flat rate predicted the evidence of a probe better.
    fn judge_rhythm(&mut self, since: Time, now: Time, shown: (&Evidence, &[Time]), before: Gamma) {
        let Some(rhythm) = self.rhythm.as_deref_mut() else { return };
        let silence = |from| {
            [rhythm.exposure_if_true(from, now), seconds_between(from, now)].map(|time| before.silence(time))
        };
        let [by_factors, by_rate] = match shown {
            (Evidence::Changed { .. }, []) => silence(since).map(|silence| 1.0 - silence),
            (Evidence::Changed { completeness: Completeness::Latest, .. }, [first, ..]) => silence(*first),
            (Evidence::Unchanged | Evidence::Changed { completeness: Completeness::All, .. }, _) => {
                silence(since)
            }
        };
        let at_dates: f64 = shown.1.iter().map(|&at| rhythm.factor_if_true(at).ln()).sum();
        rhythm.judge(by_factors.max(LEAST_CHANCE).ln() - by_rate.max(LEAST_CHANCE).ln() + at_dates);
    }

    fn learn_bursts(&mut self, before: Gamma, prior: Prior, shown: GapEvidence<'_>) {
        if self.parts != Parts::Rate {
            self.bursts.get_or_insert_default().observe(before, prior.strength, shown);
        }
    }

    fn learn_rhythm(&mut self, now: Time, learn: impl FnOnce(&mut Rhythm)) {
        if self.parts == Parts::Rate {
            return;
        }
        let rhythm = self.rhythm.get_or_insert_with(|| Box::new(Rhythm::new(now)));
        rhythm.advance(now);
        learn(rhythm);
        rhythm.settle(self.begin.unwrap_or(now), self.parts);
    }

    /// The distribution of the rate.
    pub(crate) fn gamma_with(&self, prior: Prior) -> Gamma {
        self.rate.with(prior)
    }

    pub(crate) const fn prior(&self) -> Prior {
        self.prior
    }

    pub(crate) fn rhythm(&self) -> Option<&Rhythm> {
        self.rhythm.as_deref()
    }

    pub(crate) fn bursts(&self) -> Option<&Bursts> {
        self.bursts.as_deref()
    }

    /// Seconds between two instants, each weighed by how much is going on then.
    pub(crate) fn exposure(&self, from: Time, to: Time) -> f64 {
        self.rhythm().map_or_else(|| seconds_between(from, to), |rhythm| rhythm.exposure(from, to))
    }
}

/// The dates that count, in order, each once: entries with the same date are one change.
fn dates(evidence: &Evidence, counts: impl Fn(Time) -> bool) -> (Vec<Time>, Completeness) {
    match evidence {
        Evidence::Unchanged => (Vec::new(), Completeness::All),
        Evidence::Changed { times, completeness } => {
            let mut dates: Vec<Time> = times.iter().copied().filter(|&at| counts(at)).collect();
            dates.sort_unstable();
            dates.dedup();
            (dates, *completeness)
        }
    }
}
