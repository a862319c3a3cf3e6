//! What installed queries cost: a change that concerns none of them, installing one, and what one takes in memory. The control, the
//! capture and the store of the service in virtual time; a process for each number of queries. Not what their own probes cost.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use dunlin_core::Time;
use dunlin_engine::simulated::{Answered, Simulation, World};
use dunlin_engine::{Pace, RobotsRule, Rules, Scope, Settings};
use dunlin_net::{Fetched, Request};
use dunlin_store::{NewSource, SourceId, SqliteStore, Store as _};

use crate::figures::{cpu_seconds, grouped, resident_bytes, spread};
use crate::in_child;

const SOURCES: usize = 1_000;
/// The numbers of queries that are compared.
const SIZES: [usize; 3] = [0, 100, 10_000];
const ROUNDS: usize = 3;
/// Probes before anything is measured, and while a change is: each finds a new entry.
const BEFORE: usize = 3 * SOURCES;
const MEASURED: usize = 4 * SOURCES;
/// Eight in the morning, so that no query begins by the clock while it is measured.
const START: Time = Time::from_seconds(1_800_000_000);

pub(crate) fn report() {
    let mut figures: BTreeMap<usize, Vec<Vec<f64>>> = BTreeMap::new();
    for _ in 0..ROUNDS {
        for size in SIZES {
            figures.entry(size).or_default().push(in_child(&["--queries", &size.to_string()]));
        }
    }
    println!(
        "queries over {} sources, none of which a change concerns: medians of {ROUNDS}",
        grouped(SOURCES)
    );
    for (size, rounds) in &figures {
        let of = |nth: usize, digits| spread(rounds.iter().map(|figures| figures[nth]), digits);
        print!("    {:>6} queries: {} µs of CPU per change", grouped(*size), of(0, 0));
        if *size > 0 {
            let without = &figures[&0];
            let asked =
                rounds.iter().zip(without).map(|(with, without)| (with[3] - without[3]) / *size as f64);
            print!(
                ", {} ms to install one, {} bytes each, {} once asked",
                of(1, 2),
                of(2, 0),
                spread(asked, 0)
            );
        }
        println!();
    }
    let ratio = |many: usize, few: usize| {
        let pairs = figures[&many].iter().zip(&figures[&few]);
        spread(pairs.map(|(many, few)| many[0] / few[0]), 2)
    };
    println!(
        "    a change with {} queries / with {}: {}",
        grouped(SIZES[2]),
        SIZES[1],
        ratio(SIZES[2], SIZES[1])
    );
    println!("    a change with {} queries / with none: {}", grouped(SIZES[2]), ratio(SIZES[2], SIZES[0]));
}

/// Prints what a change, an installation and a query cost with so many queries.
pub(crate) fn in_this_process(n_queries: usize) {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(directory.path()).unwrap());
    let settings = Settings {
        budget: Pace { per_second: 10.0 },
        politeness: Rules { gap: Duration::ZERO, concurrent: 1, scope: Scope::Url, ..Rules::default() },
        robots: RobotsRule::Ignore,
        shortest_gap: Duration::ZERO,
        ..Settings::default()
    };
    let mut run = Simulation::new(store.clone(), settings, Feeds::default(), START).unwrap();
    let sources: Vec<SourceId> = (0..SOURCES)
        .map(|number| {
            let page = NewSource::page(format!("http://s{number}.example/"), START);
            run.add_source(NewSource { recipe: r#"{"flicker":"tell"}"#.to_owned(), ..page }).unwrap()
        })
        .collect();
    let mut seconds = START.seconds();
    let mut probe = |run: &mut Simulation<Feeds>, n_probes: usize| {
        let end = run.world().n_answers + n_probes;
        while run.world().n_answers < end {
            seconds += 10;
            run.run_until(Time::from_seconds(seconds));
        }
    };
    probe(&mut run, BEFORE);
    let (memory, cpu) = (resident_bytes(), cpu_seconds());
    for number in 0..n_queries {
        let (source, other) = (sources[number % SOURCES], sources[(number + 1) % SOURCES]);
        run.add_query(&query(number, source, other)).unwrap();
    }
    let n = n_queries.max(1) as f64;
    let (each_millis, each_bytes) = ((cpu_seconds() - cpu) * 1e3 / n, (resident_bytes() - memory) / n);
    // The index of words is built, and every relevant source looked up.
    probe(&mut run, BEFORE);
    let (n_before, cpu) = (store.statistics().unwrap().changes, cpu_seconds());
    probe(&mut run, MEASURED);
    let cpu = cpu_seconds() - cpu;
    let n_changes = store.statistics().unwrap().changes - n_before;
    let at_end = resident_bytes();
    println!("{} {each_millis} {each_bytes} {at_end}", cpu * 1e6 / n_changes as f64);
}

/// Queries of several kinds about what never is in the entries.
fn query(number: usize, source: SourceId, other: SourceId) -> String {
    let name = format!("q{number}");
    let post = format!("QUERY {name} SELECT item AS post FROM source {source}");
    match number % 5 {
        0 => format!("{post} ON CHANGE WITHIN 1 HOUR WHERE post CONTAINS 'absent{number}'"),
        1 => format!(
            "{post} ON CHANGE SELECT item AS more FROM source {other} WHEN post.title CONTAINS '%gone{number}%' AND NOT post \
             CONTAINS 'tide' WITHIN 10 MINUTES"
        ),
        2 => format!("{post} AT 03:00 WITHIN 10 MINUTES"),
        3 => format!("QUERY {name} WATCH 'absent{number} missing{number}' IMPORTANCE 0.5"),
        // No word of it can be looked up: it is asked at each change of its source.
        _ => format!("{post} ON CHANGE WHERE post MATCHES '(?i)absent{number}|missing'"),
    }
}

/// Feeds of ten entries that have a new one at every probe.
#[derive(Debug, Default)]
struct Feeds {
    n_asked: BTreeMap<String, usize>,
    n_answers: usize,
}

impl World for Feeds {
    fn answer(&mut self, request: &Request, _: Time) -> Answered {
        self.n_answers += 1;
        let host = request.url().host_str().unwrap().to_owned();
        let n_asked = self.n_asked.entry(host.clone()).or_default();
        *n_asked += 1;
        let entries: String = (*n_asked..*n_asked + 10).rev().map(|number| entry(&host, number)).collect();
        let feed = format!("<rss version='2.0'><channel><title>{host}</title>{entries}</channel></rss>");
        let result = Ok(Fetched::of_content(request.url(), "application/rss+xml", Bytes::from(feed)));
        Answered { latency: Duration::from_millis(20), result }
    }
}

fn entry(host: &str, number: usize) -> String {
    const WORDS: [&str; 8] = ["harbour", "tide", "wind", "sand", "the", "rising", "of", "quiet"];
    let words: Vec<String> =
        (0..60).map(|nth| format!("{}{}", WORDS[(number * 7 + nth * nth) % 8], number * nth % 37)).collect();
    format!(
        "<item><guid>{host}/{number}</guid><title>Report {number} from the {}</title><description>{}</description></item>",
        words[1],
        words.join(" "),
    )
}
