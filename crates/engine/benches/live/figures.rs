//! What the system says about this process, and how figures of several rounds are written.

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
    /// Microseconds of CPU of this process for each; not those of the server.
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

    /// The pace of `n_done` that took `elapsed`, with all CPU time used up to now.
    pub(crate) fn pace_of(&self, n_done: u64, elapsed: Duration) -> Pace {
        let n_done = n_done as f64;
        let cpu = process_cpu_seconds() - self.cpu;
        Pace { per_second: n_done / elapsed.as_secs_f64(), cpu_micros: cpu * 1e6 / n_done }
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

/// A figure over all rounds: the median, and the least and the most in brackets.
pub(crate) fn spread(figures: impl IntoIterator<Item = f64>, digits: usize) -> String {
    let mut sorted: Vec<f64> = figures.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
    let (below, above) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
    let median = f64::midpoint(below, above);
    format!("{median:.digits$} ({least:.digits$} to {most:.digits$})")
}

/// A number with its thousands apart.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}
