//! What a probe costs with few and with many sources. All take turns, round after round: a machine that is shared is
//! faster at one time than at another.

use std::path::Path;

use crate::figures::{Pace, grouped, spread};
use crate::{AT_ONE_TIME, Origin, Web, bare, client, in_child, probing, seeding};

/// How often all take turns.
const ROUNDS: usize = 3;
/// Pages that change cost so much more that the number of sources does not show.
const CHANGING: usize = 4_000;
/// Without this, what differs at every probe would soon count as noise, and not be stored.
const TELL_ALL: &str = r#"{"flicker":"tell"}"#;

pub(crate) fn report(sizes: &[usize]) {
    let origin = Origin::start();
    println!("probes, {AT_ONE_TIME} at one time, pages of 10 KB, half of the answers 304; {ROUNDS} rounds:");
    println!("median (least to most)");
    let changing = ("new", "the other half changed every time: read, compared, stored", &[CHANGING][..]);
    for (other, named, sizes) in [("same", "the other half as it was before", sizes), changing] {
        println!("  {named}");
        let fields: Vec<Field> = sizes.iter().map(|size| Field::new(&origin, other, *size)).collect();
        let rounds: Vec<Vec<[Pace; 3]>> =
            (0..ROUNDS).map(|_| fields.iter().map(Field::take_turns).collect()).collect();
        for (column, field) in fields.iter().enumerate() {
            println!("    {} sources, or URLs", grouped(field.web.n_urls));
            for (row, side) in SIDES.iter().enumerate() {
                println!("      {:<11} {}", side.name(), line(&rounds, column, row));
            }
        }
        let service = |round: &[[Pace; 3]], column: usize| round[column][Side::DUNLIN].cpu_micros;
        for (column, field) in fields.iter().enumerate().skip(1) {
            let grown = rounds.iter().map(|round| service(round, column) / service(round, 0));
            let (more, few) = (grouped(field.web.n_urls), grouped(fields[0].web.n_urls));
            println!("    CPU of a probe with {more} sources, over that with {few}: {}", spread(grown, 2));
        }
    }
}

/// The service alone.
pub(crate) fn profile(web: &Web) {
    let directory = tempfile::tempdir().unwrap();
    seeding::fill(directory.path(), web, TELL_ALL);
    let pace = probing::pace(directory.path(), web.n_urls);
    println!("{:.0} / s, {:.1} µs of CPU each", pace.per_second, pace.cpu_micros);
}

/// Sources, and the store that the service has of them from one round to the next.
struct Field {
    web: Web,
    directory: tempfile::TempDir,
}

impl Field {
    fn new(origin: &Origin, other: &str, n_urls: usize) -> Self {
        let (web, directory) = (Web::halved(origin.address, other, n_urls), tempfile::tempdir().unwrap());
        seeding::fill(directory.path(), &web, TELL_ALL);
        Self { web, directory }
    }

    fn take_turns(&self) -> [Pace; 3] {
        SIDES.map(|side| {
            let Web { origin, other, n_urls, .. } = &self.web;
            let (origin, n_urls) = (origin.to_string(), n_urls.to_string());
            let directory = self.directory.path().to_str().unwrap();
            let figures = in_child(&["--side", side.name(), &origin, other, &n_urls, directory]);
            Pace { per_second: figures[0], cpu_micros: figures[1] }
        })
    }
}

/// Which client fetches.
#[derive(Clone, Copy)]
pub(crate) enum Side {
    Bare,
    Dunlin,
    Client,
}

/// The two that are compared come one after the other.
const SIDES: [Side; 3] = [Side::Bare, Side::Dunlin, Side::Client];

impl Side {
    const BARE: usize = 0;
    const DUNLIN: usize = 1;

    const fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare hyper",
            Self::Dunlin => "dunlin",
            Self::Client => "our client",
        }
    }

    pub(crate) fn named(name: &str) -> Self {
        SIDES.into_iter().find(|side| side.name() == name).unwrap()
    }

    pub(crate) fn print_pace(self, web: &Web, directory: &Path) {
        let pace = match self {
            Self::Bare => bare::pace(web),
            Self::Dunlin => probing::pace(directory, web.n_urls),
            Self::Client => client::pace(web),
        };
        println!("{} {}", pace.per_second, pace.cpu_micros);
    }
}

/// The figures of one side with one number of sources, and against the bare library in the same round.
fn line(rounds: &[Vec<[Pace; 3]>], column: usize, row: usize) -> String {
    let over = |figure: &dyn Fn(&[Pace; 3]) -> f64, digits| {
        spread(rounds.iter().map(|round| figure(&round[column])), digits)
    };
    let cpu = over(&|paces| paces[row].cpu_micros, 1);
    let per_second = over(&|paces| paces[row].per_second, 0);
    if row == Side::BARE {
        return format!("{cpu} µs of CPU each; {per_second} / s");
    }
    let times = over(&|paces| paces[row].cpu_micros / paces[Side::BARE].cpu_micros, 2);
    let share = over(&|paces| 100.0 * paces[row].per_second / paces[Side::BARE].per_second, 0);
    format!("{cpu} µs of CPU each, {times} times bare hyper's; {per_second} / s, {share} % of bare hyper's")
}
