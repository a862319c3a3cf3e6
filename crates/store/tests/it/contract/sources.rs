//! Promises about sources.

use dunlin_store::{Error, Health, ItemScope, Note, SourceEdit, SourceId, SourceQuery, SourceState};

use super::Fresh;
use crate::fixtures::{self, time};

pub(crate) fn what_was_added_reads_back(fresh: Fresh<'_>) {
    let store = fresh();
    let mut new = fixtures::source("a");
    new.kind = "feed".to_owned();
    new.recipe = r#"{"selector": ".last"}"#.to_owned();
    new.weight = 2.5;
    new.tags = vec!["oil".to_owned(), "ru\"de".to_owned()];
    let id = store.add_source(new.clone()).unwrap();
    let found = store.source(id).unwrap().unwrap();
    assert_eq!((found.id, found.spec, found.paused), (id, new, None));
    let state = SourceState { health: Health::New, reason: String::new(), since: time(0), announced: None };
    assert_eq!(found.state, state);
    assert_eq!(store.source(SourceId(id.0 + 1)).unwrap(), None);
}

pub(crate) fn several_are_added_together_or_none(fresh: Fresh<'_>) {
    let store = fresh();
    let ids = store.add_sources(["a", "b", "c"].map(fixtures::source).to_vec()).unwrap();
    let url = |id: SourceId| store.source(id).unwrap().unwrap().spec.url;
    assert_eq!(
        ids.iter().map(|id| url(*id)).collect::<Vec<_>>(),
        ["a", "b", "c"].map(|name| fixtures::source(name).url)
    );
    let mut nonsense = fixtures::source("e");
    nonsense.weight = f64::NAN;
    store.add_sources(vec![fixtures::source("d"), nonsense]).unwrap_err();
    assert_eq!(store.sources(&SourceQuery::first(9)).unwrap().len(), 3);
}

pub(crate) fn pages_follow_each_other(fresh: Fresh<'_>) {
    let store = fresh();
    let mut ids = Vec::new();
    for index in 0..5 {
        let mut new = fixtures::source(if index % 2 == 0 { "even" } else { "odd" });
        new.tags = vec![format!("tag{index}"), "all".to_owned()];
        ids.push(store.add_source(new).unwrap());
    }
    let list = |query: &SourceQuery| -> Vec<SourceId> {
        store.sources(query).unwrap().iter().map(|source| source.id).collect()
    };
    assert_eq!(list(&SourceQuery::first(3)), ids[..3]);
    assert_eq!(list(&SourceQuery { after: Some(ids[2]), ..SourceQuery::first(3) }), ids[3..]);
    let url = Some("https://odd.example/".to_owned());
    assert_eq!(list(&SourceQuery { url, ..SourceQuery::first(9) }), [ids[1], ids[3]]);
    assert_eq!(list(&SourceQuery { tag: Some("tag4".to_owned()), ..SourceQuery::first(9) }), [ids[4]]);
    assert_eq!(list(&SourceQuery { tag: Some("all".to_owned()), ..SourceQuery::first(9) }), ids);
    assert_eq!(list(&SourceQuery { tag: Some("tag".to_owned()), ..SourceQuery::first(9) }), []);
}

pub(crate) fn edits_change_what_they_name(fresh: Fresh<'_>) {
    let store = fresh();
    let id = store.add_source(fixtures::source("a")).unwrap();
    let before = store.source(id).unwrap().unwrap();
    assert_eq!(store.edit_source(id, SourceEdit::default()).unwrap(), before);

    let state =
        SourceState { health: Health::Failing, reason: "500".to_owned(), since: time(5), announced: None };
    let edit = SourceEdit {
        weight: Some(3.0),
        state: Some(state.clone()),
        paused: Some(Some(time(6))),
        ..SourceEdit::default()
    };
    let after = store.edit_source(id, edit).unwrap();
    let mut expected = before;
    expected.spec.weight = 3.0;
    expected.state = state;
    expected.paused = Some(time(6));
    assert_eq!(after, expected);
    assert_eq!(store.source(id).unwrap().unwrap(), expected);

    let resumed = store.edit_source(id, SourceEdit { paused: Some(None), ..SourceEdit::default() }).unwrap();
    assert_eq!(resumed.paused, None);
    let missing = store.edit_source(SourceId(99), SourceEdit::default());
    assert_eq!(missing, Err(Error::NoSuchSource(SourceId(99))));
}

