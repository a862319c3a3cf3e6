//! Versions: what was captured, served so that no browser runs it, and what differs between two.

use serde_json::{Value, json};

use crate::service::Service;

/// Watches a page that says `first`, then `second`; gives the numbers of its two versions.
async fn two_versions(service: &Service, path: &str, first: &str, second: &str) -> (i64, i64) {
    service.site.show(path, "text/html; charset=utf-8", first);
    let id = service.add(json!({ "url": service.site.url(path), "kind": "page" })).await;
    let versions = format!("/sources/{id}/versions");
    service.eventually(&versions, |page| page["versions"].as_array().unwrap().len() == 1).await;
    service.site.show(path, "text/html; charset=utf-8", second);
    let page = service.eventually(&versions, |page| page["versions"].as_array().unwrap().len() == 2).await;
    let number = |index: usize| page["versions"][index]["id"].as_i64().unwrap();
    assert_eq!(page["versions"][0]["source"], id);
    assert!(page["next"].is_null());
    (number(1), number(0))
}

#[tokio::test]
async fn content_is_served_as_it_was_but_never_as_a_page() {
    let service = Service::start().await;
    let page = "<script>alert(1)</script><p>one</p>";
    let (first, _) = two_versions(&service, "/page", page, "<p>two</p>").await;
    let shown = service.client.get(&format!("/versions/{first}")).await.json();
    assert_eq!((&shown["id"], &shown["size"]), (&json!(first), &json!(page.len())));
    assert_eq!(shown["hash"].as_str().unwrap().len(), 64);
    assert!(shown["captured_at"].as_str().unwrap().ends_with('Z'));
    let content = service.client.get(&format!("/versions/{first}/content")).await;
    assert_eq!(content.text(), page);
    assert_eq!(content.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!(content.header("x-content-type-options"), "nosniff");
    assert!(content.header("content-security-policy").contains("sandbox"));
    assert_eq!(
        service.client.get("/versions/999999/content").await.error(),
        (404, "no_such_version".to_owned())
    );
}

#[tokio::test]
async fn what_is_not_text_is_served_as_a_file_to_save() {
    use dunlin_store::{Capture, NewVersion, Outcome, ProbeId};
    let service = Service::start().await;
    let source = crate::changes::stored_source(&*service.store);
    let mut capture = Capture::bare(source, ProbeId(1), crate::changes::at(1), Outcome::Changed);
    capture.version = Some(NewVersion { content: b"\x89PNG".to_vec(), media_type: "image/svg".to_owned() });
    let version = service.store.record_capture(capture).unwrap().version.unwrap();
    let content = service.client.get(&format!("/versions/{version}/content")).await;
    assert_eq!(content.header("content-type"), "application/octet-stream");
    assert!(content.header("content-disposition").starts_with("attachment"));
    assert_eq!(&content.body[..], b"\x89PNG");
}

#[tokio::test]
async fn differences_are_given_word_by_word_and_as_a_patch() {
    let service = Service::start().await;
    let page = |price: &str| format!("<h1>Shop</h1><p>the price is {price} today</p>");
    let (first, second) = two_versions(&service, "/shop", &page("12"), &page("15")).await;
    let difference = service.client.get(&format!("/versions/{second}/diff")).await.json();
    assert_eq!((&difference["version"], &difference["against"]), (&json!(second), &json!(first)));
    let pieces = difference["pieces"].as_array().unwrap();
    let of = |op: &str| -> Vec<&Value> {
        pieces.iter().filter(|piece| piece["op"] == op).map(|piece| &piece["text"]).collect()
    };
    assert_eq!((of("delete"), of("insert")), (vec![&json!("12")], vec![&json!("15")]));
    assert!(of("equal")[0].as_str().unwrap().contains("the price is"));

    let beside = service.client.get(&format!("/versions/{second}/diff?rows=true")).await.json();
    let edited = beside["rows"].as_array().unwrap().iter().find(|row| row["op"] == "edit").unwrap();
    let of = |side: &str, op: &str| -> Vec<&Value> {
        edited[side]
            .as_array()
            .unwrap()
            .iter()
            .filter(|piece| piece["op"] == op)
            .map(|piece| &piece["text"])
            .collect()
    };
    assert_eq!((of("old", "delete"), of("new", "insert")), (vec![&json!("12")], vec![&json!("15")]));
    assert_eq!((of("old", "insert"), of("new", "delete")), (vec![], vec![]));

    let mut request =
        service.client.request(hyper::Method::GET, &format!("/versions/{second}/diff"), bytes::Bytes::new());
    request.headers_mut().insert("accept", "text/plain".parse().unwrap());
    let patch = service.client.send(request).await;
    assert_eq!(patch.header("content-type"), "text/plain; charset=utf-8");
    assert!(patch.text().starts_with(&format!("--- version {first}\t")), "{}", patch.text());
    assert!(patch.text().contains("\n-the price is 12 today\n+the price is 15 today\n"), "{}", patch.text());

    let mut request =
        service.client.request(hyper::Method::GET, &format!("/versions/{second}/diff"), bytes::Bytes::new());
    request.headers_mut().insert("accept", "application/json, text/plain".parse().unwrap());
    assert_eq!(service.client.send(request).await.json(), difference);

    let back = service.client.get(&format!("/versions/{first}/diff?against={second}")).await.json();
    assert!(back["pieces"].as_array().unwrap().contains(&json!({ "op": "delete", "text": "15" })), "{back}");
    let alone = service.client.get(&format!("/versions/{first}/diff")).await.json();
    assert_eq!(alone["against"], Value::Null);
    assert!(alone["pieces"].as_array().unwrap().iter().all(|piece| piece["op"] == "insert"));

    let (other, _) = two_versions(&service, "/other", "<p>a</p>", "<p>b</p>").await;
    let mixed = service.client.get(&format!("/versions/{second}/diff?against={other}")).await;
    assert_eq!(mixed.error(), (422, "bad_value".to_owned()));
    let missing = service.client.get(&format!("/versions/{second}/diff?against=999999")).await;
    assert_eq!(missing.error(), (404, "no_such_version".to_owned()));
}
