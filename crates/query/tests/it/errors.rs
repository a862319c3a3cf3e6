//! Each kind of broken query, with the place and the words of its error. The rendered form is in docs/query-language.md.

use dunlin_query::{Claim, Objection, first_comment, parse, parse_with};

/// The errors of a text as `line:column message (hint)`.
fn errors(text: &str) -> Vec<String> {
    let refused = parse(text).unwrap_err();
    let hint = |hint: &Option<String>| hint.as_ref().map_or(String::new(), |hint| format!(" ({hint})"));
    refused
        .0
        .iter()
        .map(|error| format!("{}:{} {}{}", error.line, error.column, error.message, hint(&error.hint)))
        .collect()
}

/// The only error of a query that begins with a good SELECT named `a` of a feed and goes on like this.
fn after_a_feed(rest: &str) -> String {
    only_error(&format!("QUERY q SELECT item AS a FROM feed 'http://a.example/' EVERY 1 HOUR\n{rest}"))
}

fn only_error(text: &str) -> String {
    let errors = errors(text);
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors.into_iter().next().unwrap()
}

#[test]
fn every_error_of_a_text_is_reported_at_once() {
    let text = "\
QUERY one
  SELECT item AS post FROM feed 'ftp://a.example/' EVRY 10 MINUTES
  SELECT value AS price FROM page 'https://b.example/' PICK '' WHEN pots CONTAINS 'oil' WITHIN 10 PARSECS
  WEIGHT 0
QUERY two
  SELECT item post FROM feed 'https://a.example/'
  UNTIL tomorrow
QUERY three WATCH 'x' IMPORTANCE 2";
    assert_eq!(
        errors(text),
        [
            "2:33 `ftp://a.example/` is no address that can be watched: expected http or https, not ftp",
            "2:52 expected a clause of the SELECT, an option, SELECT or QUERY, found `EVRY` (did you mean EVERY?)",
            "3:61 PICK is empty",
            "3:69 no select is named `pots` (did you mean post?)",
            "3:99 expected SECONDS, MINUTES, HOURS, DAYS or WEEKS, found `PARSECS`",
            "4:10 WEIGHT 0: expected a number above 0 and at most 1000000",
            "6:15 expected AS, found `post`",
            "7:9 expected a date, such as 2027-01-31, found `tomorrow`",
            "8:34 IMPORTANCE 2: expected a number above 0 and at most 1",
        ]
    );
}

#[test]
fn the_shape_of_a_query() {
    assert_eq!(only_error(""), "1:1 expected QUERY, found the end of the text");
    assert_eq!(only_error("QUERY"), "1:6 expected a name for the query, found the end of the text");
    assert_eq!(only_error("QUERY select"), "1:7 `select` is a word of the language and cannot be a name");
    assert_eq!(only_error("QUERY q"), "1:8 expected SELECT or WATCH, found the end of the text");
    assert_eq!(
        only_error("QUERY q SELCT"),
        "1:9 expected SELECT or WATCH, found `SELCT` (did you mean SELECT?)"
    );
    assert_eq!(
        after_a_feed("SELECT item AS a FROM feed 'http://a.example/'"),
        "2:16 a select named `a` is there already"
    );
    assert_eq!(after_a_feed("WEIGHT 2 WEIGHT 3"), "2:10 WEIGHT is given twice");
    assert_eq!(
        after_a_feed("FOR 1 DAY UNTIL 2027-01-01"),
        "2:11 UNTIL and FOR both say when the query ends (keep one of them)"
    );
    assert_eq!(after_a_feed("QUERY q WATCH 'x' IMPORTANCE 1"), "2:7 a query named `q` is there already");
    assert_eq!(
        after_a_feed("WEIGHT 2 EVERY 1 HOUR"),
        "2:10 expected WHERE, WEIGHT, UNTIL, FOR or QUERY, found `EVERY` (each SELECT comes with all its clauses before \
         these, and a WATCH in a query of its own)"
    );
    assert_eq!(
        after_a_feed("WEIGHT 2 UNTILL 2027-01-01"),
        "2:10 expected WHERE, WEIGHT, UNTIL, FOR or QUERY, found `UNTILL` (did you mean UNTIL?)"
    );
    let any = "QUERY q ANY 3 OF SELECT item AS a FROM source 4 ON CHANGE SELECT item AS b FROM source 5";
    assert_eq!(only_error(any), "1:13 ANY 3 OF 2: expected a number from 1 to 2");
    assert_eq!(only_error(&any.replace("ANY 3", "ANY 0")), "1:13 ANY 0 OF 2: expected a number from 1 to 2");
    assert_eq!(only_error("QUERY q ALL SELECT"), "1:13 expected OF, found `SELECT`");
}

