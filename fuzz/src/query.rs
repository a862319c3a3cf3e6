//! Queries: any text is read or refused within its limits, what is read can be written and read again, and predicates
//! and plans take whatever is captured.

use dunlin_core::Time;
use dunlin_query::limits::MAX_ERRORS;
use dunlin_query::plan::QueryPlan;
use dunlin_query::{Before, Captures, Predicate, Query, Term, Truth, Value, format, parse, words};

use crate::halves;

/// A text of queries, and behind a zero byte what is captured for them.
pub fn query(bytes: &[u8]) {
    let (text, captured) = halves(bytes, b"\0");
    let (text, captured) = (String::from_utf8_lossy(text), String::from_utf8_lossy(captured));
    let queries = match parse(&text) {
        Ok(queries) => queries,
        Err(refused) => {
            assert!((1..=MAX_ERRORS).contains(&refused.0.len()));
            for error in &refused.0 {
                assert!(text.get(error.span.start..error.span.end).is_some());
                let shown = error.render(&text);
                assert!(shown.chars().all(|letter| letter == '\n' || !letter.is_control()));
            }
            return;
        }
    };
    let written = format(&queries);
    // What was written with short units and signs may be longer than a text may be.
    if written.len() <= dunlin_query::limits::MAX_TEXT {
        let read = parse(&written).expect("it was written");
        assert_eq!(read, queries);
        assert_eq!(format(&read), written);
    }
    for query in &queries {
        if let Some(filter) = &query.filter {
            required_terms_are_there(filter, &captured);
        }
        plan_ends(query, &captured);
    }
}

fn value(text: &str) -> Value<'_> {
    let before = Some(Before { text: "1", number: Some(1.0) });
    Value {
        text,
        number: text.trim().parse().ok(),
        title: Some(text),
        link: Some(text),
        author: Some(text),
        published: None,
        before,
    }
}

fn required_terms_are_there(filter: &Predicate, found: &str) {
    let mut captures = Captures::new();
    for name in filter.names() {
        captures.insert(name, vec![value(found)]);
    }
    if let (Truth::True, Some(terms)) = (filter.evaluate(&captures), filter.required_terms()) {
        let is_there = |term: &Term| {
            words(found).any(|word| match term {
                Term::Word(text) => word == *text,
                Term::Part(text) => word.contains(text.as_str()),
            })
        };
        assert!(terms.iter().any(is_there), "{filter} without {terms:?}");
    }
}

/// Every instance ends when all its intervals are captured, and none wants a part twice.
fn plan_ends(query: &Query, found: &str) {
    let start = Time::from_seconds(1_800_000_000);
    let Some(plan) = QueryPlan::new(query, start) else {
        return;
    };
    assert!(plan.next_instance(start).is_none_or(|next| next > start && plan.is_open(next)));
    let (mut instance, mut open) = plan.begin(start);
    let mut captures = Captures::new();
    let mut n_wanted = open.len();
    while let Some(interval) = open.pop() {
        assert!(interval.start >= start && interval.finish.is_none_or(|finish| finish >= interval.start));
        captures.insert(&plan.selects()[interval.select].name, vec![value(found)]);
        let step = instance.captured(&plan, interval.select, &captures, interval.start);
        n_wanted += step.extend.len();
        open.extend(step.extend);
        if step.outcome.is_some() {
            break;
        }
    }
    assert!(instance.outcome().is_some() && n_wanted <= plan.selects().len());
}
