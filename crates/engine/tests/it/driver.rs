//! Drives control by hand: one event after the other goes in, and commands come out. Writes are in the store at once,
//! unless the store is slow.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use dunlin_core::Fault;
use dunlin_engine::capture::{
    Failure, FollowUp, ProbeOutcome, ProbeResult, ProbeTask, SourceEnd, SourceResult,
};
use dunlin_engine::control::{Command, Control, Event, SiteHop, Write};
use dunlin_engine::memory::ProbeNote;
use dunlin_engine::source_config::{Activity, SourceConfig, WatchedSource};
use dunlin_engine::{Pace, Settings};
use dunlin_net::politeness::Outcome as PolitenessOutcome;
use dunlin_net::{Connections, CrossSiteRedirect, Fetched, Hop, StatusCode};
use dunlin_sched::model::{Evidence, Model};
use dunlin_sched::value::{Life, Urgency, ValueModel};
use dunlin_store::{
    Capture, Health, ObservationId, Outcome, ProbeId, Recorded, Repeated, ResourceId, SourceId, SourceState,
};
use url::Url;

use crate::web::at;

/// Control, and the commands it has issued.
pub(crate) struct ControlDriver {
    pub(crate) control: Control,
    pub(crate) settings: Arc<Settings>,
    /// The last probe of each source.
    probes: BTreeMap<SourceId, ProbeId>,
    resources: BTreeMap<(i64, String), i64>,
    /// All that fetchers were told, in order.
    pub(crate) probe_commands: Vec<(ProbeTask, SiteHop)>,
    /// What was last stored about scopes and sites.
    pub(crate) remembered: BTreeMap<String, Vec<u8>>,
    pub(crate) captures: Vec<Arc<Capture>>,
    /// What else was handed over to be written or read, in words.
    pub(crate) handed_over: Vec<String>,
    /// Whether writes are not confirmed.
    pub(crate) is_store_slow: bool,
    pub(crate) n_journals: usize,
    /// The redirects within its site of the next probe that ends.
    pub(crate) redirect_chain: Vec<Url>,
}

impl ControlDriver {
    /// A budget that is no limit, a gap of ten seconds, chronons of one.
    pub(crate) fn new(change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings {
            budget: Pace { per_second: 100.0 },
            shortest_gap: Duration::from_secs(20),
            longest_gap: Duration::from_secs(40),
            ..Settings::default()
        };
        settings.politeness.gap = Duration::from_secs(10);
        change(&mut settings);
        let settings = Arc::new(settings);
        Self {
            control: Control::new(Arc::clone(&settings), settings.budget, 0),
            settings,
            probes: BTreeMap::new(),
            resources: BTreeMap::new(),
            probe_commands: Vec::new(),
            remembered: BTreeMap::new(),
            captures: Vec::new(),
            handed_over: Vec::new(),
            is_store_slow: false,
            n_journals: 0,
            redirect_chain: Vec::new(),
        }
    }

    /// A source to watch, of which nothing is known, with a resource of its own.
    pub(crate) fn join(&mut self, seconds: i64, id: i64, url: &str) {
        let n_known = i64::try_from(self.resources.len()).unwrap();
        let resource = *self.resources.entry((id, url.to_owned())).or_insert(n_known);
        self.join_resource(seconds, id, resource, url);
    }

    /// What control needs to watch a source of which nothing is known.
    pub(crate) fn watched(&self, url: &str) -> WatchedSource {
        WatchedSource {
            url: Url::parse(url).unwrap().into(),
            value: ValueModel::new(Life::Overwrite, Urgency::Uniform),
            shortest_gap: self.settings.shortest_gap,
            longest_gap: self.settings.longest_gap,
            is_for_queries: false,
            model: Model::new(self.settings.prior),
            is_unnoted: false,
            last_probe: None,
            not_before: None,
            failures: 0,
        }
    }

    /// A source to watch, of which nothing is known.
    pub(crate) fn join_resource(&mut self, seconds: i64, id: i64, resource: i64, url: &str) {
        let watched = self.watched(url);
        let state = SourceState { health: Health::New, reason: String::new(), since: at(0), announced: None };
        let (id, resource) = (SourceId(id), ResourceId(resource));
        let config = SourceConfig { id, resource, state, activity: Activity::Watch(Box::new(watched)) };
        self.happen(seconds, Event::Configured(vec![config]));
    }

    /// The fetches that follow from an event: `robots URL`, `probe N`, with ` on` for a redirect to another site and ` anew`
    /// for a new connection.
    pub(crate) fn happen(&mut self, seconds: i64, event: Event) -> Vec<String> {
        let mut events = vec![event];
        let mut asked = Vec::new();
        while let Some(event) = events.pop() {
            let mut commands = Vec::new();
            self.control.handle(at(seconds), event, &mut commands);
            for command in commands {
                match command {
                    Command::FetchRobots { url } => asked.push(format!("robots {url}")),
                    Command::Probe { task, hop } => {
                        self.probe_commands.push((task.clone(), hop.clone()));
                        let sources = task.sources.iter().map(|own| own.source);
                        self.probes.extend(sources.clone().map(|source| (source, task.probe)));
                        let sources: Vec<String> = sources.map(|source| source.to_string()).collect();
                        let on = if hop.redirect.is_some() { " on" } else { "" };
                        let anew = if hop.connections == Connections::New { " anew" } else { "" };
                        asked.push(format!("probe {}{on}{anew}", sources.join("+")));
                    }
                    Command::Write(Write::Capture(capture)) => {
                        self.captures.push(Arc::clone(&capture));
                        self.remember(&capture.politeness);
                        if !self.is_store_slow {
                            events.push(stored(&capture));
                        }
                    }
                    Command::Write(Write::Politeness(scopes)) => self.remember(&scopes),
                    Command::Write(Write::Journal(_)) => {
                        self.n_journals += 1;
                        if !self.is_store_slow {
                            events.push(Event::JournalWritten);
                        }
                    }
                    Command::Write(write) => self.handed_over.push(in_words(&write)),
                }
            }
        }
        asked
    }

