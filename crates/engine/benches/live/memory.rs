//! What a source takes in memory, and a probe on disk, once sources have been probed several times and some of them
//! have changed: a process with many against one with none.

use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dunlin_engine::{Engine, Scope};
use dunlin_net::{Client, Resolve, Resolving};
use dunlin_store::{ObservationId, ObservationQuery, Outcome, SqliteStore, Store};

use crate::figures::{grouped, resident_bytes};
use crate::probing::{AT_MOST, settings};
use crate::{Origin, Web, in_child, seeding};

const SOURCES: usize = 50_000;
/// On so many hosts.
const NAMES: usize = 499;
/// One source of so many changes now and then.
const ONE_CHANGES_OF: usize = 10;
/// How often each is probed, at least.
const PROBES: u32 = 2;

pub(crate) fn report() {
    let origin = Origin::start();
    // Filled here, so that what that takes is not among what is measured.
    let figures = |n_sources: usize| {
        let directory = tempfile::tempdir().unwrap();
        seeding::fill(directory.path(), &web(origin.address, n_sources), "{}");
        let (address, directory) = (origin.address.to_string(), directory.path().to_str().unwrap());
        in_child(&["--memory", &address, &n_sources.to_string(), directory])
    };
    let (none, many) = (figures(0), figures(SOURCES));
    let mib = f64::from(1 << 20);
    println!(
        "memory of {} sources on {NAMES} hosts, of which one in {ONE_CHANGES_OF} changes now and then",
        grouped(SOURCES)
    );
    println!("    without any      {:>8.1} MiB resident", none[0] / mib);
    for (at, bytes) in [("known, idle", many[0]), ("probed", many[1])] {
        let each = (bytes - none[0]) / SOURCES as f64;
        println!("    {at:<16} {:>8.1} MiB resident, {each:.0} bytes per source", bytes / mib);
    }
    println!(
        "    {:.1} probes of a source on average, at least {:.0}; {:.0} changes",
        many[2], many[3], many[4]
    );
    println!("disk, per probe");
    println!("    why it was made  {:>8.1} bytes", many[5]);
    println!("    that it was made {:>8.1} bytes, if it found nothing new", many[6]);
}

/// Prints what this process takes before and after sources were probed, and what is in the store then.
pub(crate) fn in_this_process(web: &Web, directory: &Path) {
    let store = Arc::new(SqliteStore::open(directory).unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let mut counts = ProbeCounts::since_now(&store, web.n_urls);
    let [idle, used] = runtime.block_on(run(&store, &mut counts));
    counts.read(&store);
    let statistics = store.statistics().unwrap();
    let n_probes = f64::from(counts.by_source.iter().sum::<u32>()).max(1.0);
    println!(
        "{idle} {used} {} {} {} {} {}",
        n_probes / web.n_urls.max(1) as f64,
        counts.least(),
        statistics.changes,
        statistics.decision_bytes as f64 / n_probes,
        statistics.unchanged_bytes as f64 / f64::from(counts.n_unchanged.max(1)),
    );
}

async fn run(store: &Arc<SqliteStore>, counts: &mut ProbeCounts) -> [f64; 2] {
    let mut settings = settings();
    settings.politeness.scope = Scope::Host;
    // A connection to each name stays open, or the system runs out of ports.
    settings.network.pool.idle = 2 * NAMES;
    let client = Client::with_resolver(settings.network.clone(), Arc::new(Here)).unwrap();
    let engine = Engine::start_with(Arc::clone(store) as Arc<dyn Store>, settings, client).await.unwrap();
    let idle = resident_bytes();
    let begin = Instant::now();
    while counts.least() < PROBES && begin.elapsed() < AT_MOST {
        tokio::time::sleep(Duration::from_secs(1)).await;
        counts.read(store);
    }
    let used = resident_bytes();
    engine.stop().await.unwrap();
    [idle, used]
}

/// How often each source was probed.
struct ProbeCounts {
    by_source: Vec<u32>,
    n_unchanged: u32,
    after: Option<ObservationId>,
}

impl ProbeCounts {
    /// Those from now on.
    fn since_now(store: &SqliteStore, n_sources: usize) -> Self {
        let mut counts = Self { by_source: vec![0; n_sources], n_unchanged: 0, after: None };
        counts.read(store);
        Self { by_source: vec![0; n_sources], n_unchanged: 0, ..counts }
    }

    /// Counts what has been stored since.
    fn read(&mut self, store: &SqliteStore) {
        loop {
            let query = ObservationQuery { source: None, after: self.after, limit: 50_000 };
            let page = store.observations(&query).unwrap();
            let Some(last) = page.last() else { return };
            self.after = Some(last.id);
            for seen in &page {
                self.by_source[seen.source.0.cast_unsigned() as usize - 1] += 1;
                self.n_unchanged += u32::from(seen.outcome == Outcome::Unchanged);
            }
        }
    }

    fn least(&self) -> u32 {
        self.by_source.iter().copied().min().unwrap_or(PROBES)
    }
}

/// The pages of this part: several hundred on each host, as among a crawler's or a news reader's.
pub(crate) fn web(origin: std::net::SocketAddr, n_urls: usize) -> Web {
    Web { origin, other: "seldom".to_owned(), one_other_of: ONE_CHANGES_OF, n_urls, n_names: NAMES }
}

/// All names are this machine's.
struct Here;

impl Resolve for Here {
    fn resolve<'r>(&'r self, _: &'r str) -> Resolving<'r> {
        Box::pin(async { Ok(vec![Ipv4Addr::LOCALHOST.into()]) })
    }
}
