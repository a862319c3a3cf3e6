//! A day of an engine over virtual time, and the text that it becomes: what was stored and what the web was asked, in the order of
//! time, and what users do in between. Tells what happened and judges nothing.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use dunlin_core::Time;
use dunlin_engine::journal::{ProbeFigures, finite_value};
use dunlin_engine::queries::rehearse;
use dunlin_engine::simulated::Simulation;
use dunlin_engine::{EngineStats, Pace, Settings, SourceExplanation, explain_stored};
use dunlin_store::{
    ChangeQuery, Cursor, DecisionId, DecisionQuery, Health, NewSource, ObservationId, ObservationQuery,
    Outcome, QueryId, ResultCursor, ResultFilter, SourceEdit, SourceId, SourceQuery, SourceState, Store,
    VersionQuery,
};
use serde_json::Value;

use super::check;
use super::town::Town;
use crate::fixtures::{Ailing, TestStore, settings, test_store};
use crate::web::{START, at};

/// How to read the lines, at the head of each text.
const LEGEND: &str = "\
# Times are hours, minutes and seconds since the start. `asks`: a request, and its answer. `probe`: what came of one, why it was
# made, and what it was worth of what it had to be worth. `tells`: a message, and between when and when it happened. `is`: the
# state of a source. `result`, `miss`: of a query. Lines with `*` are what a user does, or asks.
";

/// How often states are looked at.
const STEP: i64 = 300;
/// More than any day has.
const ALL: u32 = 100_000;

/// A day under way.
pub(super) struct Day {
    name: &'static str,
    pub(super) test_store: TestStore,
    disk: Arc<Ailing>,
    run: Option<Simulation<Town>>,
    settings: Settings,
    text: String,
    /// What has happened and is not told yet.
    lines: Vec<(Time, u8, String)>,
    names: BTreeMap<SourceId, String>,
    queries: BTreeMap<QueryId, String>,
    states: BTreeMap<SourceId, SourceState>,
    reasons: BTreeMap<(SourceId, u64), String>,
    observed: Option<ObservationId>,
    decided: Option<DecisionId>,
    told: Cursor,
    captured: ResultCursor,
    missed: ResultCursor,
    n_asked: usize,
    seconds: i64,
}

impl Day {
    /// Begins with nothing watched: ticks of five seconds, a probe a minute, gaps of a host of ten seconds, of a source of two
    /// minutes to an hour.
    pub(super) fn new(
        name: &'static str,
        about: &str,
        town: Town,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let mut settings = settings();
        settings.chronon = Duration::from_secs(5);
        settings.shortest_gap = Duration::from_mins(2);
        settings.longest_gap = Duration::from_hours(1);
        settings.budget = Pace { per_second: 1.0 / 60.0 };
        change(&mut settings);
        let test_store = test_store();
        let disk = Ailing::new(&test_store.store);
        let run = Simulation::new(disk.clone(), settings.clone(), town, at(0)).unwrap();
        Self {
            name,
            test_store,
            disk,
            run: Some(run),
            settings,
            text: format!("# {about}\n{LEGEND}\n"),
            lines: Vec::new(),
            names: BTreeMap::new(),
            queries: BTreeMap::new(),
            states: BTreeMap::new(),
            reasons: BTreeMap::new(),
            observed: None,
            decided: None,
            told: Cursor::START,
            captured: ResultCursor::START,
            missed: ResultCursor::START,
            n_asked: 0,
            seconds: 0,
        }
    }

    pub(super) fn run(&mut self) -> &mut Simulation<Town> {
        self.run.as_mut().unwrap()
    }

    fn store(&self) -> &dyn Store {
        &*self.test_store.store
    }

    pub(super) fn id(&self, name: &str) -> SourceId {
        *self.names.iter().find(|(_, own)| *own == name).unwrap().0
    }

    fn query_id(&self, name: &str) -> QueryId {
        let of_name = self.queries.iter().find(|(_, own)| *own == name);
        *of_name.unwrap_or_else(|| panic!("no query {name}:\n{}", self.text)).0
    }

    /// Writes down what a user does.
    pub(super) fn note(&mut self, what: &str) {
        self.catch_up();
        let now = self.run().clock();
        writeln!(self.text, "{} * {what}", written(now)).unwrap();
    }

    pub(super) fn add(&mut self, name: &str, source: NewSource) {
        self.note(&format!("adds {name}: {} {}", source.kind, source.url));
        let id = self.run().add_source(source).unwrap();
        self.names.insert(id, name.to_owned());
    }

