//! An instance in the shape that planners work on: spans of blocks instead of intervals of chronons.
//!
//! A *block* is a run of chronons in which no interval starts or ends, so that a probe anywhere in it does
//! the same; with equal costs and whole budgets a block spends what its chronons may spend together, and
//! the problem stays exactly the same. Otherwise every chronon is a block of its own. A *merged CEI* is a CEI that
//! can be captured and has a weight; CEIs with the same intervals are one, with the sum of their weights.
//!
//! Invariant: a set of pairs that keeps to the capacity of the blocks becomes a schedule that keeps to the
//! budget, and captures CEIs of the same weight, besides what is [secured](Grid::secured) at no cost.

use std::collections::BTreeMap;

use dunlin_core::{Allowance, Budget, Chronon, Costs, Probe, Schedule, SourceIdx, Workload};

use super::capacity::{BlockBudget, Capacity, Grant};
use super::reduce;
use super::{Instance, TooLarge};

/// A probe of a source somewhere in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// Which block.
    pub block: u32,
    /// Which source, as in the workload.
    pub source: u32,
}

/// An interval, in blocks, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BlockSpan {
    pub(super) source: u32,
    pub(super) first: u32,
    pub(super) last: u32,
}

impl BlockSpan {
    pub(super) const fn covers(&self, block: u32) -> bool {
        self.first <= block && block <= self.last
    }

    pub(super) const fn len(&self) -> usize {
        (self.last - self.first) as usize + 1
    }
}

/// A CEI, or several with the same intervals.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MergedCei {
    pub(super) weight: f64,
    pub(super) need: u32,
    /// Its spans, at these positions of the grid's list.
    pub(super) spans: std::ops::Range<usize>,
}

/// An instance, cut into blocks and reduced to what is undecided.
#[derive(Debug, Clone)]
pub struct Grid {
    pub(super) spans: Vec<BlockSpan>,
    pub(super) ceis: Vec<MergedCei>,
    pub(super) capacity: Capacity,
    pub(super) costs: Costs,
    pub(super) n_sources: usize,
    /// First chronon of each block, and the first one after the last.
    starts: Vec<u32>,
    /// Grants of single chronons, to deal a block's probes out again.
    budget: Budget,
    /// Probes that take nothing from others, and what they capture.
    given: Vec<Pair>,
    secured: f64,
}

/// More blocks, or covered pairs of a source and a block, would not fit into memory with all that is
/// computed about them.
const MOST_BLOCKS: u64 = 20_000_000;
const MOST_COVERED: u64 = 100_000_000;

impl Grid {
    /// The grid of an instance.
    pub fn new(instance: Instance<'_>) -> Result<Self, TooLarge> {
        let Instance { workload, chronons, budget, costs } = instance;
        let last = last_chronon(workload, chronons);
        let is_whole = (1..=last).filter_map(Chronon::new).all(|at| budget.at(at).fract() == 0.0);
        let starts = match (is_whole, costs.is_uniform()) {
            (true, true) => events(workload, chronons, last),
            (true, false) => one_by_one(&events(workload, chronons, last), workload, chronons)?,
            (false, _) => every_chronon(last)?,
        };
        let capacity = if is_whole {
            let of =
                |block: &[u32]| (block[0]..block[1]).filter_map(Chronon::new).map(|at| budget.at(at)).sum();
            Capacity::Whole(starts.windows(2).map(of).collect())
        } else {
            Capacity::Saving((1..=last).filter_map(Chronon::new).map(|at| Grant::of(budget.at(at))).collect())
        };
        let mut grid = Self {
            spans: Vec::new(),
            ceis: Vec::new(),
            capacity,
            costs: costs.clone(),
            n_sources: workload.n_sources(),
            starts,
            budget: budget.clone(),
            given: Vec::new(),
            secured: 0.0,
        };
        grid.read(workload, chronons)?;
        let reduced = reduce::reduce(&grid);
        grid.given = reduced.given;
        grid.secured = reduced.secured;
        grid.replace_wants(reduced.ceis);
        Ok(grid)
    }

