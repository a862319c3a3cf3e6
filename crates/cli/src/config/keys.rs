//! Every setting, once: its name, what it does, how it is read from text and written as text.
//!
//! Invariant: what `show` writes, `set` reads back to the same value.

use dunlin_net::Downgrade;
use dunlin_net::politeness::Scope;

use super::roots;
use super::units::{Pace, bytes, duration, pace, show_bytes};
use super::values::{
    at_least_one, downgrade, epoch, host, list, listen, memory, none_or, parsed, path, patience, robots,
    scope, show_keep, show_list, show_or_none, show_scope, show_strategy, show_time, shown, step, strategy,
    value_model, visible, weight,
};
use super::{Config, Robots, Strategy};

/// One setting.
#[derive(Debug)]
pub(crate) struct Key {
    /// As in the file; a dot stands for a table.
    pub(crate) name: &'static str,
    /// For people.
    pub(crate) about: &'static str,
    pub(crate) set: fn(&mut Config, &str) -> Result<(), String>,
    pub(crate) show: fn(&Config) -> String,
}

macro_rules! key {
    ($name:literal, $about:literal, $field:ident $(. $rest:ident)*, $read:expr, $show:expr) => {
        Key {
            name: $name,
            about: $about,
            set: |config, text| {
                config.$field$(.$rest)* = $read(text)?;
                Ok(())
            },
            show: |config| $show(&config.$field$(.$rest)*),
        }
    };
}

