//! Which intervals the instances of a query want as captures come in, and how they end. The examples of the papers are in
//! docs/query-language.md; here are the rules one by one, and what holds for any query.

use std::fmt::Write as _;
use std::time::Duration;

use dunlin_core::Time;
use dunlin_query::plan::{CapturedBy, Instance, Outcome, PlannedInterval, QueryPlan, Step};
use dunlin_query::{Captures, TermIndex, Value, parse, words};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::trees;

const TRIGGER: &str = "QUERY q SELECT value AS a FROM source 1 EVERY 10 MINUTES WITHIN 2 MINUTES\n";

fn plan(text: &str) -> QueryPlan {
    let query = parse(text).unwrap_or_else(|refused| panic!("{}", refused.render(text))).remove(0);
    QueryPlan::new(&query, at(0)).unwrap()
}

fn at(second: i64) -> Time {
    Time::from_seconds(second)
}

/// Select, start and finish in seconds.
fn shown(intervals: &[PlannedInterval]) -> Vec<(usize, i64, Option<i64>)> {
    intervals.iter().map(|i| (i.select, i.start.seconds(), i.finish.map(Time::seconds))).collect()
}

fn captures<'a>(values: &[(&'a str, &'a str)]) -> Captures<'a> {
    let mut captures = Captures::new();
    for (name, text) in values {
        captures.insert(name, vec![Value { text, number: text.parse().ok(), ..Value::default() }]);
    }
    captures
}

#[test]
fn instances_begin_by_the_clock_until_the_end() {
    let every = plan("QUERY q SELECT item AS a FROM source 1 EVERY 10 MINUTES FOR 1 HOUR");
    let next = [0, 599, 600, 2999, 3000].map(|second| every.next_instance(at(second)).map(Time::seconds));
    assert_eq!(next, [Some(600), Some(600), Some(1200), Some(3000), None], "at 3600 it has ended");
    let times = plan("QUERY q SELECT item AS a FROM source 1 AT 09:00, 08:00 IN '+01:00'");
    let next = [0, 7 * 3600, 8 * 3600].map(|second| times.next_instance(at(second)).map(Time::seconds));
    assert_eq!(next, [Some(7 * 3600), Some(8 * 3600), Some(31 * 3600)]);
    let change = plan("QUERY q SELECT item AS a FROM source 1 ON CHANGE UNTIL 1970-01-02");
    assert_eq!(change.next_instance(at(0)), None, "the caller knows of changes");
    assert!(change.is_open(at(86_399)) && !change.is_open(at(86_400)));
}

#[test]
fn an_interval_lasts_as_long_as_is_said_or_as_its_start_implies() {
    let text = "QUERY q SELECT item AS a FROM source 1 EVERY 1 HOUR \
                SELECT item AS b FROM source 2 \
                SELECT item AS c FROM source 3 WITHIN 1 MINUTE \
                SELECT item AS d FROM source 4 ON CHANGE WITHIN 1 DAY \
                SELECT item AS e FROM source 5 EVERY 25 MINUTES OVERWRITTEN \
                SELECT item AS f FROM source 6 AT 01:30 WITHIN 1 HOUR";
    let (_, intervals) = plan(text).begin(at(3600));
    assert_eq!(
        shown(&intervals),
        [
            (0, 3600, Some(7199)),
            (1, 3600, None),
            (2, 3600, Some(3660)),
            (3, 3600, Some(90_000)),
            (4, 4500, None),
            (5, 5400, Some(9000)),
        ]
    );
    let by: Vec<CapturedBy> = intervals.iter().map(|interval| interval.captured_by).collect();
    let mut expected = [CapturedBy::AnyAnswer; 6];
    expected[3] = CapturedBy::Change;
    assert_eq!(by, expected);
    // At its own time, a part begins with the instance.
    let (_, intervals) = plan(text).begin(at(4500));
    assert_eq!(intervals[4].start, at(4500));
}

