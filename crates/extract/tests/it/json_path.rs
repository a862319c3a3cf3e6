//! What JSON paths select: the examples of RFC 9535 and its corners. The standard's own test suite runs where it is at hand.

use dunlin_extract::recipe::{NoiseRules, Recipe};
use dunlin_extract::{Extractor, Input, Limits};
use serde_json::{Value, json};

/// The values that a path selects, or why it is no path. Objects get an id, so that equal ones are not taken for copies.
fn selected(path: &str, document: &Value) -> Result<Vec<Value>, String> {
    let recipe = Recipe::JsonPath { path: path.to_owned() };
    let extractor = Extractor::new(&recipe, &NoiseRules::default(), Limits::default());
    let extractor = extractor.map_err(|error| error.to_string())?;
    let body = document.to_string();
    let read = extractor.extract(&Input {
        body: body.as_bytes(),
        content_type: Some("application/json"),
        url: None,
        last_charset: None,
    });
    Ok(read.items.iter().map(|item| item.text.parse().unwrap_or_else(|_| item.text.clone().into())).collect())
}

#[track_caller]
fn check(path: &str, document: &Value, expected: &[&str]) {
    let found = selected(path, document).unwrap();
    let found: Vec<String> = found
        .iter()
        .map(|value| value.as_str().map_or_else(|| value.to_string(), |text| text.trim_end().to_owned()))
        .collect();
    assert_eq!(found, expected, "{path}");
}

fn shop() -> Value {
    json!({"books": [
        {"title": "A", "price": 8.95, "isbn": "x"},
        {"title": "B", "price": 12.99},
        {"title": "C", "price": 8.99, "isbn": "y"},
        {"title": "D", "price": 22.99, "tags": ["old", "rare"]},
    ], "bike": {"price": 399, "title": "E"}, "limit": 10})
}

#[test]
fn steps() {
    let shop = shop();
    check("$.books[*].title", &shop, &["A", "B", "C", "D"]);
    check("$..title", &shop, &["E", "A", "B", "C", "D"]);
    check("$.books[-1].title", &shop, &["D"]);
    check("$.books[0,2].title", &shop, &["A", "C"]);
    check("$.books[:2].title", &shop, &["A", "B"]);
    check("$.books[3:0:-2].title", &shop, &["D", "B"]);
    check("$.books[::-1].title", &shop, &["D", "C", "B", "A"]);
    check("$.books[1:3:0].title", &shop, &[]);
    check("$.books[-9:9].title", &shop, &["A", "B", "C", "D"]);
    check("$['bike']['title', 'price']", &shop, &["E", "399"]);
    check("$.books[9].title", &shop, &[]);
    check("$..books..title", &shop, &["A", "B", "C", "D"]);
}

#[test]
fn values_compare_by_all_of_them_and_slices_begin_anywhere() {
    let rows = json!({"rows": [
        {"title": "A", "size": {"w": 1}, "names": ["x"]},
        {"title": "B", "size": {"w": 1, "h": 2}, "names": ["x", "y"]},
        {"title": "C", "size": {"w": 2}, "names": []},
    ], "one": {"w": 1}, "of": "a[b].c"});
    check("$.rows[?@.size == $.one].title", &rows, &["A"]);
    check("$.rows[?$.one == @.size].title", &rows, &["A"]);
    check("$.rows[?@.names == $.rows[0].names].title", &rows, &["A"]);
    check("$.rows[?value(@.names[*]) == 'x'].title", &rows, &["A"]);
    check("$.rows[?count(@.names[*]) == 2].title", &rows, &["B"]);
    check("$.rows[?length(@.size) == 2].title", &rows, &["B"]);
    check("$.rows[-9:0:-1].title", &rows, &[]);
    check("$.rows[-9::-1].title", &rows, &[]);
    check("$.rows[9::-1].title", &rows, &["C", "B", "A"]);
    check("$.rows[:-9:-1].title", &rows, &["C", "B", "A"]);
    check("$.rows[0:-1].title", &rows, &["A", "B"]);
    let texts = json!({"texts": [{"t": "a.c"}, {"t": "abc"}, {"t": "a\nc"}, {"t": "a\rc"}, {"t": "xa.cx"}, {"t": "]."}]});
    check("$.texts[?match(@.t, 'a.c')].t", &texts, &["a.c", "abc"]);
    check("$.texts[?match(@.t, 'a[.]c')].t", &texts, &["a.c"]);
    check("$.texts[?match(@.t, '[a].c')].t", &texts, &["a.c", "abc"]);
    check("$.texts[?match(@.t, 'a\\\\.c')].t", &texts, &["a.c"]);
    check("$.texts[?search(@.t, 'a[.]c')].t", &texts, &["a.c", "xa.cx"]);
}