    pub(super) fn edit(&mut self, name: &str, what: &str, edit: SourceEdit) {
        self.note(&format!("edits {name}: {what}"));
        let id = self.id(name);
        self.run().edit_source(id, edit).unwrap();
    }

    pub(super) fn pause(&mut self, name: &str, is_paused: bool) {
        self.note(&format!("{} {name}", if is_paused { "pauses" } else { "resumes" }));
        let paused = Some(is_paused.then(|| self.run().clock()));
        let id = self.id(name);
        self.run().edit_source(id, SourceEdit { paused, ..SourceEdit::default() }).unwrap();
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.note(&format!("removes {name}"));
        let id = self.id(name);
        if let Err(error) = self.run().remove_source(id) {
            self.note(&format!("is refused: {error}"));
        }
    }

    pub(super) fn probe(&mut self, name: &str) {
        let id = self.id(name);
        let granted = self.run().probe_now(id);
        self.note(&format!("asks for a probe of {name}: {granted:?}"));
    }

    pub(super) fn set_budget(&mut self, per_second: f64) {
        self.note(&format!("sets the budget to {per_second:.4} a second"));
        self.run().set_budget(Pace { per_second });
    }

    /// Installs a query; its name is the word after QUERY.
    pub(super) fn query(&mut self, text: &str) {
        self.note(&format!("installs {text}"));
        match self.run().add_query(text) {
            Ok(id) => {
                let name = text.split_whitespace().nth(1).unwrap();
                self.queries.insert(id, name.to_owned());
                self.name_sources();
            }
            Err(error) => {
                let error = error.to_string();
                self.note(&format!("is refused: {}", error.lines().next().unwrap_or_default()));
            }
        }
    }

    pub(super) fn edit_query(&mut self, name: &str, text: &str) {
        self.note(&format!("edits {name}: {text}"));
        let id = self.query_id(name);
        self.run().edit_query(id, text).unwrap();
        self.name_sources();
    }

    pub(super) fn pause_query(&mut self, name: &str, is_paused: bool) {
        self.note(&format!("{} {name}", if is_paused { "pauses" } else { "resumes" }));
        let id = self.query_id(name);
        self.run().pause_query(id, is_paused).unwrap();
    }

    pub(super) fn remove_query(&mut self, name: &str) {
        self.note(&format!("removes {name}"));
        let id = self.query_id(name);
        self.run().remove_query(id).unwrap();
    }

    /// Sources that queries have added go by their addresses.
    fn name_sources(&mut self) {
        for source in self.store().sources(&SourceQuery::first(ALL)).unwrap() {
            self.names.entry(source.id).or_insert(source.spec.url);
        }
    }

    /// Lets time pass up to a second of the day.
    pub(super) fn until(&mut self, seconds: i64) {
        while self.seconds < seconds {
            self.seconds = (self.seconds + STEP).min(seconds);
            let end = at(self.seconds);
            self.run().run_until(end);
            self.catch_up();
        }
    }

    /// Ends the process, and starts another one so many seconds later.
    pub(super) fn restart(&mut self, is_killed: bool, after: i64) {
        self.note(if is_killed { "kills the service" } else { "stops the service" });
        let run = self.run.take().unwrap();
        let town = if is_killed { run.kill() } else { run.stop() };
        self.seconds += after;
        let start = at(self.seconds);
        self.run = Some(Simulation::new(self.disk.clone(), self.settings.clone(), town, start).unwrap());
        self.note("starts it again");
    }

    /// Nothing can be written from now on, or all again.
    pub(super) fn fill_disk(&mut self, is_full: bool) {
        self.note(if is_full { "fills the disk" } else { "makes room on the disk" });
        self.disk.is_full.store(is_full, Ordering::Relaxed);
    }

