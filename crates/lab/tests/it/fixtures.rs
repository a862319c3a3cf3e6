//! Files made by an independent program, where a checkout has them beside it; else files made here.

use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use dunlin_lab::files::{Epoch, IntervalsFile, ProbabilitiesFile, TraceFile};
use dunlin_lab::generate::{AuctionWatch, Poisson, PoissonUpdates, Rate, Span};
use dunlin_lab::knowledge::{ChangeProbabilities, Noise};

/// The file of that name in a folder of reference data beside the checkout, if there is one.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(name);
    let there = path.exists();
    if !there {
        println!("note: {} is not there; using generated data instead", path.display());
    }
    there.then_some(path)
}

#[test]
fn workloads() {
    for (name, n_ceis, n_intervals) in
        [("base-0", 1787, 3284), ("unit-1", 1597, 4791), ("rank5-2", 1691, 4499), ("crowded-0", 9058, 16_965)]
    {
        let (file, expected) = if let Some(path) = shared(&format!("fixtures/cei/{name}.csv.gz")) {
            (IntervalsFile::open(&path, 1000).unwrap(), (n_ceis, n_intervals))
        } else {
            let made = AuctionWatch::default();
            let updates = PoissonUpdates::default();
            let made = made.generate(&updates.generate(n_ceis as u64).unwrap(), &updates.names(), 0).unwrap();
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("made.csv.gz");
            made.save(&path).unwrap();
            let expected = (made.workload.n_ceis(), made.workload.n_intervals());
            (IntervalsFile::open(&path, 1000).unwrap(), expected)
        };
        assert_eq!((file.workload.n_ceis(), file.workload.n_intervals()), expected, "{name}");
        assert_eq!(file.workload.n_sources(), file.resources.len());
        assert!(file.warnings.is_empty());
    }
}

#[test]
fn beliefs() {
    let beliefs = shared("fixtures/wic/wiki_pages_a-noisy.csv.gz").zip(shared("traces/wiki_pages_a.csv.gz"));
    let (file, trace) = if let Some((beliefs, trace)) = beliefs {
        (ProbabilitiesFile::open(&beliefs, 1440).unwrap(), TraceFile::open(&trace).unwrap())
    } else {
        let span = Span { sources: 20, seconds: 86_400 };
        let trace = Poisson { span, rate: Rate::of(48.0) }.generate(1).unwrap();
        let epoch = Epoch { start: 0, chronon_seconds: NonZeroU32::new(60).unwrap(), chronons: 1440 };
        let noise = Noise { fpn: 0.1, sigma: 2.0 };
        let probabilities = ChangeProbabilities::noisy(&trace.changes(epoch), noise, 1).unwrap();
        (ProbabilitiesFile { sources: trace.sources.clone(), probabilities, warnings: Vec::new() }, trace)
    };
    assert!(file.sources.is_sorted() && file.probabilities.len() > 1000);
    let n_updates = trace.n_updates();
    let (joined, probabilities) = file.join(trace);
    assert_eq!((joined.n_updates(), probabilities.len()), (n_updates, file.probabilities.len()));
    assert!(probabilities.iter().all(|(_, source, _)| source.index() < joined.sources.len()));
}

#[test]
fn every_real_trace_survives_being_written() {
    let Some(directory) = shared("traces") else { return traces_made_here() };
    let mut n_traces = 0;
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "gz") {
            let trace = TraceFile::open(&path).unwrap();
            let mut written = Vec::new();
            trace.write(&mut written).unwrap();
            assert!(TraceFile::read(written.as_slice(), "f").unwrap() == trace, "{}", path.display());
            n_traces += 1;
        }
    }
    assert!(n_traces > 0);
}

fn traces_made_here() {
    let span = Span { sources: 50, seconds: 86_400 };
    let trace = Poisson { span, rate: Rate { per_day: 100.0, spread: 1.0 } }.generate(1).unwrap();
    let mut written = Vec::new();
    trace.write(&mut written).unwrap();
    assert_eq!(TraceFile::read(written.as_slice(), "f").unwrap().n_updates(), trace.n_updates());
}
