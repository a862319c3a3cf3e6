//! How the service is set up: defaults, a TOML file, the environment and flags, later ones winning. Reads them and
//! says where each value came from; starts nothing.
//!
//! Every setting is declared once, in [`keys::KEYS`]: the file, the environment, `dunlin config check` and the test
//! of the documentation all go through that table.

pub(crate) mod check;
mod file;
mod keys;
mod roots;
pub(crate) mod units;
mod values;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dunlin_engine::{Keep, Pace, RobotsRule};
use dunlin_net::politeness::Rules;
use dunlin_net::{Downgrade, Guard, Sizes, Timeouts};
use dunlin_sched::scheduler;
use dunlin_sched::value::{Life, Urgency};
use ipnet::IpNet;

use crate::data_dir;
use crate::failure::Failure;
use crate::serve::descriptors;

pub(crate) use keys::KEYS;

/// The file that is read when none is named.
pub(crate) const FILE: &str = "dunlin.toml";

/// Everything that can be set.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) data: PathBuf,
    pub(crate) listen: SocketAddr,
    /// Names under which the service may be reached.
    pub(crate) host_names: Vec<String>,
    /// Probes in all.
    pub(crate) budget: units::Pace,
    /// Probes of any one host.
    pub(crate) host_budget: Option<units::Pace>,
    pub(crate) strategy: Strategy,
    /// How far ahead a plan goes, for the strategy that makes one.
    pub(crate) epoch: Duration,
    pub(crate) shortest_gap: Duration,
    pub(crate) longest_gap: Duration,
    pub(crate) chronon: Duration,
    pub(crate) user_agent: String,
    pub(crate) robots: Robots,
    pub(crate) log: tracing::level_filters::LevelFilter,
    pub(crate) politeness: Rules,
    pub(crate) networks: Vec<IpNet>,
    pub(crate) hosts: Vec<String>,
    pub(crate) extra_roots: roots::Roots,
    pub(crate) downgrade: Downgrade,
    /// The only ports that may be reached; not to be set by users.
    pub(crate) ports: Option<Vec<u16>>,
    pub(crate) timeouts: Timeouts,
    pub(crate) sizes: Sizes,
    pub(crate) memory: u64,
    pub(crate) max_redirects: usize,
    pub(crate) in_flight: usize,
    /// How long the reading of one probe's content may take.
    pub(crate) reading: Duration,
    /// How long stopping waits for active probes.
    pub(crate) stop_within: Duration,
    pub(crate) recall_bytes: usize,
    /// Connections to the API at one time; not to be set by users.
    pub(crate) connections: usize,
    pub(crate) retention: Keep,
    pub(crate) life: Life,
    pub(crate) urgency: Urgency,
    pub(crate) weight: f64,
    /// Changes that are assumed of a source.
    pub(crate) assumed_rate: units::Pace,
}

/// How probes are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strategy {
    Learned,
    RoundRobin,
    Cam,
}

/// Whether robots.txt is obeyed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Robots {
    Heed,
    Ignore,
}

impl Default for Config {
    fn default() -> Self {
        let net = dunlin_net::Settings::default();
        let engine = dunlin_engine::Settings::default();
        Self {
            data: data_dir::default_directory(),
            listen: SocketAddr::from(([127, 0, 0, 1], 7171)),
            host_names: Vec::new(),
            budget: units::Pace::new(0.5, None),
            host_budget: None,
            strategy: Strategy::Learned,
            epoch: Duration::from_hours(1),
            shortest_gap: Duration::from_mins(1),
            longest_gap: Duration::from_hours(24),
            chronon: Duration::from_secs(1),
            user_agent: net.user_agent,
            robots: Robots::Heed,
            log: tracing::level_filters::LevelFilter::INFO,
            politeness: Rules::default(),
            networks: Vec::new(),
            hosts: Vec::new(),
            extra_roots: roots::Roots::default(),
            downgrade: net.downgrade,
            ports: None,
            timeouts: net.timeouts,
            sizes: net.sizes,
            memory: net.memory,
            max_redirects: net.max_redirects,
            in_flight: net.pool.in_flight,
            reading: engine.reading_time,
            stop_within: engine.stop_within,
            recall_bytes: engine.recall_bytes,
            connections: dunlin_server::Options::default().max_connections,
            retention: Keep::default(),
            life: Life::Overwrite,
            urgency: Urgency::Uniform,
            weight: 1.0,
            assumed_rate: units::Pace::new(engine.prior.rate, None),
        }
    }
}

