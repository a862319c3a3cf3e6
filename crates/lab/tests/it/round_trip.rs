//! What is written is what is read, whatever the ids.

use dunlin_core::{Chronon, ExecutionInterval, Need, Probe, ProfileIdx, Schedule, SourceIdx, Workload};
use dunlin_lab::files::{IntervalsFile, ProbabilitiesFile, ScheduleFile, TraceFile, write_schedule};
use dunlin_lab::knowledge::ChangeProbabilities;
use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;

/// Ids that try the quoting: commas, quotes, leading blanks, other scripts, whatever a terminal shows as it is.
fn id() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c]{1,2}",
        "[ ,\"'x#;éж猫🐦\u{feff}-]{1,6}",
        r"[^\p{Cc}\u{202a}-\u{202e}\u{2066}-\u{2069}]{1,20}",
        Just("x".repeat(1024)),
        Just("budget".to_owned()),
    ]
}

fn chronon(last: u32) -> impl Strategy<Value = Chronon> {
    (1..=last).prop_map(|number| Chronon::new(number).unwrap())
}

/// A draft of a CEI: which profile, its intervals, how many needed at the most, its weight.
type CeiDraft = (usize, Vec<(usize, Chronon, u32)>, u32, f64);

fn intervals_file() -> impl Strategy<Value = IntervalsFile> {
    let weight = prop_oneof![Just(1.0), 0.0..1e9f64, Just(0.1 + 0.2), Just(f64::MIN_POSITIVE)];
    let interval = (0..6usize, chronon(50), 0..100u32);
    let cei = (0..4usize, vec(interval, 1..5), 1..9u32, weight);
    let names = (vec(id(), 4), vec(id(), 6), vec(id(), 12));
    (names, vec(cei, 1..12)).prop_map(|((profiles, resources, ceis), drafts)| {
        let names = [profiles, resources, ceis];
        // Unique names, so that the indices built here are those a reader will find.
        let [profiles, resources, ceis] = names.map(|names| -> Vec<String> {
            let numbered = names.into_iter().enumerate();
            numbered.map(|(i, name)| format!("{}{i}", name.chars().take(200).collect::<String>())).collect()
        });
        build(&profiles, &resources, &ceis, &drafts)
    })
}

/// Numbers everything in order of first appearance, as a reader does.
fn build(profiles: &[String], resources: &[String], ceis: &[String], drafts: &[CeiDraft]) -> IntervalsFile {
    let mut file = IntervalsFile { workload: Workload::new(), ..IntervalsFile::default() };
    let idx_of = |names: &mut Vec<String>, name: &String| {
        let known = names.iter().position(|other| other == name);
        let idx = known.unwrap_or_else(|| {
            names.push(name.clone());
            names.len() - 1
        });
        u32::try_from(idx).unwrap()
    };
    for ((profile, intervals, need, weight), name) in drafts.iter().zip(ceis) {
        let profile = ProfileIdx(idx_of(&mut file.profiles, &profiles[*profile]));
        if profile.0 as usize == file.workload.n_profiles() {
            file.workload.add_profile();
        }
        let intervals: Vec<_> = intervals
            .iter()
            .map(|&(resource, start, steps)| {
                let source = SourceIdx(idx_of(&mut file.resources, &resources[resource]));
                ExecutionInterval::new(source, start, start.plus(steps)).unwrap()
            })
            .collect();
        let need = Need::Any((*need).min(u32::try_from(intervals.len()).unwrap()));
        file.workload.push(profile, &intervals, need, *weight).unwrap();
        file.ceis.push(name.clone());
    }
    file
}

proptest! {
    #[test]
    fn traces(updates in btree_map(id(), btree_set(prop_oneof![0..100i64, 0..=i64::MAX], 1..6), 1..8)) {
        let trace = TraceFile {
            sources: updates.keys().cloned().collect(),
            times: updates.values().map(|own| own.iter().copied().collect()).collect(),
            warnings: Vec::new(),
        };
        let mut written = Vec::new();
        trace.write(&mut written).unwrap();
        prop_assert_eq!(TraceFile::read(written.as_slice(), "f").unwrap(), trace);
    }

    #[test]
    fn intervals(file in intervals_file()) {
        let mut written = Vec::new();
        file.write(&mut written).unwrap();
        prop_assert_eq!(IntervalsFile::read(written.as_slice(), "f", 50).unwrap(), file);
    }

    #[test]
    fn probabilities(
        names in btree_set(id(), 1..6),
        beliefs in vec(btree_map(chronon(50), prop_oneof![Just(1.0), f64::MIN_POSITIVE..1.0], 1..9), 6),
    ) {
        let sources: Vec<_> = names.into_iter().collect();
        let mut entries = Vec::new();
        for (idx, own) in (0u32..).zip(beliefs.iter().take(sources.len())) {
            entries.extend(own.iter().map(|(&chronon, &probability)| (chronon, SourceIdx(idx), probability)));
        }
        let probabilities = ChangeProbabilities::from_entries(entries);
        let file = ProbabilitiesFile { sources, probabilities, warnings: Vec::new() };
        let mut written = Vec::new();
        file.write(&mut written).unwrap();
        prop_assert_eq!(ProbabilitiesFile::read(written.as_slice(), "f", 50).unwrap(), file);
    }

    #[test]
    fn schedules(names in btree_set(id(), 4), probes in vec((chronon(50), 0..4u32), 0..20)) {
        let resources: Vec<_> = names.into_iter().collect();
        let probes = probes.into_iter().map(|(chronon, idx)| Probe { chronon, source: SourceIdx(idx) });
        let schedule = Schedule::from_probes(probes.collect());
        let mut written = Vec::new();
        write_schedule(&schedule, &resources, &mut written).unwrap();
        let read = ScheduleFile::read(written.as_slice(), "f", &resources, 50).unwrap();
        prop_assert_eq!(read.schedule, schedule);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(prop_oneof![any::<u8>(), Just(b'"'), Just(b'\n'), Just(b',')], 0..300)) {
        let with_header = [b"source,time\n".as_slice(), &bytes].concat();
        for input in [&bytes, &with_header] {
            if let Err(error) = TraceFile::read(input.as_slice(), "f") {
                prop_assert!(error.to_string().starts_with("f:"));
            }
        }
    }
}