    /// Every CEI that can be had at all.
    fn read(&mut self, workload: &Workload, chronons: u32) -> Result<(), TooLarge> {
        let mut covered = 0;
        let mut ceis = Vec::new();
        for cei in workload.ceis().filter(|cei| cei.weight > 0.0) {
            let reachable = cei.intervals.iter().filter(|interval| interval.start().get() <= chronons);
            let spans: Vec<BlockSpan> = reachable
                .map(|interval| BlockSpan {
                    source: interval.source().0,
                    first: self.block_of(interval.start().get()),
                    last: self.block_of(interval.finish().get().min(chronons)),
                })
                .filter(|span| (span.first..=span.last).any(|block| self.allows(span.source, block)))
                .collect();
            if spans.len() < cei.need as usize {
                continue;
            }
            covered += spans.iter().map(|span| span.len() as u64).sum::<u64>();
            ceis.push((cei.weight, cei.need, spans));
        }
        if covered > MOST_COVERED {
            let what = "chronons under intervals";
            return Err(TooLarge { what, count: covered, limit: MOST_COVERED });
        }
        self.replace_wants(ceis);
        Ok(())
    }

    /// Takes these CEIs, without redundant spans, and with equal CEIs merged.
    fn replace_wants(&mut self, ceis: Vec<(f64, u32, Vec<BlockSpan>)>) {
        let mut alike: BTreeMap<(u32, Vec<BlockSpan>), usize> = BTreeMap::new();
        self.spans.clear();
        self.ceis.clear();
        for (weight, need, mut spans) in ceis {
            spans.sort_unstable();
            let mut need = need;
            if need as usize == spans.len() {
                drop_implied(&mut spans);
                need = u32::try_from(spans.len()).unwrap_or(need);
            }
            let next = self.ceis.len();
            let at = *alike.entry((need, spans.clone())).or_insert(next);
            if at < next {
                self.ceis[at].weight += weight;
                continue;
            }
            let from = self.spans.len();
            self.spans.append(&mut spans);
            self.ceis.push(MergedCei { weight, need, spans: from..self.spans.len() });
        }
    }

    pub(super) fn spans_of(&self, cei: usize) -> &[BlockSpan] {
        &self.spans[self.ceis[cei].spans.clone()]
    }

    pub(super) fn n_blocks(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    pub(super) fn cost(&self, source: u32) -> f64 {
        self.costs.of(SourceIdx(source))
    }

    /// Whether a block can ever afford a probe of the source.
    pub(super) fn allows(&self, source: u32, block: u32) -> bool {
        self.capacity.allows(block, self.cost(source))
    }

    pub(super) fn block_budget(&self) -> BlockBudget<'_> {
        BlockBudget::new(&self.capacity)
    }

    /// Weight of the CEIs that are captured without taking a probe from any other.
    pub const fn secured(&self) -> f64 {
        self.secured
    }

    /// The most that CEIs can be worth together without exceeding a bound: whole weights have whole sums.
    pub fn attainable(&self, bound: f64) -> f64 {
        let is_whole = self.ceis.iter().all(|cei| cei.weight.fract() == 0.0) && self.secured.fract() == 0.0;
        // Sums that are equal on paper differ in the last bits, the more the larger they are.
        if is_whole { (bound + 1e-6 + 1e-9 * bound).floor() } else { bound }
    }

    /// Weight of all that is undecided.
    pub fn undecided(&self) -> f64 {
        self.ceis.iter().map(|cei| cei.weight).sum()
    }

    /// The block of a chronon that some interval covers.
    fn block_of(&self, chronon: u32) -> u32 {
        u32::try_from(self.starts.partition_point(|&start| start <= chronon) - 1).unwrap_or(u32::MAX)
    }