#[test]
fn triggers_intervals_and_times() {
    let select = |rest: &str| only_error(&format!("QUERY q SELECT item AS a FROM source 'x' {rest}"));
    assert_eq!(
        select(""),
        "1:9 the query has no trigger: its first SELECT does not say when it begins (add EVERY, AT or ON CHANGE to it)"
    );
    assert_eq!(
        select("WHEN a CONTAINS 'x'"),
        "1:42 the first SELECT is the trigger and cannot wait for a predicate (begin with the source whose news \
         decides, with EVERY, AT or ON CHANGE)"
    );
    assert_eq!(select("EVERY 0 s"), "1:48 a period of 0 SECONDS: expected 1 second to 366 days");
    assert_eq!(select("EVERY 53 w"), "1:48 a period of 53 WEEKS: expected 1 second to 366 days");
    assert_eq!(select("EVERY 0.5 s"), "1:48 a duration of 0.5 s: expected whole seconds, 0 or more");
    assert_eq!(
        select("EVERY 1 MINUTE WITHIN 90s"),
        "1:57 WITHIN 90 SECONDS is longer than EVERY 1 MINUTE, so that intervals of one source would overlap"
    );
    assert_eq!(
        select("ON CHANGE WITHIN 0 m"),
        "1:59 an interval of 0 SECONDS: expected 1 second to 366 days"
    );
    assert_eq!(select("EVERY 1 h AT 09:00"), "1:52 the start is given twice");
    assert_eq!(select("ON CHANGES"), "1:45 expected CHANGE, found `CHANGES` (did you mean CHANGE?)");
    assert_eq!(select("AT 24:00"), "1:45 `24:00` is no time of the day from 00:00 to 23:59");
    assert_eq!(
        select("AT 09:00 IN 'Europe/Rome'"),
        "1:54 `Europe/Rome` is no offset from UTC from -14:00 to +14:00 (names of time zones are not known here: write \
         the hours ahead of UTC, such as '+02:00')"
    );
    assert_eq!(
        select("ON CHANGE UNTIL 2027-02-30"),
        "1:58 `2027-02-30` is no date from 1970 to 9999, such as 2027-01-31 or 2027-01-31T18:00Z"
    );
    assert_eq!(
        select("ON CHANGE FOR 11 YEARS"),
        "1:59 expected SECONDS, MINUTES, HOURS, DAYS or WEEKS, found `YEARS`"
    );
    assert_eq!(select("ON CHANGE FOR 600 WEEKS"), "1:56 a life of 600 WEEKS: expected 1 second to 3660 days");
}

#[test]
fn sources_and_what_is_picked_of_them() {
    let from = |from: &str| only_error(&format!("QUERY q SELECT {from} ON CHANGE"));
    assert_eq!(from("things AS a FROM source 1"), "1:16 expected item or value, found `things`");
    assert_eq!(
        from("item AS a FROM fed 'x'"),
        "1:31 expected feed, page, json or source, found `fed` (did you mean feed?)"
    );
    assert_eq!(
        from("item AS a FROM 'http://a.example'"),
        "1:31 expected feed, page, json or source, found `'http://a.example'` (say what is there: feed, page or json, or \
         source for one that is watched)"
    );
    assert_eq!(
        from("value AS a FROM feed 'http://a.example'"),
        "1:32 a feed is read as items, not as values (write SELECT item, or name a page or JSON)"
    );
    assert_eq!(
        from("item AS a FROM feed 'http://a.example' PICK 'b'"),
        "1:55 PICK cannot be used with a feed (a feed has items; ask for their fields in a predicate)"
    );
    assert_eq!(
        from("item AS a FROM page 'a.example'"),
        "1:36 `a.example` is no address that can be watched: it does not begin with https:// or http://"
    );
    assert_eq!(from("item AS a FROM source -1"), "1:38 expected the number of a source, found `-1`");
    assert_eq!(
        from("item AS a FROM page \"http://a.example\""),
        "1:36 expected a URL in quotes, found `\"` (texts stand in single quotes: 'like this')"
    );
    assert_eq!(
        from("item AS a FROM page 'http://a.example\n"),
        "1:36 the text in quotes has no end on its line (write a quote inside as two: '')"
    );
}