impl Config {
    /// What the engine is started with.
    pub(crate) fn engine_settings(&self) -> dunlin_engine::Settings {
        let mut settings = dunlin_engine::Settings {
            chronon: self.chronon,
            budget: Pace { per_second: self.budget.per_second },
            host_budget: self.host_budget.map(|pace| Pace { per_second: pace.per_second }),
            politeness: self.politeness,
            in_flight: u32::try_from(self.in_flight).unwrap_or(u32::MAX),
            recall_bytes: self.recall_bytes,
            strategy: match self.strategy {
                Strategy::Learned => scheduler::Strategy::Learned,
                Strategy::RoundRobin => scheduler::Strategy::RoundRobin,
                Strategy::Cam => scheduler::Strategy::Cam { epoch: self.epoch },
            },
            shortest_gap: self.shortest_gap,
            longest_gap: self.longest_gap,
            keep: self.retention,
            reading_time: self.reading,
            stop_within: self.stop_within,
            ..dunlin_engine::Settings::default()
        };
        if self.robots == Robots::Ignore {
            settings.robots = RobotsRule::Ignore;
        }
        settings.prior.rate = self.assumed_rate.per_second;
        settings.network.guard = self.guard();
        settings.network.user_agent.clone_from(&self.user_agent);
        settings.network.timeouts = self.timeouts;
        settings.network.sizes = self.sizes;
        settings.network.memory = self.memory;
        settings.network.max_redirects = self.max_redirects;
        settings.network.pool.in_flight = self.in_flight;
        settings.network.pool.idle = settings.network.pool.idle.min(self.in_flight);
        settings.network.extra_roots.clone_from(&self.extra_roots.certificates);
        settings.network.downgrade = self.downgrade;
        settings
    }

    /// What the API is served with.
    pub(crate) fn server_options(&self) -> dunlin_server::Options {
        let usual = dunlin_server::Options::default();
        dunlin_server::Options {
            listen: self.listen,
            host_names: self.host_names.clone(),
            stop_within: crate::serve::stopping::FOR_REQUESTS,
            max_connections: self.connections,
            reserved_connections: descriptors::reserve(self.connections),
            // As large a part of all as usual, and enough to follow the stream and give commands beside that.
            max_connections_of_one: (usual.max_connections_of_one * self.connections / usual.max_connections)
                .max(self.connections.clamp(1, 4)),
            ..usual
        }
    }

    fn guard(&self) -> Guard {
        let guard = self
            .networks
            .iter()
            .fold(Guard::public_internet(), |guard, network| guard.allowing_network(*network));
        let guard = self.hosts.iter().fold(guard, |guard, host| guard.allowing_host(host));
        match &self.ports {
            Some(ports) => guard.limiting_ports(ports.iter().copied()),
            None => guard,
        }
    }
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    File {
        name: String,
        line: usize,
    },
    Environment(String),
    Flag(&'static str),
    /// In the store, by `dunlin budget set` or the API.
    Stored,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { name, line } => write!(f, "{name}:{line}"),
            Self::Environment(name) => f.write_str(name),
            Self::Flag(name) => f.write_str(name),
            Self::Stored => f.write_str("`dunlin budget set`"),
        }
    }
}

/// What was given on the command line, by key.
#[derive(Debug, Default)]
pub(crate) struct Flags {
    /// The file to read instead of the one in the data directory.
    pub(crate) file: Option<PathBuf>,
    /// Flag, key and value.
    pub(crate) values: Vec<(&'static str, &'static str, String)>,
}

impl Flags {
    pub(crate) fn set(&mut self, flag: &'static str, key: &'static str, value: Option<String>) {
        self.values.extend(value.map(|value| (flag, key, value)));
    }
}

/// A configuration and how it came about.
#[derive(Debug)]
pub(crate) struct Effective {
    pub(crate) config: Config,
    /// By key; what is not in here is the default.
    pub(crate) origins: BTreeMap<&'static str, Origin>,
}

impl Effective {
    pub(crate) fn origin(&self, key: &str) -> Origin {
        self.origins.get(key).cloned().unwrap_or(Origin::Default)
    }

    /// Reads all layers. Every mistake in the file is reported, not only the first.
    pub(crate) fn read(flags: &Flags) -> Result<Self, Failure> {
        let mut effective = Self { config: Config::default(), origins: BTreeMap::new() };
        let named = flags.file.clone().or_else(|| std::env::var_os("DUNLIN_CONFIG").map(PathBuf::from));
        let found = match &named {
            Some(file) => Some(file.clone()),
            None => Some(effective.directory_before_files(flags)?.join(FILE)).filter(|file| file.exists()),
        };
        if let Some(file) = found {
            let mut problems = effective.read_file(&file)?;
            if named.is_none()
                && let Origin::File { line, .. } = effective.origin("data")
            {
                let what = "`data` cannot be set in the file inside the data directory";
                problems.push(format!("{}:{line}:1: {what} (name the file with --config)", file.display()));
            }
            if !problems.is_empty() {
                return Err(Failure::Input(problems.join("\n")));
            }
        }
        effective.read_environment()?;
        for (flag, key, value) in &flags.values {
            effective
                .set(key, value, Origin::Flag(flag))
                .map_err(|why| Failure::input(format!("{flag}: {why}")))?;
        }
        effective.check()?;
        Ok(effective)
    }

