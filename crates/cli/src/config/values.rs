//! Single settings from text and back, apart from durations, sizes and paces. Knows no key.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use dunlin_net::Downgrade;
use dunlin_net::politeness::Scope;

use super::units::{bytes, duration, show_duration};
use super::{Robots, Strategy};

pub(super) fn path(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() { Err("empty (expected a directory)".to_owned()) } else { Ok(text.into()) }
}

pub(super) fn parsed<T: FromStr>(expected: &'static str) -> impl Fn(&str) -> Result<T, String> {
    move |text| text.parse().map_err(|_| format!("`{text}` (expected {expected})"))
}

pub(super) fn listen(text: &str) -> Result<SocketAddr, String> {
    // Other names can point anywhere, also at two addresses at once.
    let address = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => text.to_owned(),
    };
    address.parse().map_err(|_| format!("`{text}` (expected an address such as 127.0.0.1:7171)"))
}

pub(super) fn list<T>(read: impl Fn(&str) -> Result<T, String>) -> impl Fn(&str) -> Result<Vec<T>, String> {
    move |text| text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(&read).collect()
}

pub(super) fn none_or<T>(
    read: impl Fn(&str) -> Result<T, String>,
) -> impl Fn(&str) -> Result<Option<T>, String> {
    move |text| if text == "none" { Ok(None) } else { read(text).map(Some) }
}

pub(super) fn value_model<T: FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

pub(super) fn visible(text: &str) -> Result<String, String> {
    let is_fine = !text.is_empty() && text.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    if is_fine {
        Ok(text.to_owned())
    } else {
        Err("expected visible ASCII characters, at least one".to_owned())
    }
}

pub(super) fn host(text: &str) -> Result<String, String> {
    let is_name = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte));
    if is_name {
        Ok(text.to_owned())
    } else {
        Err(format!("`{text}` (expected a host name, without scheme or path)"))
    }
}

pub(super) fn patience(text: &str) -> Result<Duration, String> {
    duration(text).and_then(|time| {
        if time.is_zero() { Err("0 (expected some time to wait)".to_owned()) } else { Ok(time) }
    })
}

/// Steps that are shorter than a clock's resolution, or longer than people wait, improve no decision.
pub(super) fn step(text: &str) -> Result<Duration, String> {
    duration(text).and_then(|time| {
        if (Duration::from_millis(1)..=Duration::from_mins(1)).contains(&time) {
            Ok(time)
        } else {
            Err(format!("`{text}` (expected 1ms to 1m)"))
        }
    })
}

pub(super) fn epoch(text: &str) -> Result<Duration, String> {
    duration(text).and_then(|time| {
        if (Duration::from_secs(1)..=Duration::from_hours(7 * 24)).contains(&time) {
            Ok(time)
        } else {
            Err(format!("`{text}` (expected 1s to 7d)"))
        }
    })
}

pub(super) fn at_least_one(text: &str) -> Result<u32, String> {
    let count = text.parse::<NonZeroU32>();
    count.map(NonZeroU32::get).map_err(|_| format!("`{text}` (expected a whole number of at least 1)"))
}

/// What a client can work with.
pub(super) fn memory(text: &str) -> Result<u64, String> {
    let size = bytes(text)?;
    let is_enough = size >= dunlin_net::Settings::LEAST_MEMORY;
    is_enough.then_some(size).ok_or_else(|| format!("`{text}` (expected at least 1MiB)"))
}

pub(super) fn weight(text: &str) -> Result<f64, String> {
    let weight = text.parse().ok().filter(|weight: &f64| weight.is_finite() && *weight >= 0.0);
    weight.ok_or_else(|| format!("`{text}` (expected a number of at least 0)"))
}

pub(super) fn robots(text: &str) -> Result<Robots, String> {
    match text {
        "true" => Ok(Robots::Heed),
        "false" => Ok(Robots::Ignore),
        _ => Err(format!("`{text}` (expected true or false)")),
    }
}

pub(super) fn downgrade(text: &str) -> Result<Downgrade, String> {
    match text {
        "true" => Ok(Downgrade::Follow),
        "false" => Ok(Downgrade::Refuse),
        _ => Err(format!("`{text}` (expected true or false)")),
    }
}

pub(super) fn strategy(text: &str) -> Result<Strategy, String> {
    match text {
        "learned" => Ok(Strategy::Learned),
        "round-robin" => Ok(Strategy::RoundRobin),
        "cam" => Ok(Strategy::Cam),
        _ => Err(format!("`{text}` (expected learned, cam or round-robin)")),
    }
}

pub(super) fn scope(text: &str) -> Result<Scope, String> {
    match text {
        "url" => Ok(Scope::Url),
        "host" => Ok(Scope::Host),
        "domain" => Ok(Scope::Domain),
        _ => Err(format!("`{text}` (expected url, host or domain)")),
    }
}

pub(super) fn shown(value: &impl ToString) -> String {
    value.to_string()
}

pub(super) fn show_time(time: &Duration) -> String {
    show_duration(*time)
}

#[expect(clippy::ref_option, reason = "the table hands out references to fields")]
pub(super) fn show_keep(time: &Option<Duration>) -> String {
    show_or_none(*time, show_duration)
}

pub(super) fn show_or_none<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "none".to_owned(), show)
}

pub(super) fn show_list<T: ToString>(values: &[T]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

pub(super) fn show_strategy(strategy: Strategy) -> String {
    match strategy {
        Strategy::Learned => "learned",
        Strategy::RoundRobin => "round-robin",
        Strategy::Cam => "cam",
    }
    .to_owned()
}

pub(super) fn show_scope(scope: Scope) -> String {
    match scope {
        Scope::Url => "url",
        Scope::Host => "host",
        Scope::Domain => "domain",
    }
    .to_owned()
}
