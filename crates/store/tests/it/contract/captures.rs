//! Promises about recording captures and reading their changes.

use std::collections::BTreeSet;
use std::sync::Arc;

use dunlin_store::{
    ChangeQuery, Cursor, CursorRange, Error, Fault, Health, ItemScope, NewChange, Note, ObservationId,
    ObservationQuery, Outcome, Politeness, ProbeId, Repeated, Retention, SourceId, SourceState,
};

use super::Fresh;
use crate::fixtures::{self, time};

pub(crate) fn a_capture_is_stored_whole(fresh: Fresh<'_>) {
    let store = fresh();
    let source = store.add_source(fixtures::source("a")).unwrap();
    let found = NewChange {
        kind: "added".to_owned(),
        item: Some("guid-1".to_owned()),
        summary: "a new post".to_owned(),
        detail: vec![0, 255, 7],
        happened_after: Some(time(3)),
        happened_before: time(9),
    };
    let mut capture = fixtures::news(source, 10, b"content");
    capture.changes = vec![found.clone(), fixtures::change("second", time(10))];
    capture.items = Some(vec![fixtures::item("guid-1", "post")]);
    capture.messages = vec![fixtures::message("m")];
    capture.messages[0].change = Some(1);
    capture.notes = vec![Note { name: "etag".to_owned(), value: b"\"abc\"".to_vec() }];
    capture.politeness = vec![Politeness { scope: "a.example".to_owned(), state: vec![1, 2] }];
    capture.state = Some(SourceState {
        health: Health::Well,
        reason: "read".to_owned(),
        since: time(10),
        announced: None,
    });
    let recorded = store.record_capture(capture.clone()).unwrap();

    assert_eq!(recorded.repeated, Repeated::No);
    assert_eq!(recorded.cursors, Some((Cursor(1), Cursor(2))));
    let version = store.newest_version(source).unwrap().unwrap();
    assert_eq!((Some(version.id), version.at, version.size), (recorded.version, time(10), 7));
    assert_eq!(
        (store.version(version.id).unwrap().unwrap(), version.media_type.as_str()),
        (version.clone(), "text/plain")
    );
    assert_eq!(store.content(version.id).unwrap(), b"content");
    let changes = fixtures::all_changes(store.as_ref());
    assert_eq!(changes[0].found, found);
    assert_eq!(
        (changes[0].source, changes[0].version, changes[0].detected),
        (source, recorded.version, time(10))
    );
    assert_eq!(changes[0].url, "https://a.example/");
    assert_eq!(store.items(source, ItemScope::Present).unwrap()[0].body, b"post");
    assert_eq!(store.notes(source).unwrap(), capture.notes);
    assert_eq!(store.politeness().unwrap(), capture.politeness);
    assert_eq!(store.source(source).unwrap().unwrap().state.health, Health::Well);
    let message = super::outbox::lease(store.as_ref(), 10).pop().unwrap();
    assert_eq!((message.key.as_str(), message.source, message.cursor), ("m", Some(source), Some(Cursor(2))));
}

pub(crate) fn a_capture_recorded_again_counts_once(fresh: Fresh<'_>) {
    let store = fresh();
    let source = store.add_source(fixtures::source("a")).unwrap();
    let other = store.add_source(fixtures::source("b")).unwrap();
    let mut capture = fixtures::news(source, 1, b"one");
    capture.messages = vec![fixtures::message("m")];
    let first = store.record_capture(capture.clone()).unwrap();
    store.record_capture(fixtures::news(source, 2, b"two")).unwrap();
    let message = super::outbox::lease(store.as_ref(), 10).pop().unwrap();
    store.acknowledge_message(message.receipt).unwrap();

    let again = store.record_capture(capture.clone()).unwrap();
    assert_eq!((again.version, again.cursors, again.repeated), (first.version, first.cursors, Repeated::Yes));
    assert_eq!(store.newest_version(source).unwrap().unwrap().id.0, first.version.unwrap().0 + 1);
    assert_eq!(fixtures::all_changes(store.as_ref()).len(), 2);
    // Delivered and acknowledged: it must not wake up again.
    assert_eq!(store.next_message_due().unwrap(), None);
    // Twice in one call, and the same number for another source.
    let mut elsewhere = fixtures::news(other, 1, b"one");
    elsewhere.probe = ProbeId(u64::MAX);
    let elsewhere = Arc::new(elsewhere);
    let both = store.record_captures(vec![Arc::clone(&elsewhere), elsewhere]);
    let repeated: Vec<Repeated> = both.into_iter().map(|recorded| recorded.unwrap().repeated).collect();
    assert_eq!(repeated, [Repeated::No, Repeated::Yes]);
    assert_eq!(store.record_capture(fixtures::news(other, 1, b"one")).unwrap().repeated, Repeated::No);
}

