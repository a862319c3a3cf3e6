//! Continuous queries over the API: installed or refused with each place, results listed and streamed once, misses with a
//! reason, and what becomes of both when a query goes.

use serde_json::{Value, json};

use crate::service::Service;

const PAGE: &str = "<html><body><h1>Rates</h1><p>A page about rates, written by hand.</p><b class='last'>80.00</b></body></html>";

/// Reads the rate every second.
fn text(service: &Service, name: &str) -> String {
    let url = service.site.url("/rates");
    format!("QUERY {name} SELECT value AS rate FROM page '{url}' PICK '.last' EVERY 1 SECOND")
}

async fn install(service: &Service, name: &str) -> i64 {
    service.site.show("/rates", "text/html", PAGE);
    let answer = service.client.post("/queries", json!({ "text": text(service, name) })).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let id = answer.json()["id"].as_i64().unwrap();
    assert_eq!(answer.header("location"), format!("/api/v1/queries/{id}"));
    id
}

#[tokio::test]
async fn a_query_is_installed_and_its_results_are_listed_by_cursor() {
    let service = Service::start().await;
    let id = install(&service, "rate").await;
    let page = service
        .eventually(&format!("/queries/{id}/results"), |page| page["results"].as_array().unwrap().len() >= 2)
        .await;
    let first = &page["results"][0];
    let part = &first["parts"]["rate"];
    assert_eq!(
        (&part["items"], &part["url"]),
        (&json!([{"value": "80.00", "number": 80.0}]), &json!(service.site.url("/rates")))
    );
    assert!(
        part["version"].is_i64() && part["source"].is_i64() && first["captured_at"].is_string(),
        "{first}"
    );
    assert_eq!((first["cursor"].as_i64(), first["query"].as_i64()), (Some(1), Some(id)));
    for list in ["results", "missed"] {
        let ahead = service.client.get(&format!("/queries/{id}/{list}?after=99999")).await;
        assert_eq!(ahead.error(), (400, "cursor_ahead".to_owned()), "{list}");
    }
    let rest = service.client.get(&format!("/queries/{id}/results?after=1&limit=1")).await.json();
    assert_eq!((&rest["results"][0]["cursor"], &rest["next"]), (&json!(2), &json!(2)));
    let shown = service.client.get(&format!("/queries/{id}")).await.json();
    assert_eq!(
        (&shown["name"], &shown["state"], &shown["missed"]),
        (&json!("rate"), &json!("running"), &json!(0))
    );
    assert_eq!(shown["text"], text(&service, "rate"));
    let explained = service.client.get(&format!("/queries/{id}/explain")).await.json();
    assert_eq!(explained["reads"][0]["health"], "well", "{explained}");
    assert!(explained["next_begin"].is_string());
    assert_eq!(service.client.get("/sources").await.json()["sources"], json!([]), "nobody watches it");
    let all = service.client.get("/sources?for_queries=true").await.json();
    assert_eq!(all["sources"][0]["for_queries"], true);
    assert_eq!(service.client.get("/changes").await.json()["changes"], json!([]));
}

