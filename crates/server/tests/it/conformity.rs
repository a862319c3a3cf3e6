//! What is answered is what the document describes: status, type of content, every field; and what it forbids is refused.

use bytes::Bytes;
use dunlin_server::{Options, Secret, proof};
use serde_json::{Value, json};

use crate::client::Answer;
use crate::schema::problems;
use crate::service::{Service, options};

/// The operation of the document that serves a request, and its name.
fn operation<'d>(document: &'d Value, method: &str, target: &str) -> (String, &'d Value) {
    let path = target.split('?').next().unwrap();
    let fits = |template: &str| {
        let (given, described) = (path.split('/'), template.split('/'));
        given.clone().count() == described.clone().count()
            && given.zip(described).all(|(given, described)| described.starts_with('{') || given == described)
    };
    let paths = document["paths"].as_object().unwrap();
    // `/sources/bulk` before `/sources/{id}`.
    let mut fitting: Vec<&String> = paths.keys().filter(|template| fits(template)).collect();
    fitting.sort_by_key(|template| template.contains('{'));
    let template = fitting.first().unwrap_or_else(|| panic!("{target} is not described"));
    let method = method.to_lowercase();
    let operation = &paths[*template][&method];
    assert!(operation.is_object(), "{method} {template} is not described");
    (format!("{method} {template}"), operation)
}

/// Asks, and holds the answer against the document; gives the name of the operation and the status.
async fn ask(service: &Service, document: &Value, method: &str, target: &str, body: &Value) -> (String, u16) {
    let body = if body.is_null() { Bytes::new() } else { body.to_string().into() };
    let request = service.client.request(method.parse().unwrap(), target, body);
    let answer = service.client.send(request).await;
    let (name, described) = operation(document, method, target);
    as_described(document, described, &answer, &format!("{method} {target}"));
    (name, answer.status)
}

fn as_described(document: &Value, operation: &Value, answer: &Answer, what: &str) {
    let responses = &operation["responses"];
    let status = answer.status.to_string();
    let is_error = answer.status >= 400;
    let response =
        responses.get(&status).filter(|_| !is_error).or_else(|| is_error.then(|| &responses["default"]));
    let response = response.unwrap_or_else(|| panic!("{what}: status {status} is not described"));
    let essence = answer.header("content-type").split(';').next().unwrap();
    let Some(contents) = response["content"].as_object() else {
        assert!(answer.body.is_empty(), "{what}: {status} has a body that is not described");
        return;
    };
    let content = contents.get(essence).unwrap_or_else(|| panic!("{what}: {status} came as `{essence}`"));
    if essence == "application/json" {
        let found = problems(document, &content["schema"], &answer.json());
        assert!(found.is_empty(), "{what}: {status}: {found:#?} in {}", answer.text());
    }
}

