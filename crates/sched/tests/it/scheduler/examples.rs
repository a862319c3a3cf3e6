//! Cases with a point: who goes first, what a price does, what holds a source.

use std::collections::VecDeque;
use std::time::Duration;

use dunlin_core::{ResourceIdx, Time};
use dunlin_sched::model::Evidence;
use dunlin_sched::scheduler::journal::{Diverged, JournalEntry, JournaledScheduler, Replayed, replay};
use dunlin_sched::scheduler::{
    CeiId, Choice, Hold, HostIdx, HostTerms, Input, Pace, Reason, Scheduler, Shown, SourceTerms,
};
use dunlin_sched::value::{Life, Urgency, ValueModel};

use super::{Settings, at, host, joined, settings, step, sure, terms};

pub(super) fn sources(chosen: &[Choice]) -> Vec<u32> {
    chosen.iter().map(|choice| choice.resource.0).collect()
}

#[test]
fn a_bulk_import_takes_half_of_the_budget_at_the_most() {
    let mut scheduler = Scheduler::new(settings(2.0));
    scheduler.apply(at(0), host(0, 1_000));
    for source in 0..50 {
        scheduler.apply(at(0), joined(source, terms(0), sure(0.01), Some(at(-1_000))));
    }
    for source in 50..5_050 {
        scheduler.apply(at(0), joined(source, terms(0), sure(0.0001), None));
    }
    let mut by_reason = [0; 2];
    for second in 1..=600 {
        for choice in step(&mut scheduler, at(second)) {
            // It takes a while to find a price for what is known; and at any price there are moments without.
            by_reason[usize::from(choice.reason == Reason::New)] += usize::from(second > 200);
        }
    }
    let [known, new] = by_reason;
    assert_eq!(known + new, 800, "the budget is used");
    assert!((380..=480).contains(&new), "{new} new ones, {known} known ones");
}

#[test]
fn who_is_asked_for_comes_first_and_may_break_the_shortest_gap() {
    let mut scheduler = Scheduler::new(settings(1.0));
    scheduler.apply(at(0), host(0, 10));
    for source in 0..5 {
        scheduler.apply(at(0), joined(source, terms(0), sure(0.01), Some(at(-500))));
    }
    let first = step(&mut scheduler, at(1));
    let asked = first[0].resource;
    scheduler.apply(at(1), Input::ProbeRequested { resource: asked });
    let second = step(&mut scheduler, at(2));
    assert_eq!((second[0].resource, second[0].reason), (asked, Reason::Requested));
}

#[test]
fn a_request_outlives_a_probe_that_was_given_back() {
    let mut scheduler = Scheduler::new(settings(1.0));
    scheduler.apply(at(0), host(0, 10));
    let resource = ResourceIdx(0);
    scheduler.apply(at(0), joined(0, terms(0), sure(0.01), Some(at(-1))));
    scheduler.apply(at(0), Input::ProbeRequested { resource });
    let mut chosen = Vec::new();
    scheduler.choose(at(1), usize::MAX, &mut chosen);
    assert_eq!(chosen[0].reason, Reason::Requested);
    assert!(!scheduler.is_requested(resource), "it is under way");
    scheduler.apply(at(2), Input::ProbeReturned { resource });
    assert!(scheduler.is_requested(resource));
    let again = step(&mut scheduler, at(3));
    assert_eq!(again.iter().map(|choice| choice.reason).collect::<Vec<_>>(), [Reason::Requested]);
}

/// The first in line waits for the budget without losing its place to those behind it.
#[test]
fn overdue_sources_come_in_the_order_in_which_they_became_so() {
    let mut scheduler = Scheduler::new(settings(0.1));
    scheduler.apply(at(0), host(0, 10));
    let terms = SourceTerms { longest_gap: Duration::from_hours(1), ..terms(0) };
    for source in 0..5 {
        let last_probe = at(-3_600 - 10 * i64::from(source));
        scheduler.apply(at(0), joined(source, terms, sure(0.01), Some(last_probe)));
    }
    let chosen: Vec<Choice> = (0..60).flat_map(|second| step(&mut scheduler, at(second))).collect();
    assert!(chosen[..5].iter().all(|choice| choice.reason == Reason::Overdue), "{chosen:?}");
    assert_eq!(sources(&chosen)[..5], [4, 3, 2, 1, 0]);
}

