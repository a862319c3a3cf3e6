//! `dunlin detect` on a folder and on what is stored of a source, and lists in any character set.

use dunlin_core::Time;
use dunlin_store::{
    Capture, Health, NewSource, NewVersion, Outcome, ProbeId, SourceState, SqliteStore, Store as _,
};
use serde_json::Value;

use crate::run::Desk;

/// A page with a clock, a counter and a price.
fn page(price: &str, n: i64) -> String {
    format!(
        "<html><head><title>Shop</title></head><body><h1>Teapot</h1><p>Price: {price}</p><p>A pot of clay.</p>\
         <p class=views>{} views</p></body></html>",
        1_204 + 31 * n
    )
}

/// One line of JSON for each version but the first.
fn lines(desk: &Desk, args: &str) -> Vec<Value> {
    let done = desk.run(args);
    assert_eq!(done.code, 0, "{args}: {}", done.stderr);
    done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// How many changes each line tells.
fn n_told(lines: &[Value]) -> Vec<usize> {
    lines.iter().map(|line| line["changes"].as_array().unwrap().len()).collect()
}

#[test]
fn versions_in_a_folder_are_told_as_a_service_would_tell_them() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("page")).unwrap();
    for (n, price) in (0_i64..).zip(["€ 5", "€ 5", "€ 7", ""]) {
        let body = match price {
            "" => "<html><body><h1>Maintenance</h1></body></html>".to_owned(),
            price => page(price, n),
        };
        std::fs::write(desk.path(&format!("page/{n:04}_{}.html", 1_700_000_000 + n * 600)), body).unwrap();
    }
    let told = lines(&desk, "detect page --json");
    assert_eq!(n_told(&told), [0, 1, 0]);
    let (noise, change, notice) = (&told[0], &told[1], &told[2]);
    assert_eq!((&noise["version"], &noise["time"]), (&"0001".into(), &1_700_000_600.into()));
    assert_eq!(noise["suppressed"][0]["why"], "counter");
    assert_eq!(change["changes"][0]["kind"], "edited");
    let summary = change["changes"][0]["summary"].as_str().unwrap();
    assert!(summary.contains("€ 5 → € 7"), "{summary}");
    assert_eq!((&change["state"], &notice["state"]), (&"well".into(), &"attention".into()), "{notice}");
    assert_eq!(
        n_told(&lines(&desk, "detect page --json --selector .views")),
        [1, 1, 0],
        "what was asked for"
    );
    let shown = desk.run("detect page").stdout;
    assert!(shown.contains("0002") && shown.contains("€ 5 → € 7"), "{shown}");
}

#[test]
fn versions_in_a_folder_are_in_the_order_of_their_numbers_whatever_their_length() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("page")).unwrap();
    for (n, price) in (9_i64..).zip(["€ 5", "€ 7", "€ 8"]) {
        let file = desk.path(&format!("page/{n}_{}.html", 1_700_000_000 + n * 600));
        std::fs::write(file, page(price, n)).unwrap();
    }
    let told = lines(&desk, "detect page --json");
    let names: Vec<&str> = told.iter().map(|line| line["version"].as_str().unwrap()).collect();
    assert_eq!((names, n_told(&told)), (vec!["10", "11"], vec![1, 1]));
}

#[test]
fn versions_of_a_source_are_told_by_the_rules_of_the_source() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("data")).unwrap();
    let store = SqliteStore::open(&desk.path("data")).unwrap();
    let recipes = ["{}", r#"{"flicker":"tell"}"#, r#"{"recipe":{"kind":"html_selector","css":".views"}}"#];
    for (index, recipe) in recipes.into_iter().enumerate() {
        let at = Time::from_seconds(1_700_000_000);
        let recipe = recipe.to_owned();
        let spec = NewSource { recipe, ..NewSource::page(format!("https://a.example/{index}"), at) };
        let source = store.add_source(spec).unwrap();
        for n in 0..3_i64 {
            let time = Time::from_seconds(1_700_000_000 + 600 * n);
            let mut capture = Capture::bare(source, ProbeId(n.cast_unsigned() + 1), time, Outcome::Unchanged);
            let (content, media_type) = (page("€ 5", n).into_bytes(), "text/html".to_owned());
            capture.version = Some(NewVersion { content, media_type });
            store.record_capture(capture).unwrap();
        }
    }
    drop(store);
    for (source, told) in [(1, [0, 0]), (2, [1, 1]), (3, [1, 1])] {
        let found = lines(&desk, &format!("detect --source {source} --data data --json"));
        assert_eq!(n_told(&found), told, "{}", recipes[source - 1]);
        assert!(found[0]["version"].as_str().unwrap().starts_with('v'));
    }
    // What is given goes before what the source says.
    let found = lines(&desk, "detect --source 1 --data data --json --flicker tell");
    assert_eq!(n_told(&found), [1, 1]);
    let found = lines(&desk, "detect --source 2 --data data --json --flicker learn");
    assert_eq!(n_told(&found), [0, 0]);
}

#[test]
fn a_list_may_be_in_any_character_set_that_it_declares() {
    let list = |encoding: &str| {
        format!(
            "<?xml version='1.0' encoding='{encoding}'?>\n<opml><body><outline text='Café Zürich' \
             xmlUrl='https://a.example/feed'/></body></opml>"
        )
    };
    let latin =
        |text: &str| -> Vec<u8> { text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect() };
    let wide = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let files = [
        ("latin", latin(&list("ISO-8859-1"))),
        ("wide", wide(&list("UTF-16"))),
        ("marked", [&[0xff, 0xfe][..], &wide(&list("UTF-16"))].concat()),
        ("plain", list("UTF-8").into_bytes()),
    ];
    for (name, bytes) in files {
        let desk = Desk::new().with("list.opml", bytes);
        let done = desk.run("import list.opml --data data");
        assert_eq!(done.stdout, "1 added, 0 already there, 0 bad\n", "{name}: {}", done.stderr);
        assert_eq!(desk.json("sources --data data --json")["sources"][0]["name"], "Café Zürich", "{name}");
    }
    // A list of addresses declares nothing.
    let desk = Desk::new().with("list.txt", b"https://a.example/\nhttps://b.example/ # caf\xe9\n");
    let done = desk.run("import list.txt --data data");
    assert!(done.code == 2 && done.stderr.contains("list.txt:2: not valid UTF-8"), "{}", done.stderr);
}

#[test]
fn sources_in_trouble_are_named() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("data")).unwrap();
    let store = SqliteStore::open(&desk.path("data")).unwrap();
    let at = Time::from_seconds(1_700_000_000);
    let spec = NewSource { name: Some("Tides".to_owned()), ..NewSource::page("https://a.example/", at) };
    let source = store.add_source(spec).unwrap();
    let mut capture = Capture::bare(source, ProbeId(1), at, Outcome::Unchanged);
    let reason = "it fails".to_owned();
    capture.state = Some(SourceState { health: Health::Failing, reason, since: at, announced: None });
    store.record_capture(capture).unwrap();
    drop(store);
    let shown = desk.run("doctor --data data").stdout;
    assert!(shown.contains("1 (Tides): it fails"), "{shown}");
}
