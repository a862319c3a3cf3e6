//! Trees as the parser makes them: any of these has to survive being written and read.

use std::time::Duration;

use dunlin_core::Time;
use dunlin_query::{
    Amount, Body, Comparison, Direction, End, Field, From, Length, Literal, Need, Operand, Predicate, Query,
    Select, SelectBlock, Start, Test, TimesOfDay, Watch, What, parse,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Texts that a text in quotes may be.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just("it's".to_owned()), Just("-- no ''comment''".to_owned()), "[a-zé'%\\t\u{202e}]{0,12}x"]
}

/// A title and a text of few different words, so that predicates often hold.
pub(crate) fn words_of_texts() -> impl Strategy<Value = (String, String)> {
    let words = || {
        vec(select(vec!["oil", "Öl", "OIL-price", "turmoil", "up", "5%", "ça"]), 0..4)
            .prop_map(|words| words.join(" "))
    };
    (words(), words())
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![(0..20_u32).prop_map(f64::from), (-1e9..1e9_f64), Just(0.1), Just(-1e-7)]
}

fn positive() -> impl Strategy<Value = f64> {
    prop_oneof![(1..200_u32).prop_map(f64::from), (1e-6..1e6_f64)]
}

fn duration() -> impl Strategy<Value = Duration> {
    let unit = select(vec![1, 60, 3600, 86_400]);
    (1..300_u64, unit).prop_map(|(n, unit)| Duration::from_secs(n * unit))
}

fn date() -> impl Strategy<Value = Time> {
    (0..250_000_000_000_i64, select(vec![1, 60, 86_400]))
        .prop_map(|(second, unit)| Time::from_seconds(second / unit * unit))
}

/// Phrases and patterns have no public constructor: they are read.
fn read_test(written: &str) -> Test {
    let query = format!("QUERY q SELECT item AS a FROM source 1 ON CHANGE WHERE a {written}");
    match parse(&query).unwrap().remove(0).filter {
        Some(Predicate::Test(_, test)) => test,
        other => panic!("{other:?}"),
    }
}

fn text_test() -> impl Strategy<Value = Test> {
    let phrase = select(vec!["oil", "oil price", "%oil%", "öl%", "%up", "%o%l%", "it''s", "5% %"]);
    let pattern = select(vec!["(?i)oil|gas", r"\d+''?"]);
    prop_oneof![
        4 => phrase.prop_map(|phrase| read_test(&format!("CONTAINS '{phrase}'"))),
        1 => pattern.prop_map(|pattern| read_test(&format!("MATCHES '{pattern}'"))),
        1 => (select(vec![Comparison::Equal, Comparison::NotEqual]), text()).prop_map(|(comparison, text)| {
            Test::Compares(comparison, Literal::Text(text))
        }),
    ]
}

fn value_test() -> impl Strategy<Value = Test> {
    let amount = prop_oneof![positive().prop_map(Amount::Absolute), positive().prop_map(Amount::Percent)];
    let direction = select(vec![Direction::Rises, Direction::Drops, Direction::Moves]);
    prop_oneof![
        text_test(),
        (select(Comparison::ALL.to_vec()), number())
            .prop_map(|(comparison, number)| { Test::Compares(comparison, Literal::Number(number)) }),
        (direction, option::of(amount)).prop_map(|(direction, amount)| Test::Moves(direction, amount)),
        Just(Test::Changes),
    ]
}

fn question(items: &[&str], values: &[&str]) -> BoxedStrategy<Predicate> {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let mut kinds: Vec<BoxedStrategy<Predicate>> = Vec::new();
    let asked = |(name, field, test)| Predicate::Test(Operand { name, field }, test);
    if !items.is_empty() {
        let fields = [None, Some(Field::Title), Some(Field::Link), Some(Field::Author), Some(Field::Text)];
        kinds.push((select(owned(items)), select(fields.to_vec()), text_test()).prop_map(asked).boxed());
        let dated = (select(Comparison::ALL.to_vec()), date())
            .prop_map(|(comparison, date)| Test::Compares(comparison, Literal::Date(date)));
        kinds.push((select(owned(items)), Just(Some(Field::Published)), dated).prop_map(asked).boxed());
    }
    if !values.is_empty() {
        let fields = [None, Some(Field::Value), Some(Field::Text)];
        kinds.push((select(owned(values)), select(fields.to_vec()), value_test()).prop_map(asked).boxed());
    }
    proptest::strategy::Union::new(kinds).boxed()
}

