//! Value in continuous time: the formulas against fine sums of the definition, against whole chronons, and the time
//! of crossing against the curve.

use std::time::Duration;

use dunlin_core::Time;
use dunlin_sched::forecast::Segment;
use dunlin_sched::value::curve::{Curve, Rates};
use dunlin_sched::value::{Life, Urgency, ValueModel, expected_utility};
use proptest::prelude::*;

const LIVES: [&str; 6] = ["append", "window:40", "window:0", "changes:3", "changes:1", "overwrite"];
const URGENCIES: [&str; 8] =
    ["uniform", "exp:0.95", "exp:0", "sliding:25", "poly:1.3", "polyexp:2:0.9", "chordal:30", "exp:1"];
const CHRONON: Duration = Duration::from_secs(1);

/// Rates over stretches of this length, round and round.
#[derive(Debug, Clone)]
struct Stretches {
    rates: Vec<f64>,
    seconds: i64,
    evidence: f64,
}

impl Rates for &Stretches {
    fn segment(&self, at: Time) -> Segment {
        let nth = at.seconds().div_euclid(self.seconds);
        let place = usize::try_from(nth.rem_euclid(i64::try_from(self.rates.len()).unwrap())).unwrap();
        Segment { rate: self.rates[place], until: Time::from_seconds((nth + 1) * self.seconds) }
    }

    fn chance_since(&self, last_probe: Time, now: Time) -> f64 {
        let changes = self.expected(last_probe, now);
        -(-self.evidence * (changes / self.evidence).ln_1p()).exp_m1()
    }

    fn changes_for(&self, chance: f64) -> f64 {
        self.evidence * (-(-chance).ln_1p() / self.evidence).exp_m1()
    }

    fn hope(&self) -> f64 {
        1.25
    }

    fn expected(&self, from: Time, to: Time) -> f64 {
        let (mut at, mut sum) = (from, 0.0);
        while at < to {
            let segment = self.segment(at);
            sum += segment.rate * segment.until.min(to).since(at).as_secs_f64();
            at = segment.until;
        }
        sum
    }
}

fn model(life: usize, urgency: usize) -> ValueModel {
    ValueModel {
        life: LIVES[life].parse().unwrap(),
        urgency: URGENCIES[urgency].parse().unwrap(),
        weight: 2.0,
    }
}

fn real_urgency(urgency: Urgency, age: f64) -> f64 {
    match urgency {
        Urgency::Exponential(0.0) => f64::from(u8::from(age < 1.0)),
        Urgency::Exponential(ratio) => ratio.powf(age),
        Urgency::Sliding(w) => f64::from(u8::from(age < f64::from(w) + 1.0)),
        Urgency::Polynomial(a) => (1.0 + age).powf(-a),
        Urgency::Chordal(w) => (1.0 - age / f64::from(w)).max(0.0),
        Urgency::PolyExponential { degree: 2, ratio } if age > 2.0 => {
            let miss = 1.0 - ratio;
            let terms = [ratio * ratio, age * miss * ratio, age * (age - 1.0) / 2.0 * miss * miss];
            ratio.powf(age - 2.0) * terms.iter().sum::<f64>()
        }
        _ => 1.0,
    }
}

/// The definition, in steps of a hundredth of a second.
fn fine_sum(model: &ValueModel, rates: &Stretches, last: Time, now: Time) -> f64 {
    let step = 0.01;
    let lasts_but_one = model.life == Life::Overwrite || model.life == Life::Changes(1);
    let is_any_change = lasts_but_one
        && matches!(model.urgency, Urgency::Uniform | Urgency::Sliding(_) | Urgency::Exponential(0.0));
    let (mut sum, mut later) = (0.0, 0.0);
    let mut age = step / 2.0;
    while age < now.since(last).as_secs_f64() {
        let at = Time::from_micros(now.micros() - (age * 1e6) as i64);
        let rate = rates.segment(at).rate;
        let changes = later + rate * step / 2.0;
        let alive = match model.life {
            Life::Append => 1.0,
            Life::Window(w) => f64::from(u8::from(age < f64::from(w) + 1.0)),
            // Over all rates that may be true: E[r·e^(−rΛ)] for a Gamma-distributed r of mean 1.
            _ if is_any_change => (1.0 + changes / rates.evidence).powf(-rates.evidence - 1.0),
            Life::Overwrite | Life::Changes(1) => (-changes).exp(),
            Life::Changes(3) => (-changes).exp() * (1.0 + changes + changes * changes / 2.0),
            Life::Changes(_) => unreachable!("only these are tried"),
        };
        sum += rate * step * alive * real_urgency(model.urgency, age);
        later += rate * step;
        age += step;
    }
    model.weight * rates.hope() * sum
}

