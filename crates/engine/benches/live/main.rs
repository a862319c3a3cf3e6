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

use figures::Pace;

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Requests under way at one time, for all but the one that asks one by one.
const AT_ONE_TIME: usize = 64;
/// Seconds of each measurement.
const SECONDS: u64 = 4;
/// How often all take turns: a machine that is shared is faster at one time than at another.
const ROUNDS: usize = 5;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--origin"] => origin::serve(),
        ["--side", side, origin, half] => {
            let pace = Side::named(side).pace(origin.parse().unwrap(), half);
            println!("{} {}", pace.per_second, pace.cpu_micros);
        }
        ["--idle", sources] => idle::in_this_process(sources.parse().unwrap()),
        ["probes"] => compare_probes(),
        ["profile", half @ ("same" | "new")] => {
            let pace = Side::Dunlin.pace(Origin::start().address, half);
            println!("{:.0} / s, {:.1} µs of CPU each", pace.per_second, pace.cpu_micros);
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
        let rounds: Vec<[Pace; 4]> =
            (0..ROUNDS).map(|_| SIDES.map(|side| side.in_child(origin.address, other_half))).collect();
        for (number, side) in SIDES.iter().enumerate() {
            println!("    {:<16} {}", side.name(), row(&rounds, number));
        }
    }
}

/// Who fetches.
#[derive(Clone, Copy)]
enum Side {
    Bare,
    Dunlin,
    Client,
    OneByOne,
}

/// The two that are compared come one after the other.
const SIDES: [Side; 4] = [Side::Bare, Side::Dunlin, Side::Client, Side::OneByOne];

impl Side {
    fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare hyper",
            Self::Dunlin => "dunlin",
            Self::Client => "our client",
            Self::OneByOne => "bare, one by one",
        }
    }

    fn named(name: &str) -> Self {
        SIDES.into_iter().find(|side| side.name() == name).unwrap()
    }

    fn pace(self, origin: SocketAddr, other_half: &str) -> Pace {
        match self {
            Self::Bare => bare::pace(origin, other_half, AT_ONE_TIME),
            Self::Dunlin => probing::pace(origin, other_half),
            Self::Client => client::pace(origin, other_half),
            Self::OneByOne => bare::pace(origin, other_half, 1),
        }
    }

    /// In a process of its own, so that none inherits the threads and the heap of another.
    fn in_child(self, origin: SocketAddr, other_half: &str) -> Pace {
        let this = std::env::current_exe().unwrap();
        let args = ["--side", self.name(), &origin.to_string(), other_half];
        let output = Command::new(this).args(args).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        let figures: Vec<f64> = text.split_whitespace().map(|figure| figure.parse().unwrap()).collect();
        Pace { per_second: figures[0], cpu_micros: figures[1] }
    }
}

/// The mean of the rounds, and the share of the first side, in the mean and in each.
fn row(rounds: &[[Pace; 4]], side: usize) -> String {
    let mean =
        |figure: &dyn Fn(&[Pace; 4]) -> f64| rounds.iter().map(figure).sum::<f64>() / rounds.len() as f64;
    let share = |round: &[Pace; 4]| 100.0 * round[side].per_second / round[0].per_second;
    let shares: Vec<String> = rounds.iter().map(|round| format!("{:.0}", share(round))).collect();
    format!(
        "{:>7.0} / s, {:>4.1} µs of CPU each; of bare hyper: {:.0} % ({})",
        mean(&|round| round[side].per_second),
        mean(&|round| round[side].cpu_micros),
        mean(&share),
        shares.join(" ")
    )
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
