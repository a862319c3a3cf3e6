//! The expected utility of a probe: of the changes since the last probe that have not been seen yet, carried from event to event.
//!
//! Under uniform or exponential urgency one number suffices (z numbers when the z-th later change removes
//! information), and an event costs O(1) (O(z)). A window over which nothing decays is a running sum, also
//! O(1): what comes in is added, what falls out is subtracted. Otherwise, with a decay that is not a
//! constant factor per chronon or a window on top of another loss, the changes since the last probe are
//! kept one by one, as long as they are worth anything. Between events nothing has to be touched.

use std::collections::VecDeque;

use dunlin_core::Chronon;

use super::scaled::Scaled;
use super::{Life, Urgency, ValueModel};

/// The changes expected on one source since its last probe.
#[derive(Debug, Clone, Default)]
pub struct PendingUtility(PendingState);

#[derive(Debug, Clone, Default)]
enum PendingState {
    #[default]
    Empty,
    /// Σ urgency·π·life at chronon `at`.
    Sum { at: Chronon, mass: f64 },
    /// The same, split by the number of later changes survived so far: `mass[q]` has seen q.
    Layers { at: Chronon, mass: Box<[f64]> },
    /// Everything within the window, each worth what it was worth at first.
    Window(Box<WindowSum>),
    /// One term per change.
    Terms(Box<TermList>),
}

#[derive(Debug, Clone, Default)]
struct WindowSum {
    sum: f64,
    /// What the sum is made of, oldest first.
    terms: VecDeque<(Chronon, f64)>,
}

#[derive(Debug, Clone, Default)]
struct TermList {
    at: Vec<Chronon>,
    /// Chance that the change happened and is still there; `layers` numbers per term, as in `Layers`.
    mass: Vec<f64>,
}

impl PendingUtility {
    /// Nothing seen, nothing expected.
    pub const EMPTY: Self = Self(PendingState::Empty);

    /// Whether nothing is expected to be there.
    pub const fn is_empty(&self) -> bool {
        matches!(self.0, PendingState::Empty)
    }

    /// Takes in that the source changes at `now` with this probability. Events come in order of time, at
    /// most one per chronon.
    pub fn expect(&mut self, model: &ValueModel, now: Chronon, probability: f64) {
        if self.is_empty() {
            self.0 = PendingState::empty_for(model, now);
        }
        match &mut self.0 {
            PendingState::Empty => {}
            PendingState::Sum { at, mass } => {
                let kept = *mass * model.urgency.at(now.since(*at));
                let survives = if model.life == Life::Append { 1.0 } else { 1.0 - probability };
                *mass = kept * survives + probability;
                *at = now;
            }
            PendingState::Layers { at, mass } => {
                let decay = model.urgency.at(now.since(*at));
                mass.iter_mut().for_each(|a| *a *= decay);
                one_more_change(mass, probability);
                mass[0] += probability;
                *at = now;
            }
            PendingState::Window(window) => window.expect(model, now, probability),
            PendingState::Terms(terms) => terms.expect(model, now, probability),
        }
    }

    /// g at `now`.
    pub fn value(&self, model: &ValueModel, now: Chronon) -> f64 {
        let sum = match &self.0 {
            PendingState::Empty => 0.0,
            PendingState::Sum { at, mass } => mass * model.urgency.at(now.since(*at)),
            PendingState::Layers { at, mass } => mass.iter().sum::<f64>() * model.urgency.at(now.since(*at)),
            PendingState::Window(window) => window.value(model, now),
            PendingState::Terms(terms) => {
                terms.alive(model, now).map(|(at, mass)| model.urgency.at(now.since(at)) * mass).sum()
            }
        };
        model.weight * sum
    }

    /// g at `now` divided by ρ^now, where ρ is the common decay factor behind `growth`. It stays the same
    /// number, bit for bit, until the next event or until something falls out of a window; it never rises
    /// without an event. Models without a common factor are not divided.
    pub(crate) fn key(&self, model: &ValueModel, now: Chronon, growth: &mut Growth) -> Scaled {
        let mut lifted = |mass: f64, at: Chronon| Scaled::new(mass).times(growth.until(at));
        let sum = match &self.0 {
            PendingState::Empty => Scaled::ZERO,
            PendingState::Sum { at, mass } => lifted(*mass, *at),
            PendingState::Layers { at, mass } => lifted(mass.iter().sum(), *at),
            PendingState::Window(window) => Scaled::new(window.value(model, now)),
            PendingState::Terms(_) if model.urgency.common_ratio().is_none() => {
                return Scaled::new(self.value(model, now));
            }
            PendingState::Terms(terms) => {
                terms.alive(model, now).fold(Scaled::ZERO, |sum, (at, mass)| sum.plus(lifted(mass, at)))
            }
        };
        sum.times(Scaled::new(model.weight))
    }

