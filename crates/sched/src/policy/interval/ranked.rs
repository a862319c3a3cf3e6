//! S-EDF, MRSF and M-EDF: the papers' policies for complex needs, each an order on the open intervals.
//!
//! All three values have the form a − s·T: S-EDF's falls by one per chronon for everybody (so the order
//! never changes), MRSF's changes only on a capture, and M-EDF's falls by the number of open intervals of
//! the CEI. Within a class of equal slope s the order by a is fixed, so there is one bucketed heap per slope, with
//! one entry per live CEI, and a chronon costs as much as what happens in it.

use dunlin_core::{Allowance, Chronon, Costs, ExecutionInterval, Observation, Outcome, SourceIdx};

use super::super::{Arrival, Policy};
use super::bucketed_heap::{BucketKey, BucketedHeap, IntervalEntry};
use super::cei_ledger::{CeiLedger, EiRecord, EiState};

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
    fn at(self, now: u32) -> i128 {
        i128::from(self.a) - i128::from(self.slope) * i128::from(now)
    }
}

impl Order {
    /// The standing of one open interval of a CEI. `rest` are all intervals of the CEI that are neither
    /// captured nor lost, with whether they are open.
    fn standing(
        self,
        finish: u32,
        (rank, captured): (u32, u32),
        rest: impl Iterator<Item = (u32, u32, bool)>,
    ) -> Standing {
        match self {
            Self::SEdf => Standing { a: u64::from(finish) + 1, slope: 1 },
            Self::Mrsf => Standing { a: u64::from(rank.saturating_sub(captured)), slope: 0 },
            Self::MEdf => rest.fold(Standing { a: 0, slope: 0 }, |sum, (start, finish, open)| {
                let own = if open { u64::from(finish) + 1 } else { u64::from(finish - start) + 1 };
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
    now: u32,
    ledger: CeiLedger,
    /// Started CEIs first when non-preemptive; otherwise everything is in the first.
    groups: [Group; 2],
    listings: Vec<Listing>,
    /// CEIs whose entry was taken out while choosing.
    aside: Vec<u32>,
    touched: Vec<u32>,
}

/// One bucketed heap per slope.
type Group = Vec<BucketedHeap>;

/// The entry of a CEI that counts; all others with its record are left-overs.
#[derive(Debug, Clone, Copy, Default)]
struct Listing {
    version: u32,
    /// Whether its entry has been taken out while choosing, so that it must be entered again.
    aside: bool,
    /// Where its entry is, while it has one.
    place: Option<EntryPosition>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct EntryPosition {
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
            now: 0,
            ledger: CeiLedger::default(),
            groups: [Group::new(), Group::new()],
            listings: Vec::new(),
            aside: Vec::new(),
            touched: Vec::new(),
        }
    }

    /// Enters the CEI under its first open interval; its former entry no longer counts.
    fn list(&mut self, cei: u32) {
        let place = self.place(cei, 0);
        let listing = &mut self.listings[cei as usize];
        let aside = std::mem::replace(&mut listing.aside, false);
        if aside || listing.place != place {
            listing.version = listing.version.wrapping_add(1);
            self.enter(cei, place);
        }
    }

    /// Where the CEI stands with its first open interval at or after `position`.
    fn place(&self, cei: u32, position: usize) -> Option<EntryPosition> {
        let (record, eis) = (&self.ledger.ceis[cei as usize], self.ledger.members_of(cei));
        if !record.is_live {
            return None;
        }
        let has_begun = |ei: &EiRecord| ei.start <= self.now;
        let is_open = |ei: &EiRecord| ei.state == EiState::Open;
        let position = position + eis[position..].iter().position(|ei| is_open(ei) && has_begun(ei))?;
        let rest = eis.iter().filter(|ei| is_open(ei)).map(|ei| (ei.start, ei.finish, has_begun(ei)));
        let captured = (record.profile_rank, record.n_captured);
        let standing = self.order.standing(eis[position].finish, captured, rest);
        let last = self.preemption == Preemption::NonPreemptive && record.n_captured == 0;
        let group = if last { Precedence::Last } else { Precedence::First };
        Some(EntryPosition { standing, position: position as u32, group })
    }

    fn enter(&mut self, record: u32, place: Option<EntryPosition>) {
        let listing = &mut self.listings[record as usize];
        listing.place = place;
        let Some(EntryPosition { standing: Standing { a, slope }, position, group }) = place else { return };
        let EiRecord { finish, line, .. } = self.ledger.members_of(record)[position as usize];
        let cei = self.ledger.ceis[record as usize].id;
        let group = &mut self.groups[group as usize];
        if group.len() <= slope as usize {
            group.resize_with(slope as usize + 1, BucketedHeap::default);
        }
        let version = listing.version;
        group[slope as usize]
            .push(BucketKey { value: a, finish }, IntervalEntry { cei, line, record, version, position });
    }

    fn list_touched(&mut self) {
        let mut touched = std::mem::take(&mut self.touched);
        touched.sort_unstable();
        touched.dedup();
        touched.drain(..).for_each(|cei| self.list(cei));
        self.touched = touched;
        self.sweep();
    }

    /// Left-overs are cleared out once they outnumber what counts.
    fn sweep(&mut self) {
        let entries: usize = self.groups.iter().flatten().map(BucketedHeap::len).sum();
        if entries > 2 * self.ledger.n_live() + 1_024 {
            let listings = &self.listings;
            for bucketed_heap in self.groups.iter_mut().flatten() {
                bucketed_heap.retain(|entry| counts(listings, entry));
            }
        }
    }

    /// Takes out the entry that comes next in the walk.
    fn next(&mut self) -> Option<IntervalEntry> {
        let (listings, now) = (&self.listings, self.now);
        self.groups.iter_mut().find_map(|group| {
            let mut best = None;
            for (slope, bucketed_heap) in (0u32..).zip(group.iter_mut()) {
                let Some((BucketKey { value, finish }, entry)) =
                    bucketed_heap.peek(now, |entry| counts(listings, entry))
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

    /// Goes to the chronon `now`: intervals begin and end, and CEIs that can no longer be captured are dropped.
    fn begin(&mut self, now: u32) {
        self.now = now;
        while let Some((_, ended)) = self.ledger.finishing.take_due(now.saturating_sub(1)) {
            for reference in ended {
                if self.ledger.is_still_open(reference) {
                    self.give_up(reference.record);
                }
            }
        }
        self.touched.append(&mut self.ledger.take_starting(now));
    }

    fn give_up(&mut self, ei: u32) {
        self.ledger.close(ei, EiState::Gone);
        let cei = self.ledger.eis[ei as usize].cei;
        self.touched.push(cei);
        if self.ledger.count_possible(cei) < self.ledger.ceis[cei as usize].left as usize {
            self.ledger.retire(cei);
        }
    }

    /// A probe captures every interval on its source that has begun.
    fn capture(&mut self, source: SourceIdx) {
        for ei in self.ledger.take_begun(source, self.now) {
            // Complete with an earlier one of these.
            if !self.ledger.is_open(ei) {
                continue;
            }
            let cei = self.ledger.eis[ei as usize].cei;
            self.ledger.close(ei, EiState::Captured);
            self.touched.push(cei);
            if self.ledger.count_capture(cei) {
                self.ledger.retire(cei);
            }
        }
    }
}

fn counts(listings: &[Listing], entry: &IntervalEntry) -> bool {
    listings[entry.record as usize].version == entry.version
}

impl Policy for Ranked {
    fn arrive(&mut self, now: Chronon, arrival: Arrival<'_>) {
        if let Arrival::Cei(cei) = arrival {
            let mut by_finish: Vec<(u32, ExecutionInterval)> =
                (0..).zip(cei.intervals.iter().copied()).collect();
            by_finish.sort_unstable_by_key(|(line, interval)| (interval.finish(), *line));
            let intervals = by_finish.into_iter();
            let id = u64::from(cei.idx.0);
            let Some(record) = self.ledger.admit(now.get(), id, &cei, cei.weight, intervals) else { return };
            if self.listings.len() <= record as usize {
                self.listings.resize(record as usize + 1, Listing::default());
            }
            let listing = &mut self.listings[record as usize];
            listing.version = listing.version.wrapping_add(1);
            listing.place = None;
            self.touched.push(record);
        }
    }

    fn choose(&mut self, now: Chronon, allowance: &mut Allowance, chosen: &mut Vec<SourceIdx>) {
        self.touched.append(&mut self.aside);
        self.begin(now.get());
        self.list_touched();
        while allowance.fits(self.costs.least()) {
            let Some(entry) = self.next() else { break };
            let source = self.ledger.members_of(entry.record)[entry.position as usize].source;
            let is_chosen = self.ledger.sources[source.index()].chosen_at == now.get();
            if !is_chosen && allowance.spend(self.costs.of(source)) {
                self.ledger.sources[source.index()].chosen_at = now.get();
                chosen.push(source);
            }
            if !std::mem::replace(&mut self.listings[entry.record as usize].aside, true) {
                self.aside.push(entry.record);
            }
            let next = self.place(entry.record, entry.position as usize + 1);
            self.enter(entry.record, next);
        }
    }

    fn observe(&mut self, observation: Observation) {
        if observation.outcome == Outcome::Read {
            self.capture(observation.source);
        }
    }
}
