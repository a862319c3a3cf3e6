//! Figures and choices as they are today, written down. The laws elsewhere say what must hold of any version; these tables
//! say that nothing has moved that nobody meant to move: a constant, a term, the direction of a comparison.
//!
//! `UPDATE_PINNED=1 cargo test -p dunlin-sched --test it pinned` writes the tables again after a change that is meant to
//! change them. Read the difference before you keep it, and run the tables of the docs again (`docs/forecast.md`,
//! `docs/policies.md`).

mod models; // what probes teach, and what forecasts say
mod plans; // polling plans, CAM, offline plans and bounds
mod policies; // which sources the policies choose
mod schedulers; // which sources the live scheduler chooses, and why

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Compares with the table of that name, line by line.
#[track_caller]
fn check(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pinned").join(name).with_extension("txt");
    if std::env::var_os("UPDATE_PINNED").is_some() {
        fs::write(&path, found).unwrap();
        return;
    }
    let expected = fs::read_to_string(&path).unwrap();
    for (number, (expected, found)) in (1..).zip(expected.lines().zip(found.lines())) {
        assert_eq!(found, expected, "{}:{number}, see the head of pinned.rs", path.display());
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "lines of {}", path.display());
}

/// Numbers to eight digits: what a function of the platform rounds differently does not show.
fn row(table: &mut String, name: &str, figures: &[f64]) {
    write!(table, "{name}:").unwrap();
    for figure in figures {
        // Neither 0 nor −0 is different from what is below any scale here.
        let figure = if figure.abs() < 1e-300 { 0.0 } else { *figure };
        write!(table, " {figure:.7e}").unwrap();
    }
    table.push('\n');
}

/// A number for a sequence of numbers (FNV-1a), to compare long ones by.
struct Fingerprint(u64);

impl Fingerprint {
    const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, number: u64) {
        for byte in number.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
