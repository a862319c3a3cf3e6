//! Polling plans for the weather reports of one airport.

use dunlin_lab::polling::{PollingMethod, Sources};
use dunlin_sched::plan::polling::Objective;

use super::trace;
use crate::polling::{check_exact_leads, check_halves, cut};

#[test]
fn half_a_year_teaches_when_to_look_in_the_other_half() {
    check_halves(&trace("metar_kjfk"));
    check_exact_leads(&trace("metar_kjfk"));
}

/// The figures of docs/planning.md: polls, slots and updates missed of 5,622.
#[test]
fn the_plans_are_those_of_the_documentation() {
    let sources = Sources::new(&trace("metar_kjfk"), None, cut(Some(1_590_969_600))).unwrap();
    for (method, polls, slots, missed) in [
        (PollingMethod::Exact, 1, vec![24], 512),
        (PollingMethod::Modelled, 1, vec![51], 512),
        (PollingMethod::Exact, 2, vec![49, 51], 91),
        (PollingMethod::Uniform, 2, vec![0, 30], 294),
        (PollingMethod::Exact, 3, vec![21, 49, 51], 43),
        (PollingMethod::Modelled, 3, vec![8, 49, 51], 65),
        (PollingMethod::Exact, 4, vec![11, 31, 49, 51], 30),
        (PollingMethod::Uniform, 4, vec![0, 15, 30, 45], 119),
    ] {
        let run = sources.plan(method, polls, Objective::Recall).unwrap();
        assert_eq!((run.plans[0].polls(), run.score.missed, run.score.updates), (&slots[..], missed, 5_622));
    }
}
