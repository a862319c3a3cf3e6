//! True changes and noise on pages of others, labelled: `noise/cases.tar.gz` in the folder that `DUNLIN_REFERENCE` names, which is no
//! part of this repository. Beside what detection tells, what two plain comparisons would tell.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::PathBuf;

use dunlin_core::Time;
use dunlin_engine::Settings;
use dunlin_engine::detection::{Content, Detection};
use dunlin_extract::recipe::{NoiseRules, Recipe};
use dunlin_extract::{Extractor, Input, Limits};
use dunlin_store::NewSource;
use serde_json::{Value, json};

use crate::scoring::{MustMention, Score, Step};

/// One page in all its versions.
#[derive(Debug, Default)]
struct Case {
    labels: Value,
    /// By number: Unix time, ending of the name, body.
    versions: BTreeMap<String, (i64, String, Vec<u8>)>,
}

#[test]
fn true_changes_are_told_from_noise() {
    let cases = cases();
    assert_eq!(cases.len(), 30);
    // Ours, any difference in the text, lines never seen before.
    let mut totals = [Score::default(); 3];
    let mut rows: BTreeMap<String, [Score; 3]> = BTreeMap::new();
    for case in cases.values() {
        let told = [detected(case), compared(case, false), compared(case, true)];
        let scores = told.map(|told| Score::of(&steps(case, &told)));
        let several = format!("several ({})", case.labels["kind"].as_str().unwrap());
        let row =
            rows.entry(case.labels["dominant"].as_str().unwrap_or(&several).replace('_', " ")).or_default();
        for (index, score) in scores.iter().enumerate() {
            totals[index].add(score);
            row[index].add(score);
        }
    }
    println!(
        "| noise | recall | false alarms | summary | (a) false alarms | (a) summary | (b) recall | (b) false alarms | (b) summary |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (name, [ours, text, lines]) in rows.iter().chain([(&"**all**".to_owned(), &totals)]) {
        println!(
            "| {name} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} |",
            ours.recall(),
            ours.false_alarms(),
            ours.summaries(),
            text.false_alarms(),
            text.summaries(),
            lines.recall(),
            lines.false_alarms(),
            lines.summaries(),
        );
    }
    let [ours, ..] = totals;
    assert!(ours.recall() >= 0.95, "{ours:?}");
    assert!(ours.false_alarms() <= 0.05, "{ours:?}");
    assert!(ours.summaries() >= 0.85, "{ours:?}");
}

/// What is known of each step, with what was told of each version but the first.
fn steps(case: &Case, told: &[Vec<String>]) -> Vec<Step> {
    let alternatives = |one: &Value| match one {
        Value::Array(any_of) => any_of.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        one => vec![one.as_str().unwrap().to_owned()],
    };
    let must_mention = |truth: &Value| -> MustMention {
        truth["must_mention"].as_array().unwrap().iter().map(alternatives).collect()
    };
    let labelled = case.labels["steps"].as_array().unwrap();
    let numbers: Vec<&String> = case.versions.keys().skip(1).collect();
    labelled
        .iter()
        .map(|step| {
            let index = numbers.iter().position(|number| step["version"] == number.as_str()).unwrap();
            let truth = step["truth"].as_array().unwrap().iter().map(must_mention).collect();
            Step { truth, told: told[index].clone() }
        })
        .collect()
}

/// The service's own detection.
fn detected(case: &Case) -> Vec<Vec<String>> {
    let start = Time::from_seconds(0);
    let recipe =
        match (case.labels["recipe"]["selector"].as_str(), case.labels["recipe"]["jsonpath"].as_str()) {
            (Some(css), _) => json!({"kind": "html_selector", "css": css}),
            (_, Some(path)) => json!({"kind": "json_path", "path": path}),
            _ => json!({"kind": "auto"}),
        };
    let recipe = json!({ "recipe": recipe }).to_string();
    let source =
        NewSource { kind: "auto".to_owned(), recipe, ..NewSource::page("http://document.invalid/", start) };
    let mut detection = Detection::new(&source, Settings::default()).unwrap();
    let versions = case.versions.values().map(|(time, ending, body)| {
        let content = Content { at: Time::from_seconds(*time), body, media_type: media_type(ending) };
        let found = detection.see(&content).unwrap();
        found.changes.into_iter().map(|change| change.summary).collect()
    });
    versions.collect::<Vec<Vec<String>>>().split_off(1)
}

fn media_type(ending: &str) -> &'static str {
    match ending {
        "html" => "text/html",
        "json" => "application/json",
        "xml" => "application/xml",
        _ => "text/plain",
    }
}

