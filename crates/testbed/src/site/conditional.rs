//! Validators and conditional requests, as RFC 9110 defines them.

use dunlin_core::Time;
use httpdate::HttpDate;

use super::Request;

/// How a state can be told from others.
#[derive(Debug)]
pub(super) struct Validators {
    /// With quotes, and `W/` if it is weak.
    pub(super) etag: String,
    pub(super) last_modified: Time,
}

impl Validators {
    /// Whether the client has this state already. `If-None-Match` decides alone if it is there.
    pub(super) fn are_known(&self, request: &Request<'_>) -> bool {
        if let Some(known) = request.if_none_match {
            let own = opaque(&self.etag);
            return known.trim() == "*" || known.split(',').any(|etag| opaque(etag) == own);
        }
        let since = request.if_modified_since.and_then(|date| date.trim().parse::<HttpDate>().ok());
        since.is_some_and(|since| http_date(self.last_modified) <= since)
    }
}

/// The part of an entity tag that counts when a client asks whether it is still current.
fn opaque(etag: &str) -> &str {
    let etag = etag.trim();
    etag.strip_prefix("W/").unwrap_or(etag)
}

/// An instant as HTTP writes it, to the second; those before 1970 as its first.
pub(crate) fn http_date(time: Time) -> HttpDate {
    let seconds = u64::try_from(time.seconds()).unwrap_or(0).min(LAST_SECOND);
    HttpDate::from(std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds))
}

/// The end of the year 9999, after which HTTP has no dates.
const LAST_SECOND: u64 = 253_402_300_799;
