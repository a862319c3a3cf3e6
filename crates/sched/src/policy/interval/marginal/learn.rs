//! What is learned while planning: the price of a unit of budget, how often a waiting job is joined by others, and how
//! often it loses its place to newcomers. Plain statistics that forget; they decide nothing themselves.

use super::ordered_f64::ROUNDING;

/// What a statistic keeps per chronon: a memory of a hundred chronons.
const KEEP: f64 = 0.99;

/// Relative change of the price per chronon and unit of excess demand. Results are flat from half to four
/// times as much.
const STEP: f64 = 0.04;

/// The price changes by no more than this (in logarithms) in one chronon.
const LARGEST_STEP: f64 = 0.2;

/// The price does not fall below this share of a usual weight: after an idle night the needs of the morning
/// would have to wait until it had risen again.
const LEAST_SHARE: f64 = 1e-4;

/// The worth of one unit of budget: the dual price of its limit. It rises when needs that were worth it are
/// lost, and falls when probes idle or serve needs that were not.
#[derive(Debug, Clone, Default)]
pub(crate) struct BudgetPrice {
    level: f64,
    /// A usual weight per probe, 0 until there is one.
    usual: f64,
    shortage: f64,
    surplus: f64,
}

impl BudgetPrice {
    pub(crate) fn get(&self) -> f64 {
        self.level
    }

    /// A need of this weight became known. The first one sets the price.
    pub(crate) fn note_need(&mut self, weight: f64, need: u32) {
        if weight > 0.0 {
            let per_probe = weight / (f64::from(need) + 1.0);
            if self.usual == 0.0 {
                (self.level, self.usual) = (per_probe, per_probe);
            }
            self.usual += (1.0 - KEEP) * (per_probe - self.usual);
        }
    }

    /// A need was lost.
    pub(crate) fn note_lost(&mut self, weight: f64, outlay: f64) {
        if weight > self.level * outlay {
            self.shortage += outlay;
        }
    }

    /// A need was captured.
    pub(crate) fn note_captured(&mut self, weight: f64, outlay: f64) {
        if weight < self.level * outlay {
            self.surplus += outlay;
        }
    }

    /// The plan had no use for this much.
    pub(crate) fn note_idle(&mut self, units: f64) {
        self.surplus += units;
    }

    /// A chronon is over; chronons grant `grant` on average.
    pub(crate) fn learn(&mut self, grant: f64) {
        let excess = (self.shortage - self.surplus) / grant.max(ROUNDING);
        self.level *= (excess * STEP).clamp(-LARGEST_STEP, LARGEST_STEP).exp();
        self.level = self.level.max(LEAST_SHARE * self.usual);
        (self.shortage, self.surplus) = (0.0, 0.0);
    }
}

/// Whether the next start on a job's source is known, so that a surprise is less likely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NextStart {
    Unknown,
    Announced,
}

/// How often a waiting job is joined by an interval that could not be foreseen.
#[derive(Debug, Clone, Default)]
pub(crate) struct JoinStatistics {
    joined: [f64; 2],
    waited: [f64; 2],
}

impl JoinStatistics {
    pub(crate) fn note_joined(&mut self, next_start: NextStart) {
        self.joined[next_start as usize] += 1.0;
    }

    /// Jobs that wait in this chronon, each of which stands for so many.
    pub(crate) fn note_waiting(&mut self, waiting: impl Iterator<Item = NextStart>, each: f64) {
        for statistic in self.joined.iter_mut().chain(&mut self.waited) {
            *statistic *= KEEP;
        }
        waiting.for_each(|next_start| self.waited[next_start as usize] += each);
    }

    /// The chance that a job is joined within this many chronons.
    pub(crate) fn chance(&self, next_start: NextStart, chronons: u32) -> f64 {
        let rate = self.joined[next_start as usize] / self.waited[next_start as usize].max(ROUNDING);
        1.0 - (-rate * f64::from(chronons)).exp()
    }
}

/// Deadlines further ahead count as equal.
pub(crate) const FURTHEST: usize = 256;

/// The share of the budget before a waiting job's deadline that goes to newcomers with earlier deadlines:
/// the risk of losing the job by not running it now.
#[derive(Debug, Clone)]
pub(crate) struct Risk {
    /// New jobs of new needs, by chronons to their deadline.
    newcomers: Vec<f64>,
    granted: f64,
    waiting: f64,
    overtaken: f64,
}

impl Default for Risk {
    fn default() -> Self {
        Self { newcomers: vec![0.0; FURTHEST], granted: 0.0, waiting: 0.0, overtaken: 0.0 }
    }
}

impl Risk {
    /// A job of this cost was planned for a new need.
    pub(crate) fn note_newcomer(&mut self, chronons_left: u32, cost: f64) {
        self.newcomers[(chronons_left as usize).min(FURTHEST - 1)] += cost;
    }