#[test]
fn names_in_predicates() {
    let later = "SELECT item AS b FROM source 1 WHEN c CONTAINS 'x' SELECT item AS c FROM source 2";
    assert_eq!(after_a_feed(later), "2:37 `c` is selected later, and only earlier selects are known here");
    assert_eq!(
        after_a_feed("SELECT item AS b FROM source 1 WHEN b CONTAINS 'x'"),
        "2:37 `b` asks about itself"
    );
    assert_eq!(after_a_feed("WHERE A CONTAINS 'x'"), "2:7 no select is named `A` (did you mean a?)");
    assert_eq!(after_a_feed("WHERE other CONTAINS 'x'"), "2:7 no select is named `other` (known here: a)");
    assert_eq!(
        after_a_feed("WHERE a.titel CONTAINS 'x'"),
        "2:9 expected title, link, author, published, text or value, found `titel` (did you mean title?)"
    );
    assert_eq!(
        after_a_feed("WHERE a.value = 'x'"),
        "2:7 an item has no field `value` (an item has title, link, author, published and text)"
    );
    let watch = "QUERY q WATCH 'x' IMPORTANCE 1 WHERE post CONTAINS 'x'";
    assert_eq!(only_error(watch), "1:38 a WATCH has no selects; its finds are called `item`");
}

#[test]
fn tests_in_predicates() {
    assert_eq!(
        after_a_feed("WHERE a CONTAIN 'x'"),
        "2:9 expected CONTAINS, MATCHES, RISES, DROPS, MOVES, CHANGES or a comparison, found `CONTAIN` (did you mean CONTAINS?)"
    );
    assert_eq!(
        after_a_feed("WHERE a CONTAINS '$'"),
        "2:18 `$` has no word to look for (without %, only letters and digits count: write '%…%' to look for signs)"
    );
    assert_eq!(after_a_feed("WHERE a CONTAINS '%%'"), "2:18 `%%` would be in every text");
    assert_eq!(
        after_a_feed("WHERE a > 5"),
        "2:7 a is an item, and > asks about numbers (SELECT value, and PICK the number)"
    );
    assert_eq!(
        after_a_feed("WHERE a < '5'"),
        "2:11 texts are not ordered: after `<`, expected a number (write the number without quotes: < 5)"
    );
    assert_eq!(
        after_a_feed("WHERE a DROPS BY 5%"),
        "2:7 a is an item, and DROPS asks about values (items are new, and have no value before)"
    );
    assert_eq!(
        after_a_feed("WHERE a.published CONTAINS 'x'"),
        "2:7 a.published is a date, and CONTAINS asks about texts (compare a date: published > '2027-01-31')"
    );
    assert_eq!(
        after_a_feed("WHERE a.published > 'x'"),
        "2:21 `x` is no date from 1970 to 9999, such as 2027-01-31 or 2027-01-31T18:00Z"
    );
    assert_eq!(
        after_a_feed("WHERE (a CONTAINS 'x'"),
        "2:22 expected `)`, AND or OR, found the end of the text"
    );
    assert_eq!(
        after_a_feed("WHERE"),
        "2:6 expected the name of a select, NOT or `(`, found the end of the text"
    );
    let value =
        "QUERY q SELECT value AS a FROM page 'http://a.example/' PICK 'b' ON CHANGE WHERE a DROPS BY 0";
    assert_eq!(only_error(value), "1:93 BY 0: expected a number above 0");
}

#[test]
fn a_broken_regular_expression_is_shown_inside_its_quotes() {
    let error = after_a_feed("WHERE a MATCHES 'it''s (oil'");
    assert_eq!(error, "2:24 cannot read the regular expression: unclosed group");
    let error = after_a_feed(r"WHERE a MATCHES '\w{900}{900}'");
    assert_eq!(
        error,
        "2:17 cannot read the regular expression: it is too large when repetitions are written out"
    );
}