#[test]
fn longest_gaps_are_kept_when_the_budget_suffices() {
    // A hundred that hardly change, ten that change all the time: without the longest gap, the ten would get it all.
    let mut scheduler = Scheduler::new(settings(1.0));
    scheduler.apply(at(0), host(0, 1_000));
    let mut last = vec![at(0); 110];
    for source in 0..110 {
        let rate = if source < 100 { 1e-9 } else { 0.2 };
        let terms =
            SourceTerms { longest_gap: Duration::from_secs(200), shortest_gap: Duration::ZERO, ..terms(0) };
        scheduler.apply(at(0), joined(source, terms, sure(rate), Some(at(-i64::from(source)))));
    }
    let mut longest = Duration::ZERO;
    for second in 1..=2_000 {
        for choice in step(&mut scheduler, at(second)) {
            let before = std::mem::replace(&mut last[choice.resource.index()], at(second));
            // At first, many are due at once.
            if second > 600 {
                longest = longest.max(at(second).since(before));
            }
        }
    }
    assert!(last.iter().all(|at| *at > super::at(1_790)), "someone was forgotten");
    assert!(longest <= Duration::from_secs(202), "a gap of {longest:?}");
}

/// Four times as many longest gaps as the budget can keep: what is worth a probe still gets a turn.
#[test]
fn longest_gaps_that_cannot_be_kept_do_not_take_the_whole_budget() {
    let mut scheduler = Scheduler::new(settings(1.0));
    scheduler.apply(at(0), host(0, 1_000));
    for source in 0..800 {
        let terms = SourceTerms { longest_gap: Duration::from_secs(200), ..terms(0) };
        scheduler.apply(at(0), joined(source, terms, sure(1e-9), Some(at(0))));
    }
    for source in 800..810 {
        scheduler.apply(at(0), joined(source, terms(0), sure(0.2), Some(at(0))));
    }
    let chosen: Vec<Choice> = (1..=1_000).flat_map(|second| step(&mut scheduler, at(second))).collect();
    // From 400 s on, even the first of them is late by its longest gap once more.
    let late = &chosen[chosen.len() - 600..];
    let n_worth = late.iter().filter(|choice| choice.reason == Reason::Worth).count();
    // Far fewer than half: the price rises with those that wait beside the overdue ones, and does not fall while no probe is
    // to spare.
    assert!(n_worth >= 10, "{n_worth} of {}", late.len());
}

/// It is worth its price all the time, but less than the others that wait for the budget with it.
#[test]
fn a_source_that_becomes_overdue_while_it_waits_for_the_budget_goes_next() {
    let mut scheduler = Scheduler::new(settings(0.01));
    scheduler.apply(at(0), host(0, 99));
    let value = |weight| ValueModel { weight, ..ValueModel::new(Life::Append, Urgency::Uniform) };
    for source in 0..10 {
        let worthy = SourceTerms { value: value(10.0), ..terms(0) };
        scheduler.apply(at(0), joined(source, worthy, sure(0.01), Some(at(-60))));
    }
    let modest = SourceTerms { value: value(1.0), longest_gap: Duration::from_secs(100), ..terms(0) };
    scheduler.apply(at(0), joined(10, modest, sure(0.01), Some(at(-60))));
    let mut probed = (1..=250).flat_map(|second| step(&mut scheduler, at(second)));
    assert!(probed.next().is_some_and(|first| first.resource != ResourceIdx(10)));
    let second = probed.next().unwrap();
    assert_eq!((second.resource, second.reason), (ResourceIdx(10), Reason::Overdue));
}

#[test]
fn a_few_sources_and_plenty_of_budget_are_bounded_by_the_shortest_gap() {
    let mut scheduler = Scheduler::new(settings(100.0));
    scheduler.apply(at(0), host(0, 10));
    for source in 0..3 {
        scheduler.apply(at(0), joined(source, terms(0), sure(1e-6), Some(at(0))));
    }
    let probes: usize = (1..=1_000).map(|second| step(&mut scheduler, at(second)).len()).sum();
    assert_eq!(probes, 300, "three sources, every ten seconds");
}

