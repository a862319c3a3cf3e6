//! The budget, the decisions that spend it, and the explanation of one source.

use serde_json::json;

use crate::service::Service;

#[tokio::test]
async fn the_budget_is_shown_and_set_in_one_unit() {
    let service = Service::start().await;
    assert_eq!(service.client.get("/budget").await.json()["per_second"], 1000.0);
    for (body, per_second) in [
        (json!({ "per_second": 5 }), 5.0),
        (json!({ "per_minute": 30 }), 0.5),
        (json!({ "per_hour": 36 }), 0.01),
        (json!({ "per_day": 864 }), 0.01),
    ] {
        let answer = service.client.put("/budget", body.clone()).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.json()["per_second"], per_second, "{body}");
        assert_eq!(service.client.get("/budget").await.json()["per_second"], per_second);
    }
    for body in [
        json!({}),
        json!({ "per_second": 1, "per_minute": 1 }),
        json!({ "per_second": -1 }),
        json!({ "per_second": 1e300 }),
        json!({ "per_day": 1e-300 }),
        json!({ "per_minute": -5e-324 }),
        json!({ "per_day": 5e-324 }),
        json!({ "per_week": 1 }),
        json!({ "per_second": "1" }),
    ] {
        assert_eq!(service.client.put("/budget", body.clone()).await.error().0, 422, "{body}");
    }
    assert_eq!(service.client.get("/budget").await.json()["per_second"], 0.01, "as it was");
    let answer = service.client.delete("/budget").await;
    assert_eq!(answer.json()["per_second"], 1000.0, "as it was started");
}

#[tokio::test]
async fn a_budget_is_shown_in_the_unit_in_which_it_was_set() {
    let service = Service::start().await;
    let unit = async || service.client.get("/budget").await.json()["unit"].clone();
    assert_eq!(unit().await, json!(null), "nobody has set it");
    service.client.put("/budget", json!({ "per_minute": 30 })).await;
    assert_eq!(unit().await, "minute");
    // As much as it was started with, but set: until it is reset.
    service.client.put("/budget", json!({ "per_minute": 60_000 })).await;
    assert_eq!(unit().await, "minute");
    service.client.delete("/budget").await;
    assert_eq!(unit().await, json!(null));
}

#[tokio::test]
async fn every_probe_leaves_a_decision() {
    let service = Service::start().await;
    let (one, other) = (service.add_growing("a").await, service.add_growing("b").await);
    service.changes(0, 5).await;
    let path = format!("/decisions?source={one}&limit=2");
    let page = service.eventually(&path, |page| page["decisions"].as_array().unwrap().len() == 2).await;
    for decision in page["decisions"].as_array().unwrap() {
        assert_eq!(decision["source"], one);
        assert!(!decision["reason"].as_str().unwrap().is_empty());
        assert!(decision["at"].as_str().unwrap().ends_with('Z'));
        assert!(decision["value"].as_f64().is_none_or(|value| value < 1e6), "{decision}");
    }
    let first = &page["decisions"][0];
    assert_eq!((&first["reason"], &first["value"]), (&json!("new"), &json!(null)));
    let after = page["next"].as_i64().unwrap();
    let next = service.client.get(&format!("/decisions?source={one}&after={after}&limit=1000")).await.json();
    let ids = |page: &serde_json::Value| -> Vec<i64> {
        page["decisions"].as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()).collect()
    };
    assert!(ids(&next).iter().all(|id| *id > after));
    let path = format!("/decisions?source={other}");
    service.eventually(&path, |page| !page["decisions"].as_array().unwrap().is_empty()).await;
}

#[tokio::test]
async fn the_newest_decisions_of_a_source_without_any_say_where_to_go_on() {
    let service = Service::start().await;
    service.add_growing("a").await;
    service.eventually("/decisions", |page| !page["decisions"].as_array().unwrap().is_empty()).await;
    let unseen = crate::changes::stored_source(&*service.store);
    let page = service.client.get(&format!("/decisions?last=5&source={unseen}")).await.json();
    assert_eq!(page["decisions"], json!([]));
    assert!(page["next"].as_i64().is_some_and(|next| next > 0), "not from the beginning: {page}");
}

#[tokio::test]
async fn a_source_can_be_explained_and_forecast_and_probed_now() {
    let service = Service::start().await;
    let id = service.add_growing("a").await;
    service.changes(0, 3).await;
    let explained = service.client.get(&format!("/sources/{id}/explain")).await.json();
    assert_eq!(explained["source"]["id"], id);
    assert!(["watched", "in_flight"].contains(&explained["standing"].as_str().unwrap()), "{explained}");
    assert!(!explained["because"].as_str().unwrap().is_empty());
    let forecast = service.client.get(&format!("/sources/{id}/forecast")).await.json();
    let curve = forecast["curve"].as_array().unwrap();
    assert_eq!((&forecast["source"], curve.len()), (&json!(id), 24));
    assert!(curve.iter().all(|hour| hour["expected"].as_f64().unwrap() >= 0.0));
    assert!(curve.windows(2).all(|hours| hours[0]["until"] == hours[1]["from"]));
    assert!(forecast["rate_per_hour"].as_f64().unwrap() > 0.0);

    let queued = service.client.post(&format!("/sources/{id}/probe"), json!({})).await;
    assert_eq!((queued.status, queued.json()), (202, json!({ "source": id, "status": "queued" })));
    service.client.patch(&format!("/sources/{id}"), json!({ "paused": true })).await;
    let paused = service.client.post(&format!("/sources/{id}/probe"), json!({})).await;
    assert_eq!(paused.error(), (409, "source_paused".to_owned()));
}