#[test]
fn a_when_extends_the_instance_once_all_it_names_is_captured() {
    let text = format!(
        "{TRIGGER} SELECT value AS b FROM source 2 WITHIN 5 MINUTES \
         SELECT value AS c FROM source 3 WHEN a > 1 AND b > 1 WITHIN 1 MINUTE"
    );
    let plan = plan(&text);
    let (mut instance, first) = plan.begin(at(600));
    assert_eq!(shown(&first), [(0, 600, Some(720)), (1, 600, Some(900))]);
    assert_eq!(instance.need(&plan), 2);
    let step = instance.captured(&plan, 1, &captures(&[("b", "2")]), at(610));
    assert_eq!(step, Step { extend: vec![], need: 2, outcome: None });
    let step = instance.captured(&plan, 0, &captures(&[("b", "2"), ("a", "2")]), at(620));
    assert_eq!((shown(&step.extend), step.need, step.outcome), (vec![(2, 620, Some(680))], 3, None));
    let all = captures(&[("b", "2"), ("a", "2"), ("c", "0")]);
    let step = instance.captured(&plan, 2, &all, at(630));
    assert_eq!(step, Step { extend: vec![], need: 3, outcome: Some(Outcome::Complete) });
    assert_eq!(instance.captured(&plan, 2, &all, at(640)).extend, [], "nothing happens after the end");
}

#[test]
fn an_instance_without_anything_to_tell_falls_away() {
    let when =
        "SELECT value AS b FROM source 2 WHEN a > 1 SELECT value AS c FROM source 3 WHEN b > 1 OR a > 5";
    let conditional = plan(&format!("{TRIGGER} {when}"));
    let (mut instance, _) = conditional.begin(at(0));
    let step = instance.captured(&conditional, 0, &captures(&[("a", "1")]), at(1));
    assert_eq!(step.outcome, Some(Outcome::FellAway));
    // One WHEN that holds is enough: the other is no part of the instance.
    let (mut instance, _) = conditional.begin(at(0));
    let step = instance.captured(&conditional, 0, &captures(&[("a", "2")]), at(1));
    assert_eq!(shown(&step.extend), [(1, 1, None)]);
    let step = instance.captured(&conditional, 1, &captures(&[("a", "2"), ("b", "0")]), at(2));
    assert_eq!((step.need, step.outcome), (2, Some(Outcome::Complete)));
    // A part without a condition is told in any case.
    let mixed = plan(&format!("{TRIGGER} SELECT value AS d FROM source 4 {when}"));
    let (mut instance, _) = mixed.begin(at(0));
    assert_eq!(instance.captured(&mixed, 0, &captures(&[("a", "1")]), at(1)).outcome, None);
    let step = instance.captured(&mixed, 1, &captures(&[("a", "1"), ("d", "1")]), at(2));
    assert_eq!(step.outcome, Some(Outcome::Complete));
}

#[test]
fn one_miss_is_too_much_for_all_and_not_for_some() {
    let three = "SELECT value AS b FROM source 2 SELECT value AS c FROM source 3";
    let all = plan(&format!("{TRIGGER} {three}"));
    let (mut instance, _) = all.begin(at(0));
    assert_eq!(instance.missed(&all, 1, &Captures::new(), at(1)).outcome, Some(Outcome::Missed));
    let two = plan(&format!("{TRIGGER} {three}").replace("QUERY q", "QUERY q ANY 2 OF"));
    let (mut instance, _) = two.begin(at(0));
    assert_eq!(instance.need(&two), 2);
    assert_eq!(instance.missed(&two, 1, &Captures::new(), at(1)).outcome, None);
    assert_eq!(instance.captured(&two, 2, &captures(&[("c", "1")]), at(2)).outcome, None);
    assert_eq!(
        instance.captured(&two, 0, &captures(&[("c", "1"), ("a", "1")]), at(3)).outcome,
        Some(Outcome::Complete)
    );
    let (mut instance, _) = two.begin(at(0));
    instance.missed(&two, 1, &Captures::new(), at(1));
    assert_eq!(instance.missed(&two, 2, &Captures::new(), at(2)).outcome, Some(Outcome::Missed));
}

