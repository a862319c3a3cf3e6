//! WIC: probe the sources whose next probe is expected to be worth most.
//!
//! The papers' algorithm evaluates every source in every chronon. Here sources are ranked by a key that does
//! not change while they are silent: their value divided by ρ^now, one ranking per decay factor ρ (and per
//! probe cost, so that a ranking either fits the allowance or does not). Only sources that may have changed
//! just now or are probed are touched. Where a window or an uneven decay lets a value fall without
//! an event, the key is an upper bound, and the top of the ranking is re-evaluated before it is believed.

use std::collections::BTreeMap;

use dunlin_core::{Allowance, Chronon, Costs, Observation, Outcome, SourceIdx};

use super::heap::{HeapEntry, Positions};
use super::ranking::Ranking;
use super::{Arrival, Policy};
use crate::value::scaled::Scaled;
use crate::value::{Growth, PendingUtility, ValueModel};

/// The greedy expected-utility policy.
#[derive(Debug, Clone)]
pub struct Wic {
    models: Models,
    sources: Vec<Source>,
    classes: Vec<Class>,
    positions: Positions,
}

/// Side by side, because every event needs both.
#[derive(Debug, Clone)]
struct Source {
    pending_utility: PendingUtility,
    /// What it is ranked by; zero while it is not.
    key: Scaled,
}

#[derive(Debug, Clone)]
enum Models {
    /// Every source the same; all are in class 0.
    Same(ValueModel),
    /// A model and a class for each.
    PerSource(Vec<(ValueModel, u32)>),
}

/// Sources whose values shrink at the same rate and whose probes cost the same.
#[derive(Debug, Clone)]
struct Class {
    ratio: f64,
    cost: f64,
    growth: Growth,
    ranking: Ranking,
}

impl Class {
    fn new(ratio: f64, cost: f64) -> Self {
        Self { ratio, cost, growth: Growth::new(ratio), ranking: Ranking::new() }
    }

    fn peek(&mut self, positions: &mut Positions, sources: &[Source]) -> Option<HeapEntry> {
        self.ranking.peek(positions, |source| sources[source.index()].key)
    }
}

impl Wic {
    /// WIC over `n_sources` sources that all have the same value model and cost 1.
    pub fn uniform(model: ValueModel, n_sources: usize) -> Self {
        Self::build(Models::Same(model), vec![Class::new(decay_of(&model), 1.0)], n_sources)
    }

    /// WIC over sources with a model each, and costs; value is then weighed per unit of cost.
    pub fn new(models: &[ValueModel], costs: &Costs) -> Self {
        let mut classes: Vec<Class> = Vec::new();
        let mut known: BTreeMap<(u64, u64), u32> = BTreeMap::new();
        let mut class_of = |ratio: f64, cost: f64| {
            *known.entry((ratio.to_bits(), cost.to_bits())).or_insert_with(|| {
                classes.push(Class::new(ratio, cost));
                classes.len() as u32 - 1
            })
        };
        let per_source = (0..).map(SourceIdx).zip(models);
        let per_source = per_source.map(|(source, model)| {
            let cost = costs.of(source);
            let per_cost = ValueModel { weight: model.weight / cost, ..*model };
            (per_cost, class_of(decay_of(model), cost))
        });
        let models_and_classes = per_source.collect();
        Self::build(Models::PerSource(models_and_classes), classes, models.len())
    }

    fn build(models: Models, classes: Vec<Class>, n_sources: usize) -> Self {
        Self {
            models,
            sources: vec![Source { pending_utility: PendingUtility::EMPTY, key: Scaled::ZERO }; n_sources],
            classes,
            positions: Positions::new(n_sources),
        }
    }

    fn model(&self, source: SourceIdx) -> (ValueModel, usize) {
        match &self.models {
            Models::Same(model) => (*model, 0),
            Models::PerSource(models) => {
                let (model, class) = models[source.index()];
                (model, class as usize)
            }
        }
    }

    /// Brings a source's place in the ranking up to date.
    fn rekey(&mut self, source: SourceIdx, now: Chronon) {
        let (model, class) = self.model(source);
        let key =
            self.sources[source.index()].pending_utility.key(&model, now, &mut self.classes[class].growth);
        self.set_key(source, class, key);
    }

    fn set_key(&mut self, source: SourceIdx, class: usize, key: Scaled) {
        let old = std::mem::replace(&mut self.sources[source.index()].key, key);
        self.classes[class].ranking.change(&mut self.positions, source, old, key);
    }

    /// The best source of a class, its key exact for `now`.
    fn fresh_top(&mut self, class: usize, now: Chronon) -> Option<HeapEntry> {
        loop {
            let top = self.classes[class].peek(&mut self.positions, &self.sources)?;
            if !self.sources[top.source.index()].pending_utility.key_may_fall() {
                return Some(top);
            }
            self.rekey(top.source, now);
            // Had its key fallen, another source may be at the top now.
            let again = self.classes[class].peek(&mut self.positions, &self.sources)?;
            if again.source == top.source && again.key == top.key {
                return Some(top);
            }
        }
    }

    /// The class whose best source is worth most among those that fit the allowance.
    fn best_class(&mut self, now: Chronon, allowance: &Allowance) -> Option<usize> {
        let mut best: Option<(usize, HeapEntry)> = None;
        for class in 0..self.classes.len() {
            if !allowance.fits(self.classes[class].cost) {
                continue;
            }
            let Some(top) = self.fresh_top(class, now) else { continue };
            let worth = top.key.times(Scaled::new(self.classes[class].ratio).power(now.get()));
            let candidate = HeapEntry { key: worth, source: top.source };
            if best.as_ref().is_none_or(|(_, held)| candidate.beats(held)) {
                best = Some((class, candidate));
            }
        }
        best.map(|(class, _)| class)
    }
}

/// The decay factor by which a model's values can be compared without touching them; 1 where there is none.
pub(crate) fn decay_of(model: &ValueModel) -> f64 {
    model.urgency.common_ratio().unwrap_or(1.0)
}

impl Policy for Wic {
    fn arrive(&mut self, now: Chronon, arrival: Arrival<'_>) {
        let Arrival::Change { source, probability } = arrival else { return };
        let (model, _) = self.model(source);
        self.sources[source.index()].pending_utility.expect(&model, now, probability);
        self.rekey(source, now);
    }

    fn choose(&mut self, now: Chronon, allowance: &mut Allowance, chosen: &mut Vec<SourceIdx>) {
        while let Some(class) = self.best_class(now, allowance) {
            let Some(top) = self.classes[class].peek(&mut self.positions, &self.sources) else { break };
            self.set_key(top.source, class, Scaled::ZERO);
            let (model, _) = self.model(top.source);
            // Values that have decayed below the smallest float are worth no probe; everything else in
            // this class is worth even less, and stays away until its next event.
            if self.sources[top.source.index()].pending_utility.value(&model, now) > 0.0 {
                allowance.spend(self.classes[class].cost);
                chosen.push(top.source);
            }
        }
    }

    fn observe(&mut self, observation: Observation) {
        match observation.outcome {
            Outcome::Read => self.sources[observation.source.index()].pending_utility = PendingUtility::EMPTY,
            Outcome::Failed => self.rekey(observation.source, observation.at),
        }
    }
}
