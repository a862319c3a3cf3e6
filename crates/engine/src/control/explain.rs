//! What control reports on request: about a source, and about the budget. Changes nothing.

use std::sync::Arc;
use std::time::Duration;

use dunlin_core::Time;
use dunlin_net::politeness::ScopedUrl;
use dunlin_sched::model::Model;
use dunlin_sched::scheduler::{self, Explanation, Reason};
use dunlin_store::Source;

use super::Control;
use crate::journal::finite_value;
use crate::{
    BudgetReport, ForecastSummary, Hold, HostUsage, HourlyForecast, QueuePosition, SourceExplanation,
    SourceStatus,
};

/// How many hours the forecast covers.
const HOURS: u32 = 24;
/// The most hosts that a report lists.
const MAX_HOSTS: usize = 100;

impl Control {
    /// Everything there is to say about a stored source.
    pub fn explain(&mut self, source: Source, now: Time) -> SourceExplanation {
        let index = self.sources.find(source.id);
        let known = index.and_then(|index| self.sources.get(index));
        let status = match known {
            None => SourceStatus::Unusable { reason: "it is not known to the engine yet".to_owned() },
            Some(known) if !known.is_usable => {
                let problem = crate::recipe::interpret(&source.spec, &self.settings).err();
                SourceStatus::Unusable {
                    reason: problem.map_or_else(String::new, |problem| problem.to_string()),
                }
            }
            Some(known) if known.resource.is_none() => SourceStatus::Paused,
            Some(known) if known.is_being_probed => SourceStatus::Probing,
            Some(_) => SourceStatus::Watched,
        };
        let (last_probe, not_before) =
            known.map_or((None, None), |known| (known.last_probe, known.not_before));
        let resource = known.and_then(|known| known.resource);
        let address = resource.and_then(|resource| self.resources.get(resource));
        let address = address.map(|resource| Arc::clone(&resource.address));
        let scheduler = self.scheduler.scheduler();
        let explanation = resource.and_then(|resource| scheduler.explain(resource, now));
        let model = resource.zip(index).and_then(|(resource, index)| scheduler.model(resource, index));
        SourceExplanation {
            forecast: model
                .map_or_else(ForecastSummary::default, |model| forecast_summary(model, last_probe, now)),
            value: explanation.as_ref().map_or(Some(0.0), |explanation| finite_value(explanation.value)),
            price: explanation.as_ref().map_or(self.price, |explanation| explanation.price),
            next_probe: explanation.as_ref().and_then(|explanation| explanation.next_probe),
            queue_position: explanation
                .as_ref()
                .and_then(|explanation| self.queue_position(explanation, now)),
            trouble: self.trouble.store.clone().or_else(|| self.trouble.network()),
            reason: explanation.as_ref().map_or(Reason::Worth, |explanation| explanation.reason),
            hold: address.and_then(|address| self.held(&address, now)),
            not_before: not_before.filter(|at| *at > now),
            source,
            status,
            last_probe,
            last_failure: None,
            suppressed: Vec::new(),
        }
    }

    /// How many others a due source has to wait for. A requested one does not wait.
    fn queue_position(&self, explanation: &Explanation, now: Time) -> Option<QueuePosition> {
        // The budget may allow nothing for a moment, which is part of waiting.
        let afforded = explanation.holds.iter().find_map(|hold| match hold {
            scheduler::Hold::Budget { until } => *until,
            _ => None,
        });
        let soon = now.plus(self.settings.chronon).max(afforded.unwrap_or(now));
        let is_due = explanation.next_probe.is_some_and(|at| at <= soon);
        let stats = self.scheduler.scheduler().stats();
        let others = (stats.ready + stats.waiting_on_hosts).saturating_sub(1) as u64;
        if !is_due || others == 0 || explanation.reason == Reason::Requested {
            return None;
        }
        let seconds = (others + 1) as f64 / self.budget.per_second;
        let wait = Duration::try_from_secs_f64(seconds).ok();
        Some(QueuePosition { others, by: wait.map(|wait| now.plus(wait)) })
    }

    fn held(&mut self, url: &ScopedUrl, now: Time) -> Option<Hold> {
        if let Some(until) = self.admission.closed_until(url, now) {
            return Some(Hold { until, reason: "the site's robots.txt cannot be read".to_owned() });
        }
        self.admission.scope_hold(url, now).map(|(until, reason)| Hold { until, reason })
    }

    /// How the budget is used.
    pub fn budget(&self, now: Time) -> BudgetReport {
        let mut n_sources = vec![0_u32; self.hosts.n_indices()];
        for (_, resource) in self.resources.iter() {
            n_sources[resource.host.0 as usize] += resource.sources().count() as u32;
        }
        let mut hosts: Vec<HostUsage> = self
            .hosts
            .iter()
            .map(|(index, host)| {
                let (hour, day) = host.used.used(now);
                let sources = n_sources[index.0 as usize];
                let held_until = self.scheduler.scheduler().held_until(index).filter(|until| *until > now);
                (hour, day, sources, held_until, host)
            })
            .filter(|(_, day, _, held_until, _)| *day > 0 || held_until.is_some())
            .map(|(hour, day, sources, held_until, host)| HostUsage {
                scope: host.scope.to_string(),
                hour,
                day,
                sources,
                held_until,
            })
            .collect();
        hosts.sort_by(|a, b| b.day.cmp(&a.day).then_with(|| a.scope.cmp(&b.scope)));
        hosts.truncate(MAX_HOSTS);
        BudgetReport {
            pace: self.budget,
            host_pace: self.settings.host_budget,
            price: self.price,
            used: self.usage.used(now),
            in_flight: self.in_flight.len() as u32,
            max_in_flight: self.settings.max_active(self.budget),
            hosts,
        }
    }
}

/// What a model forecasts for the hours to come.
pub(crate) fn forecast_summary(model: &Model, last_probe: Option<Time>, now: Time) -> ForecastSummary {
    const HOUR: Duration = Duration::from_hours(1);
    let forecast = model.forecast();
    let ahead = (0..HOURS).map(|hour| {
        let from = now.plus(HOUR * hour);
        HourlyForecast { from, expected: forecast.expected(from, from.plus(HOUR)) }
    });
    ForecastSummary {
        rate: forecast.segment(now).rate,
        ahead: ahead.collect(),
        evidence: forecast.evidence(),
        hope: forecast.hope(),
        chance: last_probe.map(|last| forecast.chance_since(last, now)),
    }
}
