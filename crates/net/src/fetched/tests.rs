//! Reading of headers that say when to come back.

use super::*;

fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
    lines.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
}

const NOON: &str = "Sun, 06 Nov 1994 12:00:00 GMT";
const FIVE_PAST: &str = "Sun, 06 Nov 1994 12:05:00 GMT";

fn noon() -> Time {
    http_date::parse(NOON).unwrap()
}

#[test]
fn retry_after_comes_in_seconds_or_as_a_date() {
    let read = |lines: &[_]| RetryAfter::read(&headers(lines));
    assert_eq!(read(&[("retry-after", "120")]), Some(RetryAfter::Delay(Duration::from_mins(2))));
    assert_eq!(
        read(&[("retry-after", FIVE_PAST)]),
        Some(RetryAfter::At(noon().plus(Duration::from_mins(5))))
    );
    // The server's own clock decides, however wrong it is.
    assert_eq!(
        read(&[("retry-after", FIVE_PAST), ("date", NOON)]),
        Some(RetryAfter::Delay(Duration::from_mins(5)))
    );
    assert_eq!(read(&[("retry-after", NOON), ("date", FIVE_PAST)]), Some(RetryAfter::Delay(Duration::ZERO)));
    for nonsense in ["", "soon", "-1", "1.5", "+5", "120 s"] {
        assert_eq!(read(&[("retry-after", nonsense)]), None, "{nonsense}");
    }
    let endless = read(&[("retry-after", "99999999999999999999999")]).unwrap();
    assert!(endless.not_before(noon()) > noon().plus(Duration::from_hours(24 * 365)));
}

#[test]
fn a_date_in_the_past_means_now() {
    let now = noon().plus(Duration::from_secs(999));
    assert_eq!(RetryAfter::At(noon()).not_before(now), now);
}

#[test]
fn cache_hints_prefer_the_shared_age_and_subtract_what_passed() {
    let read = |lines: &[_]| CacheHints::read(&headers(lines));
    let seconds = |n| Some(Duration::from_secs(n));
    assert_eq!(read(&[("cache-control", "public, Max-Age=\"60\"")]).max_age, seconds(60));
    assert_eq!(read(&[("cache-control", "max-age=60, s-maxage=600"), ("age", "100")]).max_age, seconds(500));
    assert_eq!(read(&[("cache-control", "max-age=60"), ("age", "61")]).max_age, seconds(0));
    assert_eq!(read(&[("expires", "0")]).expires, None);
    assert_eq!(
        read(&[("expires", FIVE_PAST)]).fresh_until(noon()),
        Some(noon().plus(Duration::from_mins(5)))
    );
    assert_eq!(read(&[("cache-control", "no-store, max-age=60")]).fresh_until(noon()), None);
}

#[test]
fn statuses_say_whose_fault_and_whether_to_retry() {
    let answer = |status: u16, lines: &[_]| {
        let url = Url::parse("https://example.com/").unwrap();
        let mut answer = http::Response::new(Bytes::new());
        *answer.status_mut() = StatusCode::from_u16(status).unwrap();
        *answer.headers_mut() = headers(lines);
        Fetched::from_response(answer, url, Vec::new())
    };
    let now = noon();
    assert_eq!((answer(200, &[]).fault(), answer(200, &[]).retry(now)), (None, Retry::No));
    assert_eq!((answer(304, &[]).fault(), answer(304, &[]).retry(now)), (None, Retry::No));
    assert_eq!((answer(404, &[]).fault(), answer(404, &[]).retry(now)), (Some(Fault::User), Retry::No));
    assert_eq!(
        (answer(500, &[]).fault(), answer(500, &[]).retry(now)),
        (Some(Fault::Remote), Retry::Backoff)
    );
    let limited = answer(429, &[("retry-after", "120")]);
    assert_eq!(limited.fault(), Some(Fault::Remote));
    assert_eq!(limited.retry(now), Retry::After(Duration::from_mins(2)));
}
