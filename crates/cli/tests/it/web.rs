//! The test bed inside the test's own process, so that its log and its truth are at hand; and data directories that
//! watch it. Asserts nothing.

use std::fs;
use std::path::PathBuf;

use dunlin_core::Time;
use dunlin_lab::files::TraceFile;
use dunlin_testbed::{Logged, Options, Plan, Running, Site, Testbed};
use tokio::runtime::Runtime;

use crate::run::Desk;

/// A web site that plays a trace.
pub(crate) struct Web {
    // Before the runtime, so that it is dropped while there is one.
    pub(crate) bed: Running,
    pub(crate) runtime: Runtime,
}

impl Web {
    pub(crate) fn start(plan: Plan) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let listen = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
        let bed = runtime.block_on(Testbed::start(Options { plan, listen })).unwrap();
        Self { bed, runtime }
    }

    pub(crate) fn site(&self) -> Site {
        self.bed.site()
    }

    pub(crate) fn now(&self) -> Time {
        self.bed.now()
    }

    /// Requests whose address contains `part`.
    pub(crate) fn requests(&self, part: &str) -> Vec<Logged> {
        self.bed.log().into_iter().filter(|request| request.target.contains(part)).collect()
    }
}

/// A data directory with these settings that watches these addresses.
pub(crate) fn watching(desk: &Desk, name: &str, settings: &str, urls: &[String]) -> PathBuf {
    let data = desk.path(name);
    fs::create_dir(&data).unwrap();
    fs::write(data.join("dunlin.toml"), settings).unwrap();
    let list = desk.path(&format!("{name}.txt"));
    fs::write(&list, urls.join("\n")).unwrap();
    let done = desk.run(&format!("import {} --data {}", list.display(), data.display()));
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    data
}

/// Every source changes at equal steps; `steps` has one number of seconds per source.
pub(crate) fn regular_trace(name: &str, steps: &[i64], seconds: i64) -> TraceFile {
    let id = |number: usize| format!("{name}-{number:03}");
    // Spread over the step, as real sources are.
    let times = |(number, &step): (i64, &i64)| {
        let first = 7 * number % step + 1;
        (0..=(seconds - first) / step).map(|count| first + count * step).collect()
    };
    TraceFile {
        sources: (0..steps.len()).map(id).collect(),
        times: (0..).zip(steps).map(times).collect(),
        warnings: Vec::new(),
    }
}
