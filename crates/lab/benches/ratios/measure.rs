//! CPU time and peak memory of one case, and the line in which a child process reports them.

use std::fmt;
use std::fs;
use std::process::Command;
use std::str::FromStr;
use std::time::Instant;

/// What one case took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    /// CPU seconds of the part under test.
    pub(crate) seconds: f64,
    /// How many events or intervals it handled.
    pub(crate) units: f64,
    /// Peak resident memory of the whole process during that part, its input included, in MiB.
    pub(crate) peak_mib: f64,
}

impl Measured {
    /// Runs `work` and measures it.
    pub(crate) fn of(units: usize, work: impl FnOnce()) -> Self {
        // Forget the peak of making the input; where the system refuses, the figure is only larger.
        let _ = fs::write("/proc/self/clear_refs", "5");
        let clock = Clock::start();
        work();
        let seconds = clock.seconds();
        Self { seconds, units: units as f64, peak_mib: peak_mib() }
    }

    /// Runs a case in a child process.
    pub(crate) fn in_child(case: &str) -> Self {
        let this = std::env::current_exe().unwrap();
        // What making the input needed and gave back must not count as the policy's memory.
        let give_back = [("MALLOC_TRIM_THRESHOLD_", "65536"), ("MALLOC_MMAP_THRESHOLD_", "65536")];
        let output = Command::new(this).args(["--case", case]).envs(give_back).output().unwrap();
        assert!(output.status.success(), "{case}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
    }

    pub(crate) fn nanos_per_unit(self) -> f64 {
        self.seconds * 1e9 / self.units
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.seconds, self.units, self.peak_mib)
    }
}

impl FromStr for Measured {
    type Err = std::num::ParseFloatError;

    fn from_str(line: &str) -> Result<Self, Self::Err> {
        let numbers: Vec<f64> = line.split(' ').map(str::parse).collect::<Result<_, _>>()?;
        Ok(Self { seconds: numbers[0], units: numbers[1], peak_mib: numbers[2] })
    }
}

/// CPU time of this thread where the system tells it, else wall-clock time. The system counts in ticks of some
/// milliseconds, so what is over in a few of them is timed by the clock on the wall.
struct Clock {
    cpu: Option<f64>,
    wall: Instant,
}

impl Clock {
    fn start() -> Self {
        Self { cpu: cpu_seconds(), wall: Instant::now() }
    }

    fn seconds(&self) -> f64 {
        let wall = self.wall.elapsed().as_secs_f64();
        let cpu = self.cpu.zip(cpu_seconds()).map_or(wall, |(from, to)| to - from);
        if wall < 0.1 { wall } else { cpu }
    }
}

fn cpu_seconds() -> Option<f64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanos: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanos / 1e9)
}

fn peak_mib() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1024.0
}
