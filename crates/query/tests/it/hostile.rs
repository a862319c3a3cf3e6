//! Texts built to keep a parser busy: each is refused at a limit, and no limit depends on how long a machine takes.

use std::fmt::Write as _;

use dunlin_query::limits::{
    MAX_DEPTH, MAX_ERRORS, MAX_PATTERNS, MAX_PREDICATE_NODES, MAX_QUERIES, MAX_SELECTS, MAX_TEXT,
};
use dunlin_query::{Refused, format, parse};

const START: &str = "QUERY q SELECT item AS a FROM source 1 ON CHANGE WHERE ";

fn messages(refused: &Refused) -> Vec<&str> {
    refused.0.iter().map(|error| error.message.as_str()).collect()
}

fn refused(text: &str) -> Vec<String> {
    let refused = parse(text).unwrap_err();
    let _ = refused.render(text);
    messages(&refused).into_iter().map(str::to_owned).collect()
}

#[test]
fn megabytes_are_not_read() {
    for piece in ["(", "é", "'", "QUERY q ", "\u{0}", "a OR ", "-- x\n"] {
        let text = piece.repeat(4_000_000 / piece.len());
        let errors = refused(&text);
        assert_eq!(errors, [format!("the text has {} bytes, and {MAX_TEXT} is the most", text.len())]);
    }
}

#[test]
fn depth_is_limited_and_what_is_allowed_is_read_and_written() {
    let nested = |before: &str, after: &str, n: usize| {
        format!("{START}{}a CONTAINS 'x'{}", before.repeat(n), after.repeat(n))
    };
    for (before, after) in [("(", ")"), ("NOT ", ""), ("NOT (", ")")] {
        let most = MAX_DEPTH / if before == "NOT (" { 2 } else { 1 };
        let queries = parse(&nested(before, after, most)).unwrap();
        assert_eq!(parse(&format(&queries)).unwrap(), queries);
        for n in [most + 1, 10_000] {
            assert_eq!(
                refused(&nested(before, after, n)),
                [format!("parentheses and NOTs nest more than {MAX_DEPTH} deep")]
            );
        }
    }
    // Open parentheses to the limit of the text.
    let text = format!("{START}{}", "(".repeat(MAX_TEXT - START.len()));
    assert_eq!(refused(&text).len(), 1);
}

#[test]
fn a_hundred_thousand_alternatives_are_refused() {
    let alternatives = |n: usize| vec!["a CONTAINS 'x'"; n].join(" OR ");
    assert_eq!(refused(&format!("{START}{}", alternatives(100_000))).len(), 1);
    let allowed = MAX_PREDICATE_NODES.div_ceil(2);
    assert!(parse(&format!("{START}{}", alternatives(allowed))).is_ok());
    let errors = refused(&format!("{START}{}", alternatives(allowed + 2)));
    assert_eq!(errors, [format!("more than {MAX_PREDICATE_NODES} tests and operators in one query")]);
    // In one regular expression.
    let pattern = vec!["x"; 100_000].join("|");
    assert_eq!(refused(&format!("{START}a MATCHES '{pattern}'")).len(), 1);
    let pattern = |n: usize| vec!["x"; n].join("|");
    let errors = refused(&format!("{START}a MATCHES '{}'", pattern(5_000)));
    assert_eq!(errors, ["the text in quotes has 9999 bytes, and 2000 is the most"]);
    let errors = refused(&format!("{START}a MATCHES '{}'", pattern(600)));
    assert_eq!(errors, ["cannot read the regular expression: it has 1199 bytes, and 1000 is the most"]);
}

#[test]
fn regular_expressions_are_limited_in_size_depth_and_number() {
    for pattern in [r"\pL{1000}{1000}", "((((a{99}){99}){99}){99})", "(?:x{500}){500}"] {
        assert_eq!(refused(&format!("{START}a MATCHES '{pattern}'")).len(), 1, "{pattern}");
    }
    let deep = format!("{}a{}", "(".repeat(400), ")".repeat(400));
    assert_eq!(refused(&format!("{START}a MATCHES '{deep}'")).len(), 1);
    let many = vec!["a MATCHES 'x'"; MAX_PATTERNS + 50].join(" OR ");
    let errors = refused(&format!("{START}{many}"));
    assert_eq!(errors, [format!("more than {MAX_PATTERNS} regular expressions in one text")]);
    // The limit is one of the whole text: many queries do not lift it.
    let mut text = String::new();
    for n in 0..MAX_PATTERNS + 50 {
        let _ = writeln!(text, "QUERY q{n} WATCH 'x' IMPORTANCE 1 WHERE item MATCHES 'x'");
    }
    assert_eq!(refused(&text).len(), 1);
}

#[test]
fn selects_and_queries_are_counted() {
    let selects = |n: usize| {
        (0..n).fold("QUERY q".to_owned(), |text, n| {
            format!("{text} SELECT item AS a{n} FROM source {n} ON CHANGE")
        })
    };
    assert!(parse(&selects(MAX_SELECTS)).is_ok());
    assert_eq!(
        refused(&selects(MAX_SELECTS + 100)),
        [format!("more than {MAX_SELECTS} SELECTs in one query")]
    );
    let queries =
        |n: usize| (0..n).fold(String::new(), |text, n| format!("{text}QUERY q{n} WATCH 'x' IMPORTANCE 1\n"));
    assert_eq!(parse(&queries(MAX_QUERIES)).unwrap().len(), MAX_QUERIES);
    assert_eq!(
        refused(&queries(MAX_QUERIES + 100)),
        [format!("more than {MAX_QUERIES} queries in one text")]
    );
}

#[test]
fn errors_are_counted() {
    for piece in [
        "QUERY ",
        "QUERY q ",
        "QUERY q SELECT ",
        "QUERY q WATCH ",
        "SELECT ",
        "'\n",
        "\u{202e}",
        "QUERY q WEIGHT ",
    ] {
        let text = piece.repeat(MAX_TEXT / piece.len());
        assert!((1..=MAX_ERRORS).contains(&refused(&text).len()), "{piece}");
    }
    // Clauses, options and names of one query, each of them wrong.
    for piece in [
        "WEIGHT 0 ",
        "WITHIN 0 s ",
        "PICK 1 ",
        "WHERE b CHANGES ",
        "SELECT item AS a FROM source 1 ",
        "FOR x ",
    ] {
        let text = format!("QUERY q SELECT item AS a FROM source 1 ON CHANGE {}", piece.repeat(1000));
        assert_eq!(refused(&text).len(), MAX_ERRORS, "{piece}");
    }
}

#[test]
fn odd_letters_are_refused_where_names_stand_and_kept_where_texts_stand() {
    for name in ["ñandú", "ｓｅｌｅｃｔ", "\u{feff}q", "q\u{200b}", "💥", "q\u{0}"] {
        assert!(!refused(&format!("QUERY {name} WATCH 'x' IMPORTANCE 1")).is_empty(), "{name}");
        let text = format!("QUERY q WATCH 'a {}' IMPORTANCE 1", name.replace('q', ""));
        let queries = parse(&text).unwrap();
        assert_eq!(parse(&format(&queries)).unwrap(), queries);
    }
    // White space of any kind separates.
    assert!(parse("QUERY\u{a0}q\u{2003}WATCH\u{3000}'x'\u{85}IMPORTANCE\u{2028}1").is_ok());
}