/// What a comparison of all text would tell, line by line; only lines never seen before if `unseen`.
fn compared(case: &Case, unseen: bool) -> Vec<Vec<String>> {
    let recipe = if case.labels["kind"] == "html" || case.labels["kind"] == "feed" {
        Recipe::Page
    } else {
        Recipe::Text
    };
    let extractor = Extractor::new(&recipe, &NoiseRules::default(), Limits::default()).unwrap();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut last: Vec<String> = Vec::new();
    let mut told = Vec::new();
    for (_, ending, body) in case.versions.values() {
        let input = Input { body, content_type: Some(media_type(ending)), ..Input::default() };
        let items = extractor.extract(&input).items;
        let lines: Vec<String> = items.iter().flat_map(|item| item.text.lines()).map(str::to_owned).collect();
        let is_known = |line: &String| last.contains(line) || unseen && seen.contains(line);
        let new: Vec<&str> = lines.iter().filter(|line| !is_known(line)).map(String::as_str).collect();
        let gone: Vec<&str> = last.iter().filter(|line| !lines.contains(line)).map(String::as_str).collect();
        if unseen && new.is_empty() {
            told.push(Vec::new());
        } else {
            let mut pairs = paired(gone, &new);
            // The same lines in another order are another text.
            if pairs.is_empty() && lines != last && !unseen {
                pairs.push(String::new());
            }
            told.push(pairs);
        }
        seen.extend(lines.iter().cloned());
        last = lines;
    }
    told.split_off(1)
}

/// The lines that went and those that came, side by side where they have words in common.
fn paired(mut gone: Vec<&str>, new: &[&str]) -> Vec<String> {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<BTreeSet<String>>();
    let mut pairs = Vec::new();
    for line in new {
        let alike = |old: &&str| words(old).intersection(&words(line)).count();
        let nearest =
            (0..gone.len()).max_by_key(|index| alike(&gone[*index])).filter(|index| alike(&gone[*index]) > 0);
        pairs.push(difference(nearest.map_or("", |index| gone.remove(index)), line));
    }
    pairs.extend(gone.into_iter().map(|old| difference(old, "")));
    pairs
}

/// Two lines; long ones without the words that they begin and end with alike.
fn difference(old: &str, new: &str) -> String {
    const SHORT: usize = 140;
    if old.len().max(new.len()) <= SHORT {
        return format!("{old} → {new}");
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split(' ').collect(), new.split(' ').collect());
    let n_alike = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[n_alike..], &new[n_alike..]);
    let n_alike = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    format!("{} → {}", old[..old.len() - n_alike].join(" "), new[..new.len() - n_alike].join(" "))
}

fn cases() -> BTreeMap<String, Case> {
    let folder = std::env::var_os("DUNLIN_REFERENCE").expect(
        "this test needs reference data: set DUNLIN_REFERENCE to their folder, or leave it out with --skip reference::",
    );
    let path = PathBuf::from(folder).join("noise/cases.tar.gz");
    let archive = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut tar = Vec::new();
    flate2::read::GzDecoder::new(archive).read_to_end(&mut tar).unwrap();
    let mut cases: BTreeMap<String, Case> = BTreeMap::new();
    for (name, body) in untar(&tar) {
        let Some((folder, file)) = name.trim_start_matches("cases/").split_once('/') else { continue };
        let case = cases.entry(folder.to_owned()).or_default();
        if file == "labels.json" {
            case.labels = serde_json::from_slice(&body).unwrap();
        } else if let Some((number, rest)) = file.split_once('_') {
            let (time, ending) = rest.split_once('.').unwrap();
            case.versions.insert(number.to_owned(), (time.parse().unwrap(), ending.to_owned(), body));
        }
    }
    cases
}

/// Names and bodies of the plain files in an archive: blocks of 512 bytes, sizes in octal.
fn untar(tar: &[u8]) -> Vec<(String, Vec<u8>)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end_matches(['\0', ' ']).to_owned();
    let mut files = Vec::new();
    let mut at = 0;
    while tar.len() >= at + 512 && tar[at] != 0 {
        let (header, start) = (&tar[at..at + 512], at + 512);
        let size = usize::from_str_radix(text(&header[124..136]).trim(), 8).unwrap();
        if matches!(header[156], b'0' | 0) {
            files.push((text(&header[..100]), tar[start..start + size].to_vec()));
        }
        at = start + size.div_ceil(512) * 512;
    }
    files
}
