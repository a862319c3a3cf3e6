//! The best polling plan by the paper's own recurrence, made cyclic: for every start, every length and every
//! number of polls in between, the best place of the first of them. O(s³·N) for s slots and N polls.

use crate::plan::polling::{History, Objective, PollingPlan, staleness, unit};

/// The best plan of at most `polls` polls per period of `slots` slots, and what it loses on the history.
pub fn plain_polling(history: &History, slots: u32, polls: u32, objective: Objective) -> (f64, PollingPlan) {
    let s = slots as usize;
    let polls = (polls as usize).min(s);
    if polls == 0 {
        return (
            polling_loss(history, &PollingPlan::new(slots, Vec::new()), objective),
            PollingPlan::new(slots, Vec::new()),
        );
    }
    let direct: Vec<Vec<f64>> =
        (0..slots).map(|from| interval_losses(history, from, slots, objective)).collect();
    // best[l][i][k]: the least loss from a poll in slot i to one k slots later with l polls in between.
    let mut best = vec![direct.clone()];
    let mut first: Vec<Vec<Vec<usize>>> = Vec::new();
    for l in 1..polls {
        let mut losses = vec![vec![f64::INFINITY; s + 1]; s];
        let mut firsts = vec![vec![0; s + 1]; s];
        for i in 0..s {
            for k in 1..=s {
                for j in 1..k {
                    let loss = direct[i][j] + best[l - 1][(i + j) % s][k - j];
                    if loss < losses[i][k] {
                        (losses[i][k], firsts[i][k]) = (loss, j);
                    }
                }
            }
        }
        best.push(losses);
        first.push(firsts);
    }
    let loss = |start: &usize| best[polls - 1][*start][s];
    let start = (0..s).min_by(|a, b| loss(a).total_cmp(&loss(b))).unwrap_or(0);
    let (mut at, mut left, mut slots_of_polls) = (start, s, vec![start as u32]);
    for firsts in first.iter().rev() {
        let j = firsts[at][left];
        (at, left) = ((at + j) % s, left - j);
        slots_of_polls.push(at as u32);
    }
    (loss(&start), PollingPlan::new(slots, slots_of_polls))
}

/// What a plan loses on a history, poll by poll.
pub fn polling_loss(history: &History, plan: &PollingPlan, objective: Objective) -> f64 {
    let until = history.span().end;
    let (mut rest, mut total) = (history.slots(), 0.0);
    while let Some(&first) = rest.first() {
        let poll = plan.next_poll(first);
        let seen = poll.map_or(rest.len(), |poll| rest.partition_point(|&slot| slot <= poll));
        let missed = if poll.is_some() { &rest[1..seen] } else { rest };
        let missed: f64 = missed.iter().map(|&slot| history.weight(slot)).sum();
        let (stale, age) = staleness(history, first, poll.unwrap_or(until).min(until));
        total += combined(history, objective, missed, stale, age);
        rest = &rest[seen..];
    }
    total
}

fn combined(history: &History, objective: Objective, missed: f64, stale: f64, age: f64) -> f64 {
    match objective {
        Objective::Recall => missed * unit(history, objective) + stale,
        Objective::Freshness => stale,
        Objective::Age => age,
    }
}

/// What is lost from a poll in slot `from` to the next one, by how many slots later that is.
fn interval_losses(history: &History, from: u32, slots: u32, objective: Objective) -> Vec<f64> {
    let mut losses = vec![0.0; slots as usize + 1];
    let (from, slots, span) = (i64::from(from), i64::from(slots), history.span());
    let mut poll = from + (span.start - from).div_euclid(slots) * slots - slots;
    while poll < span.end {
        let begin = history.slots().partition_point(|&slot| slot <= poll);
        let mut rest = &history.slots()[begin..];
        let Some(&first) = rest.first() else { break };
        let (mut missed, mut stale, mut age) = (-history.weight(first), 0.0, 0.0);
        for (loss, next) in losses.iter_mut().zip(poll..=poll + slots).skip(1) {
            let here = rest.partition_point(|&slot| slot <= next);
            missed += rest[..here].iter().map(|&slot| history.weight(slot)).sum::<f64>();
            rest = &rest[here..];
            if first < next && next <= span.end {
                stale += history.weight(next - 1);
                age += history.weight(next - 1) * (next - 1 - first) as f64;
            }
            if first <= next {
                *loss += combined(history, objective, missed, stale, age);
            }
        }
        poll += slots;
    }
    losses
}