    fn remember(&mut self, scopes: &[dunlin_store::Politeness]) {
        for scope in scopes {
            self.remembered.insert(scope.scope.clone(), scope.state.clone());
        }
    }

    pub(crate) fn tick(&mut self, seconds: i64) -> Vec<String> {
        self.happen(seconds, Event::Tick { at: at(seconds) })
    }

    /// Ticks from one second to another, and what was asked for when.
    pub(crate) fn ticks(&mut self, from: i64, to: i64) -> Vec<(i64, String)> {
        (from..=to)
            .flat_map(|second| self.tick(second).into_iter().map(move |asked| (second, asked)))
            .collect()
    }

    /// Ticks until something is asked for, and when that is. Time does not go back, so nothing is ticked beyond it.
    pub(crate) fn next(&mut self, from: i64) -> (i64, String) {
        let mut asked = (from..from + 10_000).filter_map(|second| Some((second, self.tick(second).pop()?)));
        asked.next().expect("something is asked for")
    }

    /// A robots.txt answers.
    pub(crate) fn robots(&mut self, seconds: i64, url: &str, status: u16, text: &str) -> Vec<String> {
        let url = Url::parse(url).unwrap();
        let answer = http::Response::builder().status(status).body(Bytes::from(text.to_owned())).unwrap();
        let answer = Box::new(Ok(Fetched::from_response(answer, url.clone(), Vec::new())));
        self.happen(seconds, Event::Robots { url, answer })
    }

    /// The probe of a source has ended, with this outcome for its host.
    pub(crate) fn probed(
        &mut self,
        seconds: i64,
        id: i64,
        politeness_outcome: PolitenessOutcome,
        outcome: ProbeOutcome,
    ) -> Vec<String> {
        let end = self.end_of(seconds, id, outcome);
        self.ended(seconds, self.probe_of(id), politeness_outcome, vec![end])
    }

    /// What the last probe of a source came to for it.
    pub(crate) fn end_of(&self, seconds: i64, id: i64, outcome: ProbeOutcome) -> SourceEnd {
        let (stored, health) = match &outcome {
            ProbeOutcome::Observed { .. } => (Outcome::Unchanged, Some((Health::Well, String::new()))),
            ProbeOutcome::Failed(failure) => {
                (Outcome::Failed { fault: failure.fault, reason: failure.reason.clone() }, failure.health())
            }
        };
        let capture = Capture::bare(SourceId(id), self.probe_of(id), at(seconds), stored);
        let result = SourceResult {
            capture,
            outcome,
            note: ProbeNote::default(),
            is_noted: false,
            suppressed: Vec::new(),
            health,
            seen: Vec::new(),
            news: None,
        };
        result.into()
    }

    /// The last probe of a source.
    pub(crate) fn probe_of(&self, id: i64) -> ProbeId {
        self.probes[&SourceId(id)]
    }

    /// A probe has ended, with this outcome for its host and these for its sources.
    pub(crate) fn ended(
        &mut self,
        seconds: i64,
        probe: ProbeId,
        politeness_outcome: PolitenessOutcome,
        sources: Vec<SourceEnd>,
    ) -> Vec<String> {
        let probed = ProbeResult {
            probe,
            politeness_outcome,
            n_bytes: 0,
            redirect_chain: std::mem::take(&mut self.redirect_chain),
            fetch_state: None,
            sources,
        };
        self.happen(seconds, Event::Probed(Box::new(probed)))
    }

    pub(crate) fn seen(&mut self, seconds: i64, id: i64) -> Vec<String> {
        let outcome = ProbeOutcome::Observed { evidence: Evidence::Unchanged, follow_up: FollowUp::None };
        self.probed(seconds, id, PolitenessOutcome::Fine, outcome)
    }

    pub(crate) fn failed(
        &mut self,
        seconds: i64,
        id: i64,
        fault: Fault,
        politeness_outcome: PolitenessOutcome,
    ) -> Vec<String> {
        self.probed(seconds, id, politeness_outcome, ProbeOutcome::Failed(Failure::new(fault, "it fails")))
    }

    /// The probe of a source is redirected to another site.
    pub(crate) fn redirected(&mut self, seconds: i64, id: i64, from: &str, to: &str) -> Vec<String> {
        let hop = Hop { status: StatusCode::FOUND, from: Url::parse(from).unwrap() };
        let redirect = Box::new(CrossSiteRedirect::new(vec![hop], Url::parse(to).unwrap()));
        self.happen(seconds, Event::Redirected { probe: self.probes[&SourceId(id)], redirect })
    }

    pub(crate) fn probe(&self, id: i64) -> ProbeId {
        self.probes[&SourceId(id)]
    }
}

fn in_words(write: &Write) -> String {
    match write {
        Write::Notes { notes, until } => {
            let sources: Vec<i64> = notes.iter().map(|(source, _)| source.0).collect();
            format!("notes of {sources:?} until {until:?}")
        }
        Write::Steps { steps, .. } => format!("{} steps", steps.len()),
        Write::CeisEnded { ended, .. } => format!("the end of {ended:?}"),
        other => format!("{other:?}"),
    }
}

pub(crate) fn stored(capture: &Capture) -> Event {
    let observation = ObservationId(1);
    let recorded =
        Recorded { observation, version: None, cursors: None, last_result: None, repeated: Repeated::No };
    Event::Written { probe: capture.probe, source: capture.source, result: Ok(recorded) }
}
