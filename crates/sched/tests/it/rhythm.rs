//! Rhythms are found where they are and not where they are not, and predictions come true as often as they say.

use dunlin_sched::model::{Completeness, Model, Parts, Prior, ProbeEvidence};

use crate::sources::{DAY, HOUR, ProbeSeries, Reported, WEEK, changed, changes, log_likelihood, rng, time};

/// Busy from eight to six on weekdays, almost quiet otherwise; per second.
fn office(at: f64) -> f64 {
    let (day, hour) = ((at / DAY).floor() % 7.0, at % DAY / HOUR);
    if day < 5.0 && (8.0..18.0).contains(&hour) { 1.0 / HOUR } else { 0.02 / HOUR }
}

/// Within two minutes of :53, and hardly ever else.
fn on_the_hour(at: f64) -> f64 {
    if (3_180.0..3_300.0).contains(&(at % HOUR)) { 1.0 / 140.0 } else { 0.05 / HOUR }
}

/// A source and how often it is probed.
struct Source {
    rate: fn(f64) -> f64,
    most: f64,
    mean_gap: f64,
}

fn steady(_: f64) -> f64 {
    0.3 / HOUR
}

const ALL_REPORTED: [Reported; 3] = [Reported::Nothing, Reported::Last, Reported::All];

/// Mean log-likelihood of all parts less that of the rate alone, over several sources.
fn gain(rate: fn(f64) -> f64, most: f64, mean_gap: f64, reported: Reported) -> f64 {
    let (n_sources, end) = (5u32, 10.0 * WEEK);
    let one = |seed: u64| {
        let changes = changes(most, rate, end, &mut rng(seed));
        let series = ProbeSeries { changes: &changes, mean_gap, end, reported };
        log_likelihood(&series, Parts::All, seed) - log_likelihood(&series, Parts::Rate, seed)
    };
    (0..n_sources).map(|seed| one(u64::from(seed))).sum::<f64>() / f64::from(n_sources)
}

#[test]
fn a_rhythm_improves_predictions() {
    for reported in ALL_REPORTED {
        let office_gain = gain(office, 1.0 / HOUR, 2.0 * HOUR, reported);
        assert!(office_gain > 0.1, "office hours, {reported:?}: {office_gain}");
        let hourly_gain = gain(on_the_hour, 1.0 / 140.0, HOUR / 2.0, reported);
        assert!(hourly_gain > 0.1, "on the hour, {reported:?}: {hourly_gain}");
    }
}

#[test]
fn looking_for_a_rhythm_costs_little_where_there_is_none() {
    for reported in ALL_REPORTED {
        for mean_gap in [HOUR, 4.0 * HOUR, DAY] {
            let lost = -gain(steady, 0.3 / HOUR, mean_gap, reported);
            assert!(lost < 0.004, "{reported:?}, probes {mean_gap} s apart: {lost}");
        }
    }
}

#[test]
fn the_curve_follows_the_week() {
    let mut rng = rng(1);
    let end = 8.0 * WEEK;
    let changes = changes(1.0 / HOUR, office, end, &mut rng);
    let mut model = Model::new(Prior::default());
    ProbeSeries { changes: &changes, mean_gap: 2.0 * HOUR, end, reported: Reported::Last }.show(
        &mut model,
        &mut rng,
        |_, _, _, _| (),
    );
    let expected = |day: f64, hour: f64| {
        let from = 10.0 * WEEK + day * DAY + hour * HOUR;
        model.forecast().expected(time(from), time(from + HOUR))
    };
    let (noon, night, sunday) = (expected(2.0, 12.0), expected(2.0, 3.0), expected(6.0, 12.0));
    assert!((0.6..1.5).contains(&noon), "{noon}");
    assert!(night < 0.2 * noon && sunday < 0.35 * noon, "{noon} {night} {sunday}");
}

