//! Rates found from probes of every kind, without bias; silence, history and dates that are not to be trusted.

use dunlin_core::Time;
use dunlin_sched::model::{Completeness, Evidence, Model, Prior, ProbeEvidence};

use crate::sources::{DAY, HOUR, ProbeSeries, Reported, WEEK, changed, changes, rng, time};

/// The mean over several sources of the rate found, by the true rate; and of what counting one change per changed
/// probe would give.
fn found_by_true(rate: f64, mean_gap: f64, reported: Reported) -> (f64, f64) {
    let n_sources = 40;
    let end = (800.0 * mean_gap).max(200.0 / rate);
    let (mut found, mut counted) = (0.0, 0.0);
    for seed in 0..n_sources {
        let mut rng = rng(seed);
        let changes = changes(rate, |_| rate, end, &mut rng);
        let series = ProbeSeries { changes: &changes, mean_gap, end, reported };
        let mut model = Model::new(Prior::default());
        let mut n_changed = 0.0;
        series
            .show(&mut model, &mut rng, |_, _, _, has_changed| n_changed += f64::from(u8::from(has_changed)));
        found += model.forecast().mean_rate() / rate;
        counted += n_changed / end / rate;
    }
    (found / n_sources as f64, counted / n_sources as f64)
}

#[test]
fn the_rate_is_found_whatever_the_gaps_and_whatever_is_told() {
    // Forty changes' worth of evidence leave 16 % of deviation for one source, 2.5 % for the mean of forty.
    for (rate, probes_per_change) in
        [(1.0 / HOUR, 0.5), (1.0 / HOUR, 1.0), (10.0 / HOUR, 3.0), (1.0 / DAY, 6.0)]
    {
        for reported in [Reported::Nothing, Reported::Last, Reported::All] {
            let (found, counted) = found_by_true(rate, 1.0 / rate / probes_per_change, reported);
            assert!((found - 1.0).abs() < 0.07, "{rate} {probes_per_change} {reported:?}: {found}");
            if probes_per_change <= 1.0 {
                assert!(counted < 0.7, "counting changed probes is far too low: {counted}");
            }
        }
    }
}

#[test]
fn what_always_has_changed_leaves_the_rate_open_above() {
    let mut model = Model::new(Prior::default());
    for day in 0..60 {
        let since = Some(time(f64::from(day) * DAY));
        let at = time(f64::from(day + 1) * DAY);
        model.observe(&ProbeEvidence { since, at, evidence: changed(Vec::new(), Completeness::Latest) });
    }
    let forecast = model.forecast();
    // Sixty probes are not sixty changes' worth of evidence: five a day or fifty would look the same.
    assert!(forecast.evidence() < 20.0, "{}", forecast.evidence());
    assert!(forecast.mean_rate() > 3.0 / DAY, "{}", forecast.mean_rate() * DAY);
}

#[test]
fn silence_lowers_the_rate_but_never_to_nothing() {
    let mut model = Model::new(Prior::default());
    let mut rates = Vec::new();
    for week in 0..1_000 {
        let since = Some(time(f64::from(week) * WEEK));
        model.observe(&ProbeEvidence {
            since,
            at: time(f64::from(week + 1) * WEEK),
            evidence: Evidence::Unchanged,
        });
        rates.push(model.forecast().mean_rate());
    }
    assert!(rates.is_sorted_by(|left, right| left >= right));
    // After twenty years the next year still holds a chance, and little is certain.
    assert!(model.forecast().expected(time(1_000.0 * WEEK), time(1_052.0 * WEEK)) > 0.5);
    assert!(model.forecast().hope() > 2.0);
    // It wakes up: one change a day for a week makes a difference at once.
    for day in 0..7 {
        let since = 1_000.0 * WEEK + f64::from(day) * DAY;
        let evidence = changed(vec![time(since + HOUR)], Completeness::All);
        model.observe(&ProbeEvidence { since: Some(time(since)), at: time(since + DAY), evidence });
    }
    assert!(model.forecast().mean_rate() > 5.0 * rates[999]);
}

#[test]
fn a_source_that_changes_its_ways_is_followed() {
    let mut rng = rng(5);
    // Six times a day for half a year, then once in five days.
    let turn = 26.0 * WEEK;
    let rate = |at: f64| if at < turn { 6.0 / DAY } else { 0.2 / DAY };
    let changes = changes(6.0 / DAY, rate, turn + 40.0 * WEEK, &mut rng);
    let mut model = Model::new(Prior::default());
    let series = ProbeSeries {
        changes: &changes,
        mean_gap: DAY / 4.0,
        end: turn + 40.0 * WEEK,
        reported: Reported::Nothing,
    };
    series.show(&mut model, &mut rng, |_, _, _, _| ());
    let found = model.forecast().mean_rate() * DAY;
    assert!((0.1..0.6).contains(&found), "{found}");
}

