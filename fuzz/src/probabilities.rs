//! Probabilities files: read or clearly refused; what was read can be written and read again.

use dunlin_lab::files::{ProbabilitiesFile, TraceFile};

/// Reads any bytes as a probabilities file.
pub fn probabilities(bytes: &[u8]) {
    match ProbabilitiesFile::read(bytes, "fuzz", 1000) {
        Ok(file) => {
            let mut written = Vec::new();
            file.write(&mut written).expect("writing to memory does not fail");
            let again = ProbabilitiesFile::read(written.as_slice(), "again", 1000).expect("was accepted");
            // A source with nothing but zeros is not written, so the two are compared over the same sources.
            let trace = TraceFile::default().with_sources(&file.sources);
            assert_eq!(again.join(trace).1, file.probabilities);
        }
        Err(error) => assert!(error.to_string().starts_with("fuzz:") && !error.is_environment(), "{error}"),
    }
}
