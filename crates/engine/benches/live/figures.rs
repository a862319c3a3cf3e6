//! What the system says about this process.

use std::fs;
use std::time::{Duration, Instant};

/// Resident memory in bytes.
pub(crate) fn resident_bytes() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() * 1024.0
}

/// How fast something goes, and what it takes of the processors.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) per_second: f64,
    /// Microseconds of CPU of this process for each; not those of whoever answers.
    pub(crate) cpu_micros: f64,
}

/// A measurement that has begun.
pub(crate) struct Stopwatch {
    begin: Instant,
    cpu: f64,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self { begin: Instant::now(), cpu: process_cpu_seconds() }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    pub(crate) fn pace_of(&self, n_done: u64) -> Pace {
        let n_done = n_done as f64;
        let cpu = process_cpu_seconds() - self.cpu;
        Pace { per_second: n_done / self.begin.elapsed().as_secs_f64(), cpu_micros: cpu * 1e6 / n_done }
    }
}

/// CPU seconds that all threads of this process have used, to a hundredth.
fn process_cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let after_name = stat.rsplit(')').next().unwrap();
    let ticks = after_name.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<f64>().unwrap());
    ticks.sum::<f64>() / 100.0
}

/// CPU seconds that this thread has used.
pub(crate) fn cpu_seconds() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1e9
}