#[test]
fn a_busy_host_does_not_keep_others_waiting() {
    let mut scheduler = Scheduler::new(settings(5.0));
    scheduler.apply(at(0), host(0, 1));
    scheduler.apply(at(0), host(1, 10));
    for source in 0..40 {
        scheduler.apply(at(0), joined(source, terms(u32::from(source >= 20)), sure(0.01), Some(at(-1_000))));
    }
    // Nobody ever answers from host 0.
    let mut chosen = Vec::new();
    for second in 1..=10 {
        let before = chosen.len();
        scheduler.choose(at(second), usize::MAX, &mut chosen);
        for choice in chosen[before..].iter().filter(|choice| choice.resource.0 >= 20) {
            scheduler.apply(
                at(second),
                Input::Probed { resource: choice.resource, shown: Shown::All(Evidence::Unchanged) },
            );
        }
    }
    assert_eq!(sources(&chosen).iter().filter(|source| **source < 20).count(), 1);
    assert_eq!(sources(&chosen).iter().filter(|source| **source >= 20).count(), 20);
    let stats = scheduler.stats();
    assert_eq!((stats.in_flight, stats.waiting_on_hosts, stats.resources), (1, 19, 40));
}

#[test]
fn a_host_keeps_its_own_budget_and_wakes_by_itself() {
    let mut scheduler = Scheduler::new(settings(10.0));
    let terms_of_host = HostTerms { at_one_time: 9, budget: Some(Pace { per_second: 0.1 }) };
    scheduler.apply(at(0), Input::Host { host: HostIdx(0), terms: terms_of_host });
    for source in 0..30 {
        scheduler.apply(at(0), joined(source, terms(0), sure(0.01), None));
    }
    let times: Vec<i64> = (0..=100).filter(|&second| !step(&mut scheduler, at(second)).is_empty()).collect();
    // It began full: with one probe, and a second's worth of the next.
    assert_eq!(times, [0, 9, 19, 29, 39, 49, 59, 69, 79, 89, 99]);
}

#[test]
fn another_budget_of_a_host_counts_from_when_it_was_set() {
    let mut scheduler = Scheduler::new(settings(10.0));
    let with_budget = |per_second| {
        let terms = HostTerms { at_one_time: 9, budget: Some(Pace { per_second }) };
        Input::Host { host: HostIdx(0), terms }
    };
    scheduler.apply(at(0), with_budget(0.01));
    for source in 0..30 {
        scheduler.apply(at(0), joined(source, terms(0), sure(0.01), None));
    }
    assert_eq!(step(&mut scheduler, at(0)).len(), 1);
    // By then half a probe has been granted. The rest comes at the new pace, and none of it for the time before.
    scheduler.apply(at(50), with_budget(0.1));
    let next = (50..100).find(|&second| !step(&mut scheduler, at(second)).is_empty());
    assert_eq!(next, Some(55));
}

#[test]
fn many_new_sources_of_a_host_leave_every_second_probe_to_the_known() {
    let mut scheduler = Scheduler::new(settings(10.0));
    let terms_of_host = HostTerms { at_one_time: 9, budget: Some(Pace { per_second: 0.1 }) };
    scheduler.apply(at(0), Input::Host { host: HostIdx(0), terms: terms_of_host });
    for source in 0..110 {
        let last_probe = (source < 10).then_some(at(-1_000));
        scheduler.apply(at(0), joined(source, terms(0), sure(0.01), last_probe));
    }
    let chosen: Vec<Choice> = (0..200).flat_map(|second| step(&mut scheduler, at(second))).collect();
    let n_known = chosen.iter().filter(|choice| choice.reason != Reason::New).count();
    assert_eq!((n_known, chosen.len()), (10, 21));
}

#[test]
fn a_source_that_became_overdue_while_its_host_was_busy_goes_next() {
    let mut scheduler = Scheduler::new(settings(10.0));
    scheduler.apply(at(0), host(0, 1));
    scheduler.apply(at(0), joined(0, terms(0), sure(0.01), None));
    let mut chosen = Vec::new();
    scheduler.choose(at(0), usize::MAX, &mut chosen);
    assert_eq!(sources(&chosen), [0]);
    for source in 1..5 {
        scheduler.apply(at(0), joined(source, terms(0), sure(0.01), Some(at(-500))));
    }
    let slow = SourceTerms { longest_gap: Duration::from_secs(550), ..terms(0) };
    scheduler.apply(at(0), joined(5, slow, sure(1e-6), Some(at(-500))));
    for second in 1..100 {
        assert_eq!(sources(&step(&mut scheduler, at(second))), [0; 0], "the host is busy");
    }
    let shown = Shown::All(Evidence::Unchanged);
    scheduler.apply(at(100), Input::Probed { resource: ResourceIdx(0), shown });
    chosen.clear();
    scheduler.choose(at(100), usize::MAX, &mut chosen);
    assert_eq!((sources(&chosen), chosen[0].reason), (vec![5], Reason::Overdue));
}

