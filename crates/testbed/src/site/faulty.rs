//! What each fault does to the response for a source. The faults' names are in `fault.rs`.

use std::time::Duration;

use dunlin_core::Time;

use super::conditional::{Validators, http_date};
use super::{Asked, Delivery, ServedVersion, Site, SiteResponse, gzip};
use crate::Fault;
use crate::address::Kind;
use crate::render;

const MEGABYTE: u64 = 1_000_000;

impl Site {
    /// The response for a source, faulty or not.
    pub(super) fn answer_with(&self, asked: &Asked<'_>, fault: Option<&Fault>) -> SiteResponse {
        let now = self.version(asked.source, asked.now);
        let version = match fault {
            // A mirror that lags behind, asked in turn with one that does not.
            Some(Fault::FlipFlop) if asked.request.visit % 2 == 1 => now.saturating_sub(1),
            _ => now,
        };
        let mut response = match fault {
            Some(fault) => self.misbehave(asked, version, fault),
            None => self.behave(asked, version, None),
        };
        response.served = Some(ServedVersion { source: asked.source, version });
        response.fault = fault.cloned();
        response
    }

    fn misbehave(&self, asked: &Asked<'_>, version: u64, fault: &Fault) -> SiteResponse {
        let hop = asked.address.parameter("hop").and_then(|hop| hop.parse().ok()).unwrap_or(0_u64);
        let delivered = |delivery| SiteResponse { delivery, ..self.behave(asked, version, Some(fault)) };
        match fault {
            Fault::Flicker
            | Fault::FlipFlop
            | Fault::NoValidators
            | Fault::WeakEtag
            | Fault::AlwaysNewEtag => self.behave(asked, version, Some(fault)),
            Fault::Slow(pause) => delivered(Delivery::Late(*pause)),
            Fault::Drip(pause) => delivered(Delivery::Drip(*pause)),
            Fault::Hang => delivered(Delivery::Never),
            Fault::Truncated => delivered(Delivery::Truncated),
            Fault::WrongLength => delivered(Delivery::Surplus),
            Fault::Reset => delivered(Delivery::Reset),
            Fault::Garbage => delivered(Delivery::Garbage),
            Fault::Huge(megabytes) => delivered(Delivery::Padded(megabytes * MEGABYTE)),
            Fault::Status(status) => refusal(*status, None),
            Fault::RetryAfter { status, seconds } => {
                refusal(*status, seconds.map(|seconds| seconds.to_string()))
            }
            Fault::RetryDate(seconds) => {
                let date = http_date(asked.now.plus(Duration::from_secs(*seconds)));
                refusal(429, Some(date.to_string()))
            }
            Fault::RedirectLoop => redirect(asked.address.with_parameter("hop", &(1 - hop % 2).to_string())),
            Fault::RedirectChain(hops) if hop < *hops => {
                redirect(asked.address.with_parameter("hop", &(hop + 1).to_string()))
            }
            Fault::RedirectChain(_) => self.behave(asked, version, None),
            Fault::RedirectTo(target) => redirect(target.clone()),
            Fault::GzipBomb(megabytes) => packed(asked.kind, gzip::bomb(*megabytes)),
            Fault::BadGzip => {
                packed(asked.kind, gzip::broken(self.render(asked, version, None).0.as_bytes()))
            }
            Fault::DeepNesting(levels) => {
                let body = nested(asked.kind, *levels as usize);
                SiteResponse::new(200, content_type(asked.kind), body)
            }
            Fault::BadCharset => {
                let (text, _) = self.render(asked, version, Some("Caf\u{e9} \u{fc}ber na\u{ef}ve"));
                let one_byte_each = text.chars().map(|letter| u8::try_from(letter).unwrap_or(b'?'));
                SiteResponse::new(200, content_type(asked.kind), one_byte_each.collect::<Vec<u8>>())
            }
            Fault::Empty => SiteResponse::new(200, content_type(asked.kind), ""),
        }
    }

    /// The state asked for, with the validators that the fault leaves.
    fn behave(&self, asked: &Asked<'_>, version: u64, fault: Option<&Fault>) -> SiteResponse {
        let visit = asked.request.visit;
        let noise = matches!(fault, Some(Fault::Flicker)).then(|| {
            let session = visit.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            format!("Visitor {}, session {session:016x}", visit.wrapping_add(4_711))
        });
        let (text, at) = self.render(asked, version, noise.as_deref());
        let mut response = SiteResponse::new(200, content_type(asked.kind), text);
        if let Some(validators) = self.validators(version, at, visit, fault) {
            if validators.are_known(asked.request) {
                response = SiteResponse { status: 304, headers: Vec::new(), body: Vec::new(), ..response };
            }
            response.headers.push(("etag", validators.etag));
            response.headers.push(("last-modified", http_date(validators.last_modified).to_string()));
        }
        response
    }

    fn validators(&self, version: u64, at: Time, visit: u64, fault: Option<&Fault>) -> Option<Validators> {
        // The start tells this run from another, whose dates differ in the same version.
        let run = self.timeline().started().micros();
        let etag = match fault {
            None | Some(Fault::Slow(_) | Fault::Drip(_) | Fault::FlipFlop) => {
                format!("\"{version}-{run:x}\"")
            }
            Some(Fault::WeakEtag) => format!("W/\"{version}-{run:x}\""),
            Some(Fault::AlwaysNewEtag) => format!("\"{version}-{run:x}-{visit}\""),
            // The others must be seen on every fetch, not hidden behind a 304.
            Some(_) => return None,
        };
        Some(Validators { etag, last_modified: at })
    }
}

const fn content_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Page => "text/html; charset=utf-8",
        Kind::Feed => "application/rss+xml; charset=utf-8",
        Kind::Api => "application/json; charset=utf-8",
    }
}

fn refusal(status: u16, retry_after: Option<String>) -> SiteResponse {
    let mut response = SiteResponse::text(status, format!("{status}, as asked for\n"));
    response.headers.extend(retry_after.map(|value| ("retry-after", value)));
    response
}

fn redirect(target: String) -> SiteResponse {
    let mut response = SiteResponse::text(302, "elsewhere\n");
    response.headers.push(("location", target));
    response
}

fn packed(kind: Kind, body: Vec<u8>) -> SiteResponse {
    let mut response = SiteResponse::new(200, content_type(kind), body);
    response.headers.push(("content-encoding", "gzip".to_owned()));
    response
}

fn nested(kind: Kind, levels: usize) -> String {
    match kind {
        Kind::Page => {
            format!("<!doctype html><body>{}deep{}</body>", "<div>".repeat(levels), "</div>".repeat(levels))
        }
        Kind::Feed => render::bare_feed(&format!(
            "<item><title>deep</title>{}deep{}</item>",
            "<x>".repeat(levels),
            "</x>".repeat(levels)
        )),
        Kind::Api => "[".repeat(levels) + &"]".repeat(levels),
    }
}