pub(crate) fn nonsense_is_refused(fresh: Fresh<'_>) {
    let store = fresh();
    let id = store.add_source(fixtures::source("a")).unwrap();
    for weight in [-1.0, f64::NAN, f64::INFINITY] {
        let edit = SourceEdit { weight: Some(weight), ..SourceEdit::default() };
        assert!(matches!(store.edit_source(id, edit), Err(Error::BadValue { what: "weight", .. })));
    }
    let mut new = fixtures::source("b");
    new.recipe = "{".to_owned();
    assert!(matches!(store.add_source(new), Err(Error::BadValue { what: "recipe", .. })));
    assert_eq!(store.sources(&SourceQuery::first(9)).unwrap().len(), 1);
}

pub(crate) fn a_removed_source_takes_its_captures_along(fresh: Fresh<'_>) {
    let store = fresh();
    let gone = store.add_source(fixtures::source("gone")).unwrap();
    let kept = store.add_source(fixtures::source("kept")).unwrap();
    let shared = b"both have this content".repeat(20);
    let mut capture = fixtures::news(gone, 1, &shared);
    capture.items = Some(vec![fixtures::item("x", "1")]);
    let version = store.record_capture(capture).unwrap().version.unwrap();
    store.record_capture(fixtures::news(gone, 2, b"only here")).unwrap();
    let other = store.record_capture(fixtures::news(kept, 1, &shared)).unwrap().version.unwrap();

    store.remove_source(gone).unwrap();
    assert_eq!(store.remove_source(gone), Err(Error::NoSuchSource(gone)));
    assert_eq!(store.source(gone).unwrap(), None);
    assert_eq!(store.content(version), Err(Error::NoSuchVersion(version)));
    assert_eq!(store.items(gone, ItemScope::Remembered).unwrap(), []);
    assert_eq!(fixtures::all_changes(store.as_ref()).len(), 1);
    assert_eq!(store.content(other).unwrap(), shared);
    let statistics = store.statistics().unwrap();
    assert_eq!((statistics.contents, statistics.observations), (1, 1));
    // A number is never used again: a client that remembers it must not find another source under it.
    assert!(store.add_source(fixtures::source("new")).unwrap() > kept);
}

pub(crate) fn probes_begin_with_words_and_the_notes_that_are_asked_for(fresh: Fresh<'_>) {
    let store = fresh();
    let mut new = fixtures::source("a");
    (new.kind, new.recipe) = ("feed".to_owned(), r#"{"x":1}"#.to_owned());
    let ids = store.add_sources(vec![new.clone(), fixtures::source("b")]).unwrap();
    let note = |name: &str, value: &[u8]| Note { name: name.to_owned(), value: value.to_vec() };
    let notes = [note("look", b"1"), note("model", b"2"), note("flicker", b"3")];
    store.remember_notes(notes.iter().map(|note| (ids[0], note.clone())).collect()).unwrap();
    let bases = store.probe_bases(&[ids[1], SourceId(99), ids[0]], &["look", "flicker"]).unwrap();
    let [Some(b), None, Some(a)] = bases.as_slice() else { panic!("{bases:?}") };
    assert_eq!((&a.url, &a.kind, &a.recipe), (&new.url, &new.kind, &new.recipe));
    assert_eq!(a.notes, [notes[0].clone(), notes[2].clone()]);
    assert_eq!((b.url.as_str(), b.notes.len()), ("https://b.example/", 0));
}
