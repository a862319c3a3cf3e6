//! Fitting a CEI into a plan: by probes that are there already, by free places, and by moving jobs within
//! the blocks that they may stand in until a place is free. Nothing in the plan is given up for it.

#[cfg(test)]
mod tests;

use super::draft_plan::DraftPlan;
use super::grid::BlockSpan;

/// Blocks tried in search of one free place. More find hardly more, and cost time in full plans.
const MOST_VISITED: usize = 96;

/// Jobs of a block that are considered for moving; blocks may hold thousands.
const MOST_MOVERS: usize = 12;

/// How a block was reached: the job that would move there, or the newcomer itself.
#[derive(Debug, Clone, Copy)]
enum ReachedBy {
    Newcomer,
    Job { job: u32, from: u32 },
}

/// The search's memory, kept from call to call.
#[derive(Debug, Clone)]
pub(super) struct Fitter {
    seen: Vec<u64>,
    round: u64,
    queue: Vec<(u32, ReachedBy)>,
}

impl Fitter {
    pub(super) fn new(n_blocks: usize) -> Self {
        Self { seen: vec![0; n_blocks], round: 0, queue: Vec::new() }
    }

    /// Takes the CEI into the plan if that is possible without giving anything up. `prefer` orders the
    /// blocks of a span that are tried for a new probe.
    pub(super) fn admit(
        &mut self,
        draft: &mut DraftPlan<'_>,
        cei: u32,
        prefer: &mut dyn FnMut(BlockSpan) -> u32,
    ) -> bool {
        let mark = draft.mark();
        let grid = draft.grid;
        let spans = grid.ceis[cei as usize].spans.clone();
        let need = grid.ceis[cei as usize].need as usize;
        let mut served = 0;
        for span in spans.clone() {
            served += usize::from(served < need && serve_by_standing(draft, span));
        }
        // The narrowest first: what has the fewest places should choose among all of them.
        let mut rest: Vec<usize> = spans.filter(|&span| !draft.is_served(span as u32)).collect();
        rest.sort_by_key(|&span| grid.spans[span].len());
        let mut left = rest.len();
        for span in rest {
            if served == need || served + left < need {
                break;
            }
            served += usize::from(serve_by_standing(draft, span) || self.serve(draft, span, prefer));
            left -= 1;
        }
        if served < need {
            draft.undo(mark);
            return false;
        }
        draft.admit(cei);
        true
    }

    /// Serves a span by a new job, or by one of its source that can be moved into it.
    pub(super) fn serve(
        &mut self,
        draft: &mut DraftPlan<'_>,
        span: usize,
        prefer: &mut dyn FnMut(BlockSpan) -> u32,
    ) -> bool {
        let covered = draft.grid.spans[span];
        let at = prefer(covered);
        let blocks = (at..=covered.last).chain(covered.first..at);
        if let Some(block) = self.make_room(draft, covered.source, blocks, None) {
            let job = draft.create(covered.source, block);
            draft.join(job, span as u32);
            return true;
        }
        let Some(job) = nearest_that_can_come(draft, &covered) else { return false };
        let (first, last) = (draft.job(job).first.max(covered.first), draft.job(job).last.min(covered.last));
        let Some(block) = self.make_room(draft, covered.source, first..=last, Some(job)) else {
            return false;
        };
        draft.move_to(job, block);
        draft.join(job, span as u32);
        true
    }

    /// Makes room for a probe of `source` in one of the blocks, and says in which. The moving job, if there
    /// is one, leaves its own place.
    fn make_room(
        &mut self,
        draft: &mut DraftPlan<'_>,
        source: u32,
        blocks: impl Iterator<Item = u32>,
        moving: Option<u32>,
    ) -> Option<u32> {
        self.round += 1;
        self.queue.clear();
        for block in blocks {
            if draft.grid.allows(source, block) {
                self.visit(block, ReachedBy::Newcomer);
            }
        }
        let mut next = 0;
        while let Some(&(block, arrival)) = self.queue.get(next) {
            next += 1;
            let comer = match arrival {
                ReachedBy::Newcomer => source,
                ReachedBy::Job { job, .. } => draft.job(job).source,
            };
            let cost = draft.grid.cost(comer);
            if let ReachedBy::Job { job, .. } = arrival
                && let &[(_, into)] = draft.jobs_of(comer, block, block)
                && Some(into) != moving
            {
                let from = draft.job(job).block;
                draft.merge(job, into);
                return Some(self.shift(draft, from));
            }
            let leaves = moving.filter(|&job| draft.job(job).block == block);
            let room =
                |job| draft.block_budget.fits_instead(block, cost, draft.grid.cost(draft.job(job).source));
            if draft.block_budget.fits(block, cost) || leaves.is_some_and(room) {
                return Some(self.shift(draft, block));
            }
            if self.queue.len() >= MOST_VISITED {
                continue;
            }
            for &job in
                draft.jobs_in(block).iter().take(MOST_MOVERS).filter(|&&job| Some(job) != moving && room(job))
            {
                let candidate = draft.job(job);
                for other in candidate.first..=candidate.last {
                    if draft.grid.allows(candidate.source, other) {
                        self.visit(other, ReachedBy::Job { job, from: block });
                    }
                }
            }
        }
        None
    }

    fn visit(&mut self, block: u32, arrival: ReachedBy) {
        if std::mem::replace(&mut self.seen[block as usize], self.round) != self.round {
            self.queue.push((block, arrival));
        }
    }

    /// Moves the jobs that lead to `block`, last one first, and returns the newcomer's place.
    fn shift(&self, draft: &mut DraftPlan<'_>, mut block: u32) -> u32 {
        while let Some(&(_, ReachedBy::Job { job, from })) = self.queue.iter().find(|(at, _)| *at == block) {
            draft.move_to(job, block);
            block = from;
        }
        block
    }
}

/// Serves a span by a job that stands in it; of several by the one that stays most movable.
fn serve_by_standing(draft: &mut DraftPlan<'_>, span: usize) -> bool {
    let covered = draft.grid.spans[span];
    let common = |&&(_, job): &&(u32, u32)| {
        let job = draft.job(job);
        job.last.min(covered.last) - job.first.max(covered.first)
    };
    let best = draft.jobs_of(covered.source, covered.first, covered.last).iter().max_by_key(common).copied();
    if let Some((_, job)) = best {
        draft.join(job, span as u32);
    }
    best.is_some()
}

/// A job of the span's source that stands outside but may stand inside.
fn nearest_that_can_come(draft: &DraftPlan<'_>, span: &BlockSpan) -> Option<u32> {
    let reach = u32::try_from(MOST_VISITED).unwrap_or(u32::MAX);
    let near = draft.jobs_of(span.source, span.first.saturating_sub(reach), span.last.saturating_add(reach));
    let can_come = |&&(_, job): &&(u32, u32)| {
        let job = draft.job(job);
        job.first <= span.last && span.first <= job.last
    };
    let distance = |&&(block, _): &&(u32, u32)| block.abs_diff(span.first).min(block.abs_diff(span.last));
    near.iter().filter(can_come).min_by_key(distance).map(|&(_, job)| job)
}