#[test]
fn an_explanation_names_what_holds_and_when_it_ends() {
    let mut scheduler = Scheduler::new(settings(1.0));
    scheduler.apply(at(0), host(0, 1));
    scheduler.apply(at(0), joined(0, terms(0), sure(0.001), Some(at(-5))));
    scheduler.apply(at(0), Input::HostHeld { host: HostIdx(0), until: at(60) });
    let said = scheduler.explain(ResourceIdx(0), at(0)).unwrap();
    assert_eq!(said.holds, [Hold::ShortestGap { until: at(5) }, Hold::HostHeld { until: at(60) }]);
    assert_eq!((said.next_probe, said.reason), (Some(at(60)), Reason::Worth));

    assert_eq!(step(&mut scheduler, at(59)), []);
    let mut chosen = Vec::new();
    scheduler.choose(at(60), 1, &mut chosen);
    assert_eq!(sources(&chosen), [0]);
    let said = scheduler.explain(ResourceIdx(0), at(60)).unwrap();
    assert_eq!((said.next_probe, said.holds[0]), (None, Hold::InFlight));

    scheduler.apply(at(61), Input::ProbeFailed { resource: ResourceIdx(0), not_before: at(500) });
    let said = scheduler.explain(ResourceIdx(0), at(62)).unwrap();
    assert_eq!((said.holds, said.next_probe), (vec![Hold::NotBefore { until: at(500) }], Some(at(500))));
    assert_eq!(scheduler.explain(ResourceIdx(7), at(62)), None);
}

/// A world of equals in balance: what is said about the next probe comes true.
#[test]
fn the_next_probe_comes_when_it_was_said() {
    let mut scheduler = Scheduler::new(settings(1.0));
    scheduler.apply(at(0), host(0, 1_000));
    for source in 0..200 {
        scheduler.apply(at(0), joined(source, terms(0), sure(0.002), Some(at(-i64::from(source)))));
    }
    let mut said: Option<(ResourceIdx, Time, Time)> = None;
    let mut misses = Vec::new();
    for second in 1..=4_000 {
        for choice in step(&mut scheduler, at(second)) {
            if let Some((source, _, expected)) = said
                && source == choice.resource
            {
                misses.push(expected.micros().abs_diff(at(second).micros()) as f64 / 1e6);
                said = None;
            }
            if said.is_none() && second > 1_000 {
                let explained = scheduler.explain(choice.resource, at(second)).unwrap();
                said = explained.next_probe.map(|next| (choice.resource, at(second), next));
            }
        }
    }
    assert!(misses.len() >= 10, "{misses:?}");
    let mean = misses.iter().sum::<f64>() / misses.len() as f64;
    assert!(mean < 40.0, "off by {mean} seconds of 200: {misses:?}");
}

#[test]
fn the_price_follows_the_budget() {
    let price_at = |per_second: f64| {
        let mut scheduler = Scheduler::new(settings(per_second));
        scheduler.apply(at(0), host(0, 1_000));
        let append = ValueModel::new(Life::Append, Urgency::Uniform);
        for source in 0..200 {
            let terms = SourceTerms { value: append, ..terms(0) };
            scheduler.apply(at(0), joined(source, terms, sure(0.002), Some(at(-i64::from(source)))));
        }
        let mut spares = 0;
        for second in 1..=6_000 {
            let chosen = step(&mut scheduler, at(second));
            spares += chosen.iter().filter(|choice| second > 3_000 && choice.reason == Reason::Spare).count();
        }
        (scheduler.stats().price, spares as f64 / (3_000.0 * per_second))
    };
    // Models keep learning that nothing changes, so only the ratio is exact: half the budget, twice the gaps.
    let [(dear, _), (cheap, spares)] = [price_at(0.5), price_at(2.0)];
    assert!((2.0..8.0).contains(&(dear / cheap)), "{dear} at a quarter of the budget, {cheap} at all of it");
    assert!(spares < 0.6, "{spares} of the probes were pulled forward");
}

