//! Durations, sizes and paces as people write them, and back. Parsing only.
//!
//! Invariant: what is shown reads back as the same value.

use std::time::Duration;

use dunlin_server::unit::Unit;

const TIMES: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
const SIZES: [(&str, u64); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

/// A duration from `250ms`, `2s`, `5m`, `6h` or `30d`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    counted(text, &TIMES).map(Duration::from_millis).ok_or_else(|| {
        format!("`{text}` is not a duration (expected a whole number with a unit, such as 250ms, 2s, 5m, 6h or 30d)")
    })
}

/// The shortest way to write a duration of whole milliseconds.
pub(crate) fn show_duration(duration: Duration) -> String {
    show_counted(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX), &TIMES)
}

/// A number of bytes from `512B`, `64KiB`, `10MiB` or `1GiB`.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    counted(text, &SIZES).filter(|bytes| *bytes > 0).ok_or_else(|| {
        format!("`{text}` is not a size (expected a whole number with a unit, such as 64KiB, 10MiB or 1GiB)")
    })
}

/// The shortest way to write a number of bytes.
pub(crate) fn show_bytes(bytes: u64) -> String {
    show_counted(bytes, &SIZES)
}

fn counted(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &text[digits.len()..];
    let (_, size) = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    digits.trim_end().parse::<u64>().ok()?.checked_mul(*size)
}

fn show_counted(amount: u64, units: &[(&str, u64)]) -> String {
    let fitting = units.iter().find(|(_, size)| amount > 0 && amount.is_multiple_of(*size));
    let smallest = units.iter().min_by_key(|(_, size)| *size);
    let (name, size) = fitting.or(smallest).copied().unwrap_or(("", 1));
    format!("{}{name}", amount / size)
}

/// A number of times per second, as a person wrote it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pace {
    pub(crate) per_second: f64,
    /// The unit in which it was given, where that is known.
    unit: Option<Unit>,
}

impl Pace {
    pub(crate) const fn new(per_second: f64, unit: Option<Unit>) -> Self {
        Self { per_second, unit }
    }

    /// How many times in which unit: the one that was given, else one in which it is a whole number, else the one in
    /// which it reads best.
    pub(crate) fn counted(self) -> (f64, Unit) {
        let is_whole = |count: f64| count >= 1.0 && (count - count.round()).abs() < 1e-6 * count;
        let in_unit = |unit: Unit| self.per_second * unit.seconds();
        let whole = Unit::ALL.into_iter().find(|unit| is_whole(in_unit(*unit)));
        let readable = || Unit::ALL.into_iter().find(|unit| in_unit(*unit) >= 1.0);
        let unit = self.unit.or(whole).or_else(readable).unwrap_or(Unit::Day);
        // What was lost by dividing does not show, unless something would be lost by leaving it out.
        let rounded = (in_unit(unit) * 1e9).round() / 1e9;
        let is_same = rounded / unit.seconds() == self.per_second || (self.unit.is_none() && whole.is_some());
        (if is_same { rounded } else { in_unit(unit) }, unit)
    }
}

impl std::fmt::Display for Pace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (count, unit) = self.counted();
        write!(f, "{count}/{}", name_of(unit))
    }
}

const fn name_of(unit: Unit) -> &'static str {
    match unit {
        Unit::Second => "s",
        Unit::Minute => "min",
        Unit::Hour => "h",
        Unit::Day => "day",
    }
}

/// A pace from `2/s`, `30/min`, `100/h` or `5000/day`.
pub(crate) fn pace(text: &str) -> Result<Pace, String> {
    let wrong = || {
        format!(
            "`{text}` is not a budget (expected a number of probes per time, such as 2/s, 30/min, 100/h or 5000/day)"
        )
    };
    let (count, unit) = text.split_once('/').ok_or_else(wrong)?;
    let count: f64 = count.trim().parse().map_err(|_| wrong())?;
    let unit = Unit::ALL.into_iter().find(|known| name_of(*known) == unit.trim()).ok_or_else(wrong)?;
    let per_second = count / unit.seconds();
    let is_pace = per_second.is_finite() && per_second > 0.0;
    if is_pace { Ok(Pace::new(per_second, Some(unit))) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_reads_back() {
        for text in ["0ms", "250ms", "2s", "90s", "5m", "6h", "30d"] {
            assert_eq!(show_duration(duration(text).unwrap()), text);
        }
        for text in ["1B", "64KiB", "10MiB", "3GiB"] {
            assert_eq!(show_bytes(bytes(text).unwrap()), text);
        }
        for text in
            ["2/s", "30/min", "100/h", "7/h", "5000/day", "1/day", "0.25/day", "120/min", "0.5/s", "0.1/min"]
        {
            assert_eq!(pace(text).unwrap().to_string(), text);
            assert_eq!(pace(&pace(text).unwrap().to_string()).unwrap(), pace(text).unwrap());
        }
        for (text, natural) in
            [("0.5/s", "30/min"), ("120/min", "2/s"), ("7/h", "7/h"), ("0.25/day", "0.25/day")]
        {
            assert_eq!(Pace::new(pace(text).unwrap().per_second, None).to_string(), natural);
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "5", "-1s", "1.5h", "5 weeks", "s", "99999999999999999999d", "213503982335d"] {
            assert!(duration(text).is_err(), "{text}");
        }
        for text in ["", "0MiB", "10", "10MB", "-1KiB"] {
            assert!(bytes(text).is_err(), "{text}");
        }
        for text in ["", "2", "0/s", "-2/s", "NaN/s", "inf/s", "2/fortnight", "2/", "/s", "1e-320/day"] {
            assert!(pace(text).is_err(), "{text}");
        }
    }
}
