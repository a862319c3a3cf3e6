//! What holds for any text, any query and any capture.

use dunlin_query::limits::MAX_ERRORS;
use dunlin_query::{Captures, Term, Truth, Value, format, parse, words};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::trees;

/// Texts made of pieces of the language, which get further than random letters.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "QUERY",
        "q",
        "SELECT",
        "item",
        "value",
        "AS",
        "post",
        "FROM",
        "feed",
        "page",
        "source",
        "7",
        "'http://a.example/'",
        "PICK",
        "'.b'",
        "EVERY",
        "10",
        "MINUTES",
        "m",
        "AT",
        "09:30",
        ",",
        "IN",
        "'+02:00'",
        "ON",
        "CHANGE",
        "WHEN",
        "WITHIN",
        "OVERWRITTEN",
        "WATCH",
        "'oil'",
        "IMPORTANCE",
        "0.5",
        "WHERE",
        "WEIGHT",
        "UNTIL",
        "2027-01-01",
        "FOR",
        "(",
        ")",
        "NOT",
        "AND",
        "OR",
        ".",
        "title",
        "published",
        "CONTAINS",
        "'%x%'",
        "MATCHES",
        "'(x'",
        "<",
        ">=",
        "RISES",
        "BY",
        "%",
        "CHANGES",
        "ALL",
        "ANY",
        "OF",
        "'",
        "--",
        "\n",
        "é",
        "\u{202e}",
        "\"",
    ]);
    vec(piece, 0..60).prop_map(|pieces| pieces.join(" "))
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_with_places_inside_it(text in prop_oneof![pieces(), "\\PC{0,80}", any::<String>()]) {
        match parse(&text) {
            Ok(queries) => {
                let written = format(&queries);
                prop_assert_eq!(parse(&written).unwrap(), queries);
            }
            Err(refused) => {
                prop_assert!((1..=MAX_ERRORS).contains(&refused.0.len()));
                prop_assert!(refused.0.is_sorted_by_key(|error| (error.line, error.column)));
                for error in &refused.0 {
                    prop_assert!(text.get(error.span.start..error.span.end).is_some(), "{:?}", error);
                    let line = text.split('\n').nth(error.line - 1).expect("the line is there");
                    prop_assert!((1..=line.chars().count() + 1).contains(&error.column), "{:?}", error);
                    let shown = error.render(&text);
                    prop_assert!(shown.chars().all(|letter| letter == '\n' || !letter.is_control()));
                }
            }
        }
    }

    #[test]
    fn a_tree_is_read_from_what_is_written_of_it(queries in trees::queries()) {
        let written = format(&queries);
        let read = parse(&written).map_err(|refused| TestCaseError::fail(refused.render(&written)))?;
        prop_assert_eq!(&read, &queries);
        prop_assert_eq!(format(&read), written);
    }

    #[test]
    fn case_comments_and_line_breaks_mean_nothing(queries in trees::queries()) {
        let written = format(&queries);
        let spread = written.replace('\n', "   -- it's (a) QUERY\r\n");
        prop_assert_eq!(parse(&spread).unwrap(), queries);
    }

    #[test]
    fn what_holds_has_a_required_term(predicate in trees::predicate(&["a", "b"], &["c"]), texts in vec(trees::words_of_texts(), 1..4)) {
        let mut captures = Captures::new();
        for name in ["a", "b", "c"] {
            captures.insert(name, texts.iter().map(|(title, text)| Value {
                title: (name != "c").then_some(title.as_str()),
                author: Some(title),
                text,
                number: Some(text.len() as f64),
                ..Value::default()
            }).collect());
        }
        if let (Truth::True, Some(terms)) = (predicate.evaluate(&captures), predicate.required_terms()) {
            let mut all = texts.iter().flat_map(|(title, text)| words(title).chain(words(text)));
            let occurs = all.any(|word| terms.iter().any(|term| match term {
                Term::Word(text) => *text == word,
                Term::Part(text) => word.contains(text.as_str()),
            }));
            prop_assert!(occurs, "{} without {:?}", predicate, terms);
        }
    }

    #[test]
    fn more_captures_never_take_back_what_was_known(predicate in trees::predicate(&["a", "b"], &["c"]), texts in vec(trees::words_of_texts(), 0..3), known in 0..3_usize) {
        let mut captures = Captures::new();
        let mut before = Truth::Unknown;
        for (n, name) in ["a", "b", "c"].into_iter().enumerate() {
            if n == known {
                before = predicate.evaluate(&captures);
            }
            captures.insert(name, texts.iter().map(|(title, text)| Value { title: Some(title), text, ..Value::default() }).collect());
        }
        if before != Truth::Unknown {
            prop_assert_eq!(predicate.evaluate(&captures), before);
        }
    }
}