pub(crate) fn a_capture_that_fails_leaves_nothing(fresh: Fresh<'_>) {
    let store = fresh();
    let source = store.add_source(fixtures::source("a")).unwrap();
    let missing = SourceId(77);
    assert_eq!(store.record_capture(fixtures::news(missing, 1, b"x")), Err(Error::NoSuchSource(missing)));
    let mut dangling = fixtures::news(source, 1, b"x");
    dangling.messages = vec![fixtures::message("m")];
    dangling.messages[0].change = Some(1);
    assert!(matches!(store.record_capture(dangling), Err(Error::BadValue { what: "message", .. })));
    let mut huge = fixtures::news(source, 1, b"");
    huge.version = Some(fixtures::version(&vec![0; dunlin_store::MAX_CONTENT_BYTES + 1]));
    assert!(matches!(store.record_capture(huge), Err(Error::BadValue { what: "content", .. })));

    let statistics = store.statistics().unwrap();
    assert_eq!((statistics.versions, statistics.contents, statistics.changes), (0, 0, 0));
    assert_eq!((statistics.observations, statistics.messages), (0, 0));
}

pub(crate) fn cursors_have_no_holes_even_after_failures(fresh: Fresh<'_>) {
    let store = fresh();
    let source = store.add_source(fixtures::source("a")).unwrap();
    let captures = (1..=40).map(|number| {
        // Every third is refused, in the middle of the transaction that it shares with the others.
        let source = if number % 3 == 0 { SourceId(99) } else { source };
        fixtures::news(source, number, format!("content {number}").as_bytes())
    });
    let outcomes = store.record_captures(captures.map(Arc::new).collect());
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_err()).count(), 13);
    let cursors: Vec<i64> =
        fixtures::all_changes(store.as_ref()).iter().map(|change| change.cursor.0).collect();
    assert_eq!(cursors, (1..=27).collect::<Vec<i64>>());
    let in_order: Vec<Cursor> =
        outcomes.into_iter().flatten().filter_map(|recorded| Some(recorded.cursors?.0)).collect();
    assert!(in_order.is_sorted());
}

pub(crate) fn cursors_are_never_given_twice(fresh: Fresh<'_>) {
    let store = fresh();
    let none = CursorRange { oldest: Cursor(1), newest: Cursor(0) };
    assert_eq!(store.cursor_range().unwrap(), none);
    let source = store.add_source(fixtures::source("a")).unwrap();
    for number in 1..=3 {
        store.record_capture(fixtures::news(source, number, &[number as u8])).unwrap();
    }
    assert_eq!(store.cursor_range().unwrap(), CursorRange { oldest: Cursor(1), newest: Cursor(3) });
    let all = Retention { changes_before: Some(time(100)), ..Retention::default() };
    assert_eq!(store.prune(all).unwrap().changes, 3);
    assert_eq!(store.cursor_range().unwrap(), CursorRange { oldest: Cursor(4), newest: Cursor(3) });
    let next = store.record_capture(fixtures::news(source, 4, b"4")).unwrap();
    assert_eq!(next.cursors, Some((Cursor(4), Cursor(4))));
}

pub(crate) fn changes_are_read_from_a_cursor_on(fresh: Fresh<'_>) {
    let store = fresh();
    let a = store.add_source(fixtures::source("a")).unwrap();
    let b = store.add_source(fixtures::source("b")).unwrap();
    for number in 1..=6 {
        let source = if number % 2 == 0 { b } else { a };
        store.record_capture(fixtures::news(source, number, &[number as u8])).unwrap();
    }
    let read = |after, source, limit| -> Vec<i64> {
        let query = ChangeQuery { after: Cursor(after), source, limit };
        store.changes(&query).unwrap().iter().map(|change| change.cursor.0).collect()
    };
    assert_eq!(read(0, None, 100), [1, 2, 3, 4, 5, 6]);
    assert_eq!(read(2, None, 2), [3, 4]);
    assert_eq!(read(1, Some(b), 2), [2, 4]);
    assert_eq!(read(6, None, 100), [0_i64; 0]);
    assert_eq!(read(0, None, 0), [0_i64; 0]);
}