/// A predicate over items and values of these names.
pub(crate) fn predicate(items: &[&str], values: &[&str]) -> BoxedStrategy<Predicate> {
    let leaf = question(items, values);
    leaf.prop_recursive(5, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 2..4).prop_map(Predicate::and),
            vec(inner.clone(), 2..4).prop_map(Predicate::or),
            inner.prop_map(|inner| Predicate::Not(Box::new(inner))),
        ]
    })
    .boxed()
}

fn start() -> BoxedStrategy<Start> {
    let times = (vec(0..1440_u16, 1..4), -840..=840_i16).prop_map(|(mut minutes, offset)| {
        minutes.sort_unstable();
        minutes.dedup();
        TimesOfDay { minutes, offset }
    });
    prop_oneof![duration().prop_map(Start::Every), times.prop_map(Start::At), Just(Start::OnChange)].boxed()
}

/// A select that may come n-th, of items if n is even and else of values.
fn nth_select(n: usize) -> BoxedStrategy<Select> {
    let name = |n: usize| format!("part_{n}");
    let (items, values): (Vec<usize>, Vec<usize>) = (0..n).partition(|n| n.is_multiple_of(2));
    let (items, values): (Vec<String>, Vec<String>) =
        (items.into_iter().map(name).collect(), values.into_iter().map(name).collect());
    let [items, values] = [&items, &values].map(|names| names.iter().map(String::as_str).collect::<Vec<_>>());
    let start = if n == 0 {
        start().prop_map(Some).boxed()
    } else {
        option::of(prop_oneof![start(), predicate(&items, &values).prop_map(Start::When)]).boxed()
    };
    let url = select(vec!["http://a.example/?q='it'", "https://b.example"]).prop_map(str::to_owned);
    let from = prop_oneof![
        url.clone().prop_map(From::Page),
        url.clone().prop_map(From::Json),
        any::<u64>().prop_map(From::SourceId),
        text().prop_map(From::SourceName),
        url.prop_map(From::Feed),
    ];
    let length = option::of(prop_oneof![duration().prop_map(Length::Within), Just(Length::Overwritten)]);
    let what = if n.is_multiple_of(2) { What::Item } else { What::Value };
    (from, option::of(text()), start, length)
        .prop_map(move |(from, pick, start, length)| {
            let from = match from {
                From::Feed(url) if what == What::Value => From::Page(url),
                from => from,
            };
            let pick = pick.filter(|_| matches!(from, From::Page(_) | From::Json(_)));
            let length = match (&start, length) {
                (Some(Start::Every(every)), Some(Length::Within(within))) => {
                    Some(Length::Within(within.min(*every)))
                }
                (_, length) => length,
            };
            Select { what, name: name(n), from, pick, start, length }
        })
        .boxed()
}

fn block() -> BoxedStrategy<SelectBlock> {
    let selects = |n: usize| (0..n).map(nth_select).collect::<Vec<_>>();
    (1..5_usize)
        .prop_flat_map(move |n| (selects(n), option::of(1..=n)))
        .prop_map(|(selects, need)| SelectBlock { need: need.map_or(Need::All, Need::Any), selects })
        .boxed()
}

fn query() -> BoxedStrategy<Query> {
    let watch =
        (text(), select(vec![1.0, 0.25, 0.001])).prop_map(|(words, importance)| Watch { words, importance });
    let body = prop_oneof![
        4 => block().prop_map(Body::Select),
        1 => vec(watch, 1..4).prop_map(Body::Watch),
    ];
    let end = prop_oneof![date().prop_map(End::Until), duration().prop_map(End::For)];
    let weight = prop_oneof![Just(1.0), positive()];
    let filters = (option::of(predicate(&["part_0"], &[])), option::of(predicate(&["item"], &[])));
    (body, filters, weight, option::of(end))
        .prop_map(|(body, (of_selects, of_finds), weight, end)| {
            let filter = if matches!(body, Body::Select(_)) { of_selects } else { of_finds };
            Query { name: String::new(), body, filter, weight, end }
        })
        .boxed()
}

/// Queries with names of their own.
pub(crate) fn queries() -> impl Strategy<Value = Vec<Query>> {
    vec(query(), 1..4).prop_map(|mut queries| {
        for (n, query) in queries.iter_mut().enumerate() {
            query.name = format!("query_{n}");
        }
        queries
    })
}