    /// The pairs that a schedule probes and that matter here.
    pub fn pairs_of(&self, schedule: &Schedule) -> Vec<Pair> {
        let Some(&end) = self.starts.last() else { return Vec::new() };
        let inside =
            schedule.probes().iter().filter(|probe| (self.starts[0]..end).contains(&probe.chronon.get()));
        let pair = |probe: &Probe| Pair { block: self.block_of(probe.chronon.get()), source: probe.source.0 };
        let mut pairs: Vec<_> = inside.map(pair).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// The schedule that probes these pairs and what is given. Pairs beyond the capacity are left out.
    pub fn schedule(&self, pairs: &[Pair]) -> Schedule {
        let mut pairs = pairs.to_vec();
        pairs.sort_unstable();
        pairs.dedup();
        let mut pairs = self.block_budget().afford(&pairs, |source| self.cost(source));
        pairs.extend(&self.given);
        pairs.sort_unstable();
        pairs.dedup();
        let mut probes = Vec::with_capacity(pairs.len());
        for block in pairs.chunk_by(|a, b| a.block == b.block) {
            let range = self.starts[block[0].block as usize]..self.starts[block[0].block as usize + 1];
            let mut chronons = range.clone().filter_map(Chronon::new);
            if range.len() == 1 {
                let chronon = Chronon::new(range.start).unwrap_or(Chronon::FIRST);
                probes.extend(block.iter().map(|pair| Probe { chronon, source: SourceIdx(pair.source) }));
                continue;
            }
            // Probes cost 1 each here, and no source comes twice: any way of dealing them out will do.
            let mut rest = block.iter().peekable();
            while let Some(chronon) = chronons.next().filter(|_| rest.peek().is_some()) {
                let mut allowance = Allowance::of(self.budget.at(chronon));
                while let Some(pair) = rest.next_if(|_| allowance.spend(1.0)) {
                    probes.push(Probe { chronon, source: SourceIdx(pair.source) });
                }
            }
        }
        Schedule::from_probes(probes)
    }
}

/// The last chronon that any interval covers, within the epoch.
fn last_chronon(workload: &Workload, chronons: u32) -> u32 {
    let ceis = workload.ceis().flat_map(|cei| cei.intervals);
    ceis.map(|interval| interval.finish().get().min(chronons)).max().unwrap_or(0)
}

/// Where intervals start, or have just ended.
fn events(workload: &Workload, chronons: u32, last: u32) -> Vec<u32> {
    let intervals = workload.ceis().flat_map(|cei| cei.intervals);
    let mut events: Vec<u32> = intervals
        .filter(|interval| interval.start().get() <= chronons)
        .flat_map(|interval| [interval.start().get(), interval.finish().get().min(chronons) + 1])
        .filter(|&at| at <= last + 1)
        .collect();
    events.sort_unstable();
    events.dedup();
    events
}

/// The same, with every run of chronons under an interval cut into single ones.
fn one_by_one(events: &[u32], workload: &Workload, chronons: u32) -> Result<Vec<u32>, TooLarge> {
    let mut depth: BTreeMap<u32, i64> = BTreeMap::new();
    for interval in workload.ceis().flat_map(|cei| cei.intervals) {
        if interval.start().get() <= chronons {
            *depth.entry(interval.start().get()).or_default() += 1;
            *depth.entry(interval.finish().get().min(chronons) + 1).or_default() -= 1;
        }
    }
    let mut starts = Vec::new();
    let mut open = 0;
    for pair in events.windows(2) {
        open += depth.get(&pair[0]).copied().unwrap_or(0);
        if open > 0 {
            check_blocks(starts.len() as u64 + u64::from(pair[1] - pair[0]))?;
            starts.extend(pair[0]..pair[1]);
        } else {
            starts.push(pair[0]);
        }
    }
    starts.extend(events.last());
    Ok(starts)
}

fn every_chronon(last: u32) -> Result<Vec<u32>, TooLarge> {
    check_blocks(u64::from(last))?;
    Ok((1..=last + 1).collect())
}

fn check_blocks(count: u64) -> Result<(), TooLarge> {
    let what = "chronons with fractional budgets or unequal costs";
    if count > MOST_BLOCKS { Err(TooLarge { what, count, limit: MOST_BLOCKS }) } else { Ok(()) }
}

/// Where all spans are needed, one that contains another of its source is captured with it.
fn drop_implied(spans: &mut Vec<BlockSpan>) {
    let all = spans.clone();
    let mut at = 0;
    spans.retain(|span| {
        let own = at;
        at += 1;
        !all.iter().enumerate().any(|(i, other)| {
            let is_inside =
                other.source == span.source && span.first <= other.first && other.last <= span.last;
            is_inside && i != own && (other != span || i < own)
        })
    });
}
