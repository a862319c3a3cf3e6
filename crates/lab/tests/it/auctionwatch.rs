//! The papers' workload: ranks, distinct sources, intervals cut at the epoch's end, and how many there are.

use std::collections::BTreeSet;

use dunlin_core::{CeiIdx, Changes, Chronon, ExecutionInterval};
use dunlin_lab::files::IntervalsFile;
use dunlin_lab::generate::{AuctionWatch, IntervalLength, PoissonUpdates};

fn baseline(seed: u64) -> (Changes, IntervalsFile) {
    let updates = PoissonUpdates::default();
    let changes = updates.generate(seed).unwrap();
    let file = AuctionWatch::default().generate(&changes, &updates.names(), seed).unwrap();
    (changes, file)
}

#[test]
fn the_baseline_is_as_large_as_the_papers() {
    let sizes = (0..10).map(|seed| {
        let (changes, file) = baseline(seed);
        (changes.len(), file.workload.n_ceis(), file.workload.n_intervals())
    });
    let (n_changes, n_ceis, n_intervals) =
        sizes.fold((0, 0, 0), |sum, size| (sum.0 + size.0, sum.1 + size.1, sum.2 + size.2));
    // Twenty updates of a thousand sources, of which one in a hundred shares its chronon with another.
    assert!((197_000..=199_500).contains(&n_changes), "{n_changes}");
    // Means of an independent generator: 1777 CEIs, 3389 intervals.
    assert!((17_000..=18_500).contains(&n_ceis), "{n_ceis}");
    assert!((32_000..=36_000).contains(&n_intervals), "{n_intervals}");
}

#[test]
fn ranks_run_from_one_to_the_rank_and_sources_are_distinct() {
    let (changes, file) = baseline(1);
    let mut ranks = [0; 3];
    let mut last_profile = None;
    for cei in file.workload.ceis() {
        let sources: BTreeSet<_> = cei.intervals.iter().map(ExecutionInterval::source).collect();
        assert_eq!(sources.len(), cei.intervals.len());
        assert_eq!((cei.need as usize, cei.weight), (sources.len(), 1.0));
        let profile = file.workload.profile_of(cei.idx);
        if last_profile.replace(profile) != Some(profile) {
            ranks[sources.len() - 1] += 1;
        }
        for interval in cei.intervals {
            let expected = interval.start().plus(10).min(Chronon::new(1000).unwrap());
            assert_eq!(interval.finish(), expected);
        }
    }
    assert_eq!(ranks.iter().sum::<i32>(), 100);
    assert!(ranks.iter().all(|&n_profiles| (20..=47).contains(&n_profiles)), "{ranks:?}");
    assert!(file.workload.n_intervals() <= changes.len());
}

#[test]
fn every_profile_can_have_the_full_rank() {
    let updates = PoissonUpdates::default();
    let generator =
        AuctionWatch { exact_rank: true, length: IntervalLength::Window(0), ..AuctionWatch::default() };
    let file = generator.generate(&updates.generate(0).unwrap(), &updates.names(), 0).unwrap();
    assert_eq!(file.workload.n_intervals(), 3 * file.workload.n_ceis());
    assert!(file.workload.ceis().all(|cei| cei.intervals.iter().all(|interval| interval.width() == 1)));
}

#[test]
fn ceis_take_the_updates_of_their_sources_in_turn() {
    let at = |numbers: &[u32]| numbers.iter().filter_map(|&number| Chronon::new(number)).collect();
    let changes = Changes::new(20, vec![at(&[2, 9, 18]), at(&[5, 6])]).unwrap();
    let names = ["x".to_owned(), "y".to_owned()];
    let intervals_of = |length, cei| -> Vec<(String, u32, u32)> {
        let generator =
            AuctionWatch { profiles: 1, rank: 2, exact_rank: true, length, ..AuctionWatch::default() };
        let file = generator.generate(&changes, &names, 3).unwrap();
        assert_eq!(
            (file.workload.n_ceis(), file.ceis.as_slice()),
            (2, &["1".to_owned(), "2".to_owned()][..])
        );
        assert_eq!(file.profiles, ["p0001"]);
        let cei = file.workload.cei(CeiIdx(cei));
        let mut intervals: Vec<_> = cei
            .intervals
            .iter()
            .map(|own| (file.resources[own.source().index()].clone(), own.start().get(), own.finish().get()))
            .collect();
        intervals.sort();
        intervals
    };
    let expect = |x: (u32, u32), y: (u32, u32)| [("x".to_owned(), x.0, x.1), ("y".to_owned(), y.0, y.1)];
    assert_eq!(intervals_of(IntervalLength::Window(3), 0), expect((2, 5), (5, 8)));
    assert_eq!(intervals_of(IntervalLength::Window(3), 1), expect((9, 12), (6, 9)));
    assert_eq!(intervals_of(IntervalLength::Window(13), 1), expect((9, 20), (6, 19)));
    assert_eq!(intervals_of(IntervalLength::Window(u32::MAX), 1), expect((9, 20), (6, 20)));
    assert_eq!(intervals_of(IntervalLength::Overwrite, 0), expect((2, 8), (5, 5)));
    assert_eq!(intervals_of(IntervalLength::Overwrite, 1), expect((9, 17), (6, 20)));
}

