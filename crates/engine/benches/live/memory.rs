//! What a source takes in memory, and a probe on disk, once sources have been looked at several times and some of them
//! have changed: a process with many against one with none.

use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;

use dunlin_engine::{Engine, Scope};
use dunlin_net::{Client, Resolve, Resolving};
use dunlin_store::{ObservationQuery, SqliteStore, Store};

use crate::figures::{grouped, resident_bytes};
use crate::probing::{n_stored, settings, until};
use crate::{Origin, Web, in_child, seeding};

const SOURCES: usize = 100_000;
/// On so many hosts.
const NAMES: usize = 499;
/// One source of so many has another page at every look.
const ONE_CHANGES_OF: usize = 10;
/// How often all are looked at, in the mean. Those that change are looked at more often.
const LOOKS: u64 = 4;

pub(crate) fn report() {
    let origin = Origin::start();
    let figures =
        |n_sources: usize| in_child(&["--memory", &origin.address.to_string(), &n_sources.to_string()]);
    let (none, many) = (figures(0), figures(SOURCES));
    let mib = f64::from(1 << 20);
    println!(
        "memory of {} sources on {NAMES} hosts, of which one in {ONE_CHANGES_OF} changes at every look",
        grouped(SOURCES)
    );
    println!("    without any      {:>8.1} MiB resident", none[0] / mib);
    for (at, bytes) in [("known, idle", many[0]), ("looked at", many[1])] {
        let each = (bytes - none[0]) / SOURCES as f64;
        println!("    {at:<16} {:>8.1} MiB resident, {each:.0} bytes per source", bytes / mib);
    }
    println!(
        "    {:.1} looks at a source in the mean, {:.0} at the least, {:.0} of all found a change",
        many[2], many[3], many[4]
    );
    println!("disk, per probe");
    println!("    why it was made  {:>8.1} bytes", many[5]);
    println!("    that it was made {:>8.1} bytes, if it found nothing new", many[6]);
}

/// Prints what this process takes before and after sources were looked at, and what is in the store then.
pub(crate) fn in_this_process(web: &Web) {
    let directory = tempfile::tempdir().unwrap();
    if web.n_urls > 0 {
        seeding::fill(directory.path(), web, "{}");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let [idle, used] = runtime.block_on(run(directory.path(), web.n_urls as u64));
    let store = SqliteStore::open(directory.path()).unwrap();
    let statistics = store.statistics().unwrap();
    let mut looks = vec![0_u32; web.n_urls + 1];
    let mut query = ObservationQuery { source: None, after: None, limit: 50_000 };
    loop {
        let page = store.observations(&query).unwrap();
        let Some(last) = page.last() else { break };
        query.after = Some(last.id);
        page.iter().for_each(|seen| looks[seen.source.0.cast_unsigned() as usize] += 1);
    }
    let total = f64::from(looks.iter().sum::<u32>());
    // The first look at each was made up.
    let n_probes = (total - web.n_urls as f64).max(1.0);
    let least = looks.iter().skip(1).min().map_or(0.0, |least| f64::from(*least) - 1.0);
    let n_quiet = n_probes - statistics.changes as f64;
    println!(
        "{idle} {used} {} {least} {} {} {}",
        n_probes / web.n_urls.max(1) as f64,
        statistics.changes,
        statistics.decision_bytes as f64 / n_probes,
        statistics.look_bytes as f64 / n_quiet.max(1.0),
    );
}

async fn run(directory: &Path, n_sources: u64) -> [f64; 2] {
    let store = Arc::new(SqliteStore::open(directory).unwrap());
    let mut settings = settings();
    settings.politeness.scope = Scope::Host;
    // A connection to each name stays open, or the system runs out of ports.
    settings.network.pool.idle = 2 * NAMES;
    let client = Client::with_resolver(settings.network.clone(), Arc::new(Here)).unwrap();
    let engine = Engine::start_with(store, settings, client).await.unwrap();
    let idle = resident_bytes();
    let handle = engine.handle();
    until(|| n_stored(&handle) >= LOOKS * n_sources).await;
    let used = resident_bytes();
    engine.stop().await.unwrap();
    [idle, used]
}

/// The pages of this part: several hundred on each host, as among a crawler's or a news reader's.
pub(crate) fn web(origin: std::net::SocketAddr, n_urls: usize) -> Web {
    Web { origin, other: "new".to_owned(), one_other_of: ONE_CHANGES_OF, n_urls, n_names: NAMES }
}

/// All names are this machine's.
struct Here;

impl Resolve for Here {
    fn resolve<'r>(&'r self, _: &'r str) -> Resolving<'r> {
        Box::pin(async { Ok(vec![Ipv4Addr::LOCALHOST.into()]) })
    }
}
