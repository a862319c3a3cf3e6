//! Chains, loops, and what goes along on the way.

use std::sync::Arc;

use dunlin_net::robots::Robots;
use dunlin_net::{Client, Error, Guard, Request, Settings, Validators};

use crate::names::{Names, local_client};
use crate::origin::{Origin, answer, redirect};

#[tokio::test]
async fn a_short_chain_is_followed_and_remembered() {
    let origin = Origin::start(|seen| match seen.path.as_str() {
        "/old" => answer("301 Moved Permanently", &["Location: /new?x=1#part"], b"moved"),
        "/new?x=1" => redirect("page"),
        _ => answer("200 OK", &["Content-Type: text/html"], b"here"),
    })
    .await;
    let fetched = local_client(|_| {}).fetch(Request::parse(&origin.url("/old#top")).unwrap()).await.unwrap();
    assert_eq!(fetched.body, "here");
    assert_eq!(fetched.final_url.as_str(), origin.url("/page"));
    let hops: Vec<(u16, &str)> =
        fetched.hops.iter().map(|hop| (hop.status.as_u16(), hop.from.path())).collect();
    assert_eq!(hops, [(301, "/old"), (302, "/new")]);
    assert!(origin.seen().iter().all(|seen| seen.connection == 0), "short pages of redirects are read");
}

#[tokio::test]
async fn five_redirects_are_followed_and_six_are_not() {
    let origin = Origin::start(|seen| match seen.path[1..].parse::<u32>().unwrap() {
        0 => answer("200 OK", &[], b"end"),
        n => redirect(&format!("/{}", n - 1)),
    })
    .await;
    let client = local_client(|_| {});
    let fetched = client.fetch(Request::parse(&origin.url("/5")).unwrap()).await.unwrap();
    assert_eq!(fetched.hops.len(), 5);
    let error = client.fetch(Request::parse(&origin.url("/6")).unwrap()).await.unwrap_err();
    assert!(matches!(error, Error::TooManyRedirects { limit: 5, .. }), "{error:?}");
}

#[tokio::test]
async fn circles_end_at_once() {
    for (path, n_requests) in [("/self", 1), ("/a", 2)] {
        let origin = Origin::start(|seen| match seen.path.as_str() {
            "/a" => redirect("/b"),
            "/b" => redirect("/a#again"),
            _ => redirect("/self"),
        })
        .await;
        let error = local_client(|_| {}).fetch(Request::parse(&origin.url(path)).unwrap()).await.unwrap_err();
        assert!(matches!(error, Error::RedirectLoop { .. }), "{path}: {error:?}");
        assert_eq!(origin.seen().len(), n_requests, "{path}");
    }
}

#[tokio::test]
async fn a_redirect_without_a_target_is_an_answer() {
    let origin = Origin::start(|_| answer("302 Found", &[], b"nowhere")).await;
    let fetched = local_client(|_| {}).fetch(Request::parse(&origin.url("/")).unwrap()).await.unwrap();
    assert_eq!((fetched.status.as_u16(), &fetched.body[..]), (302, &b"nowhere"[..]));
}

#[tokio::test]
async fn another_host_gets_neither_credentials_nor_validators() {
    let origin = Origin::start(|seen| {
        let port = seen.header("host").unwrap().rsplit(':').next().unwrap();
        match seen.path.as_str() {
            "/1" => redirect("/2"),
            "/2" => redirect(&format!("http://b.test:{port}/3")),
            "/3" => redirect(&format!("http://a.test:{port}/4")),
            _ => answer("200 OK", &[], b"end"),
        }
    })
    .await;
    let mut settings = Settings::default();
    settings.guard = Guard::public_internet().allowing_network("127.0.0.1/32".parse().unwrap());
    let names = Names::new().with("a.test", &["127.0.0.1"]).with("b.test", &["127.0.0.1"]);
    let client = Client::with_resolver(settings, Arc::new(names)).unwrap();
    let validators = Validators { etag: Some("\"v1\"".to_owned()), last_modified: Some("then".to_owned()) };
    let request = Request::parse(&origin.url_as("a.test", "/1")).unwrap().unless(validators);
    let request = request.header("Authorization", "Bearer s3cret").unwrap();
    let request = request.header("Cookie", "id=s3cret").unwrap().header("Accept", "text/html").unwrap();
    client.fetch(request).await.unwrap();

    let seen = origin.seen();
    let sent = |n: usize, name| seen[n].header(name).map(str::to_owned);
    for name in ["authorization", "cookie", "if-none-match", "if-modified-since"] {
        assert!(sent(0, name).is_some() && sent(1, name).is_some(), "{name} is missing at home");
        // Coming back does not bring them back: the other host chose this URL.
        assert!(sent(2, name).is_none() && sent(3, name).is_none(), "{name} went to another host");
    }
    assert_eq!(sent(0, "accept").unwrap(), "text/html");
    assert!(sent(2, "accept").is_some());
    assert!(seen.iter().all(|seen| seen.header("user-agent").unwrap().starts_with("Dunlin/")));
    assert!(seen.iter().all(|seen| !seen.head.contains('#')));
}

#[tokio::test]
async fn a_fetch_within_its_site_reports_a_cross_site_redirect_and_can_resume_there() {
    let there = Origin::start(|_| answer("200 OK", &["ETag: \"b\""], b"there")).await;
    let to = there.url("/page");
    let target = to.clone();
    let origin = Origin::start(move |seen| match seen.path.as_str() {
        "/1" => redirect("/2"),
        "/2" => redirect("/private/3"),
        _ => redirect(&target),
    })
    .await;
    let client = local_client(|_| {});
    let request = || {
        let request = Request::parse(&origin.url("/1#top")).unwrap();
        request.header("Authorization", "Bearer s3cret").unwrap()
    };
    let led = |result: Result<dunlin_net::Fetched, Error>| match result {
        Err(Error::CrossSiteRedirect { redirect }) => *redirect,
        other => panic!("{other:?}"),
    };
    let rules = Robots::parse(b"User-agent: *\nDisallow: /private", "dunlin");
    let redirect = led(client.fetch(request().within_site(Some(Arc::new(rules)))).await);
    assert_eq!((redirect.url().as_str(), redirect.hops().len()), (origin.url("/private/3").as_str(), 2));
    let redirect = led(client.fetch(request().within_site(None)).await);
    assert_eq!((redirect.url().as_str(), redirect.hops().len()), (to.as_str(), 3));
    assert!(there.seen().is_empty(), "it has not been allowed yet");

    let n_before = origin.seen().len();
    let fetched = client.fetch(request().within_site(None).resuming(redirect.clone())).await.unwrap();
    assert_eq!((&fetched.body[..], fetched.final_url.as_str()), (&b"there"[..], to.as_str()));
    assert_eq!(fetched.hops.len(), 3, "all hops are listed");
    assert_eq!(origin.seen().len(), n_before, "and not walked twice");
    assert!(there.seen()[0].header("authorization").is_none());

    let other = Request::parse(&origin.url("/other")).unwrap().within_site(None);
    let elsewhere = led(client.fetch(other.resuming(redirect)).await);
    assert_eq!(elsewhere.hops()[0].from.path(), "/other", "the way of another address is not gone on");
}

#[tokio::test]
async fn what_is_never_fetched_from_is_refused_before_anybody_is_asked() {
    let origin = Origin::start(|_| redirect("http://169.254.169.254/latest/")).await;
    let request = Request::parse(&origin.url("/")).unwrap().within_site(None);
    let error = local_client(|_| {}).fetch(request).await.unwrap_err();
    assert!(matches!(error, Error::Refused { hops: 1, .. }), "{error:?}");
}
