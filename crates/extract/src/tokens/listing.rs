//! `tests/tokens.txt`: lines, and below each, indented, what it is cut into, with what figures, times, dates and lengths are worth.
//! With `UPDATE_TOKENS=1` the indented lines are rewritten: review the difference before you keep it.
#![expect(clippy::disallowed_methods, reason = "what is recorded is a file, and rewritten on request")]

use std::fmt::Write;

use super::{Kind, amounts, clock_seconds, days_of, seconds_of, tokens, value_of};

/// What a token says, where it says a figure.
fn worth(kind: Kind, text: &str) -> Option<String> {
    match kind {
        Kind::Number => value_of(text).map(|(value, n_decimals)| format!("{value} ({n_decimals})")),
        Kind::Time => clock_seconds(text).map(|(at, open)| format!("{at} s ± {open}")),
        Kind::Date => Some(format!("{:?}", days_of(text))),
        Kind::Span => seconds_of(text).map(|(length, unit)| format!("{length} s ± {unit}")),
        _ => None,
    }
}

fn listed(line: &str) -> String {
    let mut out = String::from("   ");
    for token in tokens(line) {
        if matches!(token.kind, Kind::Word | Kind::Mark) {
            write!(out, " {}", token.text).unwrap();
            continue;
        }
        write!(out, " [{}: {}", format!("{:?}", token.kind).to_lowercase(), token.text).unwrap();
        worth(token.kind, token.text).iter().for_each(|worth| write!(out, " = {worth}").unwrap());
        out.push(']');
    }
    let with_units: Vec<String> = amounts(line)
        .iter()
        .filter(|amount| !amount.unit.is_empty())
        .map(|amount| format!("{} {}", amount.value, amount.unit))
        .collect();
    if !with_units.is_empty() {
        write!(out, "  | {}", with_units.join(", ")).unwrap();
    }
    out
}

#[test]
fn lines_are_cut_as_recorded() {
    let name = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tokens.txt");
    let recorded = std::fs::read_to_string(name).unwrap();
    let mut found = String::new();
    for line in recorded.lines().filter(|line| !line.starts_with("    ")) {
        writeln!(found, "{line}").unwrap();
        if !line.is_empty() && !line.starts_with("## ") {
            writeln!(found, "{}", listed(line)).unwrap();
        }
    }
    if std::env::var_os("UPDATE_TOKENS").is_some() {
        std::fs::write(name, &found).unwrap();
    }
    for (at, (was, is)) in recorded.lines().zip(found.lines()).enumerate() {
        assert_eq!(is, was, "line {}", at + 1);
    }
    assert_eq!(found.lines().count(), recorded.lines().count());
}
