//! `cargo xtask bench` and `bench-live`: the speed comparisons of the lab, and those of the live service.
//!
//! The benchmark binary decides what is compared; this only spares people its full address. It reports ratios
//! of two timings taken in the same run, because times of one machine say nothing on another.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use crate::command;

/// A benchmark binary.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bench {
    /// Policies and planners; filters are parts of names.
    Lab,
    /// The service; the filter is a part: probes (then numbers of sources, if wanted), memory, queries, scheduler.
    Live,
}

/// Runs the comparisons that `filters` ask for; all of them when there is none.
pub(crate) fn run(root: &Path, bench: Bench, filters: &[&str]) -> Result<ExitCode> {
    Ok(command::exit_code(command::run_cargo(root, &arguments(bench, filters))?))
}

fn arguments<'a>(bench: Bench, filters: &[&'a str]) -> Vec<&'a str> {
    let (package, name) = match bench {
        Bench::Lab => ("dunlin-lab", "ratios"),
        Bench::Live => ("dunlin-engine", "live"),
    };
    let mut args = vec!["bench", "-p", package, "--bench", name, "--"];
    args.extend(filters);
    args
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_reach_the_benchmark_and_not_cargo() {
        let args = arguments(Bench::Lab, &["wic", "heap"]).join(" ");
        assert_eq!(args, "bench -p dunlin-lab --bench ratios -- wic heap");
        let args = arguments(Bench::Live, &["memory"]).join(" ");
        assert_eq!(args, "bench -p dunlin-engine --bench live -- memory");
    }
}
