//! S-EDF, MRSF and M-EDF: the papers' policies for complex needs, each an order on the open intervals.
//!
//! All three values have the form a − s·T: S-EDF's falls by one per chronon for everybody (so the order
//! never changes), MRSF's changes only on a capture, and M-EDF's falls by the number of open intervals of
//! the CEI. Within a class of equal slope s the order by a is fixed, so there is one shelf per slope, with
//! one entry per live CEI, and a chronon costs as much as what happens in it.

use dunlin_core::{Allowance, Chronon, Costs, Observation, Outcome, SourceIdx};

use super::super::{Arrival, Policy};
use super::ledger::{EiRecord, Ledger, Slot, State};
use super::shelf::{Entry, Key, Shelf};

/// Which value orders the intervals, smaller first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Chronons left until the interval's own deadline.
    SEdf,
    /// Intervals of the CEI still to be captured.
    Mrsf,
    /// Chronons left over all intervals of the CEI still to be captured.
    MEdf,
}

/// Whether CEIs with a captured interval come before all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preemption {
    /// A newcomer may push aside a CEI that has been started.
    Preemptive,
    /// Started CEIs first.
    NonPreemptive,
}

/// A value that falls linearly: `a − slope·T`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Standing {
    a: u64,
    slope: u32,
}

impl Standing {
    fn at(self, now: Chronon) -> i128 {
        i128::from(self.a) - i128::from(self.slope) * i128::from(now.get())
    }
}

impl Order {
    /// The standing of one open interval of a CEI. `rest` are all intervals of the CEI that are neither
    /// captured nor lost, with whether they are open.
    fn standing(
        self,
        finish: Chronon,
        (rank, captured): (u32, u32),
        rest: impl Iterator<Item = (Chronon, Chronon, bool)>,
    ) -> Standing {
        match self {
            Self::SEdf => Standing { a: u64::from(finish.get()) + 1, slope: 1 },
            Self::Mrsf => Standing { a: u64::from(rank.saturating_sub(captured)), slope: 0 },
            Self::MEdf => rest.fold(Standing { a: 0, slope: 0 }, |sum, (start, finish, open)| {
                let own = if open { u64::from(finish.get()) + 1 } else { u64::from(finish.since(start)) + 1 };
                Standing { a: sum.a + own, slope: sum.slope + u32::from(open) }
            }),
        }
    }
}

/// One of the papers' policies.
#[derive(Debug, Clone)]
pub struct Ranked {
    order: Order,
    preemption: Preemption,
    costs: Costs,
    ledger: Ledger,
    /// Started CEIs first when non-preemptive; otherwise everything is in the first.
    groups: [Group; 2],
    listings: Vec<Listing>,
    /// CEIs whose entry was taken out while choosing.
    aside: Vec<Slot>,
    touched: Vec<Slot>,
    /// The chronon in which each source was last chosen.
    chosen_at: Vec<Option<Chronon>>,
}

/// One shelf per slope.
type Group = Vec<Shelf>;

/// The entry of a CEI that counts; all others with its slot are left-overs.
#[derive(Debug, Clone, Copy, Default)]
struct Listing {
    version: u32,
    /// Whether its entry has been taken out while choosing, so that it must be entered anew.
    aside: bool,
    /// Where its entry stands, while it does.
    place: Option<Place>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    standing: Standing,
    position: u32,
    group: Precedence,
}

/// Which group of CEIs comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Precedence {
    First,
    Last,
}

impl Ranked {
    /// Single-interval earliest deadline first.
    pub fn s_edf(preemption: Preemption, costs: Costs) -> Self {
        Self::new(Order::SEdf, preemption, costs)
    }

    /// Minimal residual stub first.
    pub fn mrsf(preemption: Preemption, costs: Costs) -> Self {
        Self::new(Order::Mrsf, preemption, costs)
    }

    /// Multi-interval earliest deadline first.
    pub fn m_edf(preemption: Preemption, costs: Costs) -> Self {
        Self::new(Order::MEdf, preemption, costs)
    }

    pub(crate) fn new(order: Order, preemption: Preemption, costs: Costs) -> Self {
        Self {
            order,
            preemption,
            costs,
            ledger: Ledger::default(),
            groups: [Group::new(), Group::new()],
            listings: Vec::new(),
            aside: Vec::new(),
            touched: Vec::new(),
            chosen_at: Vec::new(),
        }
    }

    /// Enters the CEI under its first open interval; its former entry no longer counts.
    fn list(&mut self, slot: Slot) {
        if self.listings.len() <= slot.0 as usize {
            self.listings.resize(slot.0 as usize + 1, Listing::default());
        }
        let place = self.place(slot, 0);
        let listing = &mut self.listings[slot.0 as usize];
        let aside = std::mem::replace(&mut listing.aside, false);
        if aside || listing.place != place {
            listing.version = listing.version.wrapping_add(1);
            self.enter(slot, place);
        }
    }