#[test]
fn a_restart_goes_on_at_the_same_price() {
    let scheduler = Scheduler::new(Settings { initial_price: Some(0.75), ..settings(1.0) });
    assert_eq!(scheduler.stats().price, 0.75);
    let odd = Scheduler::new(Settings { initial_price: Some(f64::NAN), ..settings(1.0) });
    assert_eq!(odd.stats().price, 0.0);
}

/// Ten seconds behind is waited for, and nothing is granted meanwhile; eleven are believed, and time goes on from there,
/// for sources that waited to be probed too: never seen, asked for, or overdue.
#[test]
fn next_due_names_a_time_when_there_is_something_to_do() {
    let mut scheduler = Scheduler::new(settings(0.1));
    assert_eq!(scheduler.next_due(at(0)), None);
    scheduler.apply(at(0), host(0, 10));
    scheduler.apply(at(0), joined(0, terms(0), sure(0.01), None));
    assert_eq!(scheduler.next_due(at(0)), Some(at(0)));
    assert_eq!(sources(&step(&mut scheduler, at(0))), [0]);
    // The budget is back, and the shortest gap over, after ten seconds.
    let due = scheduler.next_due(at(0)).unwrap();
    assert!((at(9)..=at(11)).contains(&due), "{due:?}");
    scheduler.apply(at(1), Input::Budget(Pace { per_second: 0.0 }));
    assert_eq!(scheduler.next_due(at(1)), None);
}

#[test]
fn next_due_names_the_time_at_which_a_host_is_free() {
    let mut scheduler = Scheduler::new(settings(1.0));
    scheduler.apply(at(0), host(0, 10));
    scheduler.apply(at(0), joined(0, terms(0), sure(0.01), None));
    scheduler.apply(at(0), Input::HostHeld { host: HostIdx(0), until: at(60) });
    assert!(step(&mut scheduler, at(0)).is_empty());
    assert_eq!(scheduler.next_due(at(1)), Some(at(60)));
    assert_eq!(sources(&step(&mut scheduler, at(60))), [0]);
}

/// Thirty seconds at a probe every five, written down.
fn recorded() -> Vec<JournalEntry> {
    let mut scheduler = JournaledScheduler::new(settings(0.2));
    scheduler.apply(at(0), host(0, 10));
    (0..4).for_each(|source| scheduler.apply(at(0), joined(source, terms(0), sure(0.01), None)));
    for second in 1..=30 {
        let mut chosen = Vec::new();
        scheduler.choose(at(second), 3, &mut chosen);
        for choice in chosen {
            scheduler.apply(
                at(second),
                Input::Probed { resource: choice.resource, shown: Shown::All(Evidence::Unchanged) },
            );
        }
    }
    scheduler.entries().to_vec()
}

#[test]
fn a_record_is_short_and_its_replay_counts_what_it_did() {
    let entries = recorded();
    let quiet: Vec<u32> = entries
        .iter()
        .filter_map(
            |entry| if let JournalEntry::ChoseNothing { count, .. } = entry { Some(*count) } else { None },
        )
        .collect();
    assert_eq!(quiet, [3, 4, 4, 4, 4, 4]);
    let whole = Replayed { starts: 1, probes: 7, passed_over: 0 };
    assert_eq!(replay(entries.clone()), Ok(whole));
    assert_eq!(
        replay([entries.clone(), entries.clone()].concat()),
        Ok(Replayed { starts: 2, probes: 14, ..whole })
    );
    // What is left of a run whose beginning was removed is passed over, up to the next beginning.
    let cut = [&entries[1..], &entries[..]].concat();
    assert_eq!(replay(cut), Ok(Replayed { passed_over: 7, ..whole }));

    let mut wrong = entries;
    let last = wrong.iter_mut().rev().find_map(|entry| {
        if let JournalEntry::Chose { at, resources, .. } = entry { Some((at, resources)) } else { None }
    });
    let (when, resources) = last.unwrap();
    let (when, chosen) = (*when, std::mem::replace(resources, vec![ResourceIdx(77)]));
    let recorded = vec![ResourceIdx(77)];
    assert_eq!(replay(wrong), Err(Diverged { probes: 6, at: when, recorded, chosen }));
}