pub(crate) fn items_keep_their_order_and_first_sight(fresh: Fresh<'_>) {
    let store = fresh();
    let source = store.add_source(fixtures::source("a")).unwrap();
    let record = |number, items: &[(&str, &str)]| {
        let mut capture = fixtures::probe(source, number);
        capture.items = Some(items.iter().map(|(key, body)| fixtures::item(key, body)).collect());
        store.record_capture(capture).unwrap();
    };
    let read = |scope| -> Vec<(String, i64, Option<i64>)> {
        let items = store.items(source, scope).unwrap().into_iter();
        let seconds = |at: dunlin_core::Time| at.since(time(0)).as_secs().cast_signed();
        items.map(|item| (item.key, seconds(item.first_seen), item.left.map(seconds))).collect()
    };
    let there = |key: &str, first| (key.to_owned(), first, None);
    record(1, &[("b", "1"), ("c", "1")]);
    record(2, &[("a", "1"), ("b", "1"), ("c", "2"), ("b", "twice"), ("d", "1")]);
    assert_eq!(read(ItemScope::Present), [there("a", 2), there("b", 1), there("c", 1), there("d", 2)]);
    assert_eq!(store.items(source, ItemScope::Present).unwrap()[2].body, b"2");
    record(3, &[("d", "1"), ("e", "1"), ("a", "1")]);
    assert_eq!(read(ItemScope::Present), [there("d", 2), there("e", 3), there("a", 2)]);
    let left = |key: &str, first, at| (key.to_owned(), first, Some(at));
    assert_eq!(read(ItemScope::Remembered)[3..], [left("b", 1, 3), left("c", 1, 3)]);
    // A capture without items leaves them; one that comes back is not new.
    store.record_capture(fixtures::probe(source, 4)).unwrap();
    record(5, &[("b", "1")]);
    assert_eq!(read(ItemScope::Present), [there("b", 1)]);
    record(6, &[]);
    assert_eq!(read(ItemScope::Present), []);
    // The last that left comes first.
    let remembered: Vec<String> = read(ItemScope::Remembered).into_iter().map(|(key, ..)| key).collect();
    assert_eq!(remembered, ["b", "a", "d", "e", "c"]);
}

pub(crate) fn observations_say_how_it_went(fresh: Fresh<'_>) {
    let store = fresh();
    let a = store.add_source(fixtures::source("a")).unwrap();
    let b = store.add_source(fixtures::source("b")).unwrap();
    let mut failed = fixtures::probe(a, 1);
    failed.outcome = Outcome::Failed { fault: Fault::Remote, reason: "connection refused".to_owned() };
    let read = fixtures::news(b, 2, b"x");
    store.record_capture(failed.clone()).unwrap();
    store.record_capture(read.clone()).unwrap();
    store.record_capture(fixtures::probe(a, 3)).unwrap();

    let query = |source, after| ObservationQuery { source, after, limit: 2 };
    let all = store.observations(&query(None, None)).unwrap();
    assert_eq!((&all[0].outcome, &all[1].outcome), (&failed.outcome, &read.outcome));
    assert_eq!((all[1].probe, all[1].at), (ProbeId(2), time(2)));
    let rest = store.observations(&query(None, Some(all[1].id))).unwrap();
    assert_eq!(rest.len(), 1);
    let of_a = store.observations(&query(Some(a), None)).unwrap();
    assert_eq!(of_a.iter().map(|seen| seen.probe.0).collect::<Vec<_>>(), [1, 3]);
}

