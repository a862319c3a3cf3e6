//! Files made by an independent program are read in full, and real traces survive being written.

use std::fs;

use dunlin_lab::files::{IntervalsFile, ProbabilitiesFile, TraceFile};

use super::path;

#[test]
fn workloads() {
    for (name, n_ceis, n_intervals) in
        [("base-0", 1787, 3284), ("unit-1", 1597, 4791), ("rank5-2", 1691, 4499), ("crowded-0", 9058, 16_965)]
    {
        let file = IntervalsFile::open(&path(&format!("fixtures/cei/{name}.csv.gz")), 1000).unwrap();
        assert_eq!((file.workload.n_ceis(), file.workload.n_intervals()), (n_ceis, n_intervals), "{name}");
        assert_eq!(file.workload.n_sources(), file.resources.len());
        assert!(file.warnings.is_empty());
    }
}

#[test]
fn beliefs() {
    let file = ProbabilitiesFile::open(&path("fixtures/wic/wiki_pages_a-noisy.csv.gz"), 1440).unwrap();
    let trace = super::trace("wiki_pages_a");
    assert!(file.sources.is_sorted() && file.probabilities.len() > 1000);
    let n_updates = trace.n_updates();
    let (joined, probabilities) = file.join(trace);
    assert_eq!((joined.n_updates(), probabilities.len()), (n_updates, file.probabilities.len()));
    assert!(probabilities.iter().all(|(_, source, _)| source.index() < joined.sources.len()));
}

#[test]
fn every_real_trace_survives_being_written() {
    let mut n_traces = 0;
    for entry in fs::read_dir(path("traces")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "gz") {
            let trace = TraceFile::open(&path).unwrap();
            let mut written = Vec::new();
            trace.write(&mut written).unwrap();
            assert!(TraceFile::read(written.as_slice(), "f").unwrap() == trace, "{}", path.display());
            n_traces += 1;
        }
    }
    assert_eq!(n_traces, 17);
}
