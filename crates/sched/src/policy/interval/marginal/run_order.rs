//! Which of the jobs that can run should run now. Knows deadlines, losses and costs, and nothing of what is
//! behind them.
//!
//! In general the job whose postponement loses most runs first. But where the jobs due by some deadline
//! need more than is granted after now, the difference is owed now, or the least valuable of them is lost;
//! so as long as something is owed, they compete with that loss added.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use dunlin_core::Allowance;

use super::ordered_f64::{OrderedF64, ROUNDING};

/// A job that can run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) deadline: u32,
    pub(crate) job: u32,
    pub(crate) cost: f64,
    /// Value above the price, per unit of cost.
    pub(crate) gain: f64,
    /// What waiting is expected to lose, per unit of cost.
    pub(crate) loss: f64,
}

/// The jobs to run out of `candidates`, paid for from `allowance`, in the order in which they were chosen.
/// `supply` says how much is granted after now, up to a deadline.
pub(crate) fn run_order(
    mut candidates: Vec<Candidate>,
    allowance: &mut Allowance,
    least_cost: f64,
    supply: impl Fn(u32) -> f64,
) -> Vec<u32> {
    candidates.sort_unstable_by_key(|candidate| (candidate.deadline, candidate.job));
    // A heap and not a sorted list: many wait, few run.
    let losses = candidates.iter().map(|candidate| OrderedF64(candidate.loss));
    let mut by_loss: ByLoss = losses.zip((0..).map(Reverse)).collect();
    let mut is_settled = vec![false; candidates.len()];
    let mut due = Due::new(&candidates);
    let mut chosen = Vec::new();
    while allowance.fits(least_cost) {
        due.extend(&is_settled, &supply);
        let Some((loss, first)) = peek_unsettled(&mut by_loss, &is_settled) else { break };
        let pick = due.rival(&is_settled, loss).unwrap_or(first);
        is_settled[pick] = true;
        due.settle(pick);
        if allowance.spend(candidates[pick].cost) {
            chosen.push(candidates[pick].job);
        }
    }
    chosen
}

/// Candidates by position, the largest loss first.
type ByLoss = BinaryHeap<(OrderedF64, Reverse<usize>)>;

/// The largest loss of a candidate that is still in the running, and which one that is.
fn peek_unsettled(by_loss: &mut ByLoss, is_settled: &[bool]) -> Option<(f64, usize)> {
    while by_loss.peek().is_some_and(|entry| is_settled[entry.1.0]) {
        by_loss.pop();
    }
    by_loss.peek().map(|&(OrderedF64(loss), Reverse(idx))| (loss, idx))
}

/// The shortest run of deadlines that owes something now: the first `len` candidates.
struct Due<'a> {
    candidates: &'a [Candidate],
    len: usize,
    cost: f64,
    /// Cost of those in it that are settled: chosen, or passed over for not fitting.
    settled: f64,
    owed: f64,
    least_gain: f64,
    by_loss: ByLoss,
}

impl<'a> Due<'a> {
    fn new(candidates: &'a [Candidate]) -> Self {
        let (len, by_loss) = (0, BinaryHeap::new());
        Self { candidates, len, cost: 0.0, settled: 0.0, owed: 0.0, least_gain: f64::INFINITY, by_loss }
    }

    /// Takes in further deadlines until something is owed.
    fn extend(&mut self, is_settled: &[bool], supply: &impl Fn(u32) -> f64) {
        while self.owed <= ROUNDING && self.len < self.candidates.len() {
            let deadline = self.candidates[self.len].deadline;
            while let Some(candidate) =
                self.candidates.get(self.len).filter(|candidate| candidate.deadline == deadline)
            {
                self.cost += candidate.cost;
                self.least_gain = self.least_gain.min(candidate.gain);
                if is_settled[self.len] {
                    self.settled += candidate.cost;
                } else {
                    self.by_loss.push((OrderedF64(candidate.loss), Reverse(self.len)));
                }
                self.len += 1;
            }
            self.owed = self.cost - supply(deadline) - self.settled;
        }
    }

    /// The due candidate that goes before one whose loss is `loss`, if there is one.
    fn rival(&mut self, is_settled: &[bool], loss: f64) -> Option<usize> {
        if self.owed <= ROUNDING {
            return None;
        }
        let (own_loss, idx) = peek_unsettled(&mut self.by_loss, is_settled)?;
        (own_loss + self.least_gain.max(0.0) >= loss - ROUNDING).then_some(idx)
    }

    fn settle(&mut self, idx: usize) {
        if idx < self.len {
            self.settled += self.candidates[idx].cost;
            self.owed -= self.candidates[idx].cost;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(job: u32, deadline: u32, cost: f64, gain: f64, loss: f64) -> Candidate {
        Candidate { deadline, job, cost, gain, loss }
    }

    #[test]
    fn without_pressure_the_largest_loss_runs() {
        let candidates = vec![candidate(0, 5, 1.0, 1.0, 0.1), candidate(1, 9, 1.0, 1.0, 0.3)];
        assert_eq!(run_order(candidates, &mut Allowance::of(1.0), 1.0, f64::from), [1]);
    }

    #[test]
    fn what_is_owed_to_a_deadline_runs_first() {
        let candidates = || {
            vec![
                candidate(0, 1, 1.0, 1.0, 0.1),
                candidate(1, 1, 1.0, 2.0, 0.2),
                candidate(2, 9, 1.0, 1.0, 0.3),
                candidate(3, 9, 1.0, 9.0, 2.0),
            ]
        };
        // One of the two due at 1 has to run now, and the other one can wait; job 3 loses more than both.
        let run = |left| run_order(candidates(), &mut Allowance::of(left), 1.0, f64::from);
        assert_eq!(run(1.0), [3]);
        assert_eq!(run(3.0), [3, 1, 2]);
    }

    #[test]
    fn a_job_that_does_not_fit_is_passed_over() {
        let candidates = vec![
            candidate(0, 1, 2.0, 9.0, 9.0),
            candidate(1, 1, 1.0, 1.0, 0.1),
            candidate(2, 2, 0.5, 1.0, 0.2),
        ];
        assert_eq!(run_order(candidates, &mut Allowance::of(1.5), 0.5, |_| 0.0), [1, 2]);
    }
}
