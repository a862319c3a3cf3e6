//! `cargo xtask bench`: the speed comparisons of the lab.
//!
//! The benchmark binary decides what is compared; this only spares people its full address. It reports ratios
//! of two timings taken in the same run, because times of one machine say nothing on another.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use crate::command;

/// Runs the comparisons whose name contains one of `filters`; all of them when there is none.
pub(crate) fn run(root: &Path, filters: &[&str]) -> Result<ExitCode> {
    Ok(command::exit_code(command::run_cargo(root, &arguments(filters))?))
}

fn arguments<'a>(filters: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["bench", "-p", "dunlin-lab", "--bench", "ratios", "--"];
    args.extend(filters);
    args
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_reach_the_benchmark_and_not_cargo() {
        let args = arguments(&["wic", "heap"]).join(" ");
        assert_eq!(args, "bench -p dunlin-lab --bench ratios -- wic heap");
    }
}
