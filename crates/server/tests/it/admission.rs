//! Who is let in: tokens, hosts, and what is open to all.

use bytes::Bytes;
use dunlin_core::Time;
use dunlin_server::{Error, Options, Secret, proof, tokens};
use dunlin_store::SqliteStore;
use hyper::Method;
use serde_json::json;

use crate::client::Client;
use crate::limits::raw;
use crate::service::{Service, options};

/// Every route that needs a token, with a method that it has.
const CLOSED: [(&str, &str); 29] = [
    ("GET", "/sources"),
    ("POST", "/sources"),
    ("POST", "/sources/bulk"),
    ("GET", "/sources/1"),
    ("PATCH", "/sources/1"),
    ("DELETE", "/sources/1"),
    ("GET", "/sources/1/versions"),
    ("GET", "/sources/1/forecast"),
    ("GET", "/sources/1/explain"),
    ("POST", "/sources/1/probe"),
    ("GET", "/versions/1"),
    ("GET", "/versions/1/content"),
    ("GET", "/versions/1/diff"),
    ("GET", "/changes"),
    ("GET", "/stream"),
    ("GET", "/queries"),
    ("POST", "/queries"),
    ("POST", "/queries/test"),
    ("GET", "/queries/1"),
    ("PATCH", "/queries/1"),
    ("DELETE", "/queries/1"),
    ("GET", "/queries/1/explain"),
    ("GET", "/queries/1/results"),
    ("GET", "/queries/1/missed"),
    ("GET", "/budget"),
    ("PUT", "/budget"),
    ("GET", "/decisions"),
    ("POST", "/tokens"),
    ("GET", "/openapi.json"),
];

#[tokio::test]
async fn nothing_is_done_without_a_valid_token() {
    let service = Service::start().await;
    let secret = service.client.token.clone();
    let almost = format!("{}{}", &secret[..secret.len() - 1], if secret.ends_with('0') { '1' } else { '0' });
    let bad = [
        (None, "no_token"),
        (Some("Basic dGVzdDp0ZXN0".to_owned()), "no_token"),
        (Some("Bearer ".to_owned()), "no_token"),
        (Some("Bearer dunlin_test_".to_owned()), "bad_token"),
        (Some(format!("Bearer {almost}")), "bad_token"),
        (Some(format!("Bearer {}", secret.replace("_test_", "_other_"))), "bad_token"),
    ];
    for (method, path) in CLOSED {
        for (authorization, code) in &bad {
            let mut request =
                service.client.request(method.parse().unwrap(), path, Bytes::from_static(b"{}"));
            request.headers_mut().remove("authorization");
            if let Some(value) = authorization {
                request.headers_mut().insert("authorization", value.parse().unwrap());
            }
            let answer = service.client.send(request).await;
            assert_eq!(answer.error(), (401, (*code).to_owned()), "{method} {path} {authorization:?}");
            assert!(answer.header("www-authenticate").starts_with("Bearer"));
        }
    }
    assert_eq!(service.client.get("/sources").await.status, 200);
}