#[tokio::test]
async fn a_text_with_errors_is_refused_with_each_place() {
    let service = Service::start().await;
    let text = "QUERY a SELECT value AS v FROM page 'http://x.test/' PICK '..' EVRY 1 HOUR\n  FOR 1 YEAR";
    let answer = service.client.post("/queries", json!({ "text": text })).await;
    assert_eq!(answer.error(), (422, "bad_query".to_owned()), "{}", answer.text());
    let error = &answer.json()["error"];
    assert_eq!(
        (&error["line"], &error["column"]),
        (&error["errors"][0]["line"], &error["errors"][0]["column"])
    );
    let places: Vec<(Value, Value)> = error["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|own| (own["line"].clone(), own["column"].clone()))
        .collect();
    assert!(places.contains(&(json!(1), json!(64))) && places.contains(&(json!(2), json!(9))), "{error}");
    let hints: Vec<&str> =
        error["errors"].as_array().unwrap().iter().filter_map(|own| own["hint"].as_str()).collect();
    assert!(hints.contains(&"did you mean EVERY?"), "{hints:?}");
    assert_eq!(service.client.get("/queries").await.json()["queries"], json!([]));

    for (text, status, code) in [
        ("", 422, "bad_query"),
        ("QUERY a SELECT item AS v FROM source 9 EVERY 1 HOUR", 422, "bad_query"),
        (
            "QUERY a SELECT item AS v FROM feed 'http://127.0.0.1:1/' EVERY 1 HOUR QUERY b SELECT item AS v FROM feed 'http://x.test/' EVERY 1 HOUR",
            422,
            "bad_query",
        ),
    ] {
        let answer = service.client.post("/queries", json!({ "text": text })).await;
        assert_eq!(answer.error(), (status, code.to_owned()), "{text}: {}", answer.text());
    }
    let two = "QUERY a WATCH 'oil' IMPORTANCE 1\n\n  QUERY b WATCH 'gas' IMPORTANCE 1";
    let error = service.client.post("/queries", json!({ "text": two })).await.json()["error"].clone();
    assert_eq!((&error["line"], &error["column"]), (&json!(3), &json!(3)), "{error}");
    let over = "QUERY a SELECT item AS v FROM feed 'http://x.test/' EVERY 1 HOUR UNTIL 2020-01-01";
    let refused = service.client.post("/queries", json!({ "text": over })).await;
    assert!(refused.status == 422 && refused.text().contains("over since 2020-01-01"), "{}", refused.text());
    assert_eq!(service.client.post("/queries", json!({})).await.error(), (422, "bad_value".to_owned()));
}

#[tokio::test]
async fn results_are_streamed_once_and_in_order_from_where_the_reader_left_off() {
    let service = Service::start().await;
    let id = install(&service, "rate").await;
    let other = install(&service, "other").await;
    let query = format!("?query={id}&after=0");
    let mut follower = service.client.follow(&query, None).await;
    let mut streamed = Vec::new();
    while streamed.len() < 2 {
        let event = follower.event().await.unwrap();
        assert_eq!((event.name.as_str(), event.id), ("result", event.json()["cursor"].as_i64()));
        assert_eq!(event.json()["query"], id);
        streamed.push(event.json());
    }
    let last = streamed[1]["cursor"].as_i64().unwrap();
    let mut again = service.client.follow(&query, Some(last)).await;
    let next = again.event().await.unwrap().json();
    assert!(next["cursor"].as_i64().unwrap() > last, "the reader's own memory goes before the address");
    let listed = service.client.get(&format!("/queries/{id}/results?limit=3")).await.json();
    streamed.push(next);
    assert_eq!(listed["results"], json!(streamed));
    // It ends with the query, and another one goes on.
    assert_eq!(service.client.delete(&format!("/queries/{id}")).await.status, 204);
    while let Some(event) = again.event().await {
        assert_eq!(event.json()["query"], id);
    }
    let mut of_other = service.client.follow(&format!("?query={other}"), None).await;
    assert_eq!(of_other.event().await.unwrap().json()["query"], other);
    for (query, status, code) in [
        (format!("?query={id}"), 404, "no_such_query"),
        (format!("?query={other}&source=1"), 400, "bad_parameter"),
        (format!("?query={other}&after=100000"), 400, "cursor_ahead"),
    ] {
        let answer = service.client.get(&format!("/stream{query}")).await;
        assert_eq!(answer.error(), (status, code.to_owned()), "{query}");
    }
}

#[tokio::test]
async fn what_cannot_be_captured_is_listed_with_the_reason() {
    let service = Service::start().await;
    let url = service.site.url("/nowhere");
    let text = format!("QUERY lost SELECT value AS rate FROM page '{url}' PICK '.last' EVERY 1 SECOND");
    let id = service.client.post("/queries", json!({ "text": text })).await.json()["id"].as_i64().unwrap();
    let page = service
        .eventually(&format!("/queries/{id}/missed"), |page| !page["missed"].as_array().unwrap().is_empty())
        .await;
    let missed = &page["missed"][0];
    assert_eq!((&missed["parts"][0]["name"], &missed["parts"][0]["why"]), (&json!("rate"), &json!("failed")));
    assert!(missed["parts"][0]["message"].as_str().unwrap().contains("404"), "{missed}");
    assert_eq!(service.client.get(&format!("/queries/{id}/results")).await.json()["results"], json!([]));
}

#[tokio::test]
async fn a_query_is_edited_paused_resumed_and_removed() {
    let service = Service::start().await;
    let id = install(&service, "rate").await;
    let path = format!("/queries/{id}");
    let paused = service.client.patch(&path, json!({ "paused": true })).await;
    assert_eq!((paused.status, &paused.json()["state"]), (200, &json!("paused")), "{}", paused.text());
    assert_eq!(service.client.get(&format!("{path}/explain")).await.json()["next_begin"], Value::Null);
    let edited =
        service.client.patch(&path, json!({ "text": text(&service, "renamed"), "paused": false })).await;
    assert_eq!((&edited.json()["name"], &edited.json()["state"]), (&json!("renamed"), &json!("running")));
    let broken = service.client.patch(&path, json!({ "text": "QUERY" })).await;
    assert_eq!(broken.error(), (422, "bad_query".to_owned()));
    assert_eq!(service.client.get(&path).await.json()["name"], "renamed", "a broken text changes nothing");
    let taken = service.client.post("/queries", json!({ "text": text(&service, "renamed") })).await;
    assert_eq!(taken.error(), (409, "query_exists".to_owned()));
    let listed = service.client.get("/queries?limit=1").await.json();
    assert_eq!((&listed["queries"][0]["id"], &listed["next"]), (&json!(id), &json!(id)));
    let source = listed["queries"][0]["sources"][0].as_i64().unwrap();
    let needed = service.client.delete(&format!("/sources/{source}")).await;
    assert_eq!(needed.error(), (409, "needed_by_query".to_owned()));
    assert_eq!(service.client.delete(&path).await.status, 204);
    for path in [path.clone(), format!("{path}/results"), format!("{path}/missed"), format!("{path}/explain")]
    {
        assert_eq!(service.client.get(&path).await.error(), (404, "no_such_query".to_owned()), "{path}");
    }
    assert_eq!(service.client.delete(&path).await.error(), (404, "no_such_query".to_owned()));
}

#[tokio::test]
async fn a_query_is_tried_on_what_is_stored() {
    let service = Service::start().await;
    service.site.show("/rates", "text/html", PAGE);
    let source = service.add(json!({ "url": service.site.url("/rates") })).await;
    service.eventually(&format!("/sources/{source}/versions"), |page| page["versions"][0].is_object()).await;
    service.site.show("/rates", "text/html", &PAGE.replace("80.00", "79.00"));
    service.eventually(&format!("/sources/{source}/versions"), |page| page["versions"][1].is_object()).await;
    let text = text(&service, "tried").replace("EVERY 1 SECOND", "ON CHANGE WHERE rate DROPS");
    let tried = service.client.post("/queries/test", json!({ "text": text })).await.json();
    let told = &tried["results"][0]["parts"]["rate"];
    assert_eq!(
        (&tried["complete"], &told["items"][0]["number"], &told["source"]),
        (&json!(1), &json!(79.0), &json!(source)),
        "{tried}"
    );
    let text = text.replace("DROPS", "RISES");
    let tried = service.client.post("/queries/test", json!({ "text": text })).await.json();
    assert_eq!((&tried["complete"], &tried["not_told"]), (&json!(0), &json!(1)), "{tried}");
    let text = text.replace(" WHERE rate RISES", "");
    let tried = service.client.post("/queries/test", json!({ "text": text })).await.json();
    let told = &tried["results"][0]["parts"]["rate"];
    assert_eq!(
        (&tried["complete"], &told["items"][0]["number"], &told["source"]),
        (&json!(1), &json!(79.0), &json!(source)),
        "{tried}"
    );
    assert_eq!(service.client.get("/queries").await.json()["queries"], json!([]), "nothing is installed");
}

#[tokio::test]
async fn what_is_about_the_words_of_a_watch_is_told_once_with_where_else_it_was_seen() {
    let service = Service::start().await;
    let feed = |titles: &[&str]| {
        let item = |title: &&str| format!("<item><guid>{title}</guid><title>{title}</title></item>");
        let items: String = titles.iter().map(item).collect();
        format!("<rss version='2.0'><channel><title>News</title>{items}</channel></rss>")
    };
    let before = [
        "Hurricane warning for Florida: hurricane Ann left Florida, hurricane Bob nears Florida",
        "The harbour opens",
    ];
    let story = "Hurricane Milo reaches the coast of Florida in the early morning, and all ports close";
    let mut sources = Vec::new();
    for path in ["/one", "/two"] {
        service.site.show(path, "application/rss+xml", &feed(&before));
        sources.push(service.add(json!({ "url": service.site.url(path), "kind": "feed" })).await);
    }
    for source in &sources {
        service
            .eventually(&format!("/sources/{source}/versions"), |page| page["versions"][0].is_object())
            .await;
    }
    let text =
        "QUERY storms WATCH 'hurricane florida' IMPORTANCE 0.8 WHERE NOT item.title CONTAINS 'football'";
    let id = service.client.post("/queries", json!({ "text": text })).await.json()["id"].as_i64().unwrap();
    let is_found = |explained: &Value| explained["relevant"].as_array().is_some_and(|all| all.len() == 2);
    let explained = service.eventually(&format!("/queries/{id}/explain"), is_found).await;
    assert!(explained["relevant"][0]["relevance"].as_f64().unwrap() > 0.3, "{explained}");
    let results = format!("/queries/{id}/results");
    service.site.show("/one", "application/rss+xml", &feed(&[story, before[0], before[1]]));
    let told = service.eventually(&results, |page| page["results"][0].is_object()).await;
    let part = &told["results"][0]["parts"]["item"];
    assert_eq!((&part["items"][0]["title"], &part["source"]), (&json!(story), &json!(sources[0])));
    service.site.show(
        "/two",
        "application/rss+xml",
        &feed(&["Hurricane football in Florida", story, before[0]]),
    );
    let merged = service.eventually(&results, |page| page["results"][0]["also_at"][0].is_object()).await;
    let also = &merged["results"][0]["also_at"][0];
    assert_eq!((&also["source"], &also["url"]), (&json!(sources[1]), &json!(service.site.url("/two"))));
    assert_eq!(
        merged["results"].as_array().unwrap().len(),
        1,
        "told once, and the other is filtered: {merged}"
    );
    let tried = service.client.post("/queries/test", json!({ "text": text })).await.json();
    let part = &tried["results"][0]["parts"]["item"];
    assert_eq!(
        (&tried["complete"], &tried["not_told"], &part["items"][0]["title"], &part["source"]),
        (&json!(1), &json!(2), &json!(story), &json!(sources[0])),
        "told once; the other is filtered, and the same story is not told again: {tried}"
    );
}
