//! Every input that fuzzing found worth keeping is read or refused with a place, by every reader.

use std::fs;
use std::path::Path;

use dunlin_lab::Error;
use dunlin_lab::files::{
    BudgetFile, CostsFile, IntervalsFile, ProbabilitiesFile, ScheduleFile, TraceFile, numbered,
};

#[track_caller]
fn check<T>(result: Result<T, Error>) -> bool {
    let Err(error) = result else { return true };
    let text = error.to_string();
    let line = text.strip_prefix("name:").and_then(|rest| rest.split_once(": ")).map(|(line, _)| line);
    assert!(line.is_some_and(|line| line.parse::<u64>().is_ok()), "{text}");
    assert!(!error.is_environment(), "{text}");
    false
}

#[test]
fn every_corpus_file_is_read_or_refused() {
    let names = numbered("s", 3);
    for target in ["intervals", "trace", "probabilities"] {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
        let mut n_files = 0;
        let mut n_accepted = 0;
        for entry in fs::read_dir(&directory).unwrap() {
            let bytes = fs::read(entry.unwrap().path()).unwrap();
            let bytes = bytes.as_slice();
            let accepted = [
                check(IntervalsFile::read(bytes, "name", 1000)),
                check(TraceFile::read(bytes, "name")),
                check(ProbabilitiesFile::read(bytes, "name", 1000)),
                check(CostsFile::read(bytes, "name", &names)),
                check(ScheduleFile::read(bytes, "name", &names, 1000)),
                check(BudgetFile::read(bytes, "name", 1000)),
            ];
            n_files += 1;
            n_accepted += usize::from(accepted.contains(&true));
        }
        assert!(n_files >= 3 && (1..n_files).contains(&n_accepted), "{target}: {n_accepted} of {n_files}");
    }
}
