//! `dunlin budget`: how many probes there are, how they are spent, and another number of them.

use std::collections::BTreeMap;

use clap::{Args, ValueEnum};
use dunlin_engine::clock;
use dunlin_net::politeness::Scope;

use crate::backend::records::{BudgetRecord, HostRecord, SpendingRecord, UsedRecord};
use crate::backend::{Access, Backend, ReachArgs, SourceFilter};
use crate::config::units::{Pace, pace};
use crate::failure::Failure;
use crate::moments;
use crate::output::{print_json, print_line, print_table};

/// Hosts that the table has room for.
const MOST_HOSTS: usize = 10;

#[derive(Debug, Args)]
pub(crate) struct Budget {
    /// Show the budget and how it is spent; set another one, for now and after every restart; or reset it to the configured one
    #[arg(default_value = "show")]
    what: What,
    /// For `set`: N/s, N/min, N/h or N/day
    #[arg(value_parser = pace, required_if_eq("what", "set"))]
    pace: Option<Pace>,
    #[command(flatten)]
    reach: ReachArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum What {
    Show,
    Set,
    Reset,
}

impl Budget {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        match (self.what, self.pace) {
            (What::Set, Some(pace)) => {
                let backend = self.reach.open(Access::Write)?;
                backend.set_budget(pace)?;
                if self.json {
                    return print_json(&backend.budget()?);
                }
                print_line(&format!("budget: {pace}"))
            }
            (What::Reset, None) => {
                let backend = self.reach.open(Access::Write)?;
                backend.reset_budget()?;
                let report = backend.budget()?;
                if self.json {
                    return print_json(&report);
                }
                print_line(&format!("budget: {}, as configured", self.pace_of(&report)))
            }
            (What::Show | What::Reset, Some(_)) => {
                Err(Failure::input("to change the budget write `dunlin budget set N/min`"))
            }
            _ => self.show(),
        }
    }

    /// The budget in the unit in which it was set, or else in which it is configured.
    fn pace_of(&self, report: &BudgetRecord) -> Pace {
        if report.unit.is_some() {
            return Pace::new(report.per_second, report.unit);
        }
        let configured = self.reach.configuration().map(|effective| effective.config.budget);
        let same = configured.ok().filter(|pace| pace.per_second == report.per_second);
        same.unwrap_or(Pace::new(report.per_second, None))
    }

    fn show(&self) -> Result<(), Failure> {
        let backend = self.reach.open(Access::Read)?;
        let report = backend.budget()?;
        if self.json {
            return print_json(&report);
        }
        let host = report.host_per_second.map(|per_second| Pace::new(per_second, None).to_string());
        let host = host.unwrap_or_else(|| "no further limit".to_owned());
        print_line(&format!("budget       {}", self.pace_of(&report)))?;
        print_line(&format!("per host     {host}"))?;
        let Some(SpendingRecord { used, in_flight, max_in_flight, hosts, .. }) = report.spending else {
            return Ok(());
        };
        let UsedRecord { minute, hour, day } = used;
        print_line(&format!(
            "used         {minute} in the last minute, {hour} in the last hour, {day} in the last day"
        ))?;
        print_line(&format!("in flight    {in_flight} of at most {max_in_flight}"))?;
        if hosts.is_empty() {
            return Ok(());
        }
        let now = clock::now();
        let names = names(&*backend, &hosts)?;
        let n_more = hosts.len().saturating_sub(MOST_HOSTS);
        let rows = hosts.into_iter().take(MOST_HOSTS).map(|host| {
            let held = host.held_until.as_deref().and_then(clock::parse_rfc3339).filter(|until| *until > now);
            let when = held.map_or_else(|| "now".to_owned(), |until| moments::relative(until, now));
            let name = names.get(&host.host).cloned().unwrap_or(host.host);
            vec![name, host.sources.to_string(), host.hour.to_string(), host.day.to_string(), when]
        });
        print_line("")?;
        print_table(&["scope", "sources", "last hour", "last day", "next request"], rows.collect())?;
        if n_more > 0 {
            crate::note(&format!("and {n_more} more (`--json` has them)"));
        }
        Ok(())
    }
}

/// Addresses of scopes of one URL each, which are named by a fingerprint.
fn names(backend: &dyn Backend, hosts: &[HostRecord]) -> Result<BTreeMap<String, String>, Failure> {
    if !hosts.iter().any(|host| host.host.starts_with("url ")) {
        return Ok(BTreeMap::new());
    }
    let sources = backend.sources(&SourceFilter::default())?;
    let named = sources.iter().filter_map(|source| {
        let url = url::Url::parse(&source.url).ok()?;
        Some((Scope::Url.key(&url), source.shown_url()))
    });
    Ok(named.collect())
}
