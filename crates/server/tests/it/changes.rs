//! The list of changes: pages, filters, waiting, and cursors that are gone or never were.

use dunlin_core::Time;
use dunlin_engine::capture::{ChangeDetail, DetailPiece};
use dunlin_store::{Capture, NewChange, NewSource, Outcome, ProbeId, Retention, SourceId, Store};
use serde_json::{Value, json};

use crate::service::Service;

pub(crate) fn at(second: i64) -> Time {
    Time::from_seconds(1_700_000_000 + second)
}

/// A source that no engine probes.
pub(crate) fn stored_source(store: &dyn Store) -> SourceId {
    store.add_source(NewSource::page("https://example.org/", at(0))).unwrap()
}

fn capture(source: SourceId, number: u32, text: &str) -> Capture {
    let now = at(i64::from(number));
    let mut capture = Capture::bare(source, ProbeId(u64::from(number)), now, Outcome::Changed);
    capture.changes = vec![NewChange {
        kind: "added".to_owned(),
        item: Some(format!("item {number}")),
        summary: text.to_owned(),
        detail: Vec::new(),
        happened_after: (number > 1).then(|| at(i64::from(number) - 1)),
        happened_before: now,
    }];
    capture
}

/// Stores `n` changes of a source, one capture each, at rising seconds; the summaries are `text`.
pub(crate) fn store_changes(store: &dyn Store, source: SourceId, n: u32, text: &str) {
    let captures = (1..=n).map(|number| std::sync::Arc::new(capture(source, number, text))).collect();
    assert!(store.record_captures(captures).iter().all(Result::is_ok));
}

#[tokio::test]
async fn changes_are_listed_as_promised() {
    let service = Service::start().await;
    let source = stored_source(&*service.store);
    store_changes(&*service.store, source, 2, "new");
    let page = service.client.get("/changes").await.json();
    assert_eq!(
        page,
        json!({
            "changes": [
                {
                    "cursor": 1, "source": source.0, "url": "https://example.org/", "name": "",
                    "detected_at": "2023-11-14T22:13:21Z",
                    "happened_between": [null, "2023-11-14T22:13:21Z"],
                    "version": null, "summary": "new", "kind": "added", "item": "item 1", "detail": null,
                },
                {
                    "cursor": 2, "source": source.0, "url": "https://example.org/", "name": "",
                    "detected_at": "2023-11-14T22:13:22Z",
                    "happened_between": ["2023-11-14T22:13:21Z", "2023-11-14T22:13:22Z"],
                    "version": null, "summary": "new", "kind": "added", "item": "item 2", "detail": null,
                },
            ],
            "next": 2,
        })
    );
    assert_eq!(service.client.get("/changes?after=2").await.json(), json!({ "changes": [], "next": 2 }));
}

/// In the list and in the stream alike.
#[tokio::test]
async fn a_change_shows_the_words_that_are_different() {
    let service = Service::start().await;
    let source = stored_source(&*service.store);
    let mut capture = capture(source, 1, "Teapot: 19 → 17");
    capture.changes[0].detail = ChangeDetail {
        title: "Teapot".to_owned(),
        heading: "Offers".to_owned(),
        link: Some("https://example.org/tea".to_owned()),
        published: Some(at(0).micros()),
        pieces: vec![
            DetailPiece::Kept("now ".to_owned()),
            DetailPiece::Removed("19".to_owned()),
            DetailPiece::Inserted("17".to_owned()),
            DetailPiece::Gap,
        ],
        ..ChangeDetail::default()
    }
    .to_bytes();
    assert!(service.store.record_captures(vec![capture.into()]).iter().all(Result::is_ok));
    let listed = service.client.get("/changes").await.json()["changes"][0].clone();
    assert_eq!(
        listed["detail"],
        json!({
            "title": "Teapot", "heading": "Offers", "old_title": null, "link": "https://example.org/tea",
            "published": "2023-11-14T22:13:20Z", "is_cut": false,
            "pieces": [
                { "op": "equal", "text": "now " },
                { "op": "delete", "text": "19" },
                { "op": "insert", "text": "17" },
                { "op": "gap", "text": "" },
            ],
        })
    );
    let mut follower = service.client.follow("?after=0", None).await;
    assert_eq!(follower.event().await.unwrap().json(), listed);
}

