//! Sources through the API: adding, listing, changing, pausing, removing; and what is refused.

use serde_json::{Value, json};

use crate::service::Service;

#[tokio::test]
async fn a_source_is_added_shown_changed_and_removed() {
    let service = Service::start().await;
    let url = service.site.url("/page");
    service.site.show("/page", "text/html", "<p class=price>12</p>");
    let added = service
        .client
        .post("/sources", json!({ "url": url, "selector": ".price", "weight": 2.5, "tags": ["shop"], "urgency": "exp:0.9", "life": "append" }))
        .await;
    assert_eq!(added.status, 201, "{}", added.text());
    let source = added.json();
    let id = source["id"].as_i64().unwrap();
    assert_eq!(added.header("location"), format!("/api/v1/sources/{id}"));
    assert_eq!(source["url"], url);
    assert_eq!(source["selector"], ".price");
    assert_eq!(
        (&source["weight"], &source["urgency"], &source["life"]),
        (&json!(2.5), &json!("exp:0.9"), &json!("append"))
    );
    assert_eq!((&source["tags"], &source["paused"]), (&json!(["shop"]), &json!(false)));
    let created = source["created_at"].as_str().unwrap();
    assert!(created.starts_with("20") && created.ends_with('Z'), "{created}");

    let changed = service
        .client
        .patch(&format!("/sources/{id}"), json!({ "weight": 1, "selector": null, "paused": true }))
        .await;
    assert_eq!(changed.status, 200, "{}", changed.text());
    let source = service.client.get(&format!("/sources/{id}")).await.json();
    assert_eq!(changed.json()["id"], source["id"]);
    assert_eq!(
        (&source["weight"], &source["selector"], &source["paused"]),
        (&json!(1.0), &Value::Null, &json!(true))
    );
    assert_eq!(
        (&source["urgency"], &source["tags"]),
        (&json!("exp:0.9"), &json!(["shop"])),
        "what is left out stays"
    );
    assert!(source["paused_at"].is_string());
    for (flicker, becomes) in [(json!("tell"), "tell"), (Value::Null, "learn")] {
        let changed = service.client.patch(&format!("/sources/{id}"), json!({ "flicker": flicker })).await;
        assert_eq!(changed.json()["flicker"], becomes);
    }
    let resumed = service.client.patch(&format!("/sources/{id}"), json!({ "paused": false })).await.json();
    assert_eq!((&resumed["paused"], &resumed["paused_at"]), (&json!(false), &Value::Null));

    assert_eq!(service.client.delete(&format!("/sources/{id}")).await.status, 204);
    for path in ["", "/versions", "/explain", "/forecast"] {
        let answer = service.client.get(&format!("/sources/{id}{path}")).await;
        assert_eq!(answer.error(), (404, "no_such_source".to_owned()), "{path}");
    }
    for answer in [
        service.client.delete(&format!("/sources/{id}")).await,
        service.client.post(&format!("/sources/{id}/probe"), json!({})).await,
        service.client.patch(&format!("/sources/{id}"), json!({ "weight": 1 })).await,
    ] {
        assert_eq!(answer.error(), (404, "no_such_source".to_owned()));
    }
}

#[tokio::test]
async fn an_invalid_source_is_refused_with_the_field_and_a_hint() {
    let service = Service::start().await;
    let url = service.site.url("/page");
    let refused = [
        (json!({}), 422, "bad_value", "url"),
        (json!({ "url": "not a url" }), 422, "bad_url", "url"),
        (json!({ "url": "ftp://example.org/" }), 422, "bad_url", "url"),
        (json!({ "url": "http://10.0.0.1/" }), 422, "bad_url", "url"),
        (json!({ "url": "https://example.org/", "headers": { "Host": "x" } }), 422, "bad_header", "Host"),
        (json!({ "url": url, "kind": "video" }), 422, "bad_kind", "kind"),
        (json!({ "url": url, "selector": "p[" }), 422, "bad_recipe", "p["),
        (json!({ "url": url, "selector": "p", "kind": "feed" }), 422, "bad_value", "selector"),
        (json!({ "url": url, "selector": "p", "path": "$.a" }), 422, "bad_value", "selector"),
        (json!({ "url": url, "path": "$.[" }), 422, "bad_recipe", "path"),
        (json!({ "url": url, "ignore_patterns": ["("] }), 422, "bad_recipe", "("),
        (json!({ "url": url, "life": "window:x" }), 422, "bad_value", "window:x"),
        (json!({ "url": url, "urgency": "soon" }), 422, "bad_value", "soon"),
        (json!({ "url": url, "weight": -1 }), 422, "bad_value", "weight"),
        (json!({ "url": url, "weight": "heavy" }), 422, "bad_value", "weight"),
        (json!({ "url": url, "tags": ["a", 1] }), 422, "bad_value", "tags[1]"),
        (json!({ "url": url, "tags": [""] }), 422, "bad_value", "tags"),
        (json!({ "url": url, "wieght": 1 }), 422, "unknown_field", "wieght"),
        (json!([]), 422, "bad_value", "a list, expected an object"),
        (json!(5), 422, "bad_value", "integer `5`, expected an object"),
        (json!(["not", "an", "object"]), 422, "bad_value", "a list, expected an object"),
    ];
    for (body, status, code, place) in refused {
        let answer = service.client.post("/sources", body.clone()).await;
        assert_eq!(answer.error(), (status, code.to_owned()), "{body} {}", answer.text());
        assert!(answer.text().contains(place), "{body}: {}", answer.text());
    }
    assert_eq!(service.client.get("/sources").await.json()["sources"], json!([]));
}

