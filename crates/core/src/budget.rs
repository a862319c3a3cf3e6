//! The probe budget: how much may be spent in each chronon, and the meter that keeps to it.
//!
//! Whole budgets mean what the papers say: at most C probes in a chronon, unused ones are gone. A
//! fractional budget accumulates: 0.25 allows one probe every four chronons. No more than one probe's worth
//! is ever saved and no chronon spends more than max(1, ⌈C⌉), so there is no burst, and the total spent
//! never exceeds the total granted at any prefix. A chronon whose budget is 0 allows nothing.

use crate::{Chronon, Error};

/// Grants per chronon, in units of probe cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Budget(Grant);

impl Default for Budget {
    /// Nothing, ever.
    fn default() -> Self {
        Self(Grant::Constant(0.0))
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Grant {
    Constant(f64),
    /// One grant per chronon; nothing after the last.
    PerChronon(Vec<f64>),
}

impl Budget {
    /// The same grant in every chronon.
    pub fn constant(grant: f64) -> Result<Self, Error> {
        check(grant)?;
        Ok(Self(Grant::Constant(grant)))
    }

    /// One grant per chronon, from chronon 1; nothing after the last.
    pub fn per_chronon(grants: Vec<f64>) -> Result<Self, Error> {
        grants.iter().try_for_each(|&grant| check(grant))?;
        Ok(Self(Grant::PerChronon(grants)))
    }

    /// This share of every grant, 0 to 1.
    #[must_use]
    pub fn scaled(&self, share: f64) -> Self {
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        Self(match &self.0 {
            Grant::Constant(grant) => Grant::Constant(share * grant),
            Grant::PerChronon(grants) => {
                Grant::PerChronon(grants.iter().map(|grant| share * grant).collect())
            }
        })
    }

    /// Whether every chronon grants the same.
    pub const fn is_constant(&self) -> bool {
        matches!(self.0, Grant::Constant(_))
    }

    /// What is granted at `now`.
    pub fn at(&self, now: Chronon) -> f64 {
        match &self.0 {
            Grant::Constant(grant) => *grant,
            Grant::PerChronon(grants) => grants.get(now.index()).copied().unwrap_or(0.0),
        }
    }

    /// What can be spent in one chronon at the most, over an epoch of `chronons`.
    pub fn most_in_one_chronon(&self, chronons: u32) -> f64 {
        match &self.0 {
            Grant::Constant(grant) => capacity(*grant),
            Grant::PerChronon(grants) => {
                grants.iter().take(chronons as usize).map(|&grant| capacity(grant)).fold(0.0, f64::max)
            }
        }
    }

    /// A meter that starts before chronon 1 with nothing saved.
    pub const fn meter(&self) -> Meter<'_> {
        Meter { budget: self, saved: 0.0 }
    }
}

fn check(grant: f64) -> Result<(), Error> {
    if grant.is_finite() && grant >= 0.0 { Ok(()) } else { Err(Error::BadBudget(grant)) }
}

fn capacity(grant: f64) -> f64 {
    if grant == 0.0 { 0.0 } else { grant.ceil().max(1.0) }
}

/// Keeps to a budget, chronon by chronon.
#[derive(Debug, Clone)]
pub struct Meter<'a> {
    budget: &'a Budget,
    /// Fractions granted and not spent, at most one probe's worth.
    saved: f64,
}

/// Sums of tenths are not exact in binary: ten grants of 0.1 must still buy one probe. A share of its cost.
const ROUNDING: f64 = 1e-9;

impl Meter<'_> {
    /// What may be spent at `now`. Must be called for every chronon in turn.
    pub fn open(&self, now: Chronon) -> Allowance {
        let grant = self.budget.at(now);
        let (all, most) = (self.saved + grant, capacity(grant));
        let left = all.min(most);
        Allowance { left, kept: (all.floor().min(most) + all.fract() - left).max(0.0) }
    }

    /// Closes the chronon with what its allowance has left. The whole part of its grant is spent first, and
    /// is gone if it was not.
    pub fn close(&mut self, now: Chronon, allowance: &Allowance) {
        let grant = self.budget.at(now);
        let spent = self.open(now).left - allowance.left;
        let from_savings = (spent - grant.floor()).max(0.0);
        self.saved = (self.saved + grant.fract() - from_savings).min(1.0);
    }
}

