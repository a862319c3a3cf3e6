//! The tables of the documentation, made again: `cargo bench -p dunlin-lab --bench tables -- NAME`.
//!
//! Where runs may differ in what should not matter (the seed, a few per cent of the budget, where in the trace it begins), a figure
//! is a mean of several, with their range or deviation; `mixed` and `policies` have one run for each figure. `forecast`, `mixed`,
//! `policies` and `cam-trace` read the reference data in the folder that `DUNLIN_REFERENCE` names. Not a benchmark of speed: see
//! `ratios`.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a table is printed, and may panic")]

mod cam; // docs/planning.md, docs/policies.md
mod forecast; // docs/forecast.md
mod mixed; // docs/policies.md
mod policies; // docs/policies.md

use std::path::PathBuf;

use dunlin_lab::files::TraceFile;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["forecast", only @ ..] => forecast::print(only),
        ["mixed", only @ ..] => mixed::print(only),
        ["policies"] => policies::print_reference(),
        ["fresh", only @ ..] => policies::print_fresh(only),
        ["cam-skew"] => cam::print_skew(),
        ["cam-trace"] => cam::print_trace(),
        // `cargo bench` without a name runs every benchmark there is: nobody asked for a table.
        _ => println!(
            "tables: forecast [TRACE…], mixed [TRACE…], policies, fresh [FAMILY…], cam-skew, cam-trace"
        ),
    }
}

/// A file of the reference data.
fn reference(name: &str) -> PathBuf {
    let folder =
        std::env::var_os("DUNLIN_REFERENCE").expect("DUNLIN_REFERENCE names the folder of reference data");
    PathBuf::from(folder).join(name)
}

fn trace(name: &str) -> TraceFile {
    TraceFile::open(&reference(&format!("traces/{name}.csv.gz"))).unwrap()
}

/// Mean, and in brackets the least and the most, without the zero before the point.
fn with_range(values: &[f64]) -> String {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let short = |value: f64| format!("{value:.3}").trim_start_matches('0').to_owned();
    format!("{} ({}–{})", short(mean), short(least), short(most))
}