async fn a_query_with_results_and_one_with_misses(service: &Service, text: &str) -> (Value, Value) {
    let query = service.client.post("/queries", json!({ "text": text })).await.json()["id"].clone();
    let has_results = |page: &Value| page["results"][0].is_object();
    service.eventually(&format!("/queries/{query}/results"), has_results).await;
    let url = service.site.url("/lost");
    let lost = format!("QUERY lost SELECT item AS post FROM feed '{url}' EVERY 1 SECOND");
    let lost = service.client.post("/queries", json!({ "text": lost })).await.json()["id"].clone();
    service.eventually(&format!("/queries/{lost}/missed"), |page| page["missed"][0].is_object()).await;
    (query, lost)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_route_answers_as_the_document_says() {
    let local_token = Some(Secret("dunlin_local-cli_00".to_owned()));
    let service = Service::with(Options { local_token, ..options() }).await;
    let document = service.client.get("/openapi.json").await.json();
    service.eventually("/healthz", |answer| answer["status"] == "ok").await;
    let id = service.add_growing("a").await;
    service.changes(0, 3).await;
    let paused = service.add(json!({ "url": service.site.url("/growing/b"), "paused": true })).await;
    let version =
        service.client.get(&format!("/sources/{id}/versions")).await.json()["versions"][0]["id"].clone();
    let proof = format!("/proof?challenge={}", proof::challenge().unwrap());
    let (none, url) = (Value::Null, service.site.url("/growing/c"));
    let text = |name: &str| format!("QUERY {name} SELECT item AS post FROM feed '{url}' EVERY 1 SECOND");
    let (query, lost) = a_query_with_results_and_one_with_misses(&service, &text("a")).await;
    let asked = [
        ("GET", "/healthz".to_owned(), none.clone()),
        ("GET", "/readyz".to_owned(), none.clone()),
        ("GET", "/metrics".to_owned(), none.clone()),
        ("GET", proof, none.clone()),
        ("GET", "/proof?challenge=0".to_owned(), none.clone()),
        ("GET", "/sources".to_owned(), none.clone()),
        ("GET", "/sources?limit=0".to_owned(), none.clone()),
        ("POST", "/sources".to_owned(), json!({ "url": url, "tags": ["x"], "shortest_gap": 60.0 })),
        ("POST", "/sources".to_owned(), json!({})),
        ("POST", "/sources".to_owned(), json!({ "url": url, "nonsense": 1 })),
        ("POST", "/sources/bulk".to_owned(), json!({ "sources": [{ "url": url }, { "url": "x" }, {}] })),
        ("POST", "/sources/bulk".to_owned(), json!([])),
        ("GET", format!("/sources/{id}"), none.clone()),
        ("GET", "/sources/999".to_owned(), none.clone()),
        ("GET", "/sources/x".to_owned(), none.clone()),
        ("PATCH", format!("/sources/{id}"), json!({ "weight": 2, "shortest_gap": null })),
        ("PATCH", format!("/sources/{id}"), json!({ "weight": -1 })),
        ("PATCH", format!("/sources/{id}"), json!({ "longest_gap": -1 })),
        ("GET", format!("/sources/{id}/explain"), none.clone()),
        ("GET", format!("/sources/{id}/forecast"), none.clone()),
        ("GET", "/sources/999/explain".to_owned(), none.clone()),
        ("GET", "/sources/999/forecast".to_owned(), none.clone()),
        ("GET", format!("/sources/{id}/versions?limit=2"), none.clone()),
        ("GET", "/sources/999/versions".to_owned(), none.clone()),
        ("POST", format!("/sources/{id}/probe"), none.clone()),
        ("POST", format!("/sources/{paused}/probe"), none.clone()),
        ("GET", format!("/versions/{version}"), none.clone()),
        ("GET", format!("/versions/{version}/content"), none.clone()),
        ("GET", format!("/versions/{version}/diff"), none.clone()),
        ("GET", format!("/versions/{version}/diff?rows=true"), none.clone()),
        ("PATCH", format!("/sources/{id}"), json!({ "name": "Tea" })),
        ("PATCH", format!("/sources/{id}"), json!({ "name": " Tea" })),
        ("GET", "/versions/999".to_owned(), none.clone()),
        ("GET", "/versions/999/content".to_owned(), none.clone()),
        ("GET", "/versions/999/diff".to_owned(), none.clone()),
        ("GET", "/changes?limit=3".to_owned(), none.clone()),
        ("GET", "/changes?after=999999".to_owned(), none.clone()),
        ("GET", "/stream?after=-1".to_owned(), none.clone()),
        ("GET", "/queries?limit=1".to_owned(), none.clone()),
        ("GET", "/queries?limit=0".to_owned(), none.clone()),
        ("POST", "/queries".to_owned(), json!({ "text": text("b"), "paused": true })),
        ("POST", "/queries".to_owned(), json!({ "text": "QUERY" })),
        ("POST", "/queries".to_owned(), json!({ "text": text("a") })),
        ("POST", "/queries/test".to_owned(), json!({ "text": text("c") })),
        ("POST", "/queries/test".to_owned(), json!({ "text": "" })),
        ("GET", format!("/queries/{query}"), none.clone()),
        ("PATCH", format!("/queries/{query}"), json!({ "text": text("d") })),
        ("PATCH", format!("/queries/{query}"), json!({ "paused": "yes" })),
        ("GET", format!("/queries/{query}/explain"), none.clone()),
        ("GET", format!("/queries/{query}/results"), none.clone()),
        ("GET", format!("/queries/{lost}/missed"), none.clone()),
        ("GET", format!("/queries/{lost}/missed?after=-1"), none.clone()),
        ("DELETE", format!("/queries/{query}"), none.clone()),
        ("GET", format!("/queries/{query}/results"), none.clone()),
        ("GET", "/budget".to_owned(), none.clone()),
        ("PUT", "/budget".to_owned(), json!({ "per_minute": 30, "per_day": null })),
        ("PUT", "/budget".to_owned(), json!({})),
        ("DELETE", "/budget".to_owned(), none.clone()),
        ("GET", "/decisions?limit=3".to_owned(), none.clone()),
        ("GET", "/decisions?last=0".to_owned(), none.clone()),
        ("POST", "/tokens".to_owned(), json!({ "name": "phone" })),
        ("POST", "/tokens".to_owned(), json!({ "name": "phone" })),
        ("POST", "/tokens".to_owned(), json!({ "name": "" })),
        ("GET", "/tokens".to_owned(), none.clone()),
        ("DELETE", "/tokens/phone".to_owned(), none.clone()),
        ("DELETE", "/tokens/phone".to_owned(), none.clone()),
        ("DELETE", format!("/sources/{paused}"), none.clone()),
        ("DELETE", format!("/sources/{paused}"), none.clone()),
    ];
    let mut well = std::collections::BTreeSet::new();
    for (method, target, body) in asked {
        let (name, status) = ask(&service, &document, method, &target, &body).await;
        if status < 300 {
            well.insert(name);
        }
    }
    well.insert("get /stream".to_owned()); // It has no end; its events are compared with the list elsewhere.
    let described = document["paths"].as_object().unwrap().iter().flat_map(|(path, item)| {
        item.as_object().unwrap().keys().map(move |method| format!("{method} {path}"))
    });
    assert_eq!(well, described.collect(), "every operation has answered what it is there for");
}

/// The bounds of every parameter: what lies within is not refused for it, and what lies outside is.
#[tokio::test]
async fn parameters_are_bounded_as_the_document_says() {
    let service = Service::start().await;
    let document = service.client.get("/openapi.json").await.json();
    let mut n_bounded = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let templated = |name: &str| path.contains(&format!("{{{name}}}"));
        for parameter in item["get"]["parameters"].as_array().into_iter().flatten() {
            let (name, schema) = (parameter["name"].as_str().unwrap(), &parameter["schema"]);
            let place = parameter["in"].as_str().unwrap();
            assert_eq!(place == "path", templated(name), "{path} {name} is in the {place}");
            assert!(schema["type"].is_string(), "{path} {name}: {schema}: there is no null in an address");
            if place != "query" || schema["type"] != "integer" {
                continue;
            }
            let target = path.replace("{id}", "1");
            let refused = async |value: i128| {
                let answer = service.client.get(&format!("{target}?{name}={value}")).await;
                let says = || answer.text().contains("bad_parameter") && answer.text().contains(name);
                answer.status == 400 && says()
            };
            let low = schema["minimum"].as_i64().map(i128::from);
            let high = schema["maximum"].as_i64().map(i128::from);
            // A stream that is not refused has no end.
            if !path.contains("stream") && name != "wait" {
                for fine in [low, high].into_iter().flatten() {
                    assert!(!refused(fine).await, "{path}?{name}={fine}");
                }
            }
            let beyond = [low.map(|low| low - 1), high.map(|high| high + 1), Some(i128::from(i64::MAX) + 1)];
            for wrong in beyond.into_iter().flatten() {
                n_bounded += 1;
                assert!(refused(wrong).await, "{path}?{name}={wrong}");
            }
        }
    }
    assert!(n_bounded > 30, "{n_bounded}");
}