    /// What this chronon grants, and how many of the jobs that wait in it have so many chronons left. Returns
    /// the risk, 0 to 1.
    pub(crate) fn learn(&mut self, grant: f64, waiting: impl Iterator<Item = (u32, u32)>) -> f64 {
        self.granted = self.granted * KEEP + grant;
        // Where nothing has been granted yet, newcomers take all there is.
        let mut stolen = [1.0; FURTHEST + 1];
        stolen[0] = 0.0;
        let (mut rate, mut sum) = (0.0, 0.0);
        for (chronons, newcomers) in (1..).zip(&mut self.newcomers) {
            *newcomers *= KEEP;
            if self.granted > ROUNDING {
                rate += *newcomers / self.granted;
                sum += rate;
                stolen[chronons] = sum / chronons as f64;
            }
        }
        let (mut n_waiting, mut overtaken) = (0.0, 0.0);
        for (chronons, n_jobs) in waiting {
            n_waiting += f64::from(n_jobs);
            overtaken += f64::from(n_jobs) * stolen[(chronons as usize).min(FURTHEST)];
        }
        self.waiting = self.waiting * KEEP + n_waiting;
        self.overtaken = self.overtaken * KEEP + overtaken;
        (self.overtaken / self.waiting.max(ROUNDING)).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_price_follows_loss_and_idleness_within_bounds() {
        let mut price = BudgetPrice::default();
        price.note_need(0.0, 3);
        price.learn(1.0);
        assert_eq!(price.get(), 0.0);
        price.note_need(1.0, 1);
        assert_eq!(price.get(), 0.5);
        for _ in 0..10_000 {
            price.note_lost(1.0, 1.0);
            price.learn(0.0);
        }
        assert!((1.0..1.3).contains(&price.get()), "{}", price.get());
        for _ in 0..100_000 {
            price.note_idle(1e12);
            price.learn(1.0);
        }
        assert!((price.get() / 0.5e-4 - 1.0).abs() < 1e-9, "{}", price.get());
    }

    /// Four percent per unit of excess demand and chronon, at most a fifth (of the logarithm) in one.
    #[test]
    fn the_price_moves_at_its_pace() {
        let mut price = BudgetPrice::default();
        price.note_need(1.0, 3);
        price.note_lost(1.0, 3.0);
        price.learn(2.0);
        assert!((price.get() - 0.25 * (0.06_f64).exp()).abs() < 1e-12, "{}", price.get());
        price.note_captured(0.1, 1.0);
        price.note_idle(2.0);
        // Neither is news: what is lost was not worth its price, what is captured was.
        price.note_lost(0.1, 1.0);
        price.note_captured(1.0, 1.0);
        price.learn(1.0);
        assert!((price.get() - 0.25 * (0.06_f64 - 0.12).exp()).abs() < 1e-12, "{}", price.get());
        price.note_idle(100.0);
        price.learn(1.0);
        assert!((price.get() - 0.25 * (0.06_f64 - 0.12 - 0.2).exp()).abs() < 1e-12, "{}", price.get());
    }

    #[test]
    fn joins_are_expected_as_often_as_they_happened() {
        let mut joins = JoinStatistics::default();
        assert_eq!(joins.chance(NextStart::Unknown, 10), 0.0);
        for _ in 0..1_000 {
            joins.note_joined(NextStart::Unknown);
            joins.note_waiting([NextStart::Unknown, NextStart::Unknown].into_iter(), 1.0);
        }
        assert!((joins.chance(NextStart::Unknown, 1) - (1.0 - (-0.5_f64).exp())).abs() < 0.01);
        assert_eq!(joins.chance(NextStart::Announced, u32::MAX), 0.0);
    }

    #[test]
    fn risk_is_the_share_that_newcomers_take() {
        let mut risk = Risk::default();
        assert_eq!(risk.learn(0.0, [(3, 1)].into_iter()), 1.0);
        let mut risk = Risk::default();
        let mut last = 0.0;
        for _ in 0..1_000 {
            risk.note_newcomer(0, 1.0);
            last = risk.learn(2.0, [(5, 1), (u32::MAX, 1)].into_iter());
        }
        assert!((last - 0.5).abs() < 0.01, "{last}");
    }

    /// Newcomers due in 200 chronons overtake jobs that have longer than that, and none that has less.
    #[test]
    fn deadlines_are_told_apart_up_to_256_chronons() {
        let after = |due: u32, left: u32| {
            let mut risk = Risk::default();
            for _ in 0..2_000 {
                risk.note_newcomer(due, 1.0);
                risk.learn(1.0, [(left, 1)].into_iter());
            }
            risk.learn(1.0, [(left, 1)].into_iter())
        };
        assert_eq!(after(200, 150), 0.0);
        // One of every chronon, from the 201st of 250 on.
        assert!((after(200, 250) - 50.0 / 250.0).abs() < 0.01, "{}", after(200, 250));
        assert_eq!(after(300, u32::MAX), after(255, 256));
    }
}
