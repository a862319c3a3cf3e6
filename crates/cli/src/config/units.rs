//! Durations, sizes and paces as people write them, and back. Parsing only.
//!
//! Invariant: what is shown reads back as the same value.

use std::time::Duration;

const TIMES: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
const SIZES: [(&str, u64); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];
const PACES: [(&str, f64); 4] = [("s", 1.0), ("min", 60.0), ("h", 3_600.0), ("day", 86_400.0)];

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

/// Probes per second from `2/s`, `30/min`, `100/h` or `5000/day`.
pub(crate) fn pace(text: &str) -> Result<f64, String> {
    let wrong = || {
        format!(
            "`{text}` is not a budget (expected a number of probes per time, such as 2/s, 30/min, 100/h or 5000/day)"
        )
    };
    let (count, unit) = text.split_once('/').ok_or_else(wrong)?;
    let count: f64 = count.trim().parse().map_err(|_| wrong())?;
    let unit = unit.trim();
    let (_, seconds) = PACES.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?;
    let per_second = count / seconds;
    if per_second.is_finite() && per_second > 0.0 { Ok(per_second) } else { Err(wrong()) }
}

/// A pace in the unit in which it is a whole number, or the one in which it reads best.
pub(crate) fn show_pace(per_second: f64) -> String {
    let is_whole = |count: f64| count >= 1.0 && (count - count.round()).abs() < 1e-6 * count;
    let whole = PACES.iter().find(|(_, seconds)| is_whole(per_second * seconds));
    let readable = PACES.iter().find(|(_, seconds)| per_second * seconds >= 1.0);
    if let Some((name, seconds)) = whole {
        return format!("{}/{name}", (per_second * seconds).round());
    }
    let (name, seconds) = readable.copied().unwrap_or(("day", 86_400.0));
    format!("{}/{name}", per_second * seconds)
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
        for text in ["2/s", "30/min", "100/h", "7/h", "5000/day", "1/day", "0.25/day"] {
            assert_eq!(show_pace(pace(text).unwrap()), text);
        }
        assert_eq!(show_pace(pace("0.5/s").unwrap()), "30/min");
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