    /// What a query would have captured of what is stored by now.
    pub(super) fn rehearse(&mut self, text: &str) {
        let now = self.run().clock();
        let rehearsal = match rehearse(text, self.store(), &self.settings, now) {
            Ok(rehearsal) => rehearsal,
            Err(error) => {
                return self
                    .note(&format!("rehearses {text}: {}", error.to_string().lines().next().unwrap()));
            }
        };
        let span = rehearsal.span.map(|(from, until)| format!("{} to {}", written(from), written(until)));
        self.note(&format!(
            "rehearses {text}: {}, unknown {:?}, {} instances, {} results, {} silent, {} missed, cut {}",
            span.as_deref().unwrap_or("-"),
            rehearsal.unknown,
            rehearsal.n_instances,
            rehearsal.n_results,
            rehearsal.n_silent,
            rehearsal.n_missed,
            rehearsal.is_cut
        ));
        for result in rehearsal.results {
            write!(self.text, "    would tell at {}:", written(result.at)).unwrap();
            for (name, source, version, items) in result.parts {
                let (source, version) = (self.name(source), version.map_or(0, |version| version.0));
                write!(self.text, " {name} of {source} version {version} {items}").unwrap();
            }
            self.text.push('\n');
        }
        for miss in rehearsal.misses {
            writeln!(self.text, "    would miss {} of {}", miss.name, written(miss.began)).unwrap();
        }
    }

    /// What is said of a source while no service runs.
    pub(super) fn explain_stored(&mut self, name: &str) {
        let (id, now) = (self.id(name), self.run().clock());
        let told = explain_stored(self.store(), &self.settings, id, now).unwrap();
        self.tell_explanation(&format!("asks about {name} without the service"), told);
    }

    pub(super) fn set_clock(&mut self, seconds: i64) {
        self.note(&format!("sets the clock by {seconds} seconds"));
        self.run().set_clock(seconds);
    }

    /// What is said of a source when somebody asks.
    pub(super) fn explain(&mut self, name: &str) {
        self.catch_up();
        let id = self.id(name);
        match self.run().explain(id) {
            Ok(told) => self.tell_explanation(&format!("asks about {name}"), told),
            Err(error) => self.note(&format!("asks about {name}: {error}")),
        }
    }

    fn tell_explanation(&mut self, what: &str, told: SourceExplanation) {
        let when = |time: Option<Time>| time.map_or("-".to_owned(), written);
        let queue = told.queue_position.map(|own| format!("{} others, by {}", own.others, when(own.by)));
        let hold = told.hold.map(|hold| format!("{} until {}", hold.reason, written(hold.until)));
        let line = format!(
            "{what}: {:?}, last probe {}, last failure {}, not before {}, next {} ({:?}), worth {} of {:.2}, queue {}, hold {}, \
             trouble {}, evidence {:.1}, {:.2} changes in the next hour",
            told.status,
            when(told.last_probe),
            when(told.last_failure),
            when(told.not_before),
            when(told.next_probe),
            told.reason,
            told.value.map_or("?".to_owned(), |value| format!("{value:.2}")),
            told.price,
            queue.as_deref().unwrap_or("-"),
            hold.as_deref().unwrap_or("-"),
            told.trouble.as_deref().unwrap_or("-"),
            told.forecast.evidence,
            told.forecast.ahead.first().map_or(0.0, |hour| hour.expected),
        );
        self.note(&line);
        for part in told.suppressed {
            let line = format!(
                "    not told {} times, last {}: {} `{}` -> `{}`",
                part.times,
                written(part.last()),
                part.why,
                part.old,
                part.new
            );
            writeln!(self.text, "{line}").unwrap();
        }
    }

    /// How a query is doing when somebody asks.
    pub(super) fn explain_query(&mut self, name: &str) {
        self.catch_up();
        let id = self.query_id(name);
        let Some(report) = self.run().explain_query(id) else {
            return self.note(&format!("asks about {name}: not installed"));
        };
        let when = |time: Option<Time>| time.map_or("-".to_owned(), written);
        self.note(&format!("asks about {name}: next {}, {} open", when(report.next_begin), report.n_open));
        for part in report.waiting {
            let (began, from, until) = (written(part.began), written(part.from), written(part.until));
            writeln!(self.text, "    waits for {} from {from} until {until}, begun {began}", part.name)
                .unwrap();
        }
        for part in report.reads {
            let health = part.state.map_or("-".to_owned(), |state| format!("{:?}", state.health));
            let (probe, capture) = (when(part.last_probe), when(part.last_capture));
            writeln!(
                self.text,
                "    reads {} as {}: {health}, last probe {probe}, last capture {capture}",
                self.names[&part.source], part.name
            )
            .unwrap();
        }
        for own in report.relevant {
            let tracked = when(own.tracked_until);
            writeln!(
                self.text,
                "    {} is relevant to {}: {:.2}, weighs {:.2}, followed closely until {tracked}",
                self.names[&own.source], own.watch, own.relevance, own.weight
            )
            .unwrap();
        }
    }

