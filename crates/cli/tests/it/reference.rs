//! The service on a real trace, which is no part of this repository: `DUNLIN_REFERENCE` names the folder that holds it
//! (`traces/`). The laws are those of `end_to_end`, which has them for a trace made here.

use std::path::Path;

use dunlin_lab::files::TraceFile;

use crate::end_to_end::learning_pays;

/// Weather reports of 110 airports.
#[test]
fn what_is_learned_of_weather_reports_pays_and_no_promise_is_broken() {
    let folder = std::env::var_os("DUNLIN_REFERENCE").expect(
        "this test needs reference data: set DUNLIN_REFERENCE to their folder, or leave it out with --skip reference::",
    );
    learning_pays(TraceFile::open(&Path::new(&folder).join("traces/metar_us_a.csv.gz")).unwrap());
}
