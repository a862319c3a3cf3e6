//! What the live service can do on this machine, in one run: probes per second against the bare HTTP library, memory
//! per idle source, CPU of the scheduler alone. Run it as `cargo xtask bench-live`. `profile` is the service alone, for a
//! profiler.
//!
//! The pages come from a second process over loopback, so that serving them is not counted as fetching them; both
//! share the machine, as do the two sides of every comparison. Absolute figures belong to the machine; ratios are
//! what to quote.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark reports, and may panic")]

mod bare;
mod client;
mod figures;
mod idle;
mod origin;
mod probing;
mod scheduler;

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

/// Requests under way at one time, for both sides.
const AT_ONE_TIME: usize = 64;
/// Seconds of each measurement.
const SECONDS: u64 = 5;
/// How often both sides take turns.
const ROUNDS: usize = 3;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--origin"] => origin::serve(),
        ["--idle", sources] => idle::in_this_process(sources.parse().unwrap()),
        ["probes"] => compare_probes(),
        ["profile", half @ ("same" | "new")] => {
            println!("{:.0} / s", probing::per_second(Origin::start().address, half));
        }
        ["memory"] => idle::report(),
        ["scheduler"] => scheduler::report(),
        [] => {
            compare_probes();
            idle::report();
            scheduler::report();
        }
        _ => println!("expected nothing, or one of: probes, memory, scheduler, profile same, profile new"),
    }
}

fn compare_probes() {
    let origin = Origin::start();
    println!("probes per second, {AT_ONE_TIME} at one time, pages of 10 KB, half of the answers 304");
    for (other_half, named) in [
        ("same", "the other half as it was before, without validators"),
        ("new", "the other half changed every time: read, compared, stored"),
    ] {
        println!("  {named}");
        let mut rounds: Vec<[f64; 3]> = Vec::new();
        for _ in 0..ROUNDS {
            rounds.push([
                bare::per_second(origin.address, other_half),
                client::per_second(origin.address, other_half),
                probing::per_second(origin.address, other_half),
            ]);
        }
        let mean = |side: usize| rounds.iter().map(|round| round[side]).sum::<f64>() / ROUNDS as f64;
        println!("    bare hyper   {:>8.0} / s", mean(0));
        for (side, whose) in [(1, "our client"), (2, "dunlin")] {
            let ratios: Vec<String> =
                rounds.iter().map(|round| format!("{:.0} %", 100.0 * round[side] / round[0])).collect();
            println!(
                "    {whose:<12} {:>8.0} / s   {:.0} % of it (rounds: {})",
                mean(side),
                100.0 * mean(side) / mean(0),
                ratios.join(", ")
            );
        }
    }
}

/// The second process, which ends with this one.
struct Origin {
    process: Child,
    address: SocketAddr,
}

impl Origin {
    fn start() -> Self {
        let this = std::env::current_exe().unwrap();
        let mut process = Command::new(this).arg("--origin").stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { process, address: line.trim().parse().unwrap() }
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