    fn directory_before_files(&self, flags: &Flags) -> Result<PathBuf, Failure> {
        let flag = flags.values.iter().rev().find(|(_, key, _)| *key == "data");
        Ok(match (flag, environment("data")?) {
            (Some((_, _, value)), _) => PathBuf::from(value),
            (None, Some((_, value))) => PathBuf::from(value),
            (None, None) => self.config.data.clone(),
        })
    }

    fn read_file(&mut self, file: &Path) -> Result<Vec<String>, Failure> {
        let name = file.display().to_string();
        let text = std::fs::read_to_string(file)
            .map_err(|error| Failure::input(format!("{name}: cannot be read: {error}")))?;
        let settings = match file::read(&text) {
            Ok(settings) => settings,
            Err(problem) => return Ok(vec![format!("{name}:{problem}")]),
        };
        let mut problems = Vec::new();
        for setting in settings {
            let (line, column) = (setting.line, setting.column);
            let set = match setting.value {
                Ok(value) => self.set(&setting.key, &value, Origin::File { name: name.clone(), line }),
                Err(problem) => Err(problem),
            };
            if let Err(problem) = set {
                problems.push(format!("{name}:{line}:{column}: {problem}"));
            }
        }
        Ok(problems)
    }

    fn read_environment(&mut self) -> Result<(), Failure> {
        for (name, _) in std::env::vars_os() {
            if let Some(problem) = name.to_str().and_then(keys::unknown_variable) {
                crate::note(&format!("warning: {problem}"));
            }
        }
        for key in KEYS {
            if let Some((name, value)) = environment(key.name)? {
                let set = self.set(key.name, &value, Origin::Environment(name.clone()));
                set.map_err(|problem| Failure::input(format!("{name}: {problem}")))?;
            }
        }
        Ok(())
    }

    fn set(&mut self, key: &str, value: &str, origin: Origin) -> Result<(), String> {
        let Some(key) = KEYS.iter().find(|known| known.name == key) else {
            return Err(keys::unknown(key));
        };
        (key.set)(&mut self.config, value).map_err(|problem| format!("{}: {problem}", key.name))?;
        self.origins.insert(key.name, origin);
        Ok(())
    }

    /// What to say of a budget that was set while a service ran. It goes before all but a flag, which is a newer word.
    pub(crate) fn about_stored_budget(&self, stored: units::Pace) -> Option<String> {
        let (shown, configured) = (stored, self.config.budget);
        match self.origin("budget") {
            _ if stored.per_second == configured.per_second => None,
            Origin::Default | Origin::Stored => None,
            Origin::Flag(flag) => Some(format!(
                "{flag} {configured} replaces the budget of {shown} that was set with `dunlin budget set`"
            )),
            origin => Some(format!(
                "the budget is {shown}, set with `dunlin budget set`, and not {configured} ({origin}); \
                 `dunlin budget reset` goes back to that"
            )),
        }
    }

    /// Shows the budget that was set while a service ran as the one in force.
    pub(crate) fn take_stored_budget(&mut self, stored: units::Pace) {
        self.config.budget = stored;
        self.origins.insert("budget", Origin::Stored);
    }

    /// What no single value can be blamed for.
    fn check(&self) -> Result<(), Failure> {
        let Config { shortest_gap, longest_gap, politeness, .. } = &self.config;
        let pairs = [
            ("shortest_gap", *shortest_gap, "longest_gap", *longest_gap),
            (
                "politeness.first_backoff",
                politeness.first_backoff,
                "politeness.longest_backoff",
                politeness.longest_backoff,
            ),
        ];
        for (small, smaller, large, larger) in pairs {
            if smaller > larger {
                return Err(Failure::input(format!(
                    "{small} is {} ({}) and {large} is {} ({}): the first must not be longer (change one of them)",
                    units::show_duration(smaller),
                    self.origin(small),
                    units::show_duration(larger),
                    self.origin(large),
                )));
            }
        }
        Ok(())
    }
}

/// The environment variable of a key, where it is set.
fn environment(key: &str) -> Result<Option<(String, String)>, Failure> {
    let name = keys::variable(key);
    match std::env::var(&name) {
        Ok(value) => Ok(Some((name, value))),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => Err(Failure::input(format!("{name}: not valid UTF-8"))),
    }
}
