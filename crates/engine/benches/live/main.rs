//! What the live service can do on this machine, in one run: what a probe costs with few and with many sources, against
//! the bare HTTP library on as many URLs; memory per source; what installed queries cost; CPU of the scheduler alone. Run it
//! as `cargo xtask bench-live`; `profile` is the service alone, for a profiler.
//!
//! The pages come from a second process over loopback, so that serving them is not counted as fetching them; both
//! share the machine, as do the two sides of every comparison. Absolute figures belong to the machine; ratios of CPU time
//! are what to quote, since throughput is what the processors have left beside the server.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark reports, and may panic")]

mod bare;
mod client;
mod figures;
mod memory;
mod origin;
mod probing;
mod queries;
mod scheduler;
mod seeding;
mod sizes;

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Requests in flight at one time.
const AT_ONE_TIME: usize = 64;
/// How long each measurement takes at the least.
const WINDOW: Duration = Duration::from_secs(4);

/// The numbers of sources that are compared.
const SIZES: [usize; 3] = [4_000, 40_000, 400_000];

const USAGE: &str =
    "expected nothing, or: probes [SOURCES...], memory, queries, scheduler, profile (same | new) SOURCES";

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--origin"] => origin::serve(),
        ["--side", side, origin, other, n_urls, directory] => {
            let web = Web::halved(origin.parse().unwrap(), other, n_urls.parse().unwrap());
            sizes::Side::named(side).print_pace(&web, directory.as_ref());
        }
        ["--memory", origin, n_urls, directory] => {
            let web = memory::web(origin.parse().unwrap(), n_urls.parse().unwrap());
            memory::in_this_process(&web, directory.as_ref());
        }
        ["--queries", n_queries] => queries::in_this_process(n_queries.parse().unwrap()),
        ["probes"] => sizes::report(&SIZES),
        ["probes", sizes @ ..]
            if sizes.iter().all(|size| size.parse::<usize>().is_ok_and(|size| size > 0)) =>
        {
            sizes::report(&sizes.iter().map(|size| size.parse().unwrap()).collect::<Vec<_>>());
        }
        ["profile", other @ ("same" | "new"), n_urls] => {
            let origin = Origin::start();
            sizes::profile(&Web::halved(origin.address, other, n_urls.parse().unwrap()));
        }
        ["memory"] => memory::report(),
        ["queries"] => queries::report(),
        ["scheduler"] => scheduler::report(),
        [] => {
            sizes::report(&SIZES);
            memory::report();
            queries::report();
            scheduler::report();
        }
        _ => {
            println!("{USAGE}");
            std::process::exit(2);
        }
    }
}

/// The pages that are fetched: some that answer "not changed" to their `ETag`, and some others.
#[derive(Clone)]
struct Web {
    origin: SocketAddr,
    /// What the others are: see [`origin`].
    other: String,
    /// One page of so many is another one.
    one_other_of: usize,
    n_urls: usize,
    /// So many names share the pages; with none, the pages are at the origin's address.
    n_names: usize,
}

impl Web {
    fn halved(origin: SocketAddr, other: &str, n_urls: usize) -> Self {
        Self { origin, other: other.to_owned(), one_other_of: 2, n_urls, n_names: 0 }
    }

    /// Whether this page is one that answers "not changed".
    const fn is_known(&self, number: usize) -> bool {
        !number.is_multiple_of(self.one_other_of)
    }

    fn url(&self, number: usize) -> String {
        let (origin, path) = (self.origin, self.path(number));
        match number.checked_rem(self.n_names) {
            Some(name) => format!("http://site-{name}.example:{}{path}", origin.port()),
            None => format!("http://{origin}{path}"),
        }
    }

    fn path(&self, number: usize) -> String {
        if self.is_known(number) { format!("/304/{number}") } else { format!("/{}/{number}", self.other) }
    }
}

/// Runs this program with `args` in a process of its own, so that none inherits the threads and the heap of another, and
/// gives the figures that it prints.
fn in_child(args: &[&str]) -> Vec<f64> {
    let mut child = Command::new(std::env::current_exe().unwrap());
    let output = child.args(args).stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "{args:?} has failed");
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_whitespace().map(|figure| figure.parse().unwrap()).collect()
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