    /// Whether [`key`](Self::key) may have fallen although no event came.
    pub(crate) const fn key_may_fall(&self) -> bool {
        matches!(self.0, PendingState::Window(_) | PendingState::Terms(_))
    }
}

/// Powers of 1/ρ, by which values of different times are made comparable.
#[derive(Debug, Clone)]
pub(crate) struct Growth {
    per_chronon: Scaled,
    /// The power asked for last: nearly every event asks for that of the present chronon.
    last: (Chronon, Scaled),
}

impl Growth {
    pub(crate) fn new(ratio: f64) -> Self {
        let per_chronon = Scaled::new(1.0 / ratio);
        Self { per_chronon, last: (Chronon::FIRST, per_chronon) }
    }

    fn until(&mut self, at: Chronon) -> Scaled {
        if self.per_chronon == Scaled::ONE {
            return Scaled::ONE;
        }
        if self.last.0 != at {
            self.last = (at, self.per_chronon.power(at.get()));
        }
        self.last.1
    }
}

impl PendingState {
    fn empty_for(model: &ValueModel, at: Chronon) -> Self {
        let decays =
            !matches!(model.urgency, Urgency::Uniform | Urgency::Sliding(_) | Urgency::Exponential(0.0));
        let one_by_one = model.urgency.common_ratio().is_none() || model.horizon().is_some();
        match model.life.survives() {
            None if model.horizon().is_some() && !decays => Self::Window(Box::default()),
            _ if one_by_one => Self::Terms(Box::default()),
            None | Some(1) => Self::Sum { at, mass: 0.0 },
            Some(layers) => Self::Layers { at, mass: vec![0.0; layers].into() },
        }
    }
}

/// Moves every layer's mass one layer on with probability `probability`; the last layer's is lost.
fn one_more_change(mass: &mut [f64], probability: f64) {
    for q in (0..mass.len()).rev() {
        let from_below = if q == 0 { 0.0 } else { mass[q - 1] };
        mass[q] = (1.0 - probability) * mass[q] + probability * from_below;
    }
}

impl WindowSum {
    fn expect(&mut self, model: &ValueModel, now: Chronon, probability: f64) {
        // In order of time, so that the sum does not depend on when the source was probed: what fell out before
        // this chronon, what comes in, what falls out now.
        self.forget(|at| Self::is_over(model, at.plus(1), now));
        self.sum += probability;
        self.terms.push_back((now, probability));
        self.forget(|at| Self::is_over(model, at, now));
    }

    fn value(&self, model: &ValueModel, now: Chronon) -> f64 {
        let over = self.terms.iter().take_while(|(at, _)| Self::is_over(model, *at, now));
        let (n_over, sum) = over.fold((0, self.sum), |(n, sum), (_, mass)| (n + 1, sum - mass));
        // Rounding may leave something behind where nothing is left; the next probe clears it away.
        if n_over == self.terms.len() { 0.0 } else { sum }
    }

    fn is_over(model: &ValueModel, at: Chronon, now: Chronon) -> bool {
        model.horizon().is_some_and(|horizon| now.since(at) >= horizon)
    }

    fn forget(&mut self, is_over: impl Fn(Chronon) -> bool) {
        while let Some(&(_, mass)) = self.terms.front().filter(|(at, _)| is_over(*at)) {
            self.sum -= mass;
            self.terms.pop_front();
        }
    }
}

impl TermList {
    fn expect(&mut self, model: &ValueModel, now: Chronon, probability: f64) {
        let layers = model.life.survives().unwrap_or(1);
        let dead = self.dead(model, now);
        self.at.drain(..dead);
        self.mass.drain(..dead * layers);
        if model.life.survives().is_some() {
            self.mass.chunks_exact_mut(layers).for_each(|term| one_more_change(term, probability));
        }
        self.at.push(now);
        self.mass.push(probability);
        self.mass.resize(self.at.len() * layers, 0.0);
    }

    /// How many of the oldest terms are past the horizon.
    fn dead(&self, model: &ValueModel, now: Chronon) -> usize {
        model.horizon().map_or(0, |horizon| self.at.partition_point(|at| now.since(*at) >= horizon))
    }

    fn alive(&self, model: &ValueModel, now: Chronon) -> impl Iterator<Item = (Chronon, f64)> {
        let layers = model.life.survives().unwrap_or(1);
        let masses = self.mass.chunks_exact(layers).map(|term| term.iter().sum());
        self.at.iter().copied().zip(masses).skip(self.dead(model, now))
    }
}
