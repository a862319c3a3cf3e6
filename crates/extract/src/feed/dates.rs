//! Dates as feeds write them: RFC 822, RFC 3339, and what people made of both, in many languages. Not a guess: a text
//! with anything in it that has no place in a date is none. A date without a zone is taken for UTC.

use dunlin_core::Time;
use jiff::civil::{Date, DateTime};

mod date;
mod time;
mod words;
mod zone;

use words::{Piece, pieces_of};
use zone::Zone;

/// Nothing that long is a date.
const MAX_LENGTH: usize = 120;

/// The instant that a text names.
pub(crate) fn parse(text: &str) -> Option<Time> {
    let text = text.trim();
    if text.is_empty() || text.len() > MAX_LENGTH {
        return None;
    }
    if let Some(time) = since_1970(text) {
        return Some(time);
    }
    let pieces = pieces_of(text);
    let found = time::find(&pieces)?;
    // A year may stand behind the time.
    let rest: Vec<Piece> = pieces[..found.start].iter().chain(&pieces[found.end..]).cloned().collect();
    let (date, stray_zone) = date::find(&rest)?;
    let zone = found.zone.or(stray_zone).or_else(|| zone::of_script(text)).unwrap_or(Zone::UTC);
    instant(date, found.time, &zone)
}

/// Seconds or milliseconds since 1970.
fn since_1970(text: &str) -> Option<Time> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: i64 = text.parse().ok()?;
    match text.len() {
        9 | 10 => Some(Time::from_seconds(number)),
        12 | 13 => Some(Time::from_micros(number * 1000)),
        _ => None,
    }
}

fn instant(date: Date, time: time::Clock, zone: &Zone) -> Option<Time> {
    let local = DateTime::from_parts(date, time.of_day);
    let local = if time.is_next_day { local.checked_add(jiff::Span::new().days(1)).ok()? } else { local };
    let timestamp = zone.timestamp(local)?;
    Some(Time::from_micros(timestamp.as_microsecond()))
}

#[cfg(test)]
mod tests;
