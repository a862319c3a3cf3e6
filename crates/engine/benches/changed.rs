//! What a page costs that is another one at every probe: decided, read, compared, judged, put into words, packed and stored, by the
//! control, the capture and the store of the service, in virtual time. Not what fetching it costs: that is the benchmark `live`.
//!
//! It is made to be counted, not timed: `valgrind --tool=callgrind` gives the same number of instructions in every run. What the
//! process costs before the first probe goes away in the difference of two runs:
//!
//! ```console
//! cargo bench -p dunlin-engine --bench changed -- text 2000    # how many probes, and their CPU time
//! ```
//!
//! `text` is 10 KB of paragraphs, as in `live`; `page` is 10 KB of menus, cards and a table, which has ten times the elements. `parse`
//! only has the HTML parser read them, which no design of ours makes cheaper.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark reports, and may panic")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use dunlin_core::Time;
use dunlin_engine::simulated::{Answered, Simulation, World};
use dunlin_engine::{Pace, RobotsRule, Rules, Scope, Settings};
use dunlin_net::{Fetched, Request};
use dunlin_store::{NewSource, SqliteStore, Store as _};

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "expected: (text | page) [tell] PROBES, or: parse (text | page) TIMES";
const N_SOURCES: usize = 50;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => run("text", "", 2_000),
        ["parse", which @ ("text" | "page"), n] => {
            let body = body(which, 0);
            let n_nodes: usize = (0..n.parse().unwrap())
                .map(|_| scraper::Html::parse_document(&body).tree.values().count())
                .sum();
            println!("{n} times {} bytes, {n_nodes} nodes", body.len());
        }
        [which @ ("text" | "page"), n] => run(which, "", n.parse().unwrap()),
        [which @ ("text" | "page"), "tell", n] => run(which, r#"{"flicker":"tell"}"#, n.parse().unwrap()),
        _ => {
            println!("{USAGE}");
            std::process::exit(2);
        }
    }
}

/// Probes pages that are others every time, until so many have been answered.
fn run(which: &str, recipe: &str, n_probes: usize) {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(directory.path()).unwrap());
    let web = Web { which: which.to_owned(), n_asked: BTreeMap::new(), n_answers: 0 };
    let start = Time::from_seconds(1_800_000_000);
    let settings = Settings {
        budget: Pace { per_second: 10.0 },
        politeness: Rules { gap: Duration::ZERO, concurrent: 1, scope: Scope::Url, ..Rules::default() },
        robots: RobotsRule::Ignore,
        shortest_gap: Duration::ZERO,
        ..Settings::default()
    };
    let mut simulation = Simulation::new(store.clone(), settings, web, start).unwrap();
    for number in 0..N_SOURCES {
        let page = NewSource::page(format!("http://s{number}.example/"), start);
        let recipe = if recipe.is_empty() { page.recipe.clone() } else { recipe.to_owned() };
        simulation.add_source(NewSource { recipe, ..page }).unwrap();
    }
    let begin = Instant::now();
    let mut seconds = 0;
    while simulation.world().n_answers < n_probes {
        seconds += 10;
        simulation.run_until(Time::from_seconds(start.seconds() + seconds));
    }
    let n_answers = simulation.world().n_answers;
    let n_changes = store.statistics().unwrap().changes;
    let each = begin.elapsed() / u32::try_from(n_answers).unwrap();
    println!(
        "{n_answers} probes of {} bytes, {n_changes} changes told, {each:.1?} each",
        body(which, 0).len()
    );
}

/// Pages of which another line is different in every answer.
struct Web {
    which: String,
    /// How often each source was asked for, and all of them.
    n_asked: BTreeMap<String, usize>,
    n_answers: usize,
}

impl World for Web {
    fn answer(&mut self, request: &Request, _: Time) -> Answered {
        self.n_answers += 1;
        let n_asked = self.n_asked.entry(request.url().host_str().unwrap().to_owned()).or_default();
        *n_asked += 1;
        let body = Bytes::from(body(&self.which, *n_asked));
        let result = Ok(Fetched::of_content(request.url(), "text/html; charset=utf-8", body));
        Answered { latency: Duration::from_millis(20), result }
    }
}

/// Lines that take turns in being edited.
const N_EDITED: usize = 12;

/// A page in its so many-th edition: the next has another number in one line.
fn body(which: &str, edition: usize) -> String {
    let mut words = Words(1);
    let number = |line: usize| 20 + (edition + N_EDITED - line % N_EDITED) / N_EDITED;
    let mut html = String::from("<!doctype html><html><head><title>Shore</title></head><body>");
    if which == "text" {
        html.push_str("<article><h1>Shore</h1>");
        for line in 0.. {
            if html.len() >= 10_000 {
                return html;
            }
            write!(html, "<p>{} € {} {}</p>", words.several(20), number(line), words.several(20)).unwrap();
        }
    }
    html.push_str("<nav id=\"top\"><ul class=\"menu\">");
    for number in 0..12 {
        write!(html, "<li class=\"item\"><a href=\"/{number}\">{}</a></li>", words.several(2)).unwrap();
    }
    html.push_str("</ul></nav><main><h1>Shore</h1><table class=\"rates\">");
    for line in 0..15 {
        let (name, what) = (words.several(2), words.several(3));
        write!(html, "<tr><th>{name}</th><td>{what}</td><td>€ {}.90</td></tr>", number(line)).unwrap();
    }
    html.push_str("</table><div class=\"cards\">");
    while html.len() < 9_500 {
        let (title, by, text) = (words.several(4), words.several(2), words.several(14));
        write!(
            html,
            "<div class=\"card wide\"><a class=\"more\" href=\"/card/{}\"><h3>{title}</h3><span class=\"by\">{by}</span></a>\
             <p class=\"teaser\">{text}</p></div>",
            html.len(),
        )
        .unwrap();
    }
    html.push_str("</div></main><footer class=\"end\"><ul>");
    for number in 0..8 {
        write!(html, "<li><a href=\"/about/{number}\">{}</a></li>", words.several(2)).unwrap();
    }
    html.push_str("</ul></footer></body></html>");
    html
}

/// Words in an order that is the same in every run.
struct Words(u64);

impl Words {
    fn several(&mut self, n_words: usize) -> String {
        const WORDS: [&str; 8] = ["harbour", "tide", "wind", "sand", "the", "rising", "of", "quiet"];
        let next = |_| {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            WORDS[(self.0 >> 61) as usize]
        };
        (0..n_words).map(next).collect::<Vec<_>>().join(" ")
    }
}