/// All settings, in the order in which they are shown.
pub(crate) const KEYS: &[Key] = &[
    key!("data", "where everything is kept", data, path, |path: &std::path::PathBuf| path
        .display()
        .to_string()),
    key!("listen", "where the API is served", listen, listen, shown),
    key!(
        "host_names",
        "names under which the service may be reached, besides localhost and numeric addresses",
        host_names,
        list(host),
        show_list
    ),
    key!("budget", "probes in all: N/s, N/min, N/h or N/day", budget, pace, shown),
    key!(
        "host_budget",
        "probes of any one host, besides the gap; none for no further limit",
        host_budget,
        none_or(pace),
        |pace: &Option<Pace>| show_or_none(*pace, |pace| pace.to_string())
    ),
    key!(
        "strategy",
        "how probes are chosen: learned (by what each is worth now), cam (by a plan for every epoch), or round-robin to compare with",
        strategy,
        strategy,
        |strategy: &Strategy| show_strategy(*strategy)
    ),
    key!("epoch", "how far ahead the strategy cam plans, 1s to 7d", epoch, epoch, show_time),
    key!(
        "shortest_gap",
        "a source is never probed again sooner, unless requested",
        shortest_gap,
        duration,
        show_time
    ),
    key!(
        "longest_gap",
        "a source is probed at least this often, however quiet",
        longest_gap,
        duration,
        show_time
    ),
    key!(
        "assumed_rate",
        "how often a source is assumed to change while little is known of it: N/s, N/min, N/h or N/day",
        assumed_rate,
        pace,
        shown
    ),
    key!("chronon", "step of time in which decisions are made, 1ms to 1m", chronon, step, show_time),
    key!("user_agent", "how Dunlin introduces itself", user_agent, visible, Clone::clone),
    key!("robots", "whether robots.txt is obeyed", robots, robots, |robots: &Robots| (*robots
        == Robots::Heed)
        .to_string()),
    key!(
        "log",
        "how much is logged: off, error, warn, info, debug or trace",
        log,
        parsed("off, error, warn, info, debug or trace"),
        shown
    ),
    key!(
        "stop_within",
        "how long stopping waits for active probes; ten seconds later the service has ended in any case",
        stop_within,
        duration,
        show_time
    ),
    key!("politeness.gap", "pause between two requests to one scope", politeness.gap, duration, show_time),
    key!(
        "politeness.concurrent",
        "requests to one scope at one time",
        politeness.concurrent,
        at_least_one,
        shown
    ),
    key!(
        "politeness.scope",
        "what the gap and the number of requests are counted over: url, host or domain",
        politeness.scope,
        scope,
        |scope: &Scope| show_scope(*scope)
    ),
    key!(
        "politeness.limit_scope",
        "what a 429, a 503 or Retry-After holds back: url, host or domain",
        politeness.limit_scope,
        scope,
        |scope: &Scope| show_scope(*scope)
    ),
    key!(
        "politeness.first_backoff",
        "first pause after a failure; each further one doubles it",
        politeness.first_backoff,
        duration,
        show_time
    ),
    key!(
        "politeness.longest_backoff",
        "longest pause after failures",
        politeness.longest_backoff,
        duration,
        show_time
    ),
    key!(
        "politeness.longest_wait",
        "longest pause that a server can ask for",
        politeness.longest_wait,
        duration,
        show_time
    ),
    key!(
        "politeness.forgive_after",
        "quiet time after which failures are forgotten",
        politeness.forgive_after,
        duration,
        show_time
    ),
    key!(
        "guard.networks",
        "networks that may be reached though they are not public, such as 192.168.1.0/24",
        networks,
        list(parsed("a network such as 192.168.1.0/24 or ::1/128")),
        show_list
    ),
    key!("guard.hosts", "names that may be reached wherever they point", hosts, list(host), show_list),
    key!(
        "guard.extra_roots",
        "PEM files with issuers of certificates to trust, besides those that browsers trust",
        extra_roots,
        roots::read,
        roots::show
    ),
    key!(
        "guard.downgrades",
        "whether redirects from https to http are followed",
        downgrade,
        downgrade,
        |downgrade: &Downgrade| (*downgrade == Downgrade::Follow).to_string()
    ),
    key!("limits.sent", "largest answer as sent", sizes.sent, bytes, |bytes: &u64| show_bytes(*bytes)),
    key!("limits.decoded", "largest answer after decompression", sizes.decoded, bytes, |bytes: &u64| {
        show_bytes(*bytes)
    }),
    key!(
        "limits.memory",
        "most bytes of answers in memory, of all fetches together, at least 1MiB",
        memory,
        memory,
        |bytes: &u64| show_bytes(*bytes)
    ),
    key!(
        "limits.head",
        "most bytes of headers",
        sizes.head,
        |text| bytes(text).map(|bytes| bytes as usize),
        |bytes: &usize| show_bytes(*bytes as u64)
    ),
    key!(
        "limits.redirects",
        "most redirects that are followed",
        max_redirects,
        parsed("a whole number"),
        shown
    ),
    key!(
        "limits.in_flight",
        "most fetches at one time; what the budget of a chronon begins beyond that waits in line",
        in_flight,
        |text| at_least_one(text).map(|count| count as usize),
        shown
    ),
    key!(
        "limits.recall",
        "most memory for the cache of sources between two probes; what does not fit is read from the store",
        recall_bytes,
        |text| bytes(text).map(|bytes| bytes as usize),
        |bytes: &usize| show_bytes(*bytes as u64)
    ),
    key!("limits.resolve", "longest lookup of a name", timeouts.resolve, patience, show_time),
    key!("limits.connect", "longest wait for a connection", timeouts.connect, patience, show_time),
    key!("limits.handshake", "longest TLS handshake", timeouts.handshake, patience, show_time),
    key!(
        "limits.first_byte",
        "longest wait for an answer to begin",
        timeouts.first_byte,
        patience,
        show_time
    ),
    key!("limits.idle", "longest pause within an answer", timeouts.idle, patience, show_time),
    key!("limits.total", "longest fetch, redirects included", timeouts.total, patience, show_time),
    key!(
        "limits.reading",
        "longest reading of what one probe fetched; a longer one is abandoned, and its source refused",
        reading,
        patience,
        show_time
    ),
    key!(
        "retention.versions_each",
        "versions kept of each source; none for all",
        retention.n_versions,
        none_or(at_least_one),
        |count: &Option<u32>| show_or_none(*count, |count| count.to_string())
    ),
    key!(
        "retention.versions",
        "how long versions are kept; none for ever",
        retention.versions,
        none_or(duration),
        show_keep
    ),
    key!(
        "retention.changes",
        "how long changes are kept; none for ever",
        retention.changes,
        none_or(duration),
        show_keep
    ),
    key!(
        "retention.observations",
        "how long observations, the outcomes of probes, are kept; none for ever",
        retention.observations,
        none_or(duration),
        show_keep
    ),
    key!(
        "retention.decisions",
        "how long the decision journal is kept; none for ever",
        retention.decisions,
        none_or(duration),
        show_keep
    ),
    key!(
        "retention.items",
        "how long items that have left a source are remembered; none for ever",
        retention.items,
        none_or(duration),
        show_keep
    ),
    key!(
        "defaults.life",
        "how long a change stays visible: append, window:W, changes:Z or overwrite",
        life,
        value_model,
        shown
    ),
    key!(
        "defaults.urgency",
        "what a late capture is worth: uniform, exp:R, sliding:W, poly:A, polyexp:K:R or chordal:W",
        urgency,
        value_model,
        shown
    ),
    key!("defaults.weight", "what a source is worth against others", weight, weight, shown),
];

