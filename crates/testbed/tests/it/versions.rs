//! The version served at an instant is the number of updates that have happened by then.

use dunlin_core::{SourceIdx, Time};
use dunlin_lab::files::TraceFile;
use dunlin_testbed::{Plan, Repeat, Request, Site, Speed};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

const STARTED: Time = Time::from_seconds(1_800_000_000);

fn trace(times: Vec<Vec<i64>>) -> TraceFile {
    let sources = (0..times.len()).map(|number| format!("s{number:02}")).collect();
    TraceFile { sources, times, warnings: Vec::new() }
}

fn updates() -> impl Strategy<Value = Vec<Vec<i64>>> {
    vec(btree_set(0..500_i64, 1..20).prop_map(|own| own.into_iter().collect()), 1..4)
}

proptest! {
    /// Exact arithmetic: speeds that divide a million leave no rounding.
    #[test]
    fn without_repetition_it_counts_the_trace(
        times in updates(),
        speed in prop::sample::select(vec![1_i64, 2, 5, 50, 1_000]),
        from in 0..600_i64,
        micros in -100_000_000..600_000_000_i64,
    ) {
        let plan = Plan {
            speed: Speed::new(speed as f64).unwrap(),
            from: Some(from),
            ..Plan::of(trace(times.clone()))
        };
        let site = Site::new(plan, STARTED).unwrap();
        let now = Time::from_micros(STARTED.micros() + micros);
        for (own, idx) in times.iter().zip(0..) {
            let happened = own.iter().filter(|&&time| (time - from) * 1_000_000 <= micros * speed).count() as u64;
            for form in [format!("/pages/s{idx:02}"), format!("/feeds/s{idx:02}.xml"), format!("/api/s{idx:02}.json")] {
                let response = site.respond(&Request::get(&form), now);
                prop_assert_eq!(response.served.unwrap().version, happened);
            }
        }
    }

    /// With repetition it counts whole rounds as well, and versions never go back.
    #[test]
    fn with_repetition_it_counts_every_round(
        times in updates(),
        longer in 0..300_i64,
        seconds in 0..5_000_i64,
    ) {
        let all = times.iter().flatten();
        let (first, last) = (*all.clone().min().unwrap(), *all.max().unwrap());
        let period = last - first + 1 + longer;
        let plan = Plan { repeat: Repeat::Every(period), from: Some(first), ..Plan::of(trace(times.clone())) };
        let site = Site::new(plan, STARTED).unwrap();
        let now = Time::from_seconds(STARTED.seconds() + seconds);
        for (own, idx) in times.iter().zip((0..).map(SourceIdx)) {
            let rounds = seconds / period + 1;
            let all = (0..rounds).flat_map(|round| own.iter().map(move |time| time + round * period));
            let happened = all.filter(|time| *time <= first + seconds).count() as u64;
            prop_assert_eq!(site.version(idx, now), happened);
        }
    }

    /// Whatever the speed, a change is seen at the very microsecond that the truth gives, and not before.
    #[test]
    fn the_truth_is_exact_at_any_speed(times in updates(), speed in 0.001..1e6_f64, after in 0..700_i64) {
        let plan = Plan { speed: Speed::new(speed).unwrap(), repeat: Repeat::Always, ..Plan::of(trace(times)) };
        let site = Site::new(plan, STARTED).unwrap();
        let source = SourceIdx(0);
        let now = STARTED.plus(std::time::Duration::from_secs_f64(after as f64 / speed));
        for change in site.changes(source, None, now).rev().take(20) {
            prop_assert!(change.at <= now);
            prop_assert_eq!(site.version(source, change.at).max(change.version), site.version(source, change.at));
            let just_before = Time::from_micros(change.at.micros() - 1);
            prop_assert!(site.version(source, just_before) < change.version);
        }
    }
}

#[test]
fn a_repeated_trace_keeps_to_the_time_of_day() {
    let day = 86_400;
    let plan = Plan { repeat: Repeat::Always, ..Plan::of(trace(vec![vec![3_600, 3_600 + day + 7]])) };
    let site = Site::new(plan, STARTED).unwrap();
    let later = Time::from_seconds(STARTED.seconds() + 5 * day);
    let seconds: Vec<_> = site.changes(SourceIdx(0), None, later).map(|change| change.trace_second).collect();
    let expected = [3_600, 3_607 + day, 3_600 + 2 * day, 3_607 + 3 * day, 3_600 + 4 * day, 3_607 + 5 * day];
    assert_eq!(seconds, expected[..5].to_vec(), "the sixth is seven seconds later than five days");
}

#[test]
fn a_short_trace_that_is_repeated_lasts_whole_hours_and_one_within_an_hour_as_long_as_it_is() {
    let rounds = |last: i64| {
        let plan = Plan { repeat: Repeat::Always, ..Plan::of(trace(vec![vec![0, last]])) };
        let site = Site::new(plan, STARTED).unwrap();
        let later = Time::from_seconds(STARTED.seconds() + 20_000);
        let mut seconds = site.changes(SourceIdx(0), None, later).map(|change| change.trace_second);
        [seconds.nth(2).unwrap(), seconds.nth(1).unwrap()]
    };
    assert_eq!(rounds(3_601), [7_200, 14_400]);
    assert_eq!(rounds(3_600), [7_200, 14_400], "an hour and a second");
    assert_eq!(rounds(3_599), [3_600, 7_200]);
    assert_eq!(rounds(600), [601, 1_202]);
}

#[test]
fn bad_plans_are_refused_with_what_to_try() {
    let refusal = |plan| Site::new(plan, STARTED).unwrap_err().to_string();
    assert_eq!(
        refusal(Plan::of(TraceFile::default())),
        "the trace has no sources (expected at least one line `source,time`)"
    );
    let two = || trace(vec![vec![0, 9]]);
    assert_eq!(
        refusal(Plan { repeat: Repeat::Every(9), ..Plan::of(two()) }),
        "repetition 9 (expected at least the 10 seconds from first to last update)"
    );
    assert_eq!(refusal(Plan { items: 0, ..Plan::of(two()) }), "items per feed 0 (expected 1 to 1000)");
    let faults = vec!["nobody=hang".parse().unwrap()];
    assert_eq!(
        refusal(Plan { faults, ..Plan::of(two()) }),
        "no source \"nobody\" in the trace (GET / lists all 1)"
    );
    for speed in [0.0, -1.0, f64::NAN, 2e6] {
        assert!(Speed::new(speed).is_err());
    }
}