#[tokio::test]
async fn bodies_are_described_as_they_are_taken() {
    let service = Service::start().await;
    let document = service.client.get("/openapi.json").await.json();
    let url = service.site.url("/growing/a");
    let long = |n: usize| format!("{url}{}", "x".repeat(n - url.len()));
    // What the small checker of these tests does not read of a schema.
    for body in [
        json!({ "url": url, "tags": vec!["x"; 51] }),
        json!({ "url": url, "tags": ["ä".repeat(101)] }),
        json!({ "url": url, "tags": [""] }),
        json!({ "url": long(8_193) }),
    ] {
        assert_eq!(service.client.post("/sources", body).await.error(), (422, "bad_value".to_owned()));
    }
    for (method, target, template, body, is_taken) in [
        ("PUT", "/budget", "/budget", json!({ "per_day": 0.001 }), true),
        ("PUT", "/budget", "/budget", json!({ "per_second": 0 }), true),
        ("PUT", "/budget", "/budget", json!({ "per_second": 1e6 }), true),
        ("PUT", "/budget", "/budget", json!({ "per_second": 1_000_001 }), false),
        ("PUT", "/budget", "/budget", json!({ "per_day": 0.0009 }), false),
        ("PUT", "/budget", "/budget", json!({ "per_second": 1, "per_day": 1 }), false),
        ("POST", "/sources", "/sources", json!({ "url": url }), true),
        ("POST", "/sources", "/sources", json!({ "url": null }), false),
        ("POST", "/sources", "/sources", json!({ "url": url, "weight": 1e-6 }), true),
        ("POST", "/sources", "/sources", json!({ "url": url, "weight": 1e-7 }), false),
        ("POST", "/sources", "/sources", json!({ "url": url, "longest_gap": 100_000_000 }), true),
        ("POST", "/sources", "/sources", json!({ "url": url, "longest_gap": 100_000_001 }), false),
        ("POST", "/sources", "/sources", json!({ "url": url, "shortest_gap": 0 }), false),
        ("POST", "/sources", "/sources", json!({ "url": url, "shortest_gap": 1.5 }), false),
        ("POST", "/sources", "/sources", json!({ "url": url, "tags": vec!["x"; 50] }), true),
        ("POST", "/sources", "/sources", json!({ "url": url, "tags": ["ä".repeat(100)] }), true),
        ("POST", "/sources", "/sources", json!({ "url": long(8_192) }), true),
    ] {
        let request = service.client.request(method.parse().unwrap(), target, body.to_string().into());
        let status = service.client.send(request).await.status;
        assert_eq!(status < 300, is_taken, "{method} {target} {body}: {status}");
        let request_body = &document["paths"][template][method.to_lowercase()]["requestBody"];
        let schema = &request_body["content"]["application/json"]["schema"];
        // Of `allOf`, each part alone knows only its own fields.
        let parts = all_of(&document, schema);
        let fits = parts.iter().all(|part| {
            let found = problems(&document, part, &body);
            found.iter().all(|problem| problem.contains("is not described"))
        });
        assert_eq!(fits, is_taken, "{method} {target} {body}");
    }
}

/// The parts that a value has to fit together.
fn all_of(document: &Value, schema: &Value) -> Vec<Value> {
    if let Some(target) = schema["$ref"].as_str() {
        return all_of(document, document.pointer(target.trim_start_matches('#')).unwrap());
    }
    match schema["allOf"].as_array() {
        Some(parts) => parts.iter().flat_map(|part| all_of(document, part)).collect(),
        None => vec![schema.clone()],
    }
}