#[tokio::test]
async fn health_and_figures_are_open_to_all() {
    let service = Service::start().await;
    service.eventually("/healthz", |answer| answer["status"] == "ok").await;
    for path in ["/healthz", "/readyz", "/metrics", "/api/v1/healthz", "/api/v1/readyz", "/api/v1/metrics"] {
        let mut request = service.client.request(Method::GET, "", Bytes::new());
        *request.uri_mut() = path.parse().unwrap();
        request.headers_mut().remove("authorization");
        assert_eq!(service.client.send(request).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn a_request_for_another_host_is_refused_even_with_a_token() {
    let service = Service::with(Options { host_names: vec!["watch.example".to_owned()], ..options() }).await;
    let port = service.client.address.port();
    for (host, status) in [
        ("localhost".to_owned(), 200),
        (format!("localhost:{port}"), 200),
        ("watch.example".to_owned(), 200),
        ("evil.example".to_owned(), 421),
        (format!("127.0.0.1.evil.example:{port}"), 421),
        (String::new(), 421),
    ] {
        let mut request = service.client.request(Method::GET, "/sources", Bytes::new());
        request.headers_mut().insert("host", host.parse().unwrap());
        assert_eq!(service.client.send(request).await.status, status, "{host}");
    }
}

#[tokio::test]
async fn a_request_names_one_host() {
    let service = Service::start().await;
    let token = &service.client.token;
    let asked = |target: &str, version: &str, hosts: &[&str]| {
        let hosts = hosts.iter().map(|host| format!("Host: {host}\r\n")).collect::<Vec<_>>().concat();
        format!(
            "GET {target} HTTP/{version}\r\n{hosts}Authorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        )
    };
    let (path, whole) = ("/api/v1/sources", "http://localhost/api/v1/sources");
    for (target, version, hosts, expected) in [
        (path, "1.1", &["localhost"][..], "200"),
        (path, "1.1", &["localhost", "localhost"], "400"),
        (path, "1.1", &["localhost", "evil.example"], "400"),
        (path, "1.1", &["evil.example", "localhost"], "400"),
        (path, "1.1", &[], "400"),
        (path, "1.0", &[], "421"),
        (whole, "1.1", &["localhost"], "200"),
        (whole, "1.1", &["LOCALHOST"], "200"),
        (whole, "1.1", &["127.0.0.1"], "400"),
        (whole, "1.1", &["evil.example"], "400"),
        (whole, "1.1", &[], "400"),
        ("http://evil.example/api/v1/sources", "1.1", &["localhost"], "400"),
        ("http://evil.example/api/v1/sources", "1.1", &["evil.example"], "421"),
        ("http://evil.example/api/v1/sources", "1.0", &[], "421"),
    ] {
        let answer = raw(&service, asked(target, version, hosts).as_bytes()).await;
        let status = answer.split(' ').nth(1).unwrap_or_default();
        assert_eq!(status, expected, "{target} {version} {hosts:?}: {answer}");
        let code = match expected {
            "400" => "bad_host",
            "421" => "unknown_host",
            _ => "",
        };
        assert!(answer.contains(code), "{answer}");
    }
}

#[tokio::test]
async fn answers_carry_what_keeps_browsers_from_misusing_them() {
    let service = Service::start().await;
    let mut request = service.client.request(Method::GET, "/sources", Bytes::new());
    request.headers_mut().insert("origin", "https://evil.example".parse().unwrap());
    let answer = service.client.send(request).await;
    assert_eq!(answer.header("access-control-allow-origin"), "");
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
        ("cross-origin-resource-policy", "same-origin"),
        ("content-security-policy", "default-src 'none'; frame-ancestors 'none'; sandbox"),
    ] {
        assert_eq!(answer.header(name), value, "{name}");
    }
    let preflight = service.client.send(service.client.request(Method::OPTIONS, "/sources", Bytes::new()));
    assert_eq!(preflight.await.status, 405);
}

#[tokio::test]
async fn tokens_are_made_listed_and_revoked_while_the_service_runs() {
    let service = Service::start().await;
    let made = service.client.post("/tokens", json!({ "name": "phone" })).await;
    assert_eq!(made.status, 201);
    let mut phone = service.client.clone();
    phone.token = made.json()["token"].as_str().unwrap().to_owned();
    assert_eq!(phone.get("/sources").await.status, 200);
    let listed = service.client.get("/tokens").await;
    let names: Vec<_> =
        listed.json()["tokens"].as_array().unwrap().iter().map(|t| t["name"].clone()).collect();
    assert_eq!(names, ["phone", "test"]);
    assert!(!listed.text().contains(&phone.token));
    assert_eq!(
        service.client.post("/tokens", json!({ "name": "phone" })).await.error(),
        (409, "token_exists".to_owned())
    );
    assert_eq!(service.client.delete("/tokens/phone").await.status, 204);
    assert_eq!(phone.get("/sources").await.error(), (401, "bad_token".to_owned()));
    assert_eq!(service.client.delete("/tokens/phone").await.error(), (404, "no_such_token".to_owned()));
}

#[tokio::test]
async fn clients_can_neither_make_nor_revoke_the_token_of_local_commands() {
    let service = Service::start().await;
    let now = Time::from_seconds(1_700_000_000);
    let token = tokens::local(&*service.store, None, now).unwrap();
    let local = Client { token: token.clone(), ..service.client.clone() };
    for client in [&service.client, &local] {
        let refused = client.delete("/tokens/local-cli").await;
        assert_eq!(refused.error(), (409, "local_token".to_owned()));
        assert!(refused.text().contains("cli-token"), "the hint says how to get another: {}", refused.text());
        let refused = client.post("/tokens", json!({ "name": "local-cli" })).await;
        assert_eq!(refused.error(), (409, "local_token".to_owned()));
    }
    assert_eq!(local.get("/sources").await.status, 200, "it still works");
    // One that was left is kept, and anything else is replaced.
    assert_eq!(tokens::local(&*service.store, Some(token.clone()), now).unwrap(), token);
    let other = tokens::local(&*service.store, Some(service.client.token.clone()), now).unwrap();
    assert_ne!(other, token);
    assert_eq!(local.get("/sources").await.error(), (401, "bad_token".to_owned()));
    let listed = service.client.get("/tokens").await.json();
    assert_eq!(listed["tokens"][0]["name"], "local-cli");
}

#[tokio::test]
async fn a_service_proves_who_it_is_without_a_token() {
    let token = "dunlin_local-cli_00".to_owned();
    let service = Service::with(Options { local_token: Some(Secret(token.clone())), ..options() }).await;
    let stranger = Client { token: String::new(), ..service.client.clone() };
    let challenge = proof::challenge().unwrap();
    let answer = stranger.get(&format!("/proof?challenge={challenge}")).await;
    assert_eq!(answer.status, 200);
    let given = answer.json()["proof"].as_str().unwrap().to_owned();
    assert!(proof::is_proven(&token, &challenge, &given));
    assert!(!proof::is_proven(&service.client.token, &challenge, &given));
    for bad in ["", "?challenge=", "?challenge=00", &format!("?challenge={challenge}0")] {
        assert_eq!(stranger.get(&format!("/proof{bad}")).await.error(), (400, "bad_parameter".to_owned()));
    }
    let without = Service::start().await;
    let answer = without.client.get(&format!("/proof?challenge={challenge}")).await;
    assert_eq!(answer.error(), (404, "no_proof".to_owned()));
    assert!(!format!("{:?}", Secret(token)).contains("local"), "it is never shown");
}

#[test]
fn the_store_never_holds_a_token_itself() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path()).unwrap();
    let now = Time::from_seconds(1_700_000_000);
    let (one, other) = (tokens::create(&store, "a", now).unwrap(), tokens::create(&store, "b", now).unwrap());
    assert_eq!(one.len(), "dunlin_a_".len() + 64);
    assert_ne!(one["dunlin_a_".len()..], other["dunlin_b_".len()..]);
    let secret = &one["dunlin_a_".len()..];
    let kept = dunlin_store::Store::setting(&store, "token:a").unwrap().unwrap();
    assert!(!kept.contains(secret) && kept.contains("sha256"), "{kept}");
    assert_eq!(tokens::list(&store).unwrap().len(), 2);
    for name in ["", "a b", "a_b", "ä", &"x".repeat(41)] {
        assert!(matches!(tokens::create(&store, name, now), Err(Error::TokenName { .. })), "{name}");
    }
}
