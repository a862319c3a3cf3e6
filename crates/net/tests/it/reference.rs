//! What others' tests expect of robots.txt: the cases recorded from Google's parser, in the folder that `DUNLIN_REFERENCE` names.
//! They are no part of this repository.

use std::path::PathBuf;

use dunlin_net::robots::Robots;
use serde_json::Value;
use url::Url;

/// Cases with a note are those where Google's parser and the standard differ, or there is nothing to ask about.
#[test]
fn robots_txt_means_what_its_standard_says() {
    let folder = std::env::var_os("DUNLIN_REFERENCE").expect(
        "this test needs reference data: set DUNLIN_REFERENCE to their folder, or leave it out with --skip reference::",
    );
    let path = PathBuf::from(folder).join("conformance/robots_cases.jsonl");
    let lines = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let cases: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let judged: Vec<&Value> = cases.iter().filter(|case| case["note"].is_null()).collect();
    assert!(judged.len() > 100, "{} of {}", judged.len(), cases.len());
    let text = |case: &Value, name: &str| case[name].as_str().unwrap_or_default().to_owned();
    for case in judged {
        let robots = Robots::parse(text(case, "robots").as_bytes(), &text(case, "agent"));
        let url = Url::parse(&text(case, "url")).unwrap_or_else(|error| panic!("{case}: {error}"));
        assert_eq!(Some(robots.allows(&url)), case["allowed"].as_bool(), "{case}");
    }
}