fn stretches() -> impl Strategy<Value = Stretches> {
    let rate = prop_oneof![Just(0.0), 0.001..0.02f64, 0.02..0.4f64];
    (prop::collection::vec(rate, 1..5), 3i64..80, 0.3..20.0f64)
        .prop_map(|(rates, seconds, evidence)| Stretches { rates, seconds, evidence })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_curve_is_the_integral(
        rates in stretches(), life in 0..LIVES.len(), urgency in 0..URGENCIES.len(),
        begin in 0i64..100, gap in 0.1..150.0f64,
    ) {
        let model = model(life, urgency);
        let last = Time::from_seconds(begin);
        let now = last.plus(Duration::from_secs_f64(gap));
        let exact = Curve::new(&model, &rates, last, CHRONON).at(now);
        let summed = fine_sum(&model, &rates, last, now);
        // The steps of the sum may be wrong by one at every jump of the rate and at the end of a window.
        let most = rates.rates.iter().copied().fold(0.0, f64::max);
        prop_assert!((exact - summed).abs() <= 0.005 * summed + 0.12 * most, "{exact} and {summed}");
    }

    /// Whole chronons count a change as fresh to the end of its chronon, real ages do not; so the curve lies below the
    /// sum, by at most what one chronon's rate can lose.
    #[test]
    fn with_flat_rates_it_is_near_whole_chronons(
        rate in 0.0005..0.3f64, life in 0..LIVES.len(), urgency in 0..URGENCIES.len(), gap in 1u32..200,
    ) {
        let model = model(life, urgency);
        let rates = Stretches { rates: vec![rate], seconds: 60, evidence: 1e9 };
        let curve = Curve::new(&model, &rates, Time::from_seconds(0), CHRONON);
        let real = curve.at(Time::from_seconds(i64::from(gap))) / (&rates).hope();
        let probability = if model.life == Life::Append || matches!(model.life, Life::Window(_)) {
            rate
        } else {
            -(-rate).exp_m1()
        };
        let whole = expected_utility(&model, &vec![probability; gap as usize], 0, gap);
        // A chronon has one change at the most; real time may have several, of which `changes:3` keeps some.
        prop_assert!(real <= whole * (1.0 + rate + 1e-6), "{real} above {whole}");
        prop_assert!(real >= whole - 1.5 * model.weight * rate - 1e-9, "{real} far below {whole}");
    }

    #[test]
    fn the_crossing_is_where_the_curve_gets_there(
        rates in stretches(), life in 0..LIVES.len(), urgency in 0..URGENCIES.len(),
        gap in 0.0..100.0f64, threshold in 0.01..3.0f64, ahead in 1.0..400.0f64,
    ) {
        let model = model(life, urgency);
        let last = Time::from_seconds(17);
        let from = last.plus(Duration::from_secs_f64(gap));
        let horizon = from.plus(Duration::from_secs_f64(ahead));
        let curve = Curve::new(&model, &rates, last, CHRONON);
        let crossing = curve.crossing(from, threshold, horizon);
        if let Some(at) = crossing {
            prop_assert!((from..=horizon).contains(&at));
            prop_assert!(curve.at(at) >= threshold * (1.0 - 1e-6), "{} at the crossing", curve.at(at));
        }
        // Up to there it was worth less. Where the curve can fall, only the points that are tried are sure.
        let is_flat = rates.rates.len() == 1;
        let end = crossing.unwrap_or(horizon).micros() - 70_000;
        for share in 0..50 {
            let at = Time::from_micros(from.micros() + (end - from.micros()) / 50 * share);
            if is_flat && at.micros() < end {
                prop_assert!(curve.at(at) < threshold * (1.0 + 1e-6), "missed at {at:?}, said {crossing:?}");
            }
        }
    }
}

#[test]
fn what_is_certain_to_be_overwritten_has_a_ceiling() {
    let model = ValueModel::new(Life::Overwrite, Urgency::Uniform);
    let rates = Stretches { rates: vec![0.1], seconds: 10, evidence: 4.0 };
    let curve = Curve::new(&model, &rates, Time::from_seconds(0), CHRONON);
    let forever = Time::from_seconds(1_000_000);
    // No probe can be worth more than hope times one change.
    assert_eq!(curve.crossing(Time::from_seconds(0), 1.25, forever), None);
    // 1 − (1 + Λ/4)^−4 = 0.8 at Λ = 4·(5^¼ − 1), a tenth of a change per second.
    let at = curve.crossing(Time::from_seconds(0), 0.8 * 1.25, forever).unwrap();
    assert!((at.micros() as f64 / 1e6 - 40.0 * (5f64.powf(0.25) - 1.0)).abs() < 1e-5);
}

#[test]
fn an_endless_forecast_of_tiny_stretches_ends() {
    #[derive(Clone, Copy)]
    struct Dust;
    impl Rates for Dust {
        fn segment(&self, at: Time) -> Segment {
            Segment { rate: 1e-9, until: Time::from_micros(at.micros() + 1) }
        }
        fn chance_since(&self, last_probe: Time, now: Time) -> f64 {
            -(-self.expected(last_probe, now)).exp_m1()
        }
        fn changes_for(&self, chance: f64) -> f64 {
            -(-chance).ln_1p()
        }
        fn hope(&self) -> f64 {
            1.0
        }
        fn expected(&self, from: Time, to: Time) -> f64 {
            1e-9 * to.since(from).as_secs_f64()
        }
    }
    for life in LIVES {
        let model = ValueModel::new(life.parse().unwrap(), Urgency::Exponential(0.999));
        let curve = Curve::new(&model, Dust, Time::from_seconds(0), CHRONON);
        let (now, far) = (Time::from_seconds(1_000_000), Time::from_seconds(2_000_000));
        assert!(curve.at(now) > 0.0);
        assert_eq!(curve.crossing(now, 1.0, far), None);
    }
}
