//! CAM for forecasts that are rates: no other sharing finds more, and probes stand where they find it.

use std::time::Duration;

use dunlin_core::Time;
use dunlin_sched::model::{Completeness, Evidence, Model, Parts, Prior, ProbeEvidence};
use dunlin_sched::plan::cam::{ProbeDemand, Sharing, instants};
use proptest::prelude::*;

fn demand() -> impl Strategy<Value = ProbeDemand> {
    let changes = || prop_oneof![1 => Just(0.0), 1 => Just(1.0), 4 => 0.001..6.0f64];
    let weight = prop_oneof![1 => Just(0.0), 2 => Just(1.0), 3 => 0.0..3.0f64];
    let evidence = prop_oneof![Just(0.5), Just(1e6), 0.1..50.0f64];
    (weight, changes(), changes(), evidence, 0..5u32, 1..6u32, 0..2u32).prop_map(
        |(weight, pending, expected, evidence, least, most, group)| ProbeDemand {
            weight,
            pending,
            expected,
            evidence,
            cost: 1.0,
            // More than the most, too.
            least: least.saturating_sub(2),
            most,
            group,
        },
    )
}

/// The most that can be gained by at most so many probes for all and for each group, by trying everything.
fn most_gain(demands: &[ProbeDemand], left: u32, groups: [u32; 2]) -> f64 {
    let [first, rest @ ..] = demands else { return 0.0 };
    let group = first.group as usize;
    let most = first.most.min(left).min(groups[group]);
    let with = |probes: u32| {
        let mut groups = groups;
        groups[group] -= probes;
        first.gain(probes) + most_gain(rest, left - probes, groups)
    };
    (0..=most).map(with).fold(0.0, f64::max)
}

fn shared(demands: &[ProbeDemand], budget: u32, groups: [u32; 2]) -> Sharing {
    let mut sharing = Sharing::new(f64::from(budget), groups.map(f64::from).to_vec());
    demands.iter().for_each(|&demand| sharing.add(demand));
    // In steps of any size it comes to the same.
    while sharing.go_on(2).is_none() {}
    sharing
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn no_sharing_gains_more(
        mut demands in prop::collection::vec(demand(), 1..5), budget in 0..9u32, groups in [0..6u32, 0..6u32],
    ) {
        demands.iter_mut().for_each(|demand| demand.least = 0);
        let sharing = shared(&demands, budget, groups);
        let gained: f64 = demands.iter().zip(sharing.shares()).map(|(demand, &share)| demand.gain(share)).sum();
        let best = most_gain(&demands, budget, groups);
        prop_assert!((gained - best).abs() < 1e-9, "{:?} gains {gained} of {best}", sharing.shares());
    }

    #[test]
    fn limits_hold_and_who_must_have_a_probe_gets_one(
        demands in prop::collection::vec(demand(), 1..8), budget in 0..12u32, groups in [0..9u32, 0..9u32],
    ) {
        let sharing = shared(&demands, budget, groups);
        let total: u32 = sharing.shares().iter().sum();
        prop_assert!(total <= budget);
        for (group, limit) in (0..).zip(groups) {
            let of_group = demands.iter().zip(sharing.shares()).filter(|(demand, _)| demand.group == group);
            prop_assert!(of_group.map(|(_, share)| share).sum::<u32>() <= limit);
        }
        let must: u32 = demands.iter().map(|demand| demand.least.min(demand.most)).sum();
        for (demand, &share) in demands.iter().zip(sharing.shares()) {
            prop_assert!(share <= demand.most);
            if must <= budget.min(groups[0]).min(groups[1]) {
                prop_assert!(share >= demand.least.min(demand.most));
            }
        }
    }

    #[test]
    fn the_next_probe_never_gains_more_than_the_one_before(demand in demand()) {
        let gains: Vec<f64> = (0..40).map(|probes| demand.next_gain(probes)).collect();
        prop_assert!(gains.windows(2).all(|pair| pair[1] <= pair[0] + 1e-12), "{gains:?}");
    }

    /// Who comes after the plan is made gets what the plan would have given it.
    #[test]
    fn at_the_price_of_a_sharing_each_source_gets_its_share(
        mut demands in prop::collection::vec(demand(), 1..6), budget in 0..12u32,
    ) {
        demands.iter_mut().for_each(|demand| demand.least = 0);
        let sharing = shared(&demands, budget, [99, 99]);
        for (demand, &share) in demands.iter().zip(sharing.shares()) {
            let alone = demand.worth_at(sharing.price());
            // Of equals at the price, some go without.
            let is_tied = (demand.next_gain(share) - sharing.price()).abs() < 1e-12;
            prop_assert!(alone == share || is_tied, "{alone} alone, {share} shared");
        }
    }
}

const HOUR: i64 = 3_600;

fn at(seconds: i64) -> Time {
    Time::from_seconds(1_700_000_000 / HOUR * HOUR + seconds)
}

fn of(expected: f64, pending: f64) -> ProbeDemand {
    ProbeDemand { weight: 1.0, pending, expected, evidence: 1e6, cost: 1.0, least: 0, most: 100, group: 0 }
}

#[test]
fn a_steady_source_is_probed_at_equal_distances_from_epoch_to_epoch() {
    let model = Model::new(Prior { rate: 1.0 / 900.0, strength: 1e9 });
    let forecast = model.forecast();
    let epoch = at(0)..at(HOUR);
    // Four changes an hour, and a quarter of a change since the last probe: the first is due when one is full.
    let times = instants(&forecast, &epoch, &of(4.0, 0.25), 4, 1.0);
    let seconds: Vec<u64> = times.iter().map(|time| time.since(at(0)).as_secs()).collect();
    assert_eq!(seconds, [675, 1_575, 2_475, 3_375]);
    // What has waited too long goes first, and at half a share's time if the phase says so.
    assert_eq!(instants(&forecast, &epoch, &of(4.0, 7.0), 4, 1.0)[0], at(0));
    assert_eq!(instants(&forecast, &epoch, &of(4.0, 0.25), 4, 0.5)[0], at(450));
    assert!(instants(&forecast, &epoch, &of(4.0, 0.0), 0, 0.5).is_empty());
}

#[test]
fn a_busy_stretch_is_probed_when_it_is_over() {
    // Changes at 50 to 52 minutes past every hour, seen to the second.
    let mut model = Model::of_parts(Prior { rate: 1.0 / 3_600.0, strength: 1.0 }, Parts::Hour);
    for hour in 0..400i64 {
        let change = at((hour - 400) * HOUR + 3_000 + hour * 37 % 120);
        let evidence = Evidence::Changed { times: vec![change], completeness: Completeness::All };
        let (since, now) = (at((hour - 401) * HOUR + 3_300), at((hour - 400) * HOUR + 3_300));
        model.observe(&ProbeEvidence { since: Some(since), at: now, evidence });
    }
    let forecast = model.forecast();
    let epoch = at(0)..at(HOUR);
    let expected = forecast.expected(epoch.start, epoch.end);
    for phase in [0.2, 0.5, 0.8] {
        let [time] = instants(&forecast, &epoch, &of(expected, 0.0), 1, phase)[..] else { panic!() };
        let after = time.since(at(3_000 + 120));
        assert!(time >= at(3_000 + 120) && after < Duration::from_mins(5), "{:?}", time.since(at(0)));
    }
}