pub(crate) fn unchanged_probes_are_observations_too(fresh: Fresh<'_>) {
    const PROBES: u64 = 700;
    let store = fresh();
    let a = store.add_source(fixtures::source("a")).unwrap();
    let b = store.add_source(fixtures::source("b")).unwrap();
    // A change now and then, a missing source, and many unchanged probes between them.
    let captures: Vec<_> = (0..PROBES)
        .map(|number| match number % 300 {
            100 => fixtures::news(a, number, &number.to_le_bytes()),
            200 => fixtures::probe(SourceId(99), number),
            _ => fixtures::probe(if number % 2 == 0 { a } else { b }, number),
        })
        .collect();
    let is_there = |number: &u64| number % 300 != 200;
    let recorded = store.record_captures(captures.into_iter().map(Arc::new).collect());
    for (number, recorded) in (0..).zip(&recorded) {
        assert_eq!(recorded.is_ok(), is_there(&number), "{number}: {recorded:?}");
    }
    let read = |source| -> Vec<(ObservationId, u64)> {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = store.observations(&ObservationQuery { source, after, limit: 90 }).unwrap();
            let Some(last) = page.last() else { return found };
            after = Some(last.id);
            found.extend(page.into_iter().map(|seen| (seen.id, seen.probe.0)));
            assert!(found.len() <= PROBES as usize, "pages repeat each other");
        }
    };
    let numbers: Vec<u64> = (0..PROBES).filter(is_there).collect();
    let all = read(None);
    assert_eq!(all.iter().map(|(_, number)| *number).collect::<Vec<_>>(), numbers);
    let stored: Vec<ObservationId> =
        recorded.into_iter().flatten().map(|recorded| recorded.observation).collect();
    assert_eq!(all.iter().map(|(id, _)| *id).collect::<Vec<_>>(), stored);
    assert_eq!(store.statistics().unwrap().observations, numbers.len() as u64);
    let odd: Vec<u64> = numbers.iter().copied().filter(|number| number % 2 == 1).collect();
    assert_eq!(read(Some(b)).into_iter().map(|(_, number)| number).collect::<Vec<_>>(), odd);

    store.remove_source(b).unwrap();
    assert_eq!(read(None).len(), numbers.len() - odd.len());
    let old = Retention { observations_before: Some(time(1_000)), ..Retention::default() };
    assert_eq!(store.prune(old).unwrap().observations, numbers.len() as u64);
    assert_eq!(read(None), []);
    // Numbers are not used again.
    let next = store.record_capture(fixtures::probe(a, 2_000)).unwrap();
    assert!(next.observation > stored[stored.len() - 1]);
}

pub(crate) fn an_unchanged_probe_recorded_again_counts_once(fresh: Fresh<'_>) {
    let store = fresh();
    let a = store.add_source(fixtures::source("a")).unwrap();
    let b = store.add_source(fixtures::source("b")).unwrap();
    let first = store.record_capture(fixtures::probe(a, 1)).unwrap();
    let both = store.record_captures(
        [(a, 1), (b, 1), (b, 1)].map(|(source, number)| Arc::new(fixtures::probe(source, number))).into(),
    );
    let both: Vec<_> = both.into_iter().map(Result::unwrap).collect();
    assert_eq!((first.repeated, both[0].repeated), (Repeated::No, Repeated::Yes));
    assert_eq!((both[1].repeated, both[2].repeated), (Repeated::No, Repeated::Yes));
    assert_eq!((both[0].observation, both[2].observation), (first.observation, both[1].observation));
    assert_eq!(store.statistics().unwrap().observations, 2);
}

pub(crate) fn many_threads_lose_nothing_and_double_nothing(fresh: Fresh<'_>) {
    const THREADS: u64 = 8;
    const EACH: u64 = 50;
    let store = fresh();
    let source = store.add_source(fixtures::source("a")).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let store = store.as_ref();
            scope.spawn(move || {
                for index in 0..EACH {
                    let number = thread * EACH + index;
                    let recorded = store
                        .record_capture(fixtures::news(source, number, format!("{number}").as_bytes()))
                        .unwrap();
                    // What has been answered can be read, by anyone, at once.
                    let (first, _) = recorded.cursors.unwrap();
                    let query = ChangeQuery { after: Cursor(first.0 - 1), source: None, limit: 1 };
                    let summary = format!("change {number}");
                    assert_eq!(store.changes(&query).unwrap()[0].found.summary, summary);
                }
            });
        }
    });
    let changes = fixtures::all_changes(store.as_ref());
    let total = (THREADS * EACH).cast_signed();
    assert_eq!(
        changes.iter().map(|change| change.cursor.0).collect::<Vec<_>>(),
        (1..=total).collect::<Vec<_>>()
    );
    let different: BTreeSet<&str> = changes.iter().map(|change| change.found.summary.as_str()).collect();
    assert_eq!(different.len() as u64, THREADS * EACH);
}