    /// Counters.
    pub(super) fn stats(&mut self) {
        let stats = self.run().stats();
        self.note(&format!("asks for figures: {}", figures(stats)));
        let health = self.run().health();
        let (patience, store, network) = (health.patience, health.store_trouble, health.network_trouble);
        writeln!(self.text, "    patience {patience:?}, store {store:?}, network {network:?}").unwrap();
    }

    /// Collects what was stored and asked since the last time, and tells it in order.
    fn catch_up(&mut self) {
        self.asked();
        self.decided();
        self.observed();
        self.told();
        self.of_queries();
        self.states();
        let mut lines = std::mem::take(&mut self.lines);
        lines.sort_by_key(|(at, kind, _)| (*at, *kind));
        for (at, _, line) in lines {
            writeln!(self.text, "{} {line}", written(at)).unwrap();
        }
    }

    fn asked(&mut self) {
        let n_asked = self.n_asked;
        let log = self.run().world().log.split_off(0);
        for (at, url, said) in &log[n_asked..] {
            self.lines.push((*at, 0, format!("asks {url}: {said}")));
        }
        self.n_asked = log.len();
        self.run().world().log = log;
    }

    fn name(&self, source: SourceId) -> String {
        self.names.get(&source).cloned().unwrap_or_else(|| source.to_string())
    }

    fn decided(&mut self) {
        let query = DecisionQuery { after: self.decided, ..DecisionQuery::first(ALL) };
        for decision in self.store().decisions(&query).unwrap() {
            self.decided = Some(decision.id);
            let (Some(source), Some(figures)) =
                (decision.decision.source, ProbeFigures::read(&decision.decision))
            else {
                continue;
            };
            let value = finite_value(figures.value).map_or("?".to_owned(), |value| format!("{value:.2}"));
            let reason = format!("{} {value} of {:.2}", decision.decision.reason, figures.price);
            self.reasons.insert((source, figures.probe.0), reason);
        }
    }

    fn observed(&mut self) {
        let query = ObservationQuery { source: None, after: self.observed, limit: ALL };
        for observation in self.store().observations(&query).unwrap() {
            self.observed = Some(observation.id);
            let name = self.name(observation.source);
            // The journal comes a little later than what it explains.
            let reason = self.reasons.remove(&(observation.source, observation.probe.0));
            let reason = reason.unwrap_or_else(|| "not in the journal yet".to_owned());
            let outcome = match observation.outcome {
                Outcome::Changed => "changed".to_owned(),
                Outcome::Unchanged => "unchanged".to_owned(),
                Outcome::Failed { fault, reason } => format!("failed ({fault:?}): {reason}"),
            };
            self.lines.push((observation.at, 1, format!("probe {name} ({reason}): {outcome}")));
        }
    }

    fn told(&mut self) {
        let query = ChangeQuery { after: self.told, source: None, limit: ALL };
        for change in self.store().changes(&query).unwrap() {
            self.told = change.cursor;
            let name = self.name(change.source);
            let after = change.found.happened_after.map_or("-".to_owned(), written);
            let before = written(change.found.happened_before);
            let version = if change.version.is_some() { "" } else { ", no version" };
            let line = format!(
                "    tells {name}: {} `{}` (between {after} and {before}{version})",
                change.found.kind, change.found.summary
            );
            self.lines.push((change.detected, 2, line));
        }
    }

    fn of_queries(&mut self) {
        let filter = |after| ResultFilter { after, query: None, limit: ALL };
        for stored in self.store().results(&filter(self.captured)).unwrap() {
            self.captured = stored.cursor;
            let name = self.queries.get(&stored.query).cloned().unwrap_or_default();
            let mut line = format!("    result of {name}:");
            for part in &stored.result.parts {
                let (source, at) = (self.name(part.source), written(part.at));
                let version = if part.version.is_some() { "" } else { ", no version" };
                write!(line, " {} of {source} at {at}{version} {}", part.name, items_in(&part.items))
                    .unwrap();
            }
            self.lines.push((stored.result.at, 3, line));
        }
        for stored in self.store().misses(&filter(self.missed)).unwrap() {
            self.missed = stored.cursor;
            let name = self.queries.get(&stored.query).cloned().unwrap_or_default();
            let mut line = format!("    miss of {name}, begun {}:", written(stored.miss.began));
            let parts: Vec<Value> = serde_json::from_str(&stored.miss.parts).unwrap();
            for part in parts {
                let time = |of: &str| written(Time::from_micros(part[of].as_i64().unwrap()));
                write!(
                    line,
                    " {} from {} until {}: {}, {}",
                    part["name"],
                    time("from"),
                    time("until"),
                    part["why"],
                    part["message"]
                )
                .unwrap();
            }
            self.lines.push((stored.miss.at, 3, line));
        }
    }