#[tokio::test]
async fn pages_cover_everything_once() {
    let service = Service::start().await;
    let sources = [stored_source(&*service.store), stored_source(&*service.store)];
    for source in sources {
        store_changes(&*service.store, source, 25, "new");
    }
    let mut cursors = Vec::new();
    let mut after = 0;
    loop {
        let page = service.client.get(&format!("/changes?after={after}&limit=7")).await.json();
        let changes = page["changes"].as_array().unwrap();
        assert!(changes.len() <= 7);
        cursors.extend(changes.iter().map(|change| change["cursor"].as_i64().unwrap()));
        after = page["next"].as_i64().unwrap();
        if changes.is_empty() {
            break;
        }
        assert!(cursors.len() <= 50, "pages go round in circles");
    }
    assert_eq!(cursors, (1..=50).collect::<Vec<_>>());
    let of_one = service.client.get(&format!("/changes?source={}&limit=1000", sources[0])).await.json();
    assert_eq!(of_one["changes"].as_array().unwrap().len(), 25);
    assert_eq!(of_one["next"], 50, "nothing of the source lies between its last change and the newest");
    let last = service.client.get(&format!("/changes?source={}&last=3", sources[0])).await.json();
    let of_one = of_one["changes"].as_array().unwrap();
    assert_eq!(last["changes"].as_array().unwrap()[..], of_one[22..]);
    let cursors_of = |page: &Value| -> Vec<i64> {
        page["changes"].as_array().unwrap().iter().map(|change| change["cursor"].as_i64().unwrap()).collect()
    };
    let page = service.client.get("/changes?last=10&after=47").await.json();
    assert_eq!((cursors_of(&page), page["next"].as_i64()), (vec![48, 49, 50], Some(50)), "both count");
    assert_eq!(cursors_of(&service.client.get("/changes?last=2&after=40").await.json()), [49, 50]);
    let all = service.client.get("/changes?last=1000").await.json();
    assert_eq!(cursors_of(&all), cursors, "also the first of all");
    assert_eq!(service.client.get("/changes?source=999").await.error().0, 404);
    assert_eq!(service.client.get("/decisions?source=999").await.error().0, 404);
    let bad_places = ["?after=-1", "?after=x", "?source=x", "?wait=-1", "?cursor=1"];
    for bad in bad_places.into_iter().chain(["?limit=-1", "?limit=0", "?last=0", "?last=1001", "?wait=61"]) {
        assert_eq!(service.client.get(&format!("/changes{bad}")).await.error().0, 400, "{bad}");
    }
    for nobody in ["/changes?source=99&wait=60", "/stream?source=99", "/decisions?source=99"] {
        let (status, code) = service.client.get(nobody).await.error();
        assert_eq!((status, &*code), (404, "no_such_source"), "{nobody}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reading_while_changes_come_misses_none() {
    let service = Service::start().await;
    let (store, n) = (service.store.clone(), 3_000);
    let source = stored_source(&*store);
    let writing = tokio::task::spawn_blocking(move || {
        for number in 1..=n {
            store.record_capture(capture(source, number, "new")).unwrap();
        }
    });
    let readers = (0..3).map(|_| {
        let client = service.client.clone();
        tokio::spawn(async move {
            let (mut cursors, mut after) = (Vec::new(), 0);
            while after < i64::from(n) {
                let page =
                    client.get(&format!("/changes?after={after}&source={source}&limit=1000")).await.json();
                cursors.extend(
                    page["changes"].as_array().unwrap().iter().map(|change| change["cursor"].clone()),
                );
                after = page["next"].as_i64().unwrap();
            }
            cursors
        })
    });
    let readers: Vec<_> = readers.collect();
    writing.await.unwrap();
    for reader in readers {
        assert_eq!(reader.await.unwrap(), (1..=n).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn waiting_ends_with_the_first_change() {
    let service = Service::start().await;
    assert_eq!(service.client.get("/changes").await.json(), json!({ "changes": [], "next": 0 }));
    service.add_growing("a").await;
    // Without the wait this would be an empty answer, and the test would not get its changes.
    let page = service.client.get("/changes?wait=60").await.json();
    assert!(!page["changes"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn a_cursor_whose_changes_are_gone_says_where_to_go_on() {
    let service = Service::start().await;
    let source = stored_source(&*service.store);
    store_changes(&*service.store, source, 10, "new");
    service.store.prune(Retention { changes_before: Some(at(6)), ..Retention::default() }).unwrap();
    let gone = service.client.get("/changes?after=2").await;
    assert_eq!(gone.error(), (410, "cursor_pruned".to_owned()));
    assert_eq!(gone.json()["error"]["resume_after"], 5);
    let cursors = |page: Value| -> Vec<i64> {
        page["changes"].as_array().unwrap().iter().map(|change| change["cursor"].as_i64().unwrap()).collect()
    };
    assert_eq!(cursors(service.client.get("/changes?after=5").await.json()), [6, 7, 8, 9, 10]);
    assert_eq!(cursors(service.client.get("/changes").await.json()), [6, 7, 8, 9, 10], "what there is");
    let ahead = service.client.get("/changes?after=11").await;
    assert_eq!(ahead.error(), (400, "cursor_ahead".to_owned()));
}
