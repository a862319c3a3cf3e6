//! Any bytes are an intervals file or a clear refusal; what was read can be written and read again.
#![no_main]

use dunlin_lab::files::IntervalsFile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match IntervalsFile::read(bytes, "fuzz", 1000) {
        Ok(mut file) => {
            file.warnings.clear();
            let mut written = Vec::new();
            file.write(&mut written).expect("writing to memory does not fail");
            assert_eq!(IntervalsFile::read(written.as_slice(), "again", 1000).expect("was accepted"), file);
        }
        Err(error) => assert!(error.to_string().starts_with("fuzz:") && !error.is_environment(), "{error}"),
    }
});