#[tokio::test]
async fn lists_are_paged_and_filtered() {
    let service = Service::start().await;
    let url = |n: usize| service.site.url(&format!("/{n}"));
    let given: Vec<Value> = (0..7)
        .map(|n| json!({ "url": url(n), "tags": [if n % 2 == 0 { "even" } else { "odd" }], "paused": true }))
        .collect();
    assert_eq!(service.client.post("/sources/bulk", json!({ "sources": given })).await.json()["added"], 7);
    let (mut ids, mut after) = (Vec::new(), Value::from(0));
    while !after.is_null() {
        let page = service.client.get(&format!("/sources?limit=3&after={after}")).await.json();
        ids.extend(page["sources"].as_array().unwrap().iter().map(|source| source["id"].as_i64().unwrap()));
        after = page["next"].clone();
        assert!(ids.len() <= 7, "pages go round in circles");
    }
    assert_eq!(ids.len(), 7);
    for (limit, next) in [(7, json!(ids[6])), (8, Value::Null), (1, json!(ids[0]))] {
        let page = service.client.get(&format!("/sources?limit={limit}")).await.json();
        assert_eq!(page["next"], next, "{limit}");
    }
    assert!(ids.is_sorted());
    let count = |page: Value| page["sources"].as_array().unwrap().len();
    assert_eq!(count(service.client.get("/sources?tag=even").await.json()), 4);
    assert_eq!(count(service.client.get(&format!("/sources?url={}", url(3))).await.json()), 1);
    assert_eq!(count(service.client.get("/sources?tag=&url=").await.json()), 7, "empty is left out");
    for bad in ["?limit=many", "?after=x", "?limti=3", "?limit=", "?after="] {
        let answer = service.client.get(&format!("/sources{bad}")).await;
        assert_eq!(answer.error(), (400, "bad_parameter".to_owned()), "{bad}");
        let name = bad[1..].split('=').next().unwrap();
        assert!(answer.text().contains(name), "{}", answer.text());
    }
}

#[tokio::test]
async fn many_are_added_at_once_each_by_itself() {
    let service = Service::start().await;
    let url = service.site.url("/a");
    let sources = json!([{ "url": url, "paused": true }, { "url": "nonsense" }, { "url": service.site.url("/b"), "paused": true }]);
    let answer = service.client.post("/sources/bulk", json!({ "sources": sources })).await;
    assert_eq!(answer.status, 200);
    let answer = answer.json();
    let statuses: Vec<_> =
        answer["results"].as_array().unwrap().iter().map(|r| r["status"].clone()).collect();
    assert_eq!(statuses, [201, 422, 201]);
    assert_eq!(answer["results"][0]["source"]["url"], url);
    assert_eq!(answer["results"][0]["source"]["paused"], true);
    assert_eq!(answer["results"][1]["error"]["code"], "bad_url");
    let misspelt =
        service.client.post("/sources/bulk", json!({ "sources": [{ "url": url }, { "ulr": url }] })).await;
    assert_eq!(misspelt.error(), (422, "unknown_field".to_owned()));
    assert!(misspelt.text().contains("sources[1]"), "{}", misspelt.text());
}

#[tokio::test]
async fn secrets_in_headers_are_sent_and_never_shown() {
    let service = Service::start().await;
    service.site.show("/private", "text/plain", "for members");
    let source = json!({ "url": service.site.url("/private"), "headers": { "x-key": "s3cret" } });
    let added = service.client.post("/sources", source).await;
    let id = added.json()["id"].as_i64().unwrap();
    service.eventually(&format!("/sources/{id}/versions"), |page| !page["versions"][0].is_null()).await;
    assert_eq!(service.site.last_headers("/private")["x-key"], "s3cret");
    for shown in [
        added,
        service.client.get(&format!("/sources/{id}")).await,
        service.client.get(&format!("/sources/{id}/explain")).await,
    ] {
        assert!(!shown.text().contains("s3cret"), "{}", shown.text());
    }
    let kept = service.client.patch(&format!("/sources/{id}"), json!({ "weight": 2 })).await.json();
    assert_eq!(kept["header_names"], json!(["x-key"]), "an edit of something else keeps them");
}
