//! The scheduler of the service as simulations run it: all sources on one host that does not mind, and a budget that is granted
//! chronon by chronon. What is told to it of changes and needs, and what its probes show, is the simulations' business.

use std::collections::VecDeque;
use std::time::Duration;

use dunlin_core::{Allowance, ResourceIdx, SourceIdx, Time};
use dunlin_sched::model::{Model, Parts, Prior};
use dunlin_sched::scheduler::{HostIdx, HostTerms, Input, Pace, Scheduler, Settings, SourceTerms, Strategy};

/// The host of all sources.
pub(crate) const HOST: HostIdx = HostIdx(0);

/// A scheduler that begins at `now` and knows these sources, by their terms, and nothing about them. It has no budget yet.
pub(crate) fn introduce(
    chronon: Duration,
    strategy: Strategy,
    parts: Parts,
    now: Time,
    sources: impl Iterator<Item = SourceTerms>,
) -> Scheduler {
    let settings = Settings { chronon, strategy, budget: Pace { per_second: 0.0 }, initial_price: None };
    let mut scheduler = Scheduler::new(settings);
    let terms = HostTerms { at_one_time: u32::MAX, budget: None };
    scheduler.apply(now, Input::Host { host: HOST, terms });
    for (source, terms) in (0..).map(SourceIdx).zip(sources) {
        let (resource, model) = (ResourceIdx(source.0), Model::of_parts(Prior::default(), parts));
        let (last_probe, not_before) = (None, None);
        scheduler.apply(now, Input::SourceAdded { resource, source, terms, model, last_probe, not_before });
    }
    scheduler
}

/// So many chronons say what the next ones will grant: grants may differ from one to the next.
const REMEMBERED: usize = 16;

/// Grants as a scheduler hears of them: the pace is their mean over the last chronons.
#[derive(Debug, Clone)]
pub(crate) struct Grants {
    chronon: Duration,
    last: VecDeque<f64>,
    told: f64,
}

impl Grants {
    pub(crate) fn new(chronon: Duration) -> Self {
        Self { chronon, last: VecDeque::with_capacity(REMEMBERED), told: 0.0 }
    }

    /// The chronon that is asked about at `now` grants this much.
    pub(crate) fn tell_pace(&mut self, scheduler: &mut Scheduler, now: Time, grant: f64) {
        self.last.truncate(REMEMBERED - 1);
        self.last.push_front(grant);
        // Equal grants have exactly their mean.
        let is_steady = self.last.iter().all(|own| *own == grant);
        let mean = if is_steady { grant } else { self.last.iter().sum::<f64>() / self.last.len() as f64 };
        if mean != self.told {
            self.told = mean;
            let per_second = mean / self.chronon.as_secs_f64();
            scheduler.apply(now, Input::Budget(Pace { per_second }));
        }
    }

    /// What can be spent at `now` is this allowance, whatever the pace has brought.
    pub(crate) fn tell_grant(scheduler: &mut Scheduler, now: Time, allowance: &Allowance) {
        scheduler.apply(now, Input::Granted { units: allowance.saved_up() });
    }
}
