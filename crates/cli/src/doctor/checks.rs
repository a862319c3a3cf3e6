//! The checks themselves, from the configuration outwards. Each gives findings and never ends the others.

use std::io::Write as _;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use dunlin_engine::ageing::Ages;
use dunlin_engine::clock;
use dunlin_net::{Resolve, SystemResolver};
use dunlin_store::{Depth, Health, Source, SourceQuery, SqliteStore, Store};
use url::{Host, Url};

use super::Finding;
use crate::backend::{DirectoryArgs, ask_whether_ready};
use crate::config::{Config, Effective, Robots};
use crate::data_dir::{self, Service};
use crate::serve::descriptors;
use crate::terminal::one_line;
use crate::watching::journal;

/// Contents whose hash is compared.
const SAMPLE: u32 = 100;

/// Below this much free space the disk is as good as full.
const LITTLE_SPACE: u64 = 500 << 20;

/// No clock that is right shows less: 2025 began then.
const TOO_EARLY: i64 = 1_735_689_600;

/// Sources in the same kind of trouble that are named.
const MOST_NAMED: usize = 5;

/// Sources that are read at a time.
const PAGE: u32 = 10_000;

pub(super) fn all(directory_args: &DirectoryArgs) -> Vec<Finding> {
    let effective = match directory_args.configuration() {
        Ok(effective) => effective,
        Err(problem) => {
            return vec![Finding::fail(
                "configuration",
                problem.to_string(),
                "correct it, then `dunlin config check`",
            )];
        }
    };
    let mut findings = vec![configuration(&effective)];
    let config = &effective.config;
    findings.extend(guard(config));
    findings.extend(directory(&config.data));
    findings.push(disk(&config.data));
    findings.push(service(config));
    findings.push(open_files(config));
    match data_dir::open_to_read(&config.data) {
        Err(error) => findings.push(no_store(&error)),
        Ok(store) => findings.extend(in_store(&store)),
    }
    findings
}

fn configuration(effective: &Effective) -> Finding {
    let n_set = effective.origins.len();
    Finding::ok("configuration", format!("{n_set} settings differ from the defaults"))
}

fn guard(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(wide) = config.networks.iter().find(|network| network.prefix_len() < 8) {
        findings.push(Finding::warn(
            "guard",
            format!("{wide} lets every address that a page links to reach this machine's network"),
            "allow only the networks you watch, in guard.networks",
        ));
    } else {
        let (networks, hosts) = (config.networks.len(), config.hosts.len());
        findings.push(Finding::ok(
            "guard",
            format!("the public internet, {networks} networks and {hosts} hosts besides"),
        ));
    }
    if config.robots == Robots::Ignore {
        findings.push(Finding::warn(
            "robots",
            "robots.txt is ignored",
            "set robots = true, unless all sites are yours",
        ));
    }
    findings
}

fn directory(data: &Path) -> Vec<Finding> {
    if !data.exists() {
        let advice = "start the service once with `dunlin serve`, or correct --data";
        return vec![Finding::fail("data", format!("{} does not exist", data.display()), advice)];
    }
    let mut findings = Vec::new();
    // A full disk lets a file be created, but not be filled.
    let written = tempfile::Builder::new()
        .prefix(".doctor-")
        .tempfile_in(data)
        .and_then(|mut file| file.write_all(&[0; 4_096]));
    match written {
        Ok(()) => findings.push(Finding::ok("data", format!("{} can be written", data.display()))),
        Err(error) => findings.push(Finding::fail(
            "data",
            format!("{} cannot be written: {error}", data.display()),
            "check owner and permissions of the directory, and free space on its disk",
        )),
    }
    #[cfg(unix)]
    if let Ok(metadata) = data.metadata()
        && std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o077 != 0
    {
        let advice = format!("chmod 700 {}", data.display());
        findings.push(Finding::warn("data", "others on this machine can read it", advice));
    }
    findings
}

/// The system's own tool knows; the standard library does not.
fn disk(data: &Path) -> Finding {
    let output = Command::new("df").arg("-Pk").arg(data).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let free = text.lines().nth(1).and_then(|line| line.split_whitespace().nth(3)?.parse::<u64>().ok());
    match free.map(|kilobytes| kilobytes << 10) {
        None => Finding::warn("disk", "free space is not known", "check with `df`"),
        Some(bytes) if bytes < LITTLE_SPACE => Finding::fail(
            "disk",
            format!("{} MiB free", bytes >> 20),
            "free some space, or keep less (see retention)",
        ),
        Some(bytes) => Finding::ok("disk", format!("{} GiB free", bytes >> 30)),
    }
}

