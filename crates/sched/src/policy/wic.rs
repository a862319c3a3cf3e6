//! WIC: probe the sources whose next look is expected to be worth most.
//!
//! The papers' algorithm evaluates every source in every chronon. Here sources are kept in heaps by a key
//! that does not change while they are silent: their value divided by ρ^now, one heap per decay factor ρ
//! (and per probe cost, so that a heap either fits the allowance or does not). Only sources that may have
//! changed just now or are probed are touched. Where a window or an uneven decay lets a value fall without
//! an event, the key is an upper bound, and the top of the heap is re-evaluated before it is believed.

use dunlin_core::{Allowance, Chronon, Costs, Observation, Outcome, SourceIdx};

use super::heap::{Entry, Positions, SourceHeap};
use super::{Arrival, Policy};
use crate::value::scaled::Scaled;
use crate::value::{Holding, ValueModel};

/// The greedy expected-utility policy.
#[derive(Debug, Clone)]
pub struct Wic {
    models: Models,
    holdings: Vec<Holding>,
    classes: Vec<Class>,
    positions: Positions,
}

#[derive(Debug, Clone)]
enum Models {
    /// Every source alike; all are in class 0.
    Same(ValueModel),
    /// A model and a class for each.
    PerSource(Vec<(ValueModel, u32)>),
}

/// Sources whose values shrink alike and whose probes cost the same.
#[derive(Debug, Clone)]
struct Class {
    ratio: f64,
    cost: f64,
    growth: Scaled,
    heap: SourceHeap,
}

impl Class {
    fn new(ratio: f64, cost: f64) -> Self {
        Self { ratio, cost, growth: Scaled::new(1.0 / ratio), heap: SourceHeap::default() }
    }
}

impl Wic {
    /// WIC over `n_sources` sources that are all valued alike and cost 1.
    pub fn uniform(model: ValueModel, n_sources: usize) -> Self {
        Self::build(Models::Same(model), vec![Class::new(decay_of(&model), 1.0)], n_sources)
    }

    /// WIC over sources with a model each, and costs; value is then weighed per unit of cost.
    pub fn new(models: &[ValueModel], costs: &Costs) -> Self {
        let mut classes: Vec<Class> = Vec::new();
        let mut class_of = |ratio: f64, cost: f64| {
            let found = classes.iter().position(|class| class.ratio == ratio && class.cost == cost);
            let idx = found.unwrap_or(classes.len());
            if found.is_none() {
                classes.push(Class::new(ratio, cost));
            }
            idx as u32
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
            holdings: vec![Holding::EMPTY; n_sources],
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

    /// Brings a source's place in its heap up to date.
    fn rekey(&mut self, source: SourceIdx, now: Chronon) {
        let (model, class) = self.model(source);
        let class = &mut self.classes[class];
        let key = self.holdings[source.index()].key(&model, now, class.growth);
        class.heap.set(&mut self.positions, source, key);
    }

    /// The best source of a class, its key exact for `now`.
    fn fresh_top(&mut self, class: usize, now: Chronon) -> Option<Entry> {
        loop {
            let top = self.classes[class].heap.peek()?;
            if !self.holdings[top.source.index()].key_may_fall() {
                return Some(top);
            }
            self.rekey(top.source, now);
            // Had its key fallen, another source may be at the top now.
            let again = self.classes[class].heap.peek()?;
            if again.source == top.source && again.key == top.key {
                return Some(top);
            }
        }
    }

    /// The class whose best source is worth most among those that fit the allowance.
    fn best_class(&mut self, now: Chronon, allowance: &Allowance) -> Option<usize> {
        let mut best: Option<(usize, Entry)> = None;
        for class in 0..self.classes.len() {
            if !allowance.fits(self.classes[class].cost) {
                continue;
            }
            let Some(top) = self.fresh_top(class, now) else { continue };
            let worth = top.key.times(Scaled::new(self.classes[class].ratio).power(now.get()));
            let candidate = Entry { key: worth, source: top.source };
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
        self.holdings[source.index()].expect(&model, now, probability);
        self.rekey(source, now);
    }

    fn choose(&mut self, now: Chronon, allowance: &mut Allowance, chosen: &mut Vec<SourceIdx>) {
        while let Some(class) = self.best_class(now, allowance) {
            let Some(top) = self.classes[class].heap.pop(&mut self.positions) else { break };
            let (model, _) = self.model(top.source);
            // Values that have decayed below the smallest float are worth no probe; everything else in
            // this class is worth even less, and stays away until its next event.
            if self.holdings[top.source.index()].value(&model, now) > 0.0 {
                allowance.spend(self.classes[class].cost);
                chosen.push(top.source);
            }
        }
    }

    fn observe(&mut self, observation: Observation) {
        match observation.outcome {
            Outcome::Read => self.holdings[observation.source.index()] = Holding::EMPTY,
            Outcome::Failed => self.rekey(observation.source, observation.at),
        }
    }
}
