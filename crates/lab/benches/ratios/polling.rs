//! The exact polling plan for a year of one source's history, against the paper's recurrence.

use dunlin_sched::plain::{plain_polling, polling_loss};
use dunlin_sched::plan::polling::{History, Objective, exact};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::measure::Measured;

const DAYS: i64 = 365;
const POLLS: u32 = 24;

/// A year in slots of a part of a day: 30 habitual updates a day, each off by some minutes, and 10 at any time.
fn history(slots: u32) -> History {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let day = i64::from(slots);
    let habits: Vec<f64> = (0..30).map(|_| rng.random::<f64>()).collect();
    let mut updates = Vec::new();
    for start in (0..DAYS).map(|n| n * day) {
        for habit in &habits {
            let off = (rng.random::<f64>() - 0.5) / 48.0;
            updates.push(start + (((habit + off).rem_euclid(1.0)) * f64::from(slots)) as i64);
        }
        updates.extend((0..10).map(|_| start + rng.random_range(0..day)));
    }
    History::new(updates, 0..DAYS * day).unwrap()
}

/// Runs `polling-fast-SLOTS` or `polling-plain-SLOTS`.
pub(crate) fn run(case: &str) -> Option<Measured> {
    let (kind, slots) = case.strip_prefix("polling-")?.split_once('-')?;
    let slots: u32 = slots.parse().ok()?;
    let history = history(slots);
    let objective = Objective::Recall;
    let work = || match kind {
        "fast" => exact(&history, slots, POLLS, objective).unwrap(),
        _ => plain_polling(&history, slots, POLLS, objective).1,
    };
    let once = || {
        std::hint::black_box(polling_loss(&history, &work(), objective));
    };
    // What is over in milliseconds would be timed by the clock on the wall, which a busy machine stretches.
    let times = if kind == "fast" { 100 } else { 1 };
    let all = Measured::of(history.len(), || (0..times).for_each(|_| once()));
    Some(Measured { seconds: all.seconds / f64::from(times), ..all })
}

pub(crate) fn report() {
    println!("polling, exact plan of {POLLS} polls a day from a year of history");
    println!(
        "{:>10} {:>9} {:>10} {:>9} {:>9} {:>7}",
        "slots", "updates", "fast s", "peak MiB", "plain s", "ratio"
    );
    for slots in [120, 240] {
        let measure = |kind: &str| Measured::in_child(&format!("polling-{kind}-{slots}"));
        let (fast, plain) = (measure("fast"), measure("plain"));
        println!(
            "{slots:>10} {:>9} {:>10.4} {:>9.0} {:>9.2} {:>6.0}x",
            fast.units,
            fast.seconds,
            fast.peak_mib,
            plain.seconds,
            plain.seconds / fast.seconds
        );
    }
    let fast = Measured::in_child("polling-fast-1440");
    println!(
        "{:>10} {:>9} {:>10.4} {:>9.0} {:>9} {:>7}\n",
        1_440, fast.units, fast.seconds, fast.peak_mib, "-", "-"
    );
}