fn service(config: &Config) -> Finding {
    match Service::find(&config.data) {
        Err(problem) => {
            Finding::fail("service", problem.to_string(), "run this as the user who runs the service")
        }
        Ok(Some((service, token))) => {
            let (pid, address) = (service.pid, service.reachable());
            match ask_whether_ready(&service, &token) {
                Ok(()) => Finding::ok("service", format!("process {pid} is well and answers on {address}")),
                Err(problem) => Finding::fail(
                    "service",
                    format!("process {pid} on {address}: {problem}"),
                    "check its log; restart it if it does not answer",
                ),
            }
        }
        Ok(None) => match TcpListener::bind(config.listen) {
            Ok(_) => Finding::ok("service", format!("not running; {} is free for it", config.listen)),
            Err(error) => Finding::fail(
                "service",
                format!("not running, and {} cannot be listened on: {error}", config.listen),
                "stop what uses the port, or set another with listen",
            ),
        },
    }
}

/// Under the limit of the current user, which is usually that of the service.
fn open_files(config: &Config) -> Finding {
    let mut config = config.clone();
    let limit = descriptors::raised();
    match descriptors::make_room(&mut config, limit) {
        Some(warning) => {
            Finding::warn("open files", warning, "raise the limit, as by `ulimit -n 4096` or LimitNOFILE=")
        }
        None => Finding::ok(
            "open files",
            limit.map_or_else(|| "no limit".to_owned(), |limit| format!("up to {limit} at one time")),
        ),
    }
}

fn no_store(error: &dunlin_store::Error) -> Finding {
    match error {
        dunlin_store::Error::NoStore { .. } => {
            Finding::warn("store", "there is none yet", "start the service once with `dunlin serve`")
        }
        error => Finding::fail("store", error.to_string(), "restore a backup if it is damaged"),
    }
}

fn in_store(store: &SqliteStore) -> Vec<Finding> {
    let mut findings = vec![soundness(store), clock(store)];
    match all_sources(store) {
        Err(error) => findings.push(Finding::fail("sources", error.to_string(), "check the disk")),
        Ok(sources) => {
            findings.push(names(&sources));
            findings.extend(troubles(&sources));
        }
    }
    findings.push(match journal::sample(store) {
        Ok(line) => Finding::ok("journal", line),
        Err(problem) => Finding::fail("journal", problem.to_string(), "please report this; probes go on"),
    });
    findings
}

fn all_sources(store: &SqliteStore) -> Result<Vec<Source>, dunlin_store::Error> {
    let mut sources: Vec<Source> = Vec::new();
    loop {
        let after = sources.last().map(|source| source.id);
        let page = store.sources(&SourceQuery { after, ..SourceQuery::first(PAGE) })?;
        let is_last = page.len() < PAGE as usize;
        sources.extend(page);
        if is_last {
            return Ok(sources);
        }
    }
}

fn soundness(store: &SqliteStore) -> Finding {
    match store.check(Depth::Sample(SAMPLE)) {
        Err(error) => Finding::fail("store", error.to_string(), "check the disk"),
        Ok(findings) if findings.is_sound() => {
            Finding::ok("store", format!("sound; {} contents read and compared", findings.contents_read))
        }
        Ok(findings) => Finding::fail("store", findings.problems.join("; "), "restore a backup"),
    }
}

fn clock(store: &SqliteStore) -> Finding {
    let now = clock::now();
    let advice = "set the clock, best by NTP";
    if now.seconds() < TOO_EARLY {
        return Finding::fail("clock", format!("it is not {}", clock::rfc3339(now)), advice);
    }
    let doubt = Ages::read(store).ok().and_then(|mut ages| ages.believed_time(now, Duration::ZERO).doubt);
    if let Some(ahead) = doubt {
        let days = ahead.as_secs() / 86_400;
        return Finding::warn(
            "clock",
            format!("{} is {days} days after the service last ran", clock::rfc3339(now)),
            "set the clock if it is wrong; by it, what is old will be removed once the service has run for a day",
        );
    }
    let newest = store.cursor_range().ok().and_then(|range| {
        let query = dunlin_store::ChangeQuery {
            after: dunlin_store::Cursor(range.newest.0 - 1),
            source: None,
            limit: 1,
        };
        store.changes(&query).ok()?.pop()
    });
    match newest.filter(|change| change.detected > now.plus(Duration::from_secs(5))) {
        Some(change) => {
            let found = format!("the newest change is from the future: {}", clock::rfc3339(change.detected));
            Finding::fail("clock", found, advice)
        }
        None => Finding::ok("clock", clock::rfc3339(now)),
    }
}

