//! Polling plans on a trace like that of an airport's weather reports, learnt on one half and measured on the other.

use std::num::NonZeroU32;

use dunlin_lab::Error;
use dunlin_lab::cam::Headline;
use dunlin_lab::files::TraceFile;
use dunlin_lab::generate::Tracked;
use dunlin_lab::polling::{Cut, Memory, PollingMethod, Sources};
use dunlin_sched::plan::polling::Objective;
use proptest::prelude::*;

pub(crate) const HOUR: i64 = 3_600;

/// Like the weather reports of one airport: every hour at :51, and now and then one in between.
fn reports() -> TraceFile {
    let hourly = (0..4_000).map(|hour| hour * HOUR + 51 * 60);
    // The weather turns in one hour of seven, and brings one to three more at any minute.
    let special = (0..4_000)
        .filter(|hour| hour % 7 == 3)
        .flat_map(|hour| (0..=hour % 3).map(move |nth| hour * HOUR + (hour * 37 + nth * 23) % 50 * 60));
    let mut times: Vec<_> = hourly.chain(special).collect();
    times.sort_unstable();
    TraceFile { sources: vec!["made-up".to_owned()], times: vec![times], warnings: Vec::new() }
}

pub(crate) fn cut(train_until: Option<i64>) -> Cut {
    Cut { period: NonZeroU32::new(3_600).unwrap(), slot: NonZeroU32::new(60).unwrap(), train_until }
}

/// Learnt on the first half, measured on the second: the exact plan is no worse than the modelled one, and that no worse
/// than equal distances.
#[track_caller]
pub(crate) fn check_halves(trace: &TraceFile) {
    let times = &trace.times[0];
    let middle = times[0].midpoint(times[times.len() - 1]) / HOUR * HOUR;
    let sources = Sources::new(trace, None, cut(Some(middle))).unwrap();
    for polls in 1..=4 {
        let recall = |method| sources.plan(method, polls, Objective::Recall).unwrap().score.recall;
        let (exact, modelled, uniform) =
            (recall(PollingMethod::Exact), recall(PollingMethod::Modelled), recall(PollingMethod::Uniform));
        assert!(exact >= modelled - 0.001, "{polls} polls: exact {exact}, modelled {modelled}");
        // Of one poll per hour all that matters is that it is one.
        assert!(modelled >= uniform && (polls == 1 || modelled > uniform), "{polls}: {modelled}, {uniform}");
    }
}

#[test]
fn half_a_year_of_weather_reports_teaches_when_to_look_in_the_other_half() {
    check_halves(&reports());
}

#[track_caller]
pub(crate) fn check_exact_leads(trace: &TraceFile) {
    let sources = Sources::new(trace, None, cut(None)).unwrap();
    for polls in 1..=8 {
        let run = |method, objective| sources.plan(method, polls, objective).unwrap().score;
        let exact = run(PollingMethod::Exact, Objective::Recall);
        for method in [PollingMethod::Modelled, PollingMethod::Uniform] {
            assert!(exact.missed <= run(method, Objective::Recall).missed);
            assert!(
                run(PollingMethod::Exact, Objective::Freshness).freshness
                    >= run(method, Objective::Recall).freshness
            );
            assert!(
                run(PollingMethod::Exact, Objective::Age).mean_age
                    <= run(method, Objective::Recall).mean_age + 1e-9
            );
        }
    }
}

#[test]
fn on_what_it_learns_from_the_exact_plan_is_never_behind() {
    check_exact_leads(&reports());
}

#[test]
fn several_sources_share_the_polls() {
    let times = vec![vec![300, 3_900, 7_500], (0..180).map(|minute| minute * 60).collect(), vec![600]];
    let trace = TraceFile { sources: ["a", "b", "c"].map(str::to_owned).into(), times, warnings: Vec::new() };
    let sources = Sources::new(&trace, None, cut(None)).unwrap();
    let run = sources.plan(PollingMethod::Exact, 10, Objective::Recall).unwrap();
    let polls: Vec<_> = run.plans.iter().map(|plan| plan.polls().len()).collect();
    // b has an update every minute, so each of its polls gains three, and the one after the end one more; a's poll
    // gains three, and c's would gain one.
    assert_eq!(polls, [1, 9, 0]);
    assert_eq!((run.score.updates, run.score.missed), (184, 184 - 3 - 28));
    let one = Sources::new(&trace, Some("a"), cut(None)).unwrap();
    assert_eq!(one.plan(PollingMethod::Exact, 10, Objective::Recall).unwrap().plans[0].polls(), [5]);
}

