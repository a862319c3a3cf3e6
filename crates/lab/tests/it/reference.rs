//! Against reference data: real traces, and workloads with results computed by an independent, plain, slow program. They
//! are no part of this repository; `DUNLIN_REFERENCE` names the folder that holds them (`fixtures/`, `traces/`).
//!
//! Without it, these tests are left out (`--skip reference::`); the fixtures in the repository stand for them.

mod files; // they are read, and written as they were
mod learned; // the live scheduler on real traces
mod optimum; // optima and bounds of whole workloads
mod policies; // what the policies capture and earn
mod polling; // polling plans for weather reports

use std::path::{Path, PathBuf};

use dunlin_core::Workload;
use dunlin_lab::files::{IntervalsFile, TraceFile};

/// A file or folder of the reference data.
fn path(name: &str) -> PathBuf {
    let folder = std::env::var_os("DUNLIN_REFERENCE").expect(
        "this test needs reference data: set DUNLIN_REFERENCE to their folder, or leave it out with --skip reference::",
    );
    let path = Path::new(&folder).join(name);
    assert!(path.exists(), "{} is not there: does DUNLIN_REFERENCE name the right folder?", path.display());
    path
}

fn trace(name: &str) -> TraceFile {
    TraceFile::open(&path(&format!("traces/{name}.csv.gz"))).unwrap()
}

fn workload(name: &str) -> Workload {
    IntervalsFile::open(&path(&format!("fixtures/cei/{name}.csv.gz")), 1000).unwrap().workload
}
