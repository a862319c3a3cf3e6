//! The files beside a workload: costs, a schedule, a budget. Each is read or clearly refused.

use dunlin_lab::Error;
use dunlin_lab::files::{BudgetFile, CostsFile, ScheduleFile};

/// Reads any bytes as each of them.
pub fn side_files(bytes: &[u8]) {
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
}