    /// Where the CEI stands with its first open interval at or after `position`.
    fn place(&self, slot: Slot, position: usize) -> Option<Place> {
        if !self.ledger.is_live(slot) {
            return None;
        }
        let (cei, eis) = (self.ledger.cei(slot), self.ledger.eis(slot));
        let position = position + eis[position..].iter().position(|ei| ei.state == State::Open)?;
        let rest = eis.iter().filter_map(|EiRecord { start, finish, state, .. }| match state {
            State::Waiting | State::Open => Some((*start, *finish, *state == State::Open)),
            State::Captured | State::Lost => None,
        });
        let standing = self.order.standing(eis[position].finish, (cei.profile_rank, cei.captured), rest);
        let last = self.preemption == Preemption::NonPreemptive && cei.captured == 0;
        let group = if last { Precedence::Last } else { Precedence::First };
        Some(Place { standing, position: position as u32, group })
    }

    fn enter(&mut self, slot: Slot, place: Option<Place>) {
        let listing = &mut self.listings[slot.0 as usize];
        listing.place = place;
        let Some(Place { standing: Standing { a, slope }, position, group }) = place else { return };
        let EiRecord { finish, line, .. } = self.ledger.eis(slot)[position as usize];
        let cei = self.ledger.cei(slot).idx.0;
        let group = &mut self.groups[group as usize];
        if group.len() <= slope as usize {
            group.resize_with(slope as usize + 1, Shelf::default);
        }
        let version = listing.version;
        group[slope as usize].push(Key { value: a, finish }, Entry { cei, line, slot, version, position });
    }

    fn list_touched(&mut self) {
        let mut touched = std::mem::take(&mut self.touched);
        touched.sort_unstable();
        touched.dedup();
        touched.drain(..).for_each(|slot| self.list(slot));
        self.touched = touched;
        self.sweep();
    }

    /// Left-overs are cleared out once they outnumber what counts.
    fn sweep(&mut self) {
        let entries: usize = self.groups.iter().flatten().map(Shelf::len).sum();
        if entries > 2 * self.ledger.n_live() + 1_024 {
            let listings = &self.listings;
            for shelf in self.groups.iter_mut().flatten() {
                shelf.retain(|entry| counts(listings, entry));
            }
        }
    }

    /// Takes out the entry that comes next in the walk.
    fn next(&mut self, now: Chronon) -> Option<Entry> {
        let listings = &self.listings;
        self.groups.iter_mut().find_map(|group| {
            let mut best = None;
            for (slope, shelf) in (0u32..).zip(group.iter_mut()) {
                let Some((Key { value, finish }, entry)) = shelf.peek(now, |entry| counts(listings, entry))
                else {
                    continue;
                };
                let place = (Standing { a: value, slope }.at(now), finish, entry.cei, entry.line);
                if best.is_none_or(|(held, _, _)| place < held) {
                    best = Some((place, slope, entry));
                }
            }
            let (_, slope, entry) = best?;
            group[slope as usize].pop();
            Some(entry)
        })
    }

    fn is_chosen(&mut self, source: SourceIdx, now: Chronon) -> bool {
        if self.chosen_at.len() <= source.index() {
            self.chosen_at.resize(source.index() + 1, None);
        }
        self.chosen_at[source.index()] == Some(now)
    }
}

fn counts(listings: &[Listing], entry: &Entry) -> bool {
    listings[entry.slot.0 as usize].version == entry.version
}

impl Policy for Ranked {
    fn arrive(&mut self, now: Chronon, arrival: Arrival<'_>) {
        if let Arrival::Cei(cei) = arrival {
            let Slot(slot) = self.ledger.admit(now, &cei);
            if let Some(former) = self.listings.get_mut(slot as usize) {
                former.version = former.version.wrapping_add(1);
                former.place = None;
            }
        }
    }

    fn choose(&mut self, now: Chronon, allowance: &mut Allowance, chosen: &mut Vec<SourceIdx>) {
        self.touched.append(&mut self.aside);
        self.ledger.advance(now, &mut self.touched);
        self.list_touched();
        while allowance.fits(self.costs.least()) {
            let Some(entry) = self.next(now) else { break };
            let source = self.ledger.eis(entry.slot)[entry.position as usize].source;
            if !self.is_chosen(source, now) && allowance.spend(self.costs.of(source)) {
                self.chosen_at[source.index()] = Some(now);
                chosen.push(source);
            }
            if !std::mem::replace(&mut self.listings[entry.slot.0 as usize].aside, true) {
                self.aside.push(entry.slot);
            }
            let next = self.place(entry.slot, entry.position as usize + 1);
            self.enter(entry.slot, next);
        }
    }

    fn observe(&mut self, observation: Observation) {
        if observation.outcome == Outcome::Read {
            self.ledger.capture(observation.source, &mut self.touched);
        }
    }
}
