//! The ways in which a source can misbehave, and their names. What each does to a response is in `site/faulty.rs`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::Error;

/// The most megabytes that a fault sends or unpacks to.
const MEGABYTES_LIMIT: u64 = 1_024;
const MILLISECONDS_LIMIT: u64 = 600_000;
const SECONDS_LIMIT: u64 = 366 * 86_400;
const HOPS_LIMIT: u64 = 1_000;
const LEVELS_LIMIT: u64 = 1_000_000;
const USUAL_LEVELS: u64 = 100_000;

/// A way to misbehave. Reads and prints as `name` or `name:argument`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// `slow:MS`: waits before it answers.
    Slow(Duration),
    /// `drip:MS`: sends the body byte by byte, with this pause between them.
    Drip(Duration),
    /// `hang`: takes the request and never answers.
    Hang,
    /// `status:CODE`: this status, 400 to 599; `404` and `gone` (410) have names of their own.
    Status(u16),
    /// `429[:SECONDS]` and `503[:SECONDS]`: with `Retry-After` in seconds, if given.
    RetryAfter {
        /// 429 or 503.
        status: u16,
        /// The header's value.
        seconds: Option<u64>,
    },
    /// `429-date:SECONDS`: with `Retry-After` as a date that much later.
    RetryDate(u64),
    /// `truncated`: announces the whole body, sends half of it and closes.
    Truncated,
    /// `wrong-length`: announces half of the body, sends all of it and closes.
    WrongLength,
    /// `redirect-loop`: two addresses, each of which sends to the other.
    RedirectLoop,
    /// `redirect-chain:N`: so many redirects, and then the source.
    RedirectChain(u64),
    /// `redirect-to:URL`: sends elsewhere, for instance to an address that must not be asked.
    RedirectTo(String),
    /// `gzip-bomb:MB`: a small body that unpacks to so many megabytes.
    GzipBomb(u64),
    /// `flicker`: a token that differs on every fetch, while the state does not.
    Flicker,
    /// `flip-flop`: the state and the one before it in turn, on every fetch.
    FlipFlop,
    /// `no-validators`: neither `ETag` nor `Last-Modified`, and never 304.
    NoValidators,
    /// `weak-etag`: a weak `ETag`.
    WeakEtag,
    /// `always-new-etag`: an `ETag` that differs on every fetch.
    AlwaysNewEtag,
    /// `reset`: the connection is reset before a response.
    Reset,
    /// `garbage`: bytes that are not HTTP.
    Garbage,
    /// `huge:MB`: the source, followed by so many megabytes of text.
    Huge(u64),
    /// `bad-gzip`: says that it is gzip, and breaks off in unpacking.
    BadGzip,
    /// `deep-nesting[:LEVELS]`: elements in elements in elements.
    DeepNesting(u64),
    /// `bad-charset`: says UTF-8, and is not.
    BadCharset,
    /// `empty`: status 200 and no body.
    Empty,
}

/// Every fault as a user writes it, with what it does.
pub const FAULTS: &[(&str, &str)] = &[
    ("slow:MS", "waits before it answers"),
    ("drip:MS", "sends the body byte by byte, with this pause between them"),
    ("hang", "takes the request and never answers"),
    ("status:CODE", "this status, 400 to 599"),
    ("404", "not found"),
    ("gone", "gone for good (410)"),
    ("429[:SECONDS]", "too many requests, with `Retry-After` in seconds if given"),
    ("429-date:SECONDS", "the same, with `Retry-After` as a date"),
    ("503[:SECONDS]", "unavailable, with `Retry-After` in seconds if given"),
    ("truncated", "announces the whole body, sends half of it and closes"),
    ("wrong-length", "announces half of the body, sends all of it and closes"),
    ("redirect-loop", "two addresses, each of which sends to the other"),
    ("redirect-chain:N", "so many redirects, and then the source"),
    ("redirect-to:URL", "sends elsewhere"),
    ("gzip-bomb:MB", "a small body that unpacks to so many megabytes"),
    ("flicker", "a token that differs on every fetch, while the state does not"),
    ("flip-flop", "the state and the one before it in turn, on every fetch"),
    ("no-validators", "neither `ETag` nor `Last-Modified`, and never 304"),
    ("weak-etag", "a weak `ETag`"),
    ("always-new-etag", "an `ETag` that differs on every fetch"),
    ("reset", "the connection is reset before an answer"),
    ("garbage", "bytes that are not HTTP"),
    ("huge:MB", "the source, followed by so many megabytes of text"),
    ("bad-gzip", "says that it is gzip, and breaks off in unpacking"),
    ("deep-nesting[:LEVELS]", "elements in elements, 100,000 deep unless told"),
    ("bad-charset", "says UTF-8, and is not"),
    ("empty", "status 200 and no body"),
];