#[test]
fn what_was_missed_is_unknown_to_a_when_that_may_hold_without_it() {
    let text = "QUERY q ANY 2 OF SELECT value AS a FROM source 1 ON CHANGE SELECT value AS b FROM source 2 \
                SELECT value AS c FROM source 3 WHEN a > 1 OR b > 1 SELECT value AS d FROM source 4 WHEN a > 1";
    let plan = plan(text);
    let (mut instance, _) = plan.begin(at(0));
    let step = instance.missed(&plan, 0, &Captures::new(), at(1));
    assert_eq!((step.extend, step.outcome), (vec![], None));
    let step = instance.captured(&plan, 1, &captures(&[("b", "2")]), at(2));
    assert_eq!(shown(&step.extend), [(2, 2, None)]);
}

#[test]
fn where_is_asked_at_the_end() {
    let text = format!("{TRIGGER} SELECT value AS b FROM source 2 WHERE a < 5 AND b < 5");
    let plan = plan(&text);
    for (b, outcome) in [("4", Outcome::Complete), ("5", Outcome::Filtered), ("none", Outcome::Filtered)] {
        let (mut instance, _) = plan.begin(at(0));
        instance.captured(&plan, 0, &captures(&[("a", "1")]), at(1));
        let step = instance.captured(&plan, 1, &captures(&[("a", "1"), ("b", b)]), at(2));
        assert_eq!(step.outcome, Some(outcome), "{b}");
    }
}

#[test]
fn the_state_of_another_query_is_no_reason_to_panic() {
    let plan = plan(&format!("{TRIGGER} SELECT value AS b FROM source 2 WHEN a > 1"));
    for states in ["[]", "[\"Open\"]", "[\"Open\",\"Waiting\",\"Open\",\"Open\"]"] {
        let text = format!("{{\"start\":0,\"states\":{states},\"outcome\":null}}");
        let mut instance: Instance = serde_json::from_str(&text).unwrap();
        for select in 0..6 {
            let _ = instance.captured(&plan, select, &captures(&[("a", "2")]), at(1));
        }
    }
}

