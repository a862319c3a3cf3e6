//! Synthetic traces keep their laws: how many updates, when, and how far apart.

use dunlin_lab::Error;
use dunlin_lab::files::TraceFile;
use dunlin_lab::generate::{Bursty, Daily, Periodic, Poisson, Rate, Span};

const DAY: u32 = 86_400;

fn poisson() -> Poisson {
    Poisson { span: Span { sources: 200, seconds: 10 * DAY }, rate: Rate::of(24.0) }
}

fn periodic() -> Periodic {
    let span = Span { sources: 20, seconds: DAY };
    Periodic { span, period_seconds: 600, jitter_seconds: 0.0 }
}

fn daily() -> Daily {
    let span = Span { sources: 100, seconds: 14 * DAY };
    Daily { span, rate: Rate::of(24.0), peak_hour: 14.0, amplitude: 0.9, weekend_factor: 0.25 }
}

fn bursty() -> Bursty {
    let span = Span { sources: 100, seconds: 20 * DAY };
    Bursty { span, bursts: Rate::of(2.0), mean_length: 8.0, gap_seconds: 60.0 }
}

/// What holds for every generator.
fn check(generate: impl Fn(u64) -> Result<TraceFile, Error> + Sync, span: Span) {
    let trace = generate(1).unwrap();
    assert_eq!(trace, generate(1).unwrap());
    assert_ne!(trace, generate(2).unwrap());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(trace, pool.install(|| generate(1)).unwrap());

    assert_eq!((trace.sources.len(), trace.times.len()), (span.sources as usize, span.sources as usize));
    assert_eq!(trace.sources[0], "s0001");
    assert!(trace.sources.is_sorted());
    for own in &trace.times {
        assert!(own.is_sorted_by(|left, right| left < right));
        assert!(own.iter().all(|time| (0..i64::from(span.seconds)).contains(time)));
    }
}

#[test]
fn all_are_made_in_order_and_by_their_seed() {
    check(|seed| poisson().generate(seed), poisson().span);
    check(|seed| periodic().generate(seed), periodic().span);
    check(|seed| daily().generate(seed), daily().span);
    check(|seed| bursty().generate(seed), bursty().span);
}

/// The gaps between updates of one source, over all sources.
fn gaps(trace: &TraceFile) -> Vec<f64> {
    trace.times.iter().flat_map(|own| own.windows(2).map(|pair| (pair[1] - pair[0]) as f64)).collect()
}

/// Mean and coefficient of variation.
fn moments(numbers: &[f64]) -> (f64, f64) {
    let n = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / n;
    let variance = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / n;
    (mean, variance.sqrt() / mean)
}

#[test]
fn poisson_gaps_are_exponential() {
    let trace = poisson().generate(3).unwrap();
    // 48,000 expected; the standard deviation is 219.
    let n_updates = trace.n_updates();
    assert!((47_100..=48_900).contains(&n_updates), "{n_updates}");
    let (mean, variation) = moments(&gaps(&trace));
    assert!((3450.0..=3750.0).contains(&mean), "{mean}");
    assert!((variation - 1.0).abs() < 0.03, "{variation}");
}

#[test]
fn spread_makes_sources_differ_but_keeps_the_mean() {
    let spread =
        Poisson { rate: Rate { per_day: 24.0, spread: 1.0 }, span: Span { sources: 2000, ..poisson().span } };
    let trace = spread.generate(3).unwrap();
    let counts: Vec<_> = trace.times.iter().map(|own| own.len() as f64).collect();
    let (mean, variation) = moments(&counts);
    assert!((220.0..=260.0).contains(&mean), "{mean}");
    // √(e − 1) = 1.31 for the log-normal.
    assert!((1.0..=1.7).contains(&variation), "{variation}");
    let alike: Vec<_> = poisson().generate(3).unwrap().times.iter().map(|own| own.len() as f64).collect();
    assert!(moments(&alike).1 < 0.08);
}

#[test]
fn periodic_sources_keep_their_period_and_phase() {
    let punctual = periodic().generate(1).unwrap();
    assert!(punctual.times.iter().all(|own| own.len() == 144));
    assert!(gaps(&punctual).iter().all(|&gap| gap == 600.0));
    let phases: std::collections::BTreeSet<_> = punctual.times.iter().map(|own| own[0]).collect();
    assert!(phases.len() > 15);

    let late = Periodic { jitter_seconds: 30.0, ..periodic() }.generate(1).unwrap();
    let (mean, variation) = moments(&gaps(&late));
    assert!((mean - 600.0).abs() < 2.0, "{mean}");
    // The difference of two jitters: 30 √2 seconds.
    assert!((variation * mean - 42.4).abs() < 3.0, "{variation}");
    // Jitter does not add up: the last update is still near its place in the timetable.
    for (own, punctual) in late.times.iter().zip(&punctual.times) {
        assert!(own.last().unwrap().abs_diff(*punctual.last().unwrap()) < 900);
    }
}