/// The environment variable of a key: `politeness.gap` is `DUNLIN_POLITENESS_GAP`.
pub(crate) fn variable(key: &str) -> String {
    format!("DUNLIN_{}", key.to_ascii_uppercase().replace('.', "_"))
}

/// What to say of a key that there is not.
pub(crate) fn unknown(key: &str) -> String {
    let nearest = KEYS.iter().map(|known| (distance(key, known.name), known.name)).min();
    let part = key.rsplit('.').next().unwrap_or(key);
    let elsewhere = KEYS.iter().find(|known| known.name.rsplit('.').next() == Some(part));
    match (elsewhere, nearest) {
        (Some(known), _) => format!("unknown key `{key}` (did you mean `{}`?)", known.name),
        (None, Some((distance, name))) if distance <= 3 => {
            format!("unknown key `{key}` (did you mean `{name}`?)")
        }
        _ => {
            format!("unknown key `{key}` (see docs/configuration.md, or `dunlin config check`, for all keys)")
        }
    }
}

/// Variables that are no settings.
const OTHER_VARIABLES: [&str; 3] = ["DUNLIN_CONFIG", "DUNLIN_SERVER", "DUNLIN_TOKEN"];

/// The warning about an environment variable that looks like one of ours and is none.
pub(crate) fn unknown_variable(name: &str) -> Option<String> {
    let is_ours = KEYS.iter().any(|key| variable(key.name) == name) || OTHER_VARIABLES.contains(&name);
    if is_ours || !name.starts_with("DUNLIN_") {
        return None;
    }
    let all = KEYS.iter().map(|key| variable(key.name));
    let nearest =
        all.map(|known| (distance(name, &known), known)).min().filter(|(distance, _)| *distance <= 3);
    let hint =
        nearest.map_or("see docs/configuration.md".to_owned(), |(_, known)| format!("did you mean {known}?"));
    Some(format!("the environment variable {name} means nothing ({hint})"))
}

/// How many letters have to be changed, added or left out.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_reads_back_as_itself() {
        for key in KEYS {
            let mut config = Config::default();
            let text = (key.show)(&config);
            (key.set)(&mut config, &text).unwrap_or_else(|problem| panic!("{}: {problem}", key.name));
            assert_eq!((key.show)(&config), text, "{}", key.name);
        }
    }

    #[test]
    fn a_slip_of_the_finger_is_recognised() {
        assert!(unknown("bugdet").contains("did you mean `budget`"));
        assert!(unknown("gap").contains("did you mean `politeness.gap`"));
        assert!(unknown("politeness.gaps").contains("did you mean `politeness.gap`"));
        assert!(unknown("colour_of_the_sky").contains("docs/configuration.md"));
        assert!(unknown_variable("DUNLIN_BUGDET").unwrap().contains("did you mean DUNLIN_BUDGET?"));
        assert_eq!(unknown_variable("DUNLIN_TOKEN"), None);
        assert_eq!(unknown_variable("PATH"), None);
    }

    /// The page that people read has every key with its default and its variable.
    #[test]
    fn every_key_is_documented() {
        let page = include_str!("../../../../docs/configuration.md");
        for key in KEYS.iter().filter(|key| key.name != "data") {
            let default = (key.show)(&Config::default());
            let default = if default.is_empty() { String::new() } else { format!("`{default}`") };
            let row = format!("| `{}` | {default} | `{}` | {} |", key.name, variable(key.name), key.about);
            assert!(page.contains(&row), "docs/configuration.md lacks this row:\n{row}");
        }
    }
}