#[test]
fn a_list_of_dates_at_the_first_probe_gives_the_rate_at_once() {
    let rate = 3.0 / DAY;
    let now = 52.0 * WEEK;
    for (completeness, n_listed) in
        [(Completeness::Latest, 20), (Completeness::Latest, 1), (Completeness::All, usize::MAX)]
    {
        let mut inverse = 0.0;
        let n_sources = 200u32;
        for seed in 0..n_sources {
            // A source that has existed for a fortnight, or for a year of which the list shows the last entries.
            let age = if completeness == Completeness::All { 2.0 * WEEK } else { now };
            let born = now - age;
            let own = changes(rate, |_| rate, age, &mut rng(u64::from(seed)));
            let mut dates: Vec<Time> = own.iter().map(|at| time(born + at)).collect();
            match completeness {
                Completeness::All => dates.insert(0, time(born)),
                Completeness::Latest => drop(dates.drain(..dates.len().saturating_sub(n_listed))),
            }
            let mut model = Model::new(Prior { rate, strength: 1e-3 });
            model.observe(&ProbeEvidence {
                since: None,
                at: time(now),
                evidence: changed(dates, completeness),
            });
            inverse += rate / model.forecast().mean_rate();
        }
        // How far the list reaches back is proportional to one over the rate, so that is what has no bias.
        let inverse = inverse / f64::from(n_sources);
        assert!((inverse - 1.0).abs() < 0.15, "{completeness:?} {n_listed}: {inverse}");
    }
}

#[test]
fn a_page_that_is_always_of_this_very_moment_tells_nothing_by_that() {
    let mut dated = Model::new(Prior::default());
    let mut undated = Model::new(Prior::default());
    for day in 0..30 {
        let (since, at) = (Some(time(f64::from(day) * DAY)), time(f64::from(day + 1) * DAY));
        dated.observe(&ProbeEvidence { since, at, evidence: changed(vec![at], Completeness::Latest) });
        undated.observe(&ProbeEvidence { since, at, evidence: changed(Vec::new(), Completeness::Latest) });
    }
    assert_eq!(dated, undated);
}

#[test]
fn dates_outside_the_gap_and_repeated_ones_do_not_count() {
    let gap = |times: Vec<Time>| {
        let mut model = Model::new(Prior::default());
        model.observe(&ProbeEvidence {
            since: Some(time(DAY)),
            at: time(2.0 * DAY),
            evidence: changed(times, Completeness::All),
        });
        model
    };
    let noon = time(1.5 * DAY);
    assert_eq!(gap(vec![time(0.5 * DAY), noon, noon, time(9.0 * DAY)]), gap(vec![noon]));
    // Only impossible dates: that it has changed still counts.
    assert_eq!(gap(vec![time(0.5 * DAY)]), gap(Vec::new()));
}

#[test]
fn probes_that_do_not_move_forward_are_passed_over() {
    let mut model = Model::new(Prior::default());
    let evidence = || changed(Vec::new(), Completeness::Latest);
    model.observe(&ProbeEvidence { since: Some(time(0.0)), at: time(DAY), evidence: evidence() });
    let before = model.clone();
    model.observe(&ProbeEvidence { since: Some(time(DAY)), at: time(DAY), evidence: evidence() });
    model.observe(&ProbeEvidence { since: Some(time(DAY)), at: time(0.0), evidence: evidence() });
    assert_eq!(model, before);
}

/// Ten changes within an hour, every hundred days.
fn bursts() -> Vec<f64> {
    (0..6)
        .flat_map(|burst| {
            (0..10).map(move |change| f64::from(burst) * 100.0 * DAY + f64::from(change) * 360.0)
        })
        .collect()
}

#[test]
fn one_change_in_a_burst_makes_another_likely_and_silence_ends_it() {
    for is_dated in [true, false] {
        let mut model = Model::new(Prior::default());
        let mut since = -DAY;
        model.observe(&ProbeEvidence { since: None, at: time(since), evidence: Evidence::Unchanged });
        for change in bursts() {
            // A probe right after each change, and one each day between bursts.
            while change - since > DAY {
                model.observe(&ProbeEvidence {
                    since: Some(time(since)),
                    at: time(since + DAY),
                    evidence: Evidence::Unchanged,
                });
                since += DAY;
            }
            let times = if is_dated { vec![time(change)] } else { Vec::new() };
            let evidence = changed(times, Completeness::Latest);
            model.observe(&ProbeEvidence { since: Some(time(since)), at: time(change + 60.0), evidence });
            since = change + 60.0;
        }
        let chance =
            |model: &Model, since: f64| model.forecast().chance_since(time(since), time(since + 3_600.0));
        let (plain, soon) =
            (model.forecast().probability(time(since), time(since + 3_600.0)), chance(&model, since));
        assert!(soon > 4.0 * plain, "{is_dated}: {soon} {plain}");
        for _ in 0..20 {
            model.observe(&ProbeEvidence {
                since: Some(time(since)),
                at: time(since + DAY),
                evidence: Evidence::Unchanged,
            });
            since += DAY;
        }
        let late = chance(&model, since);
        assert!(late < soon / 10.0, "{is_dated}: {late} {soon}");
    }
}

#[test]
fn where_changes_come_at_random_bursts_are_not_believed() {
    let rate = 1.0 / HOUR;
    for reported in [Reported::Nothing, Reported::Last, Reported::All] {
        let (mut ratio, n_sources, end) = (0.0, 20, 400.0 * HOUR);
        for seed in 0..n_sources {
            let mut rng = rng(seed);
            let changes = changes(rate, |_| rate, end, &mut rng);
            let mut model = Model::new(Prior::default());
            let mut last = 0.0;
            let series = ProbeSeries { changes: &changes, mean_gap: HOUR, end, reported };
            series.show(&mut model, &mut rng, |_, _, at, _| last = at);
            let (since, now) = (time(last), time(last + HOUR / 2.0));
            let forecast = model.forecast();
            ratio += forecast.chance_since(since, now) / forecast.probability(since, now) / n_sources as f64;
        }
        assert!((0.9..1.1).contains(&ratio), "{reported:?}: {ratio}");
    }
}