#[test]
fn popular_sources_are_watched_by_more_profiles() {
    let updates = PoissonUpdates::default();
    let changes = updates.generate(0).unwrap();
    let n_watched = |alpha| {
        let generator = AuctionWatch { alpha, exact_rank: true, ..AuctionWatch::default() };
        generator.generate(&changes, &updates.names(), 0).unwrap().resources.len()
    };
    // 300 picks of 1000 sources: 1000 (1 − (1 − 1/1000)^300) ≈ 259 different ones.
    assert!((240..=280).contains(&n_watched(0.0)), "{}", n_watched(0.0));
    assert!(n_watched(1.37) < 130, "{}", n_watched(1.37));
}

#[test]
fn small_ranks_are_more_common_the_larger_beta() {
    let updates = PoissonUpdates::default();
    let changes = updates.generate(0).unwrap();
    let n_intervals = |beta| {
        let generator = AuctionWatch { beta, rank: 5, profiles: 500, ..AuctionWatch::default() };
        let file = generator.generate(&changes, &updates.names(), 0).unwrap();
        file.workload.n_intervals() as f64 / file.workload.n_ceis() as f64
    };
    assert!(n_intervals(2.0) < n_intervals(1.0) && n_intervals(1.0) < n_intervals(0.0));
}

#[test]
fn the_seed_decides_everything_and_files_change_nothing() {
    assert_eq!(baseline(4), baseline(4));
    assert_ne!(baseline(4).1, baseline(5).1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(pool.install(|| baseline(4)), baseline(4));

    let mut written = Vec::new();
    let file = baseline(4).1;
    file.write(&mut written).unwrap();
    assert_eq!(IntervalsFile::read(written.as_slice(), "f", 1000).unwrap(), file);
}

#[test]
fn silent_sources_make_no_ceis() {
    let changes = Changes::new(10, vec![vec![], vec![]]).unwrap();
    let names = ["x".to_owned(), "y".to_owned()];
    let generator = AuctionWatch { rank: 2, ..AuctionWatch::default() };
    assert_eq!(generator.generate(&changes, &names, 0).unwrap(), IntervalsFile::default());
}

#[test]
fn nonsense_is_refused() {
    let updates = PoissonUpdates { sources: 5, ..PoissonUpdates::default() };
    let changes = updates.generate(0).unwrap();
    let baseline = AuctionWatch::default();
    for (generator, expected) in [
        (AuctionWatch { profiles: 0, ..baseline }, "profiles 0 (expected 1 to 10000000)"),
        (
            AuctionWatch { rank: 6, ..baseline },
            "rank 6 (expected 1 to 5, and no more than there are sources)",
        ),
        (
            AuctionWatch { rank: 0, ..baseline },
            "rank 0 (expected 1 to 5, and no more than there are sources)",
        ),
        (AuctionWatch { alpha: -1.0, ..baseline }, "alpha -1 (expected a number from 0 to 10)"),
        (AuctionWatch { beta: f64::NAN, ..baseline }, "beta NaN (expected a number from 0 to 10)"),
    ] {
        let error = generator.generate(&changes, &updates.names(), 0).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert!(!error.is_environment());
    }
    let error = baseline.generate(&changes, &[], 0).unwrap_err();
    assert_eq!(error.to_string(), "number of names 0 (expected 5, one per source)");
    for (updates, expected) in [
        (PoissonUpdates { sources: 0, ..updates }, "sources 0 (expected 1 to 10000000)"),
        (PoissonUpdates { chronons: 0, ..updates }, "chronons 0 (expected a number from 1 to 4294967295)"),
        (PoissonUpdates { lambda: 0.0, ..updates }, "lambda 0 (expected a finite number above 0)"),
        (
            PoissonUpdates { lambda: f64::INFINITY, ..updates },
            "lambda inf (expected a finite number above 0)",
        ),
        (
            PoissonUpdates { lambda: 1e8, ..updates },
            "expected number of events 500000000 (expected at most 50000000)",
        ),
    ] {
        assert_eq!(updates.generate(0).unwrap_err().to_string(), expected);
    }
}