#[test]
fn daily_sources_peak_at_their_hour_and_rest_at_weekends() {
    let trace = daily().generate(5).unwrap();
    let mut by_hour = [0usize; 24];
    let mut by_weekday = [0usize; 7];
    for &time in trace.times.iter().flatten() {
        let (day, second) = (time / i64::from(DAY), time % i64::from(DAY));
        by_hour[usize::try_from(second / 3600).unwrap()] += 1;
        by_weekday[usize::try_from(day % 7).unwrap()] += 1;
    }
    let around = |hour: usize| by_hour[hour - 1] + by_hour[hour];
    assert!((0..24).all(|hour| by_hour[hour] <= around(14)));
    // 1.9 of the mean against 0.1 of it, a little less at the edges of the hours.
    let ratio = around(14) as f64 / around(2) as f64;
    assert!((11.0..=22.0).contains(&ratio), "{ratio}");
    // Two weeks of 100 sources with 24 updates each weekday.
    for (day, &n_updates) in by_weekday.iter().enumerate() {
        let expected = if day < 5 { 4800.0 } else { 1200.0 };
        assert!((n_updates as f64 / expected - 1.0).abs() < 0.12, "day {day}: {n_updates}");
    }
    let flat = Daily { amplitude: 0.0, weekend_factor: 1.0, ..daily() }.generate(5).unwrap();
    assert!((32_900..=34_300).contains(&flat.n_updates()), "{}", flat.n_updates());
    let busy = Daily { weekend_factor: 2.0, ..daily() }.generate(5).unwrap();
    assert!((42_000..=44_500).contains(&busy.n_updates()), "{}", busy.n_updates());
}

#[test]
fn bursts_are_short_gaps_among_long_ones() {
    let trace = bursty().generate(7).unwrap();
    // A cycle is half a day of quiet and a burst of 8 updates that lasts 7 minutes.
    let per_source = 20.0 * 86_400.0 / (43_200.0 + 7.0 * 60.0) * 8.0;
    let n_updates = trace.n_updates() as f64;
    assert!((n_updates / (100.0 * per_source) - 1.0).abs() < 0.06, "{n_updates}");
    let gaps = gaps(&trace);
    assert!(moments(&gaps).1 > 2.0);
    let within = gaps.iter().filter(|&&gap| gap < 900.0).count() as f64 / gaps.len() as f64;
    // Seven gaps of eight are within a burst.
    assert!((within - 0.875).abs() < 0.02, "{within}");

    let single = Bursty { mean_length: 1.0, ..bursty() }.generate(7).unwrap();
    assert!((3800..=4200).contains(&single.n_updates()), "{}", single.n_updates());
}

#[test]
fn nonsense_is_refused() {
    let refusals = [
        (
            Poisson { span: Span { sources: 0, seconds: 1 }, ..poisson() }.generate(0),
            "sources 0 (expected 1 to 10000000)",
        ),
        (
            Poisson { span: Span { sources: 10_000_001, seconds: 1 }, ..poisson() }.generate(0),
            "sources 10000001 (expected 1 to 10000000)",
        ),
        (
            Poisson { span: Span { sources: 1, seconds: 0 }, ..poisson() }.generate(0),
            "seconds 0 (expected a number from 1 to 4294967295)",
        ),
        (
            Poisson { rate: Rate::of(0.0), ..poisson() }.generate(0),
            "updates per day 0 (expected a number above 0, at most 86400)",
        ),
        (
            Poisson { rate: Rate::of(f64::NAN), ..poisson() }.generate(0),
            "updates per day NaN (expected a number above 0, at most 86400)",
        ),
        (
            Poisson { rate: Rate { per_day: 1.0, spread: -1.0 }, ..poisson() }.generate(0),
            "spread -1 (expected a number from 0 to 3)",
        ),
        (
            Poisson { span: Span { sources: 10_000_000, seconds: DAY }, rate: Rate::of(100.0) }.generate(0),
            "expected number of events 1000000000 (expected at most 50000000)",
        ),
        (
            Periodic { period_seconds: 0, ..periodic() }.generate(0),
            "period 0 (expected a number from 1 to 4294967295)",
        ),
        (
            Periodic { jitter_seconds: 601.0, ..periodic() }.generate(0),
            "jitter 601 (expected a number from 0 to 600)",
        ),
        (Daily { peak_hour: 25.0, ..daily() }.generate(0), "peak hour 25 (expected a number from 0 to 24)"),
        (Daily { amplitude: 1.1, ..daily() }.generate(0), "amplitude 1.1 (expected a number from 0 to 1)"),
        (
            Daily { weekend_factor: -1.0, ..daily() }.generate(0),
            "weekend factor -1 (expected a number from 0 to 10)",
        ),
        (
            Bursty { mean_length: 0.5, ..bursty() }.generate(0),
            "mean burst length 0.5 (expected a number from 1 to 10000)",
        ),
        (
            Bursty { gap_seconds: 0.0, ..bursty() }.generate(0),
            "gap within bursts 0 (expected a number from 0.001 to 1000000000)",
        ),
    ];
    for (result, expected) in refusals {
        let error = result.unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert!(!error.is_environment());
    }
}
