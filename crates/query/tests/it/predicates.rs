//! What holds of what was captured.

use dunlin_core::Time;
use dunlin_query::{Before, Body, Captures, Predicate, Term, Truth, Value, parse};

use Truth::{False, True, Unknown};

/// A predicate over the items `post` and `other` and the value `price`.
fn predicate(text: &str) -> Predicate {
    let text = format!(
        "QUERY q SELECT item AS post FROM source 1 ON CHANGE SELECT item AS other FROM source 2 SELECT value AS price FROM \
         source 3 WHERE {text}"
    );
    let query = parse(&text).unwrap_or_else(|refused| panic!("{}", refused.render(&text))).remove(0);
    assert!(matches!(query.body, Body::Select(_)));
    query.filter.unwrap()
}

/// What comes of a predicate over two posts and a price of 95 that was 100.
fn evaluated(text: &str) -> Truth {
    let mut captures = Captures::new();
    captures.insert(
        "post",
        vec![
            Value {
                title: Some("Crude oil rises"),
                text: "A barrel costs $90, they say.",
                author: Some("Mish"),
                published: Some(Time::from_seconds(1_800_000_000)),
                ..Value::default()
            },
            Value {
                title: Some("Gold"),
                text: "Nothing new.",
                link: Some("https://a.example/gold"),
                ..Value::default()
            },
        ],
    );
    let before = Some(Before { text: "100.00", number: Some(100.0) });
    captures.insert("price", vec![Value { text: "95.00", number: Some(95.0), before, ..Value::default() }]);
    predicate(text).evaluate(&captures)
}

#[test]
fn texts() {
    assert_eq!(evaluated("post CONTAINS 'OIL'"), True);
    assert_eq!(evaluated("post.text CONTAINS 'oil'"), False);
    assert_eq!(evaluated("post.title CONTAINS 'oil rises'"), True);
    assert_eq!(evaluated("post CONTAINS '%$90%'"), True);
    assert_eq!(evaluated("post CONTAINS 'gold%'"), True);
    assert_eq!(evaluated("post MATCHES '[$]\\d+'"), True);
    assert_eq!(evaluated("post MATCHES 'OIL'"), False);
    assert_eq!(evaluated("post.title = ' gold '"), True);
    assert_eq!(evaluated("post.link CONTAINS 'a.example'"), True);
}

#[test]
fn numbers_and_dates() {
    assert_eq!(evaluated("price < 100 AND price >= 95 AND price != 94.5"), True);
    assert_eq!(evaluated("price = 95.5"), False);
    assert_eq!(evaluated("post.published > '2027-01-15'"), True);
    assert_eq!(evaluated("post.published > 2027-01-16"), Unknown, "one post has no date");
}

#[test]
fn against_the_capture_before() {
    assert_eq!(evaluated("price DROPS"), True);
    assert_eq!(evaluated("price DROPS BY 5%"), True);
    assert_eq!(evaluated("price DROPS BY 5.01"), False);
    assert_eq!(evaluated("price MOVES BY 5"), True);
    assert_eq!(evaluated("price RISES"), False);
    assert_eq!(evaluated("price CHANGES"), True);
    let mut captures = Captures::new();
    captures.insert("price", vec![Value { text: "95", number: Some(95.0), ..Value::default() }]);
    assert_eq!(predicate("price CHANGES OR price MOVES").evaluate(&captures), Unknown, "nothing was before");
    let before = Some(Before { text: "0.3", number: Some(0.3) });
    captures.insert("price", vec![Value { text: "0.2", number: Some(0.2), before, ..Value::default() }]);
    assert_eq!(
        predicate("price DROPS BY 0.1").evaluate(&captures),
        True,
        "as people count, not as floats do"
    );
}

#[test]
fn a_predicate_about_one_select_has_to_hold_for_one_item_as_a_whole() {
    assert_eq!(evaluated("post CONTAINS 'oil' AND post.author = 'mish'"), True);
    assert_eq!(evaluated("post CONTAINS 'gold' AND post CONTAINS 'oil'"), False);
    assert_eq!(evaluated("NOT post CONTAINS 'oil'"), True, "the other post");
    assert_eq!(evaluated("price < 100 AND post CONTAINS 'gold' AND post CONTAINS 'oil'"), False);
    assert_eq!(evaluated("price < 100 AND NOT (post CONTAINS 'gold' OR post CONTAINS 'nothing')"), True);
    let mut captures = Captures::new();
    captures.insert("post", Vec::new());
    assert_eq!(predicate("post CONTAINS 'x'").evaluate(&captures), False);
    assert_eq!(predicate("NOT post CONTAINS 'x'").evaluate(&captures), False, "there is no post");
}

#[test]
fn what_is_not_there_is_neither_so_nor_not_so() {
    assert_eq!(evaluated("other CONTAINS 'x'"), Unknown);
    assert_eq!(evaluated("NOT other CONTAINS 'x'"), Unknown);
    assert_eq!(evaluated("other CONTAINS 'x' OR price = 95"), True);
    assert_eq!(evaluated("other CONTAINS 'x' AND price = 94"), False);
    assert_eq!(
        evaluated("NOT post.author = 'mish'"),
        Unknown,
        "one is by Mish, and of the other nobody says"
    );
}

#[test]
fn required_terms_are_the_rarest_choice_that_is_sure() {
    let terms = |text: &str| predicate(text).required_terms();
    let word = |text: &str| Term::Word(text.to_owned());
    assert_eq!(terms("post CONTAINS 'Crude oil'"), Some(vec![word("crude")]));
    assert_eq!(terms("post CONTAINS '%the oil%'"), Some(vec![Term::Part("the".to_owned())]));
    assert_eq!(terms("post CONTAINS 'oil' OR post CONTAINS 'gas'"), Some(vec![word("gas"), word("oil")]));
    assert_eq!(
        terms("(post CONTAINS 'oil' OR post CONTAINS 'gas') AND post CONTAINS 'up'"),
        Some(vec![word("up")])
    );
    assert_eq!(terms("post CONTAINS 'oil' AND price < 5"), Some(vec![word("oil")]));
    assert_eq!(terms("post.title = 'Gold falls'"), Some(vec![word("falls")]));
    for text in [
        "post CONTAINS 'oil' OR price < 5",
        "NOT post CONTAINS 'oil'",
        "post MATCHES 'oil'",
        "post CONTAINS '%$%'",
    ] {
        assert_eq!(terms(text), None, "{text}");
    }
}
