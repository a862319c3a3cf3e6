//! Dates, one line for each habit. More are in the reference data.

use super::parse;

fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let expected =
            (!expected.is_empty()).then(|| expected.parse::<jiff::Timestamp>().unwrap().as_microsecond());
        assert_eq!(parse(text).map(dunlin_core::Time::micros), expected, "{text}");
    }
}

#[test]
fn standard_dates() {
    check(&[
        ("Mon, 02 Mar 2026 09:30:00 GMT", "2026-03-02T09:30:00Z"),
        ("2 Mar 26 9:30 +0100", "2026-03-02T08:30:00Z"),
        ("2026-03-02T09:30:00.25-05:30", "2026-03-02T15:00:00.25Z"),
        ("2026-03-02", "2026-03-02T00:00:00Z"),
        ("20260302T093000Z", "2026-03-02T09:30:00Z"),
        ("Mon Mar  2 09:30:00 2026", "2026-03-02T09:30:00Z"),
        ("1772443800", "2026-03-02T09:30:00Z"),
        ("1772443800000", "2026-03-02T09:30:00Z"),
    ]);
}

#[test]
fn habits_of_people() {
    check(&[
        ("Monday, March 2nd, 2026 at 9:30pm EST", "2026-03-03T02:30:00Z"),
        ("lundi, 2. février 2026 - 9:30", "2026-02-02T09:30:00Z"),
        ("mar., 03 mars 2026 12:00 a.m.", "2026-03-03T00:00:00Z"),
        ("Xday, 02 Mar 2026 24:00:00 Z", "2026-03-03T00:00:00Z"),
        ("13/02/2026", "2026-02-13T00:00:00Z"),
        ("02/13/26", "2026-02-13T00:00:00Z"),
        ("13.2.2026 9:30", "2026-02-13T09:30:00Z"),
        ("2 lipca 2026", "2026-07-02T00:00:00Z"),
        ("2026年3月2日 09:30", "2026-03-02T09:30:00Z"),
        ("2026년 3월 2일 09:30", "2026-03-02T00:30:00Z"),
        ("Mon, 02 Mar 2026 09:30:00 Europe/Berlin", "2026-03-02T08:30:00Z"),
        ("Thu, 02 Jul 2026 09:30:00 Europe/Berlin", "2026-07-02T07:30:00Z"),
    ]);
}

#[test]
fn what_is_no_date() {
    let none = [
        "",
        "yesterday",
        "Mon",
        "12:00",
        "2026-13-01",
        "2026-02-30",
        "30 Feb 2026",
        "Mon, 02 Mar 2026 25:00 GMT",
        "Mon, 02 Mar 2026 9:60 GMT",
        "2 Mar 2026 9:30 Mars/Base",
        "2 Mar Apr 2026",
        "1.2.3.4",
        "02 03",
        "2026-03-02T09:30:00+99:99",
        "2 Mar 2026 words",
        "12345678901234567890123",
        "+",
        "٣",
    ];
    check(&none.map(|text| (text, "")));
    check(&[(&"9".repeat(200), "")]);
}