impl FromStr for Fault {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (name, argument) = match text.split_once(':') {
            Some((name, argument)) => (name, Some(argument)),
            None => (text, None),
        };
        let refuse =
            |expected: &str| Error::BadFault { text: text.to_owned(), expected: expected.to_owned() };
        let number = |least: u64, most: u64, expected: &'static str| {
            let number = argument.and_then(|argument| argument.parse::<u64>().ok());
            number.filter(|number| (least..=most).contains(number)).ok_or_else(|| refuse(expected))
        };
        let milliseconds =
            || number(0, MILLISECONDS_LIMIT, "milliseconds, at most 600000").map(Duration::from_millis);
        let seconds = || number(0, SECONDS_LIMIT, "seconds, at most a year");
        let megabytes = || number(1, MEGABYTES_LIMIT, "megabytes, 1 to 1024");
        let retry_after = |status| {
            let seconds = argument.map(|_| seconds()).transpose()?;
            Ok(Self::RetryAfter { status, seconds })
        };
        let fault = match name {
            "slow" => Self::Slow(milliseconds()?),
            "drip" => Self::Drip(milliseconds()?),
            "status" => Self::Status(number(400, 599, "a status, 400 to 599")? as u16),
            "429" => return retry_after(429),
            "503" => return retry_after(503),
            "429-date" => Self::RetryDate(seconds()?),
            "redirect-chain" => Self::RedirectChain(number(1, HOPS_LIMIT, "redirects, 1 to 1000")?),
            "redirect-to" => Self::RedirectTo(
                argument
                    .and_then(header_value)
                    .ok_or_else(|| refuse("an address to send to, in printable ASCII"))?,
            ),
            "gzip-bomb" => Self::GzipBomb(megabytes()?),
            "huge" => Self::Huge(megabytes()?),
            "deep-nesting" if argument.is_some() => {
                Self::DeepNesting(number(1, LEVELS_LIMIT, "levels, 1 to 1000000")?)
            }
            _ if argument.is_some() => return Err(refuse(&known_faults())),
            "hang" => Self::Hang,
            "404" => Self::Status(404),
            "gone" => Self::Status(410),
            "truncated" => Self::Truncated,
            "wrong-length" => Self::WrongLength,
            "redirect-loop" => Self::RedirectLoop,
            "flicker" => Self::Flicker,
            "flip-flop" => Self::FlipFlop,
            "no-validators" => Self::NoValidators,
            "weak-etag" => Self::WeakEtag,
            "always-new-etag" => Self::AlwaysNewEtag,
            "reset" => Self::Reset,
            "garbage" => Self::Garbage,
            "bad-gzip" => Self::BadGzip,
            "deep-nesting" => Self::DeepNesting(USUAL_LEVELS),
            "bad-charset" => Self::BadCharset,
            "empty" => Self::Empty,
            _ => return Err(refuse(&known_faults())),
        };
        Ok(fault)
    }
}

fn known_faults() -> String {
    let written: Vec<&str> = FAULTS.iter().map(|(written, _)| *written).collect();
    format!("one of {}", written.join(", "))
}

/// The text, if it can stand in a header.
fn header_value(text: &str) -> Option<String> {
    let fits = !text.is_empty() && text.len() <= 8_000 && text.bytes().all(|byte| byte.is_ascii_graphic());
    fits.then(|| text.to_owned())
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Slow(pause) => write!(f, "slow:{}", pause.as_millis()),
            Self::Drip(pause) => write!(f, "drip:{}", pause.as_millis()),
            Self::Hang => f.write_str("hang"),
            Self::Status(404) => f.write_str("404"),
            Self::Status(410) => f.write_str("gone"),
            Self::Status(status) => write!(f, "status:{status}"),
            Self::RetryAfter { status, seconds: Some(seconds) } => write!(f, "{status}:{seconds}"),
            Self::RetryAfter { status, seconds: None } => write!(f, "{status}"),
            Self::RetryDate(seconds) => write!(f, "429-date:{seconds}"),
            Self::Truncated => f.write_str("truncated"),
            Self::WrongLength => f.write_str("wrong-length"),
            Self::RedirectLoop => f.write_str("redirect-loop"),
            Self::RedirectChain(hops) => write!(f, "redirect-chain:{hops}"),
            Self::RedirectTo(target) => write!(f, "redirect-to:{target}"),
            Self::GzipBomb(megabytes) => write!(f, "gzip-bomb:{megabytes}"),
            Self::Flicker => f.write_str("flicker"),
            Self::FlipFlop => f.write_str("flip-flop"),
            Self::NoValidators => f.write_str("no-validators"),
            Self::WeakEtag => f.write_str("weak-etag"),
            Self::AlwaysNewEtag => f.write_str("always-new-etag"),
            Self::Reset => f.write_str("reset"),
            Self::Garbage => f.write_str("garbage"),
            Self::Huge(megabytes) => write!(f, "huge:{megabytes}"),
            Self::BadGzip => f.write_str("bad-gzip"),
            Self::DeepNesting(USUAL_LEVELS) => f.write_str("deep-nesting"),
            Self::DeepNesting(levels) => write!(f, "deep-nesting:{levels}"),
            Self::BadCharset => f.write_str("bad-charset"),
            Self::Empty => f.write_str("empty"),
        }
    }
}

/// A fault of one source from the start, written `ID=NAME:ARGUMENT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFault {
    /// The source's id.
    pub source: String,
    /// How it misbehaves.
    pub fault: Fault,
}

impl FromStr for SourceFault {
    type Err = Error;

    /// Ids and addresses may hold `=` themselves, so the last one that a fault follows is taken.
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut refusal = Error::BadFault {
            text: text.to_owned(),
            expected: "ID=FAULT, for instance news=slow:500".to_owned(),
        };
        for (place, _) in text.rmatch_indices('=') {
            match text[place + 1..].parse() {
                Ok(fault) => return Ok(Self { source: text[..place].to_owned(), fault }),
                Err(error) => refusal = error,
            }
        }
        Err(refusal)
    }
}
