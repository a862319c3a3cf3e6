//! Headers that we read ourselves: validators, dates, `Retry-After`, `Cache-Control`. For any values, time does not
//! run backwards.

use bytes::Bytes;
use dunlin_core::{Retry, Time};
use dunlin_net::{Fetched, http_date};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use url::Url;

/// The first byte picks the status; each line is a header.
pub fn headers(bytes: &[u8]) {
    let (choice, rest) = crate::choice(bytes);
    let status = [200, 304, 404, 408, 429, 500, 503][choice % 7];
    let mut answer = Response::new(Bytes::new());
    *answer.status_mut() = StatusCode::from_u16(status).expect("is a status");
    for line in rest.split(|byte| *byte == b'\n') {
        let (name, value) = crate::halves(line, b":");
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name), HeaderValue::from_bytes(value)) {
            answer.headers_mut().append(name, value);
        }
        let _ = http_date::parse(&String::from_utf8_lossy(value));
    }
    let url = Url::parse("https://x.example/").expect("is an address");
    let fetched = Fetched::from_response(answer, url, Vec::new());
    let now = Time::from_seconds(1_700_000_000);
    if let Some(after) = fetched.retry_after {
        assert!(after.not_before(now) >= now);
    }
    if fetched.cache.is_uncacheable {
        assert_eq!(fetched.cache.fresh_until(now), None);
    } else if fetched.cache.max_age.is_some() {
        assert!(fetched.cache.fresh_until(now).is_some_and(|until| until >= now));
    }
    let retry = fetched.retry(now);
    assert_eq!(retry == Retry::No, matches!(status, 200 | 304 | 404));
    // Shown in logs.
    let _ = format!("{fetched:?}");
}
