//! What a forecast says agrees with itself, at any rate and over any time.

use dunlin_core::Time;
use dunlin_sched::model::{Completeness, Evidence, Model, Prior, ProbeEvidence};
use proptest::prelude::*;

use crate::sources::{DAY, HOUR, WEEK, changed, time};

/// A model that has seen these gaps, in seconds, each with a change or without, dated or not.
fn learned(prior_rate: f64, gaps: &[(f64, u8)]) -> Model {
    let mut model = Model::new(Prior { rate: prior_rate, strength: 0.5 });
    let mut since = 0.0;
    for &(gap, kind) in gaps {
        let at = since + gap;
        let middle = time(since + gap * 0.6);
        let evidence = match kind % 4 {
            0 => Evidence::Unchanged,
            1 => changed(Vec::new(), Completeness::Latest),
            2 => changed(vec![middle], Completeness::Latest),
            _ => changed(vec![middle], Completeness::All),
        };
        model.observe(&ProbeEvidence { since: Some(time(since)), at: time(at), evidence });
        since = at;
    }
    model
}

fn models() -> impl Strategy<Value = Model> {
    let gap = (0.0..7.5f64).prop_map(|exponent| 10f64.powf(exponent));
    let gaps = prop::collection::vec((gap, any::<u8>()), 0..60);
    (-9.0..1.0f64, gaps).prop_map(|(exponent, gaps)| learned(10f64.powf(exponent), &gaps))
}

fn near(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-6 * left.abs().max(right.abs()) + 1e-12
}

proptest! {
    #[test]
    fn the_segments_add_up(model in models(), from in 0.0..WEEK, length in 1.0..(2.0 * WEEK)) {
        let forecast = model.forecast();
        let (from, to) = (time(from), time(from + length));
        let (mut at, mut sum, mut n_segments) = (from, 0.0, 0);
        while at < to {
            let segment = forecast.segment(at);
            prop_assert!(segment.until > at && segment.rate > 0.0 && segment.rate.is_finite());
            let until = segment.until.min(to);
            sum += segment.rate * until.since(at).as_secs_f64();
            at = until;
            n_segments += 1;
        }
        prop_assert!(near(sum, forecast.expected(from, to)), "{sum} {}", forecast.expected(from, to));
        prop_assert!(n_segments <= 14 * 24 * 60 + 1);
    }

    #[test]
    fn expectations_add_up_over_any_time(model in models(), from in 0.0..(60.0 * WEEK), first in 0.0..(900.0 * WEEK), second in 0.0..(900.0 * WEEK)) {
        let forecast = model.forecast();
        let (from, middle, to) = (time(from), time(from + first), time(from + first + second));
        let parts = forecast.expected(from, middle) + forecast.expected(middle, to);
        prop_assert!(near(parts, forecast.expected(from, to)));
        prop_assert_eq!(forecast.expected(to, from), 0.0);
        // Over whole weeks the rhythms cancel out.
        let weeks = forecast.expected(from, time(0.0)) + forecast.expected(time(0.0), time(9.0 * WEEK));
        prop_assert!((weeks / (9.0 * WEEK * forecast.mean_rate()) - 1.0).abs() < 1e-4);
    }

    #[test]
    fn when_so_much_is_expected_it_is(model in models(), from in 0.0..WEEK, seconds_log in 0.0..9.0f64) {
        let forecast = model.forecast();
        let from = time(from);
        let changes = forecast.mean_rate() * 10f64.powf(seconds_log);
        let reached = forecast.reaches(from, changes);
        let by_then = forecast.expected(from, reached);
        // A microsecond or two of rounding, at the fastest factors there are.
        let slack = 3e-6 * forecast.mean_rate() * 168.0 * 60.0 + 1e-6 * changes;
        prop_assert!((by_then - changes).abs() <= slack, "{by_then} {changes}");
    }

    #[test]
    fn chances_and_bounds_are_in_order(model in models(), from in 0.0..WEEK, length in 0.0..(3_000.0 * WEEK)) {
        let forecast = model.forecast();
        let (from, middle, to) = (time(from), time(from + length / 2.0), time(from + length));
        let (half, whole) = (forecast.probability(from, middle), forecast.probability(from, to));
        prop_assert!((0.0..=1.0).contains(&half) && half <= whole && whole <= 1.0);
        prop_assert!(whole <= forecast.expected(from, to) + 1e-12);
        let (narrow, wide) = (forecast.interval(from, to, 0.5), forecast.interval(from, to, 0.95));
        prop_assert!(wide.start <= narrow.start && narrow.start <= narrow.end && narrow.end <= wide.end);
        prop_assert!(wide.end.is_finite() && wide.start >= 0.0);
        prop_assert!(forecast.expected(from, to) <= wide.end);
        prop_assert!(forecast.hope() >= 1.0 && forecast.evidence() > 0.0);
    }
}