#[test]
fn a_change_without_the_words_that_all_depends_on_begins_nothing() {
    let terms = |text: &str| {
        let text = format!("QUERY q SELECT item AS a FROM source 1 ON CHANGE {text}");
        let terms = plan(&text).trigger_terms()?;
        Some(terms.iter().map(|term| term.text().to_owned()).collect::<Vec<_>>().join(" "))
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(terms("WHERE a CONTAINS 'crude oil' OR a CONTAINS '%gas%'"), some("crude gas"));
    assert_eq!(terms("WHERE NOT a CONTAINS 'oil'"), None);
    assert_eq!(terms(""), None);
    let two = "SELECT item AS b FROM source 2 WHEN a CONTAINS 'oil' SELECT value AS c FROM source 3";
    assert_eq!(terms(&format!("{two} WHEN a CONTAINS 'gas'")), some("gas oil"));
    assert_eq!(terms(two), None, "c begins with the instance");
    assert_eq!(terms(&format!("{two} WHEN a CONTAINS 'gas' AND b CONTAINS 'tin'")), some("gas oil"));
    assert_eq!(terms(&format!("{two} WHEN a CONTAINS 'gas' OR b CONTAINS 'tin'")), None);
    assert_eq!(terms(&format!("{two} WHEN b CONTAINS 'tin'")), None);
    assert_eq!(terms(&format!("{two} WITHIN 1 DAY WHERE a CONTAINS 'oil'")), None, "c may be missed");
    let value = |text: &str| {
        plan(&format!("QUERY q SELECT value AS a FROM source 1 ON CHANGE WHERE {text}")).trigger_terms()
    };
    assert!(value("a CONTAINS 'eur'").is_some());
    assert_eq!(value("a CONTAINS 'eur' AND a RISES"), None, "it has to know the one before");
    let clock = plan("QUERY q SELECT item AS a FROM source 1 EVERY 1 HOUR WHERE a CONTAINS 'oil'");
    assert_eq!(clock.trigger_terms(), None);
}

proptest! {
    /// With the index as without: what it passes over would have ended at once, and silently.
    #[test]
    fn what_has_no_term_of_the_trigger_ends_at_once_with_nothing_to_tell(
        condition in trees::predicate(&["part_0"], &[]),
        others in vec(trees::predicate(&["part_0", "part_2"], &["part_1"]), 0..3),
        is_alone in any::<bool>(),
        texts in vec(trees::words_of_texts(), 0..3),
    ) {
        let mut text = "QUERY q SELECT item AS part_0 FROM source 1 ON CHANGE\n".to_owned();
        if is_alone {
            write!(text, "WHERE {condition}").unwrap();
        } else {
            writeln!(text, "SELECT value AS part_1 FROM source 2 WHEN {condition}").unwrap();
            for (number, other) in (2..).zip(others) {
                let is_of_trigger = other.names().iter().all(|name| *name == "part_0");
                let other = if is_of_trigger { other } else { condition.clone() };
                writeln!(text, "SELECT item AS part_{number} FROM source 3 WHEN {other}").unwrap();
            }
        }
        let plan = plan(&text);
        let (mut instance, _) = plan.begin(at(0));
        let mut captures = Captures::new();
        captures.insert("part_0", texts.iter().map(|(title, text)| {
            Value { title: Some(title), text, author: Some(title), ..Value::default() }
        }).collect());
        let step = instance.captured(&plan, 0, &captures, at(1));
        if let Some(terms) = plan.trigger_terms() {
            let mut index = TermIndex::default();
            index.insert((), &terms);
            let all: Vec<String> = texts.iter().flat_map(|(title, text)| words(title).chain(words(text))).collect();
            if index.concerned(all.iter().map(String::as_str)).is_empty() {
                let is_silent = matches!(step.outcome, Some(Outcome::Filtered | Outcome::FellAway));
                prop_assert!(is_silent, "{text} ends with {:?}", step.outcome);
            }
        }
    }

    #[test]
    fn any_instance_ends_once_and_wants_each_part_at_most_once(
        queries in trees::queries(),
        start in 0..1_000_000_000_i64,
        choices in vec((any::<prop::sample::Index>(), prop::bool::weighted(0.8), trees::words_of_texts()), 40),
    ) {
        for query in &queries {
            let Some(plan) = QueryPlan::new(query, at(start)) else { continue };
            if let Some(next) = plan.next_instance(at(start)) {
                prop_assert!(next > at(start) && plan.is_open(next));
            }
            let (mut instance, mut open) = plan.begin(at(start));
            let mut wanted: Vec<usize> = open.iter().map(|interval| interval.select).collect();
            prop_assert_eq!(wanted.first(), Some(&0), "the trigger comes first");
            let mut captures = Captures::new();
            let mut now = at(start);
            for (choice, is_captured, (title, text)) in &choices {
                if instance.outcome().is_some() {
                    break;
                }
                prop_assert!(!open.is_empty(), "nothing is open, and it has not ended");
                prop_assert!((1..=wanted.len()).contains(&instance.need(&plan)));
                let select = open.swap_remove(choice.index(open.len())).select;
                // It goes on after a restart.
                let written = serde_json::to_string(&instance).unwrap();
                instance = serde_json::from_str(&written).unwrap();
                now = now.plus(Duration::from_secs(7));
                let step = if *is_captured {
                    let value = Value { title: Some(title), text, number: Some(5.0), ..Value::default() };
                    captures.insert(&plan.selects()[select].name, vec![value]);
                    instance.captured(&plan, select, &captures, now)
                } else {
                    instance.missed(&plan, select, &captures, now)
                };
                prop_assert!(!instance.is_open(select));
                for interval in &step.extend {
                    prop_assert!(!wanted.contains(&interval.select));
                    prop_assert!(interval.start >= now && interval.finish.is_none_or(|finish| finish >= interval.start));
                    wanted.push(interval.select);
                }
                prop_assert_eq!(step.outcome, instance.outcome());
                prop_assert!(step.outcome.is_none() || step.extend.is_empty());
                open.extend(step.extend);
            }
            prop_assert!(instance.outcome().is_some());
        }
    }
}