/// By tenths of the predicted chance: how many predictions, their mean, and the share that came true.
fn reliability(source: &Source, reported: Reported) -> Vec<(f64, f64, f64)> {
    let mut tenths = [(0.0, 0.0, 0.0); 10];
    for seed in 0..6 {
        let end = 12.0 * WEEK;
        let mut rng = rng(100 + seed);
        let changes = changes(source.most, source.rate, end, &mut rng);
        let mut model = Model::new(Prior::default());
        let series = ProbeSeries { changes: &changes, mean_gap: source.mean_gap, end, reported };
        series.show(&mut model, &mut rng, |model, since, at, has_changed| {
            let chance = model.forecast().probability(time(since), time(at));
            if at > end / 3.0 {
                let place = (0..9).position(|tenth| chance < f64::from(tenth + 1) / 10.0).unwrap_or(9);
                let (n, predicted, came_true) = &mut tenths[place];
                *n += 1.0;
                *predicted += chance;
                *came_true += f64::from(u8::from(has_changed));
            }
        });
    }
    let share = |(n, predicted, came_true): (f64, f64, f64)| (n, predicted / n, came_true / n);
    tenths.into_iter().filter(|tenth| tenth.0 > 0.0).map(share).collect()
}

#[test]
fn predictions_come_true_as_often_as_they_say() {
    let punctual = Source { rate: on_the_hour, most: 1.0 / 140.0, mean_gap: HOUR / 2.0 };
    let by_office = Source { rate: office, most: 1.0 / HOUR, mean_gap: 2.0 * HOUR };
    let poisson = Source { rate: steady, most: 0.3 / HOUR, mean_gap: 3.0 * HOUR };
    for (name, source) in [("punctual", punctual), ("office", by_office), ("steady", poisson)] {
        for reported in ALL_REPORTED {
            let tenths = reliability(&source, reported);
            let n_all: f64 = tenths.iter().map(|tenth| tenth.0).sum();
            let off: f64 =
                tenths.iter().map(|(n, predicted, came)| n / n_all * (predicted - came).abs()).sum();
            // Without a rhythm about 0.02 is chance. A rhythm is a little flatter in the model than in truth, until
            // there is more evidence than twelve weeks give.
            let tolerance = if name == "steady" { 0.04 } else { 0.07 };
            assert!(off < tolerance, "{name}, {reported:?}: {off:.3} off, {tenths:.3?}");
        }
    }
}

#[test]
fn a_history_of_dates_gives_a_rhythm_at_the_first_probe() {
    // Posts on twenty working days, at half past nine.
    let posts =
        (0..28).filter(|day| day % 7 < 5).map(|day| time(f64::from(day) * DAY + 9.5 * HOUR)).collect();
    let mut model = Model::new(Prior::default());
    let now = 28.0 * DAY;
    model.observe(&ProbeEvidence {
        since: None,
        at: time(now),
        evidence: changed(posts, Completeness::Latest),
    });
    let expected =
        |from: f64, to: f64| model.forecast().expected(time(now + from * HOUR), time(now + to * HOUR));
    assert!(expected(9.0, 10.0) > 0.5, "{}", expected(9.0, 10.0));
    assert!(expected(10.0, 24.0) < 0.4, "{}", expected(10.0, 24.0));
    // The minute too: the ten minutes around the post hold most of its hour.
    assert!(expected(9.4, 9.6) > 0.5 * expected(9.0, 10.0));
    // Saturday is quieter than Monday.
    assert!(expected(5.0 * 24.0, 6.0 * 24.0) < 0.85 * expected(0.0, 24.0));
}

#[test]
fn parts_that_are_switched_off_stay_flat() {
    let changes = changes(1.0 / 140.0, on_the_hour, 4.0 * WEEK, &mut rng(3));
    let rates = |parts: Parts| -> Vec<f64> {
        let mut model = Model::of_parts(Prior::default(), parts);
        let series =
            ProbeSeries { changes: &changes, mean_gap: HOUR / 2.0, end: 4.0 * WEEK, reported: Reported::All };
        series.show(&mut model, &mut rng(4), |_, _, _, _| ());
        (0..60).map(|minute| model.forecast().segment(time(f64::from(minute) * 60.0)).rate).collect()
    };
    assert!(rates(Parts::Rate).windows(2).all(|pair| pair[0] == pair[1]));
    assert!(rates(Parts::Week).windows(2).all(|pair| pair[0] == pair[1]));
    assert!(rates(Parts::Hour)[53] > 5.0 * rates(Parts::Hour)[20]);
    assert!(rates(Parts::All)[53] > 5.0 * rates(Parts::All)[20]);
}
