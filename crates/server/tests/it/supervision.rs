//! What supervisors and programs ask: health, figures, the document that describes everything.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use dunlin_engine::{Engine, Settings};
use dunlin_server::Server;
use dunlin_store::SqliteStore;
use serde_json::Value;

use crate::client::Client;
use crate::service::{Service, eager, options};

#[tokio::test]
async fn a_stopped_engine_is_neither_alive_nor_ready() {
    let service = Service::start().await;
    service.eventually("/readyz", |answer| answer["status"] == "ok").await;
    let id = service.add_growing("a").await;
    service.engine.stop().await.unwrap();
    assert_eq!(service.client.get("/healthz").await.error(), (503, "not_alive".to_owned()));
    assert_eq!(service.client.get("/readyz").await.error(), (503, "not_ready".to_owned()));
    let refused = service.client.post(&format!("/sources/{id}/probe"), serde_json::json!({})).await;
    assert_eq!(refused.error(), (503, "stopping".to_owned()));
    assert_eq!(service.client.get("/changes").await.status, 200, "what is stored can still be read");
}

/// Polls until it is so, on any runtime.
async fn until(mut is_so: impl AsyncFnMut() -> bool) {
    let polling = async {
        while !is_so().await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), polling).await.expect("that it comes true");
}

#[test]
fn readiness_is_answered_and_says_why_when_the_loop_hangs() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (engines, ours) = (runtime(), runtime());
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(directory.path()).unwrap());
    let settings = Settings { patience: Duration::from_millis(300), ..eager() };
    let engine = engines.block_on(Engine::start(store, settings)).unwrap();
    engines.block_on(until(async || engine.handle().health().last_tick.is_some()));
    let running = ours.block_on(Server::start(engine.handle(), options())).unwrap();
    let client = Client { address: running.address(), token: String::new() };
    // The engine's tasks do not run from here on.
    ours.block_on(until(async || client.get("/readyz").await.status == 503));
    let answer = ours.block_on(client.get("/readyz"));
    assert_eq!(answer.error(), (503, "not_ready".to_owned()));
    assert!(
        answer.text().contains("nothing is captured: no decision has been made for"),
        "{}",
        answer.text()
    );
    assert_eq!(ours.block_on(client.get("/healthz")).status, 200, "not yet a reason to restart it");
    engines.block_on(engine.stop()).unwrap();
    ours.block_on(running.stop());
}

#[tokio::test]
async fn figures_are_text_that_prometheus_reads() {
    let service = Service::start().await;
    service.add_growing("a").await;
    service.changes(0, 3).await;
    service.client.get("/nothing/that/exists").await;
    let brew = hyper::Method::from_bytes(b"BREW").unwrap();
    let brewed = service.client.send(service.client.request(brew, "/sources", bytes::Bytes::new())).await;
    assert_eq!(brewed.status, 405);
    let answer = service.client.get("/metrics").await;
    assert_eq!(answer.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    let text = answer.text();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(name.starts_with("dunlin_"), "{line}");
        assert!(value.parse::<f64>().is_ok(), "{line}");
    }
    for name in [
        "dunlin_probes_total",
        "dunlin_changes_total",
        "dunlin_sources",
        "dunlin_ceis_open 0",
        "dunlin_ceis_captured_total 0",
        "dunlin_ceis_lost_total 0",
        "dunlin_queries 0",
        "dunlin_http_requests_total{",
    ] {
        assert!(text.lines().any(|line| line.starts_with(name)), "{name} in {text}");
    }
    assert!(text.contains("route=\"/api/v1/sources\",method=\"POST\",status=\"201\""), "{text}");
    assert!(!text.contains("exists") && !text.contains("BREW"), "a client cannot make labels");
    assert!(text.contains("method=\"other\",status=\"405\""), "{text}");
    assert!(!text.contains("growing"), "a site cannot either");
}

fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if let ("$ref", Some(target)) = (name.as_str(), value.as_str()) {
                    found.insert(target.to_owned());
                }
                references(value, found);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[tokio::test]
async fn the_document_describes_every_route_and_every_error() {
    let service = Service::start().await;
    let document = service.client.get("/openapi.json").await.json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"), "{}", document["openapi"]);
    let described: BTreeSet<String> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, item)| {
            item.as_object().unwrap().keys().map(move |method| format!("{method} {path}"))
        })
        .collect();
    let promised = "get /sources,post /sources,post /sources/bulk,get /sources/{id},patch /sources/{id},delete /sources/{id},\
        get /sources/{id}/versions,get /sources/{id}/forecast,get /sources/{id}/explain,post /sources/{id}/probe,\
        get /versions/{id},get /versions/{id}/content,get /versions/{id}/diff,get /changes,get /stream,get /budget,\
        put /budget,delete /budget,get /decisions,get /tokens,post /tokens,delete /tokens/{name},get /healthz,get /readyz,get /metrics,get /proof,\
        get /queries,post /queries,post /queries/test,get /queries/{id},patch /queries/{id},delete /queries/{id},\
        get /queries/{id}/explain,get /queries/{id}/results,get /queries/{id}/missed";
    assert_eq!(described, promised.split(',').map(str::to_owned).collect());
    for item in document["paths"].as_object().unwrap().values() {
        for operation in item.as_object().unwrap().values() {
            let problem = &operation["responses"]["default"]["content"]["application/json"]["schema"]["$ref"];
            assert_eq!(problem, "#/components/schemas/ErrorResponse");
        }
    }
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    for reference in found {
        let target = document.pointer(reference.trim_start_matches('#'));
        assert!(target.is_some(), "{reference} leads nowhere");
    }
    assert_eq!(document["paths"]["/healthz"]["get"]["security"], serde_json::json!([{}]));
    assert_eq!(document["security"], serde_json::json!([{ "token": [] }]));
}
