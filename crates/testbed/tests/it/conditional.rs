//! Conditional requests, on the site as a value.

use dunlin_core::Time;
use dunlin_lab::files::TraceFile;
use dunlin_testbed::{Plan, Request, Site, SiteResponse};

const STARTED: Time = Time::from_seconds(1_800_000_000);

fn site() -> Site {
    let trace = TraceFile::read("source,time\na,100\na,160\n".as_bytes(), "a").unwrap();
    Site::new(Plan::of(trace), STARTED).unwrap()
}

fn later(seconds: i64) -> Time {
    Time::from_seconds(STARTED.seconds() + seconds)
}

fn asked(site: &Site, etag: Option<&str>, since: Option<&str>, now: Time) -> SiteResponse {
    let request = Request { if_none_match: etag, if_modified_since: since, ..Request::get("/pages/a") };
    site.respond(&request, now)
}

#[test]
fn an_unchanged_state_is_not_sent_twice() {
    let site = site();
    let first = asked(&site, None, None, later(3));
    let (etag, modified) = (first.header("etag").unwrap(), first.header("last-modified").unwrap());
    assert!(etag.starts_with('"') && etag.ends_with('"'), "strong, and quoted: {etag}");
    assert_eq!(modified, "Fri, 15 Jan 2027 08:00:00 GMT");

    for (known, since) in [
        (Some(etag), None),
        (Some("*"), None),
        (Some(&*format!("\"x\", W/{etag}")), None),
        (None, Some(modified)),
        (None, Some("Fri, 15 Jan 2027 08:00:01 GMT")),
    ] {
        let again = asked(&site, known, since, later(59));
        assert_eq!((again.status, again.body.len()), (304, 0), "{known:?} {since:?}");
        assert_eq!(again.header("etag"), Some(etag));
        assert_eq!(again.served.unwrap().version, 1);
    }
    for (known, since) in [
        (Some("\"x\""), Some(modified)),
        (Some(etag.trim_matches('"')), None),
        (None, Some("Fri, 15 Jan 2027 07:59:59 GMT")),
        (None, Some("yesterday")),
    ] {
        assert_eq!(asked(&site, known, since, later(59)).status, 200, "{known:?} {since:?}");
    }
}

#[test]
fn a_changed_state_has_other_validators() {
    let site = site();
    let first = asked(&site, None, None, later(59));
    let second = asked(&site, first.header("etag"), first.header("last-modified"), later(60));
    assert_eq!(second.status, 200);
    assert_ne!(second.header("etag"), first.header("etag"));
    assert_eq!(second.header("last-modified"), Some("Fri, 15 Jan 2027 08:01:00 GMT"));
    assert_ne!(second.body, first.body);
}

#[test]
fn another_run_of_the_same_trace_is_not_mistaken_for_this_one() {
    let trace = TraceFile::read("source,time\na,100\na,160\n".as_bytes(), "a").unwrap();
    let other = Site::new(Plan::of(trace), later(1)).unwrap();
    let first = asked(&site(), None, None, later(3));
    assert_eq!(asked(&other, first.header("etag"), None, later(3)).status, 200);
}
