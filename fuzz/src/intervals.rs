//! Intervals files: read or clearly refused; what was read can be written and read again.

use dunlin_lab::files::IntervalsFile;

/// Reads any bytes as an intervals file.
pub fn intervals(bytes: &[u8]) {
    match IntervalsFile::read(bytes, "fuzz", 1000) {
        Ok(mut file) => {
            file.warnings.clear();
            let mut written = Vec::new();
            file.write(&mut written).expect("writing to memory does not fail");
            assert_eq!(IntervalsFile::read(written.as_slice(), "again", 1000).expect("was accepted"), file);
        }
        Err(error) => assert!(error.to_string().starts_with("fuzz:") && !error.is_environment(), "{error}"),
    }
}
