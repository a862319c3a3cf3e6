//! Any bytes are costs, a schedule or a budget, or a clear refusal of each.
#![no_main]

use dunlin_lab::Error;
use dunlin_lab::files::{BudgetFile, CostsFile, ScheduleFile};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let resources = ["a".to_owned(), "b".to_owned()];
    let refusals = [
        CostsFile::read(bytes, "fuzz", &resources).err(),
        ScheduleFile::read(bytes, "fuzz", &resources, 10).err(),
        BudgetFile::read(bytes, "fuzz", 10).err(),
    ];
    for error in refusals.iter().flatten() {
        let error: &Error = error;
        assert!(error.to_string().starts_with("fuzz:") && !error.is_environment(), "{error}");
    }
});