#[test]
fn the_ends_of_time_are_no_trouble() {
    let mut model = learned(1e-5, &[(DAY, 1), (HOUR, 3), (400.0 * WEEK, 1), (HOUR, 2)]);
    let (first, last) = (Time::from_micros(i64::MIN), Time::from_micros(i64::MAX));
    let check = |model: &Model| {
        let forecast = model.forecast();
        assert!(forecast.expected(first, last).is_finite());
        assert!((0.0..=1.0).contains(&forecast.probability(first, last)));
        assert_eq!(forecast.reaches(time(0.0), 1e30), last);
        assert!(forecast.reaches(time(0.0), f64::NAN) >= time(0.0));
        assert!(forecast.segment(first).rate.is_finite());
    };
    check(&model);
    for evidence in [
        Evidence::Unchanged,
        changed(Vec::new(), Completeness::Latest),
        changed(vec![time(0.0)], Completeness::Latest),
    ] {
        model.observe(&ProbeEvidence { since: Some(first), at: last, evidence });
        check(&model);
    }
    let nonsense = Model::new(Prior { rate: f64::NAN, strength: -1.0 });
    assert!(nonsense.forecast().mean_rate().is_finite() && nonsense.forecast().evidence() > 0.0);
}

#[test]
fn the_bounds_are_those_of_the_gamma_distribution() {
    // Shape 1, one change in a day expected: an exponential distribution of the expected number.
    let model = Model::new(Prior { rate: 1.0 / DAY, strength: 1.0 });
    let bounds = model.forecast().interval(time(0.0), time(DAY), 0.8);
    assert!(
        (bounds.start + 0.9f64.ln()).abs() < 1e-6 && (bounds.end + 0.1f64.ln()).abs() < 1e-6,
        "{bounds:?}"
    );
    // And the chance of a change is that of a Lomax distribution: 1 − 1 / (1 + 1).
    assert!((model.forecast().probability(time(0.0), time(DAY)) - 0.5).abs() < 1e-12);
}

/// Forty changes' worth, and next to nothing of the prior; `hope` is one relative standard deviation on top of the mean.
#[test]
fn evidence_is_held_to_forty_changes_and_hope_follows_it() {
    let often: Vec<_> = (0..400).map(|_| (HOUR, 3)).collect();
    let (model, nothing) = (learned(1e-5, &often), Model::new(Prior { rate: 1e-5, strength: 0.25 }));
    let forecast = model.forecast();
    assert!(near(forecast.evidence(), 40.0 + 0.5 / 41.0), "{}", forecast.evidence());
    assert!((forecast.mean_rate() * HOUR - 1.0).abs() < 0.01, "{}", forecast.mean_rate() * HOUR);
    assert!(near(forecast.hope(), 1.0 + 1.0 / forecast.evidence().sqrt()));
    assert_eq!((nothing.forecast().evidence(), nothing.forecast().hope()), (0.25, 3.0));
    // Eight weeks of silence later they are twenty, and what is left of the prior is a little more.
    let mut silent = model.clone();
    let last = time(400.0 * HOUR);
    silent.observe(&ProbeEvidence {
        since: Some(last),
        at: last.plus(std::time::Duration::from_hours(8 * 7 * 24)),
        evidence: Evidence::Unchanged,
    });
    assert!(near(silent.forecast().evidence(), 20.0 + 0.5 / 21.0), "{}", silent.forecast().evidence());
}

#[test]
fn a_curve_covers_the_time_asked_for() {
    let gaps: Vec<_> = (0..200).map(|i| (5.0 * HOUR, u8::from(i % 3 == 0) * 3)).collect();
    let model = learned(1e-5, &gaps);
    let forecast = model.forecast();
    let curve = forecast.curve(time(0.0), time(2.0 * DAY), 48);
    assert_eq!((curve.len(), curve[0].time.start, curve[47].time.end), (48, time(0.0), time(2.0 * DAY)));
    assert!(curve.windows(2).all(|pair| pair[0].time.end == pair[1].time.start));
    let sum: f64 = curve.iter().map(|point| point.rate * HOUR).sum();
    assert!(near(sum, forecast.expected(time(0.0), time(2.0 * DAY))));
    assert!(curve.iter().all(|point| point.bounds.contains(&point.rate)));
    assert!(forecast.curve(time(DAY), time(0.0), 10).is_empty());
    assert!(forecast.curve(time(0.0), time(0.5), 10).is_empty());
    assert_eq!(forecast.curve(time(0.0), time(3.0), 10).len(), 3);
    assert_eq!(forecast.curve(time(0.0), time(WEEK), u32::MAX).len(), 10_000);
}
