//! Intervals files: read or clearly refused; what was read can be written and read again.

use std::collections::BTreeSet;

use dunlin_lab::files::IntervalsFile;

/// Reads any bytes as an intervals file.
pub fn intervals(bytes: &[u8]) {
    match IntervalsFile::read(bytes, "fuzz", 1000) {
        Ok(mut file) => {
            file.warnings.clear();
            let write = |file: &IntervalsFile| {
                let mut written = Vec::new();
                file.write(&mut written).expect("writing to memory does not fail");
                written
            };
            let written = write(&file);
            let again = IntervalsFile::read(written.as_slice(), "again", 1000).expect("was accepted");
            // Written CEI by CEI, resources may appear, and so be numbered, in another order.
            assert_eq!(write(&again), written);
            let names = |file: &IntervalsFile| file.resources.iter().cloned().collect::<BTreeSet<_>>();
            assert_eq!(names(&again), names(&file));
            assert_eq!((again.profiles, again.ceis), (file.profiles, file.ceis));
        }
        Err(error) => assert!(error.to_string().starts_with("fuzz:") && !error.is_environment(), "{error}"),
    }
}