/// Thirty days at nine in the morning, then ten at six in the evening.
#[test]
fn a_memory_shorter_than_a_slot_is_one_of_a_slot() {
    let times = (0..40).map(|day| day * 24 * HOUR + if day < 30 { 9 } else { 18 } * HOUR).collect();
    let trace = TraceFile { sources: vec!["made-up".to_owned()], times: vec![times], warnings: Vec::new() };
    let hours = Cut {
        period: NonZeroU32::new(86_400).unwrap(),
        slot: NonZeroU32::new(3_600).unwrap(),
        train_until: None,
    };
    let planned = |half_life: u32| {
        let mut sources = Sources::new(&trace, None, hours).unwrap();
        sources.remember(Memory { half_life: NonZeroU32::new(half_life), ..Memory::default() });
        sources.plan(PollingMethod::Exact, 1, Objective::Recall).unwrap().plans[0].polls().to_vec()
    };
    assert_eq!(planned(1_800), planned(3_600));
    assert_ne!(planned(1_800), planned(0), "no half-life at all");
}

#[test]
fn nonsense_is_refused() {
    let trace = reports();
    let refused = |source: Option<&str>, cut| match Sources::new(&trace, source, cut) {
        Err(Error::BadParameter { parameter, .. }) => parameter,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(Some("nobody"), cut(None)), "source");
    let steering = Sources::new(&trace, Some("a\u{202e}\u{1b}[2J"), cut(None)).unwrap_err().to_string();
    assert_eq!(steering, "source \"a\\u{202e}\\u{1b}[2J\" (expected an id without control characters)");
    assert_eq!(refused(None, cut(Some(0))), "end of training");
    assert_eq!(refused(None, cut(Some(i64::MAX))), "end of training");
    let odd = Cut { slot: NonZeroU32::new(7_000).unwrap(), ..cut(None) };
    assert_eq!(refused(None, odd), "period of seconds");
    let fine =
        Cut { period: NonZeroU32::new(4_000_000_000).unwrap(), slot: NonZeroU32::MIN, train_until: None };
    assert_eq!(refused(None, fine), "number of slots in a period");
}

/// Probes for 5 % of the instants: with skewed pages CAM returns most of the information, the baselines little.
#[test]
fn few_probes_return_most_of_the_changed_information() {
    let pages = Tracked { sources: 300, chronons: 300, ..Tracked::default() };
    let experiment = Headline { pages, share: 0.05, room: 2, seeds: vec![0, 1, 2, 3] };
    let returned = experiment.run().unwrap();
    let weight = |name: &str| returned.iter().find(|way| way.name == name).unwrap().weight.mean;
    assert!(weight("cam") > 0.85, "{returned:?}");
    assert!(
        weight("cam") > 1.5 * weight("uniform") && weight("cam") > 1.5 * weight("proportional"),
        "{returned:?}"
    );
    assert!(returned.iter().all(|way| way.probes <= 300.0), "{returned:?}");
    assert!(Headline { share: 1.5, ..experiment }.run().is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the trace, nothing panics and no figure leaves its range.
    #[test]
    fn any_trace_can_be_planned_for(
        times in prop::collection::vec(prop::collection::vec(0..2_000_000i64, 0..20), 1..4),
        polls in 1..100u32,
        slot in prop_oneof![Just(60u32), Just(3_600), Just(1_200)],
    ) {
        let mut times = times;
        times.iter_mut().for_each(|own| own.sort_unstable());
        let sources = (0..times.len()).map(|n| n.to_string()).collect();
        let trace = TraceFile { sources, times, warnings: Vec::new() };
        let cut = Cut { slot: NonZeroU32::new(slot).unwrap(), ..cut(None) };
        let Ok(sources) = Sources::new(&trace, None, cut) else {
            return Ok(());
        };
        for method in [PollingMethod::Exact, PollingMethod::Modelled, PollingMethod::Uniform] {
            let run = sources.plan(method, polls, Objective::Recall).unwrap();
            prop_assert!(run.plans.iter().map(|plan| plan.polls().len()).sum::<usize>() <= polls as usize);
            let score = run.score;
            prop_assert!(score.missed <= score.updates && (0.0..=1.0).contains(&score.freshness));
            prop_assert!(score.mean_age >= 0.0);
        }
    }
}
