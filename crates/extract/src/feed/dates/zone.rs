//! Time zones as dates name them: offsets, abbreviations, places. What no date says is not here.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};

use super::words::Piece;

/// What a local time is relative to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Zone {
    /// Seconds ahead of UTC.
    Ahead(i32),
    /// A place, with its summer times.
    Place(TimeZone),
}

impl Zone {
    pub(super) const UTC: Self = Self::Ahead(0);

    pub(super) fn timestamp(&self, local: DateTime) -> Option<Timestamp> {
        match self {
            Self::Ahead(seconds) => Offset::from_seconds(*seconds).ok()?.to_timestamp(local).ok(),
            Self::Place(place) => place.to_ambiguous_timestamp(local).compatible().ok(),
        }
    }
}

/// Abbreviations and minutes ahead of UTC. Of several meanings, the one that feeds are full of.
const NAMES: &[(&str, i32)] = &[
    ("z", 0),
    ("ut", 0),
    ("utc", 0),
    ("gmt", 0),
    ("wet", 0),
    ("west", 60),
    ("bst", 60),
    ("cet", 60),
    ("met", 60),
    ("mez", 60),
    ("cest", 120),
    ("mest", 120),
    ("mesz", 120),
    ("eet", 120),
    ("sast", 120),
    ("eest", 180),
    ("msk", 180),
    ("ist", 330),
    ("hkt", 480),
    ("sgt", 480),
    ("awst", 480),
    ("jst", 540),
    ("kst", 540),
    ("acst", 570),
    ("aest", 600),
    ("aedt", 660),
    ("nzst", 720),
    ("nzdt", 780),
    ("at", -240),
    ("ast", -240),
    ("adt", -180),
    ("et", -300),
    ("est", -300),
    ("edt", -240),
    ("ct", -360),
    ("cst", -360),
    ("cdt", -300),
    ("mt", -420),
    ("mst", -420),
    ("mdt", -360),
    ("pt", -480),
    ("pst", -480),
    ("pdt", -420),
    ("akst", -540),
    ("akdt", -480),
    ("hst", -600),
    ("brt", -180),
    ("art", -180),
    ("nst", -210),
    ("ndt", -150),
];

/// The zone that a word names.
pub(super) fn named(word: &str) -> Option<Zone> {
    let known = NAMES.iter().find(|(name, _)| *name == word);
    known.map(|(_, minutes)| Zone::Ahead(minutes * 60))
}

/// Where a date without a zone was written, if its script says so.
pub(super) fn of_script(text: &str) -> Option<Zone> {
    let is_korean = |c: char| matches!(c, '\u{ac00}'..='\u{d7a3}');
    text.contains(is_korean).then_some(Zone::Ahead(9 * 3600))
}

/// The zone at the beginning of these pieces, and how many of them it takes. `Err` for a sign that begins no zone.
pub(super) fn at_start(pieces: &[Piece]) -> Result<Option<(Zone, usize)>, ()> {
    let n_gaps = pieces.iter().take_while(|piece| **piece == Piece::Gap).count();
    let rest = &pieces[n_gaps..];
    match rest {
        [Piece::Sign('+' | '-'), ..] => {
            let (seconds, n_pieces) = offset(rest).ok_or(())?;
            // Some write both.
            let is_z = matches!(rest.get(n_pieces), Some(Piece::Word(word)) if word == "z");
            Ok(Some((Zone::Ahead(seconds), n_gaps + n_pieces + usize::from(is_z))))
        }
        [Piece::Word(area), Piece::Sign('/'), Piece::Word(_), ..] => {
            let mut name = area.clone();
            let mut n_pieces = 1;
            while let [Piece::Sign('/'), Piece::Word(part), ..] = &rest[n_pieces..] {
                name.push('/');
                name.push_str(part);
                n_pieces += 2;
            }
            let place = TimeZoneDatabase::bundled().get(&name).map_err(|_| ())?;
            Ok(Some((Zone::Place(place), n_gaps + n_pieces)))
        }
        [Piece::Word(word), after @ ..] => {
            let Some(zone) = named(word) else { return Ok(None) };
            // `GMT+0100`
            let is_relative =
                matches!(zone, Zone::Ahead(0)) && matches!(after.first(), Some(Piece::Sign('+' | '-')));
            if is_relative {
                let (seconds, n_pieces) = offset(after).ok_or(())?;
                return Ok(Some((Zone::Ahead(seconds), n_gaps + 1 + n_pieces)));
            }
            Ok(Some((zone, n_gaps + 1)))
        }
        _ => Ok(None),
    }
}

/// A sign and `hhmm`, `hh:mm`, `hmm` or `hh`.
fn offset(pieces: &[Piece]) -> Option<(i32, usize)> {
    let (Some(Piece::Sign(sign)), Some(Piece::Number(first))) = (pieces.first(), pieces.get(1)) else {
        return None;
    };
    let (hours, minutes, n_pieces) = match (first.len(), &pieces[2..]) {
        (1 | 2, [Piece::Sign(':'), rest @ ..]) => match rest {
            [Piece::Number(minutes), ..] if minutes.len() == 2 => (first.as_str(), minutes.as_str(), 4),
            _ => return None,
        },
        (1 | 2, _) => (first.as_str(), "0", 2),
        (3 | 4, _) => (&first[..first.len() - 2], &first[first.len() - 2..], 2),
        _ => return None,
    };
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let seconds = hours * 3600 + minutes * 60;
    Some((if *sign == '-' { -seconds } else { seconds }, n_pieces))
}
