//! `dunlin generate`: files that the other commands accept, the same for the same seed.

use std::io::Read;
use std::process::Stdio;

use crate::run::{Desk, Done, dunlin};

const GENERATORS: [&str; 6] = [
    "auctionwatch --profiles 20 --sources 50 --chronons 300",
    "auctionwatch --profiles 20 --sources 50 --chronons 300 --overwrite --exact-rank --alpha 1.37",
    "poisson --sources 10 --span 1d",
    "periodic --sources 10 --span 1d --period 30m",
    "daily --sources 10 --span 7d --peak-hour 9",
    "bursty --sources 10 --span 2d",
];

#[test]
fn the_same_seed_gives_the_same_file() {
    let desk = Desk::new();
    for generator in GENERATORS {
        let stdout = |seed: u32| {
            let done = desk.run(&format!("generate {generator} --seed {seed}"));
            assert_eq!(done.code, 0, "{generator}: {}", done.stderr);
            done.stdout
        };
        assert_eq!(stdout(5), stdout(5), "{generator}");
        assert_ne!(stdout(5), stdout(6), "{generator}");
        assert!(stdout(5).lines().count() > 10, "{generator}");
    }
}

#[test]
fn what_is_generated_can_be_simulated() {
    let desk = Desk::new();
    for generator in GENERATORS {
        let done = desk.run(&format!("generate {generator} --seed 1 --out made.csv.gz"));
        assert_eq!(done.code, 0, "{}", done.stderr);
        let report = if generator.starts_with("auction") {
            desk.json(
                "simulate intervals --intervals made.csv.gz --chronons 300 --budget 1 --policy mrsf --json",
            )
        } else {
            desk.json("simulate trace --trace made.csv.gz --chronon 10m --budget 1 --policy wic --json")
        };
        assert!(report["captured"].as_u64().unwrap() > 0, "{generator}: {report}");
    }
}

#[test]
fn needs_over_a_real_trace() {
    let desk = Desk::new();
    desk.run("generate bursty --sources 30 --span 1d --out trace.csv");
    let done = desk
        .run("generate auctionwatch --profiles 10 --trace trace.csv --chronon 5m --chronons 288 --out n.csv");
    assert_eq!(done.code, 0, "{}", done.stderr);
    let report =
        desk.json("simulate intervals --intervals n.csv --chronons 288 --budget 1 --policy mrsf --json");
    assert!(report["ceis"].as_u64().unwrap() > 0);
}

/// `dunlin generate … | head`.
#[test]
fn a_reader_that_has_had_enough_is_no_failure() {
    let desk = Desk::new();
    for generator in ["poisson --sources 2000 --span 7d", "auctionwatch --profiles 5000"] {
        let mut command = dunlin(&desk.path(""), &format!("generate {generator}"));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let done = Done::of(child.wait_with_output().unwrap());
        assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{generator}");
    }
}

#[test]
fn parameters_without_sense_are_refused() {
    let desk = Desk::new();
    for generator in
        ["poisson --per-day -1", "auctionwatch --rank 0", "daily --amplitude 7", "bursty --span 0s"]
    {
        let done = desk.run(&format!("generate {generator} --out made.csv"));
        assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{generator}");
        assert!(done.stderr.contains("expected"), "{generator}: {}", done.stderr);
        assert!(desk.files().is_empty());
    }
}