/// What may still be spent in the present chronon.
#[derive(Debug, Clone, PartialEq)]
pub struct Allowance {
    left: f64,
    /// A fraction of a probe that is granted beyond what may be spent now.
    kept: f64,
}

impl Allowance {
    /// An allowance of this much, for callers that keep their own accounts.
    pub const fn of(left: f64) -> Self {
        Self { left, kept: 0.0 }
    }

    /// Whether a probe of this cost fits.
    pub fn fits(&self, cost: f64) -> bool {
        cost * (1.0 - ROUNDING) <= self.left
    }

    /// Spends `cost` if it fits, and says whether it did.
    pub fn spend(&mut self, cost: f64) -> bool {
        let fits = self.fits(cost);
        if fits {
            self.left -= cost;
        }
        fits
    }

    /// What is left, and the fraction of a probe on top that may not be spent in this chronon, but counts in the next.
    pub const fn saved_up(&self) -> f64 {
        self.left + self.kept
    }

    /// What is left.
    pub const fn left(&self) -> f64 {
        self.left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// How many unit probes each of the first chronons allows when all are spent.
    fn greedy(budget: &Budget, chronons: u32) -> Vec<u32> {
        let mut meter = budget.meter();
        let spend = |now| {
            let mut allowance = meter.open(now);
            let mut spent = 0;
            while allowance.spend(1.0) {
                spent += 1;
            }
            meter.close(now, &allowance);
            spent
        };
        Chronon::first(chronons).map(spend).collect()
    }

    #[test]
    fn a_quarter_is_one_probe_every_four_chronons() {
        assert_eq!(greedy(&Budget::constant(0.25).unwrap(), 8), [0, 0, 0, 1, 0, 0, 0, 1]);
        assert_eq!(greedy(&Budget::constant(1.5).unwrap(), 4), [1, 2, 1, 2]);
        assert_eq!(greedy(&Budget::constant(0.1).unwrap(), 20).iter().sum::<u32>(), 2);
        assert_eq!(greedy(&Budget::per_chronon(vec![2.0, 0.0, 1.0]).unwrap(), 4), [2, 0, 1, 0]);
    }

    #[test]
    fn what_is_saved_up_keeps_the_fraction_that_cannot_be_spent() {
        let budget = Budget::constant(0.3).unwrap();
        let mut meter = budget.meter();
        let mut saved_up = Vec::new();
        for now in Chronon::first(8) {
            let mut allowance = meter.open(now);
            saved_up.push((10.0 * allowance.saved_up()).round());
            allowance.spend(1.0);
            meter.close(now, &allowance);
        }
        assert_eq!(saved_up, [3.0, 6.0, 9.0, 12.0, 5.0, 8.0, 11.0, 4.0]);
    }

    #[test]
    fn unused_probes_of_a_whole_budget_are_gone() {
        let budget = Budget::per_chronon(vec![2.0, 1.0, 0.0, 2.0, 0.5]).unwrap();
        let mut meter = budget.meter();
        for (now, allowed) in Chronon::first(5).zip([2.0, 1.0, 0.0, 2.0, 0.5]) {
            let allowance = meter.open(now);
            assert_eq!(allowance.left(), allowed);
            meter.close(now, &allowance);
        }
    }

    #[test]
    fn a_long_silence_does_not_buy_a_burst() {
        let budget = Budget::constant(0.25).unwrap();
        let mut meter = budget.meter();
        let mut spent = Vec::new();
        for now in Chronon::first(48) {
            let mut allowance = meter.open(now);
            if now.get() > 40 {
                spent.push(u32::from(allowance.spend(1.0)));
            }
            meter.close(now, &allowance);
        }
        assert_eq!(spent, [1, 0, 0, 1, 0, 0, 0, 1]);
    }

    /// 2.5 a chronon: up to three may be spent, whole grants first; half a unit is saved, or what is left of it, up to one.
    #[test]
    fn costs_are_taken_from_the_whole_part_first_and_then_from_savings() {
        let budget = Budget::constant(2.5).unwrap();
        let mut meter = budget.meter();
        let costs: [(&[f64], f64); 6] = [
            (&[2.0], 2.5),
            (&[1.0], 3.0),
            (&[2.25, 0.5], 3.0),
            (&[3.0], 3.0),
            (&[0.75, 0.75, 0.75], 2.75),
            (&[], 3.0),
        ];
        for (now, (costs, open)) in Chronon::first(6).zip(costs) {
            let mut allowance = meter.open(now);
            assert_eq!(allowance.left(), open, "chronon {now}");
            assert!(costs.iter().all(|&cost| allowance.spend(cost)), "chronon {now}");
            assert_eq!(allowance.left(), open - costs.iter().sum::<f64>());
            assert!(!allowance.fits(open + 1e-6) && !allowance.spend(open + 1e-6));
            meter.close(now, &allowance);
        }
        assert_eq!(meter.saved, 1.0);
        assert_eq!(
            (budget.most_in_one_chronon(9), Budget::constant(0.2).unwrap().most_in_one_chronon(1)),
            (3.0, 1.0)
        );
        let uneven = Budget::per_chronon(vec![0.0, 0.5, 4.0]).unwrap();
        assert_eq!([1, 2, 3].map(|chronons| uneven.most_in_one_chronon(chronons)), [0.0, 1.0, 4.0]);
        assert_eq!(Chronon::first(4).map(|now| uneven.at(now)).collect::<Vec<_>>(), [0.0, 0.5, 4.0, 0.0]);
    }

    #[test]
    fn nothing_is_nothing_however_cheap_a_probe() {
        let mut allowance = Budget::constant(0.0).unwrap().meter().open(Chronon::FIRST);
        assert!(!allowance.spend(1e-12));
    }

    #[test]
    fn a_share_of_a_budget_is_between_nothing_and_all_of_it() {
        let budget = Budget::per_chronon(vec![4.0, 1.0]).unwrap();
        let [nothing, half] = [0.0, 0.5].map(|share| budget.scaled(share));
        assert_eq!([1, 2, 3].map(|now| half.at(Chronon::new(now).unwrap())), [2.0, 0.5, 0.0]);
        assert_eq!([-1.0, f64::NAN].map(|share| budget.scaled(share)), [nothing.clone(), nothing]);
        assert_eq!(budget.scaled(1.5), budget);
        let constant = Budget::constant(2.0).unwrap();
        assert_eq!((constant.scaled(0.5).at(Chronon::FIRST), constant.scaled(7.0)), (1.0, constant.clone()));
    }

    #[test]
    fn nonsense_is_refused() {
        assert_eq!(Budget::constant(-1.0), Err(Error::BadBudget(-1.0)));
        assert!(Budget::constant(f64::NAN).is_err());
        assert!(Budget::per_chronon(vec![1.0, f64::INFINITY]).is_err());
    }

    proptest! {
        #[test]
        fn no_prefix_exceeds_what_was_granted(
            grants in prop::collection::vec(prop_oneof![Just(0.0), 0.0..3.0f64, Just(1.0), Just(2.0)], 1..60),
            want in prop::collection::vec(0..5u32, 60),
        ) {
            let budget = Budget::per_chronon(grants.clone()).unwrap();
            let mut meter = budget.meter();
            let (mut granted, mut spent) = (0.0, 0.0);
            for ((now, &grant), want) in Chronon::first(60).zip(&grants).zip(want) {
                let mut allowance = meter.open(now);
                let bought = (0..want).filter(|_| allowance.spend(1.0)).count() as f64;
                meter.close(now, &allowance);
                granted += grant;
                spent += bought;
                prop_assert!(spent <= granted + 1e-6);
                prop_assert!(bought <= capacity(grant));
            }
        }

        #[test]
        fn in_the_long_run_everything_granted_can_be_spent(grant in 0.01..4.0f64) {
            let spent: u32 = greedy(&Budget::constant(grant).unwrap(), 400).iter().sum();
            prop_assert!((f64::from(spent) - grant * 400.0).abs() <= 1.0);
        }
    }
}