/// A host without a gap, with this many at one time, that answers within 10 ms: what is probed in each chronon.
fn probes_of_a_fast_host(at_one_time: u32, per_second: f64) -> Vec<usize> {
    let mut scheduler = Scheduler::new(settings(per_second));
    scheduler.apply(at(0), host(0, at_one_time));
    for source in 0..2_000 {
        scheduler.apply(at(0), joined(source, terms(0), sure(1e-3), Some(at(-i64::from(source)))));
    }
    let chronon = |second: i64| {
        let mut in_flight: VecDeque<Choice> = VecDeque::new();
        let mut chosen = Vec::new();
        scheduler.choose(at(second), usize::MAX, &mut chosen);
        let mut n_probes = chosen.len();
        in_flight.extend(chosen.drain(..));
        for answers in 1.. {
            let now = at(second).plus(Duration::from_millis(10 * answers / u64::from(at_one_time)));
            let Some(choice) = in_flight.pop_front() else { break };
            assert!(in_flight.len() < at_one_time as usize, "never more than the host takes");
            scheduler.apply(
                now,
                Input::Probed { resource: choice.resource, shown: Shown::All(Evidence::Unchanged) },
            );
            if now < at(second + 1) && scheduler.is_open(HostIdx(0), now) {
                scheduler.choose(now, 1, &mut chosen);
                n_probes += chosen.len();
                in_flight.extend(chosen.drain(..));
            }
        }
        n_probes
    };
    (1..60).map(chronon).collect()
}

#[test]
fn a_fast_host_is_asked_again_when_a_probe_ends_as_far_as_the_budget_goes() {
    for at_one_time in [1, 4, 16] {
        let probes = probes_of_a_fast_host(at_one_time, 50.0);
        let most = probes.iter().sum::<usize>();
        // Within a second a host that takes one at a time answers a hundred times, so the budget is what binds.
        assert!((40 * 59..=51 * 60).contains(&most), "{most} with {at_one_time}: {probes:?}");
    }
    let probes = probes_of_a_fast_host(4, 0.5);
    assert!((25..=32).contains(&probes.iter().sum::<usize>()), "{probes:?}");
}

#[test]
fn the_price_does_not_depend_on_how_often_the_scheduler_is_asked_or_told_of_needs_within_a_chronon() {
    let price = |times: u64, inputs: u32| {
        let mut scheduler = Scheduler::new(Settings { initial_price: Some(1e-6), ..settings(2.0) });
        scheduler.apply(at(0), host(0, u32::MAX));
        for source in 0..40 {
            scheduler.apply(at(0), joined(source, terms(0), sure(1e-2), Some(at(-20 - i64::from(source)))));
        }
        for second in 1..10 {
            for _ in 0..inputs {
                scheduler.apply(at(second), Input::CeiWithdrawn { cei: CeiId(1) });
            }
            for nth in 0..times {
                // Nothing is chosen, so that all wait, and there are more than are needed.
                scheduler.choose(
                    at(second).plus(Duration::from_secs(1) / 100 * nth as u32),
                    0,
                    &mut Vec::new(),
                );
            }
        }
        scheduler.stats().price
    };
    let (once, often, told) = (price(1, 0), price(50, 0), price(1, 3));
    assert!(once > 2e-6, "{once}");
    assert_eq!(told, once);
    assert!((0.8..1.6).contains(&(often / once)), "{once} and {often}");
}

/// Far more sources than the budget can serve are worth the price, all of them alike: only the best few go on waiting. If
/// the others did too, every choice would evaluate all of them.
#[test]
fn a_crowd_of_equals_does_not_stand_in_the_queue() {
    let mut scheduler = Scheduler::new(Settings { initial_price: Some(1e-9), ..settings(1.0) });
    for source in 0..5_000 {
        scheduler.apply(at(0), host(source, 1));
        scheduler.apply(at(0), joined(source, terms(source), sure(1e-3), Some(at(-600))));
    }
    for second in 0..100 {
        assert_eq!(step(&mut scheduler, at(second)).len(), 1, "the budget is spent");
        let ready = scheduler.stats().ready;
        assert!(ready < 100, "{ready} wait after {second} s");
    }
}