#[test]
fn a_path_ends_at_the_limit_of_items_and_says_so() {
    let recipe = Recipe::JsonPath { path: "$[*]".to_owned() };
    let limits = Limits { max_items: 2, ..Limits::default() };
    let read = |body: &str| {
        let extractor = Extractor::new(&recipe, &NoiseRules::default(), limits).unwrap();
        extractor.extract(&Input { body: body.as_bytes(), ..Input::default() })
    };
    assert_eq!((read("[1, 2]").items.len(), read("[1, 2]").is_complete), (2, true));
    let cut = read("[1, 2, 3, 4]");
    assert_eq!((cut.items.len(), cut.is_complete), (2, false));
}

#[test]
fn the_whole_of_a_document_is_one_item_with_no_id_of_its_parts() {
    let whole = |body: &str| {
        let extractor = Extractor::new(&Recipe::Auto, &NoiseRules::default(), Limits::default()).unwrap();
        extractor.extract(&Input { body: body.as_bytes(), ..Input::default() }).items.remove(0)
    };
    let item = whole(r#"{"id": 7, "title": "Pump", "url": "https://x.example/7", "bar": 42}"#);
    assert_eq!((item.id.to_string(), &*item.title, item.link), ("place:$".to_owned(), "Pump", None));
    let of_a_list = whole(r#"[{"id": 7, "title": "Pump", "url": "https://x.example/7"}]"#);
    assert_eq!(of_a_list.id.to_string(), "guid:7");
    assert_eq!(of_a_list.link.as_deref(), Some("https://x.example/7"));
}

#[test]
fn the_lists_of_a_document_are_offered_down_to_the_third_level() {
    let extractor = Extractor::new(&Recipe::Auto, &NoiseRules::default(), Limits::default()).unwrap();
    let body = br#"{"a": [1, 2], "b": {"c": [3], "d": {"e": [4, 5, 6], "f": {"g": [7]}}, "not plain": [8]}, "empty": []}"#;
    let input = Input { body, ..Input::default() };
    let look = extractor.first_look(&input, &extractor.extract(&input));
    let parts: Vec<(&str, usize)> = look.parts.iter().map(|part| (&*part.choice, part.n_matches)).collect();
    assert_eq!(parts, [("$.a[*]", 2), ("$.b.c[*]", 1), ("$.b.d.e[*]", 3)]);
}

#[test]
fn filters() {
    let shop = shop();
    check("$.books[?@.isbn].title", &shop, &["A", "C"]);
    check("$.books[?!@.isbn].title", &shop, &["B", "D"]);
    check("$.books[?@.price < 10].title", &shop, &["A", "C"]);
    check("$.books[?@.price >= 12.99].title", &shop, &["B", "D"]);
    check("$.books[?@.price < $.limit && @.title != 'A'].title", &shop, &["C"]);
    check("$.books[?@.price > 20 || @.isbn == 'x'].title", &shop, &["A", "D"]);
    check("$.books[?(@.price > 20 || @.isbn) && !(@.title == 'C')].title", &shop, &["A", "D"]);
    check("$.books[?@.nothing == @.other].title", &shop, &["A", "B", "C", "D"]);
    check("$.books[?@.title < 'C'].title", &shop, &["A", "B"]);
    check("$.books[?@.title < 5].title", &shop, &[]);
    check("$.books[?@.tags == $.books[3].tags].title", &shop, &["D"]);
    check("$.books[?$.bike].title", &shop, &["A", "B", "C", "D"]);
}

#[test]
fn functions() {
    let shop = shop();
    check("$.books[?length(@.tags) == 2].title", &shop, &["D"]);
    check("$.books[?length(@.title) == 1].title", &shop, &["A", "B", "C", "D"]);
    check("$.books[?count(@.*) == 3].title", &shop, &["A", "C", "D"]);
    check("$.books[?match(@.title, '[AB]')].title", &shop, &["A", "B"]);
    check("$[?match(@, 'a|b')]", &json!(["ab", "a", "b"]), &["a", "b"]);
    check("$[?search(@, '1.2')]", &json!(["x1-2x", "1\r2", "12"]), &["x1-2x"]);
    check("$.books[?value(@..price) > 20].title", &shop, &["D"]);
    // Of several nodes there is no one value: not the first, and not the last.
    check("$.books[?value(@.tags[*]) == 'old'].title", &shop, &[]);
    check("$.books[?value(@.tags[*]) == 'rare'].title", &shop, &[]);
    check("$.books[?value(@.tags[:1]) == 'old'].title", &shop, &["D"]);
    check(
        "$[?match(@.a, @.b)].a",
        &json!([{"a": "x", "b": "x"}, {"a": "y", "b": "x"}, {"a": "z", "b": "["}]),
        &["x"],
    );
}

#[test]
fn large_whole_numbers_are_distinguished() {
    let document =
        json!([{"id": 9_007_199_254_740_993_u64, "n": 1}, {"id": 9_007_199_254_740_992_u64, "n": 2}]);
    check("$[?@.id == $[1].id].n", &document, &["2"]);
    check("$[?@.n == 1.0].n", &document, &["1"]);
}

#[test]
fn an_invalid_path_is_refused() {
    for path in ["", "a", "$[", "$.a.", "$[?@.a == ]", "$[?nope(@.a)]", "$[?@.a in @.b]", "$[?length(@.a)]"] {
        assert!(selected(path, &json!({})).is_err(), "{path}");
    }
    let error = selected("$[?in(@.a, @.b)]", &json!({})).unwrap_err();
    assert!(
        error.ends_with("unknown function in (known are length, count, match, search and value)"),
        "{error}"
    );
}

/// Items that a path selects are identified by their position, however odd the names.
#[test]
fn paths_are_normalized() {
    let recipe = Recipe::JsonPath { path: "$..*".to_owned() };
    let extractor = Extractor::new(&recipe, &NoiseRules::default(), Limits::default()).unwrap();
    let body = json!({"it's": 1, "a\\b": {"\u{7}\n": 2}}).to_string();
    let read = extractor.extract(&Input {
        body: body.as_bytes(),
        content_type: None,
        url: None,
        last_charset: None,
    });
    let ids: Vec<&str> = read.items.iter().map(|item| item.id.value.as_str()).collect();
    assert_eq!(ids, [r"$['a\\b']", r"$['it\'s']", r"$['a\\b']['\u0007\n']"]);
}

mod reference {
    use super::*;

    /// Texts, each once: equal values are one item.
    fn once(texts: Vec<String>) -> Vec<String> {
        let mut seen = Vec::new();
        for text in texts {
            if !seen.contains(&text) {
                seen.push(text);
            }
        }
        seen
    }

    fn texts(path: &str, document: &Value) -> Result<Vec<String>, String> {
        let recipe = Recipe::JsonPath { path: path.to_owned() };
        let extractor = Extractor::new(&recipe, &NoiseRules::default(), Limits::default());
        let extractor = extractor.map_err(|error| error.to_string())?;
        // As it is, a document with this letter in it is taken for binary data.
        let body = document.to_string().replace('\u{7f}', "\\u007f");
        let read = extractor.extract(&Input {
            body: body.as_bytes(),
            content_type: Some("application/json"),
            url: None,
            last_charset: None,
        });
        Ok(once(read.items.into_iter().map(|item| item.text).collect()))
    }

    /// What `texts` would be for these values.
    fn expected(values: &Value) -> Vec<String> {
        let values = values.as_array().unwrap();
        once(values.iter().flat_map(|value| texts("$", value).unwrap()).collect())
    }

    /// The compliance test suite of RFC 9535, all of it.
    #[test]
    fn the_standards_own_suite_passes() {
        let folder =
            std::env::var("DUNLIN_REFERENCE").expect("DUNLIN_REFERENCE names the folder of reference data");
        let suite = std::fs::read_to_string(format!("{folder}/conformance/jsonpath_cts.json")).unwrap();
        let suite: Value = serde_json::from_str(&suite).unwrap();
        let tests = suite["tests"].as_array().unwrap();
        for test in tests {
            let found = texts(test["selector"].as_str().unwrap(), &test["document"]);
            let passes = match (&test["result"], &test["results"]) {
                (Value::Null, Value::Null) => test["invalid_selector"] == true && found.is_err(),
                (Value::Null, results) => {
                    results.as_array().unwrap().iter().any(|result| found == Ok(expected(result)))
                }
                (result, _) => found == Ok(expected(result)),
            };
            assert!(passes, "{test}: {found:?}");
        }
        assert!(tests.len() > 700);
    }
}
