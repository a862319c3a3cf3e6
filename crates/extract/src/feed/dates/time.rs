//! The time of day in a date, and the zone behind it. Not the day.

use jiff::civil::Time;

use super::words::{Half, Piece, half};
use super::zone::{self, Zone};

/// A time of day; 24:00 is the beginning of the next day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Clock {
    pub(super) of_day: Time,
    pub(super) is_next_day: bool,
}

/// A time and the pieces it takes, zone included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) time: Clock,
    pub(super) zone: Option<Zone>,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Finds the time; midnight where there is none. `None` where there is one that cannot be.
pub(super) fn find(pieces: &[Piece]) -> Option<Found> {
    let colon =
        (1..pieces.len()).find(|at| is_colon(pieces, *at) && matches!(pieces[at - 1], Piece::Number(_)));
    let found = match colon {
        Some(colon) => Some(with_colons(pieces, colon)?),
        None => without_colons(pieces),
    };
    let Some((start, clock, mut at)) = found else {
        let time = Clock { of_day: Time::midnight(), is_next_day: false };
        return Some(Found { time, zone: None, start: pieces.len(), end: pieces.len() });
    };
    let Clocked { hour, minute, second, nanosecond } = clock;
    let (before, mut start) = (half_before(pieces, start), start);
    let after = half_after(pieces, at);
    let hour = match (before.map(|(half, _)| half).or(after.map(|(half, _)| half)), hour) {
        (Some(Half::Afternoon), 1..=11) => hour + 12,
        (Some(Half::Morning), 12) => 0,
        _ => hour,
    };
    start = before.map_or(start, |(_, start)| start);
    at = after.map_or(at, |(_, end)| end);
    // The `T` between date and time.
    if let Some(Piece::Word(word)) = start.checked_sub(1).and_then(|before| pieces.get(before))
        && word == "t"
    {
        start -= 1;
    }
    let zone = zone::at_start(&pieces[at..]).ok()?;
    let end = at + zone.as_ref().map_or(0, |(_, n_pieces)| *n_pieces);
    let is_next_day = hour == 24 && minute == 0 && second == 0;
    // A leap second counts as the one before it.
    let second = if second == 60 { 59 } else { second };
    let of_day = Time::new(if is_next_day { 0 } else { hour }, minute, second, nanosecond).ok()?;
    Some(Found { time: Clock { of_day, is_next_day }, zone: zone.map(|(zone, _)| zone), start, end })
}

struct Clocked {
    hour: i8,
    minute: i8,
    second: i8,
    nanosecond: i32,
}

fn is_colon(pieces: &[Piece], at: usize) -> bool {
    pieces.get(at) == Some(&Piece::Sign(':'))
}

/// `h:mm`, `h:mm:ss`, `h:mm:ss.fff` around the first colon: where it starts, what it is and where it ends.
fn with_colons(pieces: &[Piece], colon: usize) -> Option<(usize, Clocked, usize)> {
    let number = |at: usize| match pieces.get(at) {
        Some(Piece::Number(digits)) if digits.len() <= 2 => digits.parse::<i8>().ok(),
        _ => None,
    };
    let start = colon - 1;
    let (hour, minute) = (number(start)?, number(start + 2)?);
    let mut end = start + 3;
    let (mut second, mut nanosecond) = (0, 0);
    if is_colon(pieces, end) {
        second = number(end + 1)?;
        end += 2;
        if let (Some(Piece::Sign('.' | ',')), Some(Piece::Number(digits))) =
            (pieces.get(end), pieces.get(end + 1))
        {
            nanosecond = format!("{digits:0<9}")[..9].parse().ok()?;
            end += 2;
        }
    }
    let is_odd = is_colon(pieces, end) || hour > 24 || minute > 59 || second > 60;
    (!is_odd).then_some((start, Clocked { hour, minute, second, nanosecond }, end))
}

/// `T101455` and `3pm`.
fn without_colons(pieces: &[Piece]) -> Option<(usize, Clocked, usize)> {
    pieces.windows(2).enumerate().find_map(|(at, pair)| match pair {
        [Piece::Word(word), Piece::Number(digits)]
            if word == "t" && matches!(digits.len(), 4 | 6) && at > 0 =>
        {
            let two = |from: usize| digits.get(from..from + 2).map_or(Ok(0), str::parse::<i8>);
            let clock =
                Clocked { hour: two(0).ok()?, minute: two(2).ok()?, second: two(4).ok()?, nanosecond: 0 };
            Some((at + 1, clock, at + 2))
        }
        [Piece::Number(digits), Piece::Word(word)] if half(word).is_some() && digits.len() <= 2 => {
            let clock = Clocked { hour: digits.parse().ok()?, minute: 0, second: 0, nanosecond: 0 };
            Some((at, clock, at + 1))
        }
        _ => None,
    })
}

/// A word like `pm` before the time, and where it starts.
fn half_before(pieces: &[Piece], start: usize) -> Option<(Half, usize)> {
    let at = pieces[..start].iter().rposition(|piece| *piece != Piece::Gap)?;
    let Piece::Word(word) = &pieces[at] else { return None };
    Some((half(word)?, at))
}

/// A word like `pm` behind the time, and where it ends.
fn half_after(pieces: &[Piece], end: usize) -> Option<(Half, usize)> {
    let at = end + pieces[end..].iter().position(|piece| *piece != Piece::Gap)?;
    let Piece::Word(word) = &pieces[at] else { return None };
    Some((half(word)?, at + 1))
}
