//! Exact knowledge is the truth; noisy knowledge keeps its laws.

use dunlin_core::{Changes, Chronon, SourceIdx};
use dunlin_lab::knowledge::{ChangeProbabilities, Noise};
use proptest::prelude::*;

fn at(number: u32) -> Chronon {
    Chronon::new(number).unwrap()
}

fn changes(chronons: u32, by_source: &[&[u32]]) -> Changes {
    let by_source = by_source.iter().map(|own| own.iter().map(|&number| at(number)).collect());
    Changes::new(chronons, by_source.collect()).unwrap()
}

/// Fifty sources with a change every tenth chronon of a thousand.
fn many() -> Changes {
    let own: Vec<_> = (1..=100).map(|number| number * 10).collect();
    changes(1000, &[own.as_slice(); 50])
}

fn noisy(changes: &Changes, fpn: f64, sigma: f64, seed: u64) -> ChangeProbabilities {
    ChangeProbabilities::noisy(changes, Noise { fpn, sigma }, seed).unwrap()
}

fn mass(probabilities: &ChangeProbabilities) -> f64 {
    probabilities.iter().map(|(_, _, probability)| probability).sum()
}

#[test]
fn exact_knowledge_is_the_truth() {
    let exact = ChangeProbabilities::exact(&changes(9, &[&[2, 9], &[], &[2, 3]]));
    let entries: Vec<_> = exact.iter().map(|(chronon, source, p)| (chronon.get(), source.0, p)).collect();
    assert_eq!(entries, [(2, 0, 1.0), (2, 2, 1.0), (3, 2, 1.0), (9, 0, 1.0)]);
    assert_eq!(exact.at(at(2)), [(SourceIdx(0), 1.0), (SourceIdx(2), 1.0)]);
    assert!(exact.at(at(1)).is_empty() && exact.at(at(10)).is_empty());
}

#[test]
fn without_noise_the_two_are_one() {
    assert_eq!(noisy(&many(), 0.0, 0.0, 3), ChangeProbabilities::exact(&many()));
    // Four standard deviations that do not reach the next chronon.
    assert_eq!(noisy(&many(), 0.0, 0.2, 3), ChangeProbabilities::exact(&many()));
}

#[test]
fn a_change_is_spread_as_a_gaussian() {
    let spread = noisy(&changes(100, &[&[50]]), 0.0, 2.0, 1);
    assert!((mass(&spread) - 1.0).abs() < 1e-9);
    assert_eq!(spread.len(), 17);
    let share = |chronon| spread.at(at(chronon))[0].1;
    for distance in 1..=8u32 {
        assert_eq!(share(50 - distance), share(50 + distance));
        let expected = (-0.5 * (f64::from(distance) / 2.0).powi(2)).exp();
        assert!((share(50 + distance) / share(50) - expected).abs() < 1e-12);
    }
    // The continuous density at the middle is 1 / (2 √(2π)).
    assert!((share(50) - 0.199_471).abs() < 1e-4);
}

#[test]
fn what_is_negligible_is_left_out() {
    // Four standard deviations out the share is 0.0003 / 501, less than a millionth.
    let spread = noisy(&changes(2000, &[&[1000]]), 0.0, 200.0, 1);
    assert!((1400..1601).contains(&spread.len()), "{}", spread.len());
    assert!(spread.iter().all(|(_, _, probability)| probability >= 1e-6));
}

#[test]
fn mass_beyond_the_epoch_is_lost_and_overlaps_stop_at_one() {
    let edge = mass(&noisy(&changes(100, &[&[1]]), 0.0, 2.0, 1));
    assert!((0.55..0.65).contains(&edge), "{edge}");
    let crowd: Vec<_> = (40..=60).collect();
    let crowded = noisy(&changes(100, &[&crowd]), 0.0, 1.0, 1);
    assert!(crowded.iter().all(|(_, _, probability)| probability <= 1.0));
    assert!((crowded.at(at(50))[0].1 - 1.0).abs() < 1e-9);
}

#[test]
fn missed_changes_are_replaced_one_for_one() {
    for fpn in [0.1, 0.5] {
        let believed = noisy(&many(), fpn, 0.0, 11);
        let kept = believed.iter().filter(|(chronon, _, _)| chronon.get() % 10 == 0).count() as f64;
        // A tenth of the spurious ones happens to fall on a true one, or on another's.
        let expected = 5000.0 * (1.0 - fpn);
        assert!((kept / expected - 1.0).abs() < 0.08, "{fpn}: {kept}");
        let total = believed.len() as f64;
        assert!((4500.0..=5000.0).contains(&total), "{fpn}: {total}");
    }
    let all_spurious = noisy(&many(), 1.0, 0.0, 11);
    let early = all_spurious.iter().filter(|(chronon, _, _)| chronon.get() <= 500).count() as f64;
    assert!((early / all_spurious.len() as f64 - 0.5).abs() < 0.03);
}

#[test]
fn the_seed_decides_everything_and_sources_do_not_disturb_each_other() {
    assert_eq!(noisy(&many(), 0.3, 2.0, 5), noisy(&many(), 0.3, 2.0, 5));
    assert_ne!(noisy(&many(), 0.3, 2.0, 5), noisy(&many(), 0.3, 2.0, 6));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(pool.install(|| noisy(&many(), 0.3, 2.0, 5)), noisy(&many(), 0.3, 2.0, 5));

    let own: Vec<_> = (1..=100).map(|number| number * 10).collect();
    let of_first = |probabilities: &ChangeProbabilities| -> Vec<_> {
        probabilities.iter().filter(|(_, source, _)| source.0 == 0).collect()
    };
    let alone = noisy(&changes(1000, &[&own]), 0.3, 2.0, 5);
    assert_eq!(of_first(&alone), of_first(&noisy(&many(), 0.3, 2.0, 5)));
}

#[test]
fn nonsense_is_refused() {
    let refusal =
        |fpn, sigma| ChangeProbabilities::noisy(&many(), Noise { fpn, sigma }, 1).unwrap_err().to_string();
    assert_eq!(refusal(1.5, 0.0), "fpn 1.5 (expected a number from 0 to 1)");
    assert_eq!(refusal(f64::NAN, 0.0), "fpn NaN (expected a number from 0 to 1)");
    assert_eq!(refusal(0.0, -1.0), "sigma -1 (expected a number of chronons from 0 to 100000)");
    assert_eq!(refusal(0.0, f64::INFINITY), "sigma inf (expected a number of chronons from 0 to 100000)");
}

proptest! {
    #[test]
    fn noise_never_makes_mass(
        numbers in prop::collection::btree_set(1..=60u32, 0..20),
        fpn in 0.0..=1.0f64,
        sigma in 0.0..30.0f64,
    ) {
        let own: Vec<_> = numbers.into_iter().collect();
        let truth = changes(60, &[&own]);
        let believed = noisy(&truth, fpn, sigma, 9);
        prop_assert!(mass(&believed) <= own.len() as f64 + 1e-9);
        prop_assert!(believed.iter().all(|(now, _, p)| now.get() <= 60 && (1e-6..=1.0).contains(&p)));
    }
}
