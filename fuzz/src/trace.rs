//! Trace files: read or clearly refused; what was read can be written and read again, and be cut into chronons.

use std::num::NonZeroU32;

use dunlin_lab::files::{Epoch, TraceFile};

/// Reads any bytes as a trace file.
pub fn trace(bytes: &[u8]) {
    match TraceFile::read(bytes, "fuzz") {
        Ok(mut file) => {
            file.warnings.clear();
            let mut written = Vec::new();
            file.write(&mut written).expect("writing to memory does not fail");
            assert_eq!(TraceFile::read(written.as_slice(), "again").expect("was accepted"), file);
            let chronon_seconds = NonZeroU32::MIN.saturating_add(59);
            let start = file.default_start(chronon_seconds);
            let chronons = file.default_chronons(start, chronon_seconds);
            let changes = file.changes(Epoch { start, chronon_seconds, chronons });
            assert_eq!(changes.n_sources(), file.sources.len());
        }
        Err(error) => assert!(error.to_string().starts_with("fuzz:") && !error.is_environment(), "{error}"),
    }
}