#[test]
fn what_a_terminal_would_obey_or_misplace_is_replaced() {
    let text = "QUERY q\tSELECT \u{1b}[31m\u{202e}e\u{301} 'x'\r\n";
    let shown = parse(text).unwrap_err().render(text);
    assert_eq!(
        shown,
        "\
line 1, column 16: expected item or value, found `\u{fffd}`
  1 | QUERY q SELECT \u{fffd}[31m\u{fffd}e\u{fffd} 'x'
    |                ^
"
    );
}

#[test]
fn of_a_long_line_only_the_part_around_the_place_is_shown() {
    let text = format!("QUERY q {}SELECT thing {}", " ".repeat(500), "x".repeat(500));
    let shown = parse(&text).unwrap_err().render(&text);
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[1].starts_with("  1 | …") && lines[1].ends_with('…'), "{shown}");
    let at = lines[2].find('^').unwrap();
    assert_eq!(lines[1].chars().skip(at).take(5).collect::<String>(), "thing");
}

#[test]
fn what_a_caller_objects_to_is_an_error_among_the_others() {
    let text = "\
QUERY one
  SELECT item AS a FROM feed 'https://a.example/' EVERY 1 HOUR
  SELECT value AS b FROM page 'https://b.example/' WITHIN 1 PARSEC PICK 'it''s'
  SELECT value AS c FROM source 17 PICK 'x'
  SELECT item AS d FROM feed 'ftp://d.example/'
  SELECT value AS e FROM json 'https://e.example/' PICK ' '
QUERY two WATCH 'oil' IMPORTANCE 1";
    let mut claims = Vec::new();
    let refused = parse_with(text, |claim| {
        claims.push(match claim {
            Claim::From(from) => from.to_string(),
            Claim::Pick { from, text } => format!("{text} of {from}"),
            Claim::Watch(words) => words.to_owned(),
        });
        Err(Objection { message: format!("no {}", claims.len()), hint: Some("try".to_owned()) })
    });
    let places = refused.unwrap_err().0.into_iter().map(|error| {
        let place = format!("{}:{}-{} ", error.line, error.column, error.span.end - error.span.start);
        place + &error.message + error.hint.as_deref().unwrap_or_default()
    });
    // Neither an address that is wrong in itself, nor an empty PICK or one out of place, is anybody else's business.
    assert_eq!(
        claims,
        [
            "feed 'https://a.example/'",
            "page 'https://b.example/'",
            "it's of page 'https://b.example/'",
            "source 17",
            "json 'https://e.example/'",
            "oil"
        ]
    );
    let expected = [
        "2:30-20 no 1try",
        "3:31-20 no 2try",
        "3:61-6 expected SECONDS, MINUTES, HOURS, DAYS or WEEKS, found `PARSEC`",
        "3:73-7 no 3try",
        "4:33-2 no 4try",
        "4:36-8 PICK cannot be used with a sourcewhat is picked of a source is part of the source",
        "5:30-18 `ftp://d.example/` is no address that can be watched: expected http or https, not ftp",
        "6:31-20 no 5try",
        "6:57-3 PICK is empty",
        "7:17-5 no 6try",
    ];
    assert_eq!(places.collect::<Vec<_>>(), expected);
}

#[test]
fn an_error_is_shown_with_its_file() {
    let text = "QUERY q\n  SELECT";
    let shown = parse(text).unwrap_err().render_in("a\u{1b}.q", text);
    assert_eq!(
        shown,
        "a\u{fffd}.q:2:9: expected item or value, found the end of the text\n  2 |   SELECT\n    |         ^\n"
    );
}

#[test]
fn a_comment_is_found_wherever_it_is_and_nowhere_else() {
    let first = |text| first_comment(text);
    assert_eq!(
        [first("--"), first("a\n\n b -- c"), first("a 'x' y\n--"), first("a --'")],
        [1, 3, 2, 1].map(Some)
    );
    assert_eq!([first(""), first("a '--' b"), first("a - - b"), first("'it''s -- x'")], [None; 4]);
}
