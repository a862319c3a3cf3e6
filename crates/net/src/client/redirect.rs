//! Where a redirect leads, and what may go along. Pure; whether the target may be reached is the guard's to say.

use http::header::{self, HeaderMap};
use http::{Response, StatusCode};
use url::Url;

use super::settings::{Downgrade, Settings};
use crate::error::Error;
use crate::fetched::Hop;
use crate::redacted_url::RedactedUrl;

/// The next URL to ask, if this answer sends us on.
pub(super) fn target<B>(
    answer: &Response<B>,
    from: &Url,
    hops: &[Hop],
    settings: &Settings,
) -> Result<Option<Url>, Error> {
    let is_redirect = matches!(
        answer.status(),
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    );
    let Some(location) = answer.headers().get(header::LOCATION).filter(|_| is_redirect) else {
        return Ok(None);
    };
    let location = String::from_utf8_lossy(location.as_bytes());
    let mut to =
        from.join(&location).map_err(|reason| Error::BadLocation { url: RedactedUrl::of(from), reason })?;
    to.set_fragment(None);
    let url = RedactedUrl::of(&to);
    if to == *from || hops.iter().any(|hop| hop.from == to) {
        return Err(Error::RedirectLoop { url });
    }
    if hops.len() >= settings.max_redirects {
        return Err(Error::TooManyRedirects { limit: settings.max_redirects, url });
    }
    if from.scheme() == "https" && to.scheme() == "http" && settings.downgrade == Downgrade::Refuse {
        return Err(Error::Downgrade { url });
    }
    Ok(Some(to))
}

/// Takes out of `headers` what another host must not see: credentials and cookies, and validators, which would
/// tell it what its neighbour served, and mean nothing to it. `own` are the names of headers set by the user.
pub(super) fn strip(headers: &mut HeaderMap, own: &HeaderMap, from: &Url, to: &Url) {
    let is_upgrade = from.scheme() == "http" && to.scheme() == "https";
    let is_same_origin = from.host() == to.host()
        && (from.origin() == to.origin() || (is_upgrade && from.port().is_none() && to.port().is_none()));
    if is_same_origin {
        return;
    }
    for name in own.keys().chain(&[header::IF_NONE_MATCH, header::IF_MODIFIED_SINCE]) {
        headers.remove(name);
    }
    headers.entry(header::ACCEPT).or_insert(http::HeaderValue::from_static("*/*"));
}

/// The same for redirects that were followed before, up to `url`.
pub(super) fn strip_along(headers: &mut HeaderMap, own: &HeaderMap, hops: &[Hop], url: &Url) {
    let after = hops.iter().skip(1).map(|hop| &hop.from).chain([url]);
    for (hop, to) in hops.iter().zip(after) {
        strip(headers, own, &hop.from, to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn kept(from: &str, to: &str) -> Vec<String> {
        let mut own = HeaderMap::new();
        own.insert(header::AUTHORIZATION, "Bearer x".parse().unwrap());
        own.insert("x-api-key", "x".parse().unwrap());
        let mut headers = own.clone();
        headers.insert(header::IF_NONE_MATCH, "\"1\"".parse().unwrap());
        headers.insert(header::USER_AGENT, "Dunlin".parse().unwrap());
        headers.insert(header::ACCEPT, "*/*".parse().unwrap());
        strip(&mut headers, &own, &url(from), &url(to));
        let mut names: Vec<String> = headers.keys().map(ToString::to_string).collect();
        names.sort();
        names
    }

    #[test]
    fn secrets_and_validators_stay_with_their_host() {
        let all = ["accept", "authorization", "if-none-match", "user-agent", "x-api-key"];
        assert_eq!(kept("https://a.example/1", "https://a.example/2"), all);
        assert_eq!(kept("http://a.example/1", "https://a.example/2"), all);
        for (from, to) in [
            ("https://a.example/", "https://b.example/"),
            ("https://a.example/", "https://www.a.example/"),
            ("https://a.example/", "https://a.example:8443/"),
            ("https://a.example/", "http://a.example/"),
            ("http://a.example:8080/", "https://a.example/"),
        ] {
            assert_eq!(kept(from, to), ["accept", "user-agent"], "{from} {to}");
        }
    }

    #[test]
    fn only_redirects_with_a_location_lead_on() {
        let settings = Settings::default();
        let next = |status: u16, location: &str, from: &str| {
            let answer = Response::builder().status(status).header("location", location).body(()).unwrap();
            target(&answer, &url(from), &[], &settings).map(|to| to.map(String::from))
        };
        let from = "https://a.example/x/y?q#f";
        assert_eq!(next(301, "../z#part", from).unwrap().unwrap(), "https://a.example/z");
        assert_eq!(next(307, "//b.example", from).unwrap().unwrap(), "https://b.example/");
        assert_eq!(next(304, "/z", from).unwrap(), None);
        assert_eq!(next(200, "/z", from).unwrap(), None);
        assert!(matches!(next(302, "http://a.example/", from), Err(Error::Downgrade { .. })));
        assert!(matches!(next(302, "http://[::1", from), Err(Error::BadLocation { .. })));
    }
}