/// Looks up the name of one source; without a source, no request is sent.
fn names(sources: &[Source]) -> Finding {
    let name = sources.iter().find_map(|source| match Url::parse(&source.spec.url).ok()?.host()? {
        Host::Domain(name) => Some(name.to_owned()),
        _ => None,
    });
    let Some(name) = name else { return Finding::ok("names", "no source has a name to look up") };
    let looked_up = SystemResolver::new().map_err(|error| error.to_string()).and_then(|resolver| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let limit = Duration::from_secs(10);
        let found = runtime.block_on(async { tokio::time::timeout(limit, resolver.resolve(&name)).await });
        found.map_err(|_| "no answer within 10 s".to_owned())?.map_err(|error| error.to_string())
    });
    match looked_up {
        Ok(addresses) => Finding::ok("names", format!("{name} has {} addresses", addresses.len())),
        Err(problem) => {
            Finding::warn("names", format!("{name}: {problem}"), "check the network and its name servers")
        }
    }
}

/// Sources that cannot be read, then those that can and are not what they should be.
fn troubles(sources: &[Source]) -> Vec<Finding> {
    let kinds: [(&[Health], _, _); 2] = [
        (
            &[Health::Failing, Health::Refused],
            "cannot be read",
            "`dunlin sources --state failing` and `--state refused`",
        ),
        (&[Health::Attention], "need attention", "`dunlin sources --state attention`"),
    ];
    let mut findings = Vec::new();
    for (healths, what, advice) in kinds {
        let is_so = |source: &&Source| source.paused.is_none() && healths.contains(&source.state.health);
        let n_such = sources.iter().filter(is_so).count();
        if n_such == 0 {
            continue;
        }
        findings.push(Finding::warn("sources", format!("{n_such} of {} {what}", sources.len()), advice));
        for source in sources.iter().filter(is_so).take(MOST_NAMED) {
            let name = one_line(source.shown_name(), 60);
            let name = if name.is_empty() { String::new() } else { format!(" ({name})") };
            let found = format!("{}{name}: {}", source.id, source.state.reason);
            findings.push(Finding::warn("source", found, format!("`dunlin explain {}`", source.id)));
        }
    }
    if findings.is_empty() {
        findings.push(Finding::ok("sources", format!("{} sources, none in trouble", sources.len())));
    }
    findings
}

#[cfg(test)]
mod tests {
    use dunlin_core::Time;
    use dunlin_store::{
        Capture, FoundAs, NewChange, NewSource, Outcome, ProbeId, ResourceId, SourceId, SourceState,
    };

    use super::super::Verdict;
    use super::*;

    #[test]
    fn a_source_that_is_paused_is_no_trouble() {
        let since = Time::from_seconds(1_700_000_000);
        let source = |health, paused| Source {
            id: SourceId(1),
            resource: ResourceId(1),
            spec: NewSource::page("https://a.example/", since),
            found: FoundAs::default(),
            state: SourceState { health, reason: "it fails".to_owned(), since, announced: None },
            paused,
        };
        for health in [Health::Failing, Health::Refused, Health::Attention] {
            assert_eq!(troubles(&[source(health, Some(since))]).len(), 1, "only that all is well");
            assert_eq!(troubles(&[source(health, None)]).len(), 2, "what is wrong, and where");
        }
        let both = troubles(&[source(Health::Attention, None), source(Health::Failing, None)]);
        let found: Vec<_> = both.iter().map(|finding| (finding.verdict, finding.found.as_str())).collect();
        let warned = |found| (Verdict::Warn, found);
        let reason = warned("1: it fails");
        assert_eq!(found, [warned("1 of 2 cannot be read"), reason, warned("1 of 2 need attention"), reason]);
    }

    #[test]
    fn a_network_that_leads_everywhere_is_warned_of() {
        let verdicts = |network: &str| {
            let config = Config { networks: vec![network.parse().unwrap()], ..Config::default() };
            guard(&config).into_iter().map(|finding| finding.verdict).collect::<Vec<_>>()
        };
        assert_eq!(verdicts("10.0.0.0/8"), [Verdict::Ok]);
        for wide in ["0.0.0.0/0", "0.0.0.0/1", "::/0"] {
            assert_eq!(verdicts(wide), [Verdict::Warn], "{wide}");
        }
    }

    #[test]
    fn a_change_from_the_future_shows_that_a_clock_is_wrong() {
        let verdict = |ahead: Duration| {
            let directory = tempfile::tempdir().unwrap();
            let store = SqliteStore::open(directory.path()).unwrap();
            let at = clock::now().plus(ahead);
            let source = store.add_source(NewSource::page("https://a.example/", at)).unwrap();
            let mut capture = Capture::bare(source, ProbeId(1), at, Outcome::Changed);
            capture.changes.push(NewChange {
                kind: "edited".to_owned(),
                item: None,
                summary: "It is new".to_owned(),
                detail: Vec::new(),
                happened_after: None,
                happened_before: at,
            });
            store.record_capture(capture).unwrap();
            clock(&store).verdict
        };
        assert_eq!(verdict(Duration::ZERO), Verdict::Ok);
        assert_eq!(verdict(Duration::from_hours(1)), Verdict::Fail);
    }
}