    fn states(&mut self) {
        let sources = self.store().sources(&SourceQuery::first(ALL)).unwrap();
        for source in sources {
            if self.states.get(&source.id) == Some(&source.state) {
                continue;
            }
            let state = source.state;
            if state.health == Health::New {
                continue;
            }
            let line = format!(
                "    {} is {:?} since {}: {} (told {:?})",
                self.name(source.id),
                state.health,
                written(state.since),
                state.reason,
                state.announced
            );
            let now = at(self.seconds);
            self.lines.push((now, 4, line));
            self.states.insert(source.id, state);
        }
    }

    /// Ends the day: what is left of it, and the comparison.
    #[track_caller]
    pub(super) fn end(mut self) {
        self.stats();
        let run = self.run.take().unwrap();
        let town = run.stop();
        let store = self.test_store.store.clone();
        self.run =
            Some(Simulation::new(store.clone(), self.settings.clone(), town, at(self.seconds)).unwrap());
        let names: Vec<String> = self.names.values().cloned().collect();
        for name in names {
            if self.store().source(self.id(&name)).unwrap().is_some() {
                self.explain_stored(&name);
            }
        }
        self.catch_up();
        self.text.push_str("\nWhat is stored at the end:\n");
        let mut scopes: Vec<String> = store.politeness().unwrap().into_iter().map(|own| own.scope).collect();
        scopes.sort_unstable();
        writeln!(self.text, "hosts and sites: {}", scopes.join(", ")).unwrap();
        for source in store.sources(&SourceQuery::first(ALL)).unwrap() {
            let query = VersionQuery { source: source.id, before: None, limit: ALL };
            let n_versions = store.versions(&query).unwrap().len();
            let mut notes: Vec<String> =
                store.notes(source.id).unwrap().into_iter().map(|note| note.name).collect();
            notes.sort_unstable();
            let name = self.name(source.id);
            writeln!(self.text, "{name}: {n_versions} versions, notes: {}", notes.join(", ")).unwrap();
        }
        for cei in store.ceis(&dunlin_store::CeiQuery { after: None, state: None, limit: ALL }).unwrap() {
            let of = |own: &dunlin_store::StoredInterval| {
                let (from, until) = (written(own.interval.start), written(own.interval.finish));
                let captured = if own.captured.is_some() { " captured" } else { "" };
                format!("{} {from}-{until}{captured}", self.name(own.interval.source))
            };
            let intervals: Vec<String> = cei.intervals.iter().map(of).collect();
            writeln!(
                self.text,
                "CEI {}: {:?}, needs {} of {}, ended {}",
                cei.id.0,
                cei.state,
                cei.need,
                intervals.join(", "),
                cei.ended.map_or("-".to_owned(), written)
            )
            .unwrap();
        }
        check(self.name, &self.text);
    }
}

/// A time of the day.
pub(super) fn written(time: Time) -> String {
    let micros = time.micros() - START * 1_000_000;
    let sign = if micros < 0 { "-" } else { "" };
    let tenths = micros.unsigned_abs() / 100_000;
    let (hours, minutes, seconds) = (tenths / 36_000, tenths / 600 % 60, tenths / 10 % 60);
    format!("{sign}{hours:02}:{minutes:02}:{seconds:02}.{}", tenths % 10)
}

/// The counters that are not 0.
pub(super) fn figures(stats: EngineStats) -> String {
    let all = format!("{stats:?}");
    let all = all.trim_start_matches("EngineStats { ").trim_end_matches(" }").split(", ");
    all.filter(|figure| !figure.ends_with(": 0")).collect::<Vec<_>>().join(", ")
}

/// What a part captured, as it is told.
fn items_in(items: &str) -> String {
    let items: Vec<Value> = serde_json::from_str(items).unwrap();
    let items: Vec<String> = items.iter().map(Value::to_string).collect();
    format!("[{}]", items.join(", "))
}
