//! Polling plans for the sources of a trace: learnt on one part of it, measured on another or on the same.

use std::num::NonZeroU32;
use std::ops::Range;
use std::time::Instant;

use dunlin_sched::plan::polling::{self, History, Objective, PollingPlan};
use dunlin_sched::score::{PollingScore, score_polling};

use crate::Error;
use crate::files::{Excerpt, TraceFile, is_printable};

/// The most slots a period may have.
pub const MOST_SLOTS: u32 = 1_000_000;

/// How a plan is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PollingMethod {
    /// The best there is on the part that is learnt from.
    Exact,
    /// Near it, in time linear in the slots; recall only.
    Modelled,
    /// At equal distances, whatever was learnt.
    Uniform,
}

/// Which time is cut how. Periods are counted from second 0 of the trace's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Length of a period in seconds, a whole number of slots.
    pub period: NonZeroU32,
    /// Length of a slot in seconds.
    pub slot: NonZeroU32,
    /// Learn from what was before this second, measure on what came after; nothing: do both on everything.
    pub train_until: Option<i64>,
}

/// How much of the past is learnt from. Without any of it, all of it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Memory {
    /// Only the last so many seconds.
    pub last: Option<NonZeroU32>,
    /// What is so many seconds old counts half.
    pub half_life: Option<NonZeroU32>,
    /// What to do when the recent past contradicts what was before.
    pub breaks: Breaks,
}

/// What to do about a source whose rhythm has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Breaks {
    /// Nothing.
    #[default]
    Ignored,
    /// Learn only from what came since.
    Heeded,
}

/// The sources of a trace, ready to be planned for.
#[derive(Debug, Clone)]
pub struct Sources {
    /// Their names.
    pub names: Vec<String>,
    slots: u32,
    /// In seconds.
    slot: NonZeroU32,
    past: Vec<History>,
    measured: Vec<History>,
}

/// Plans and what they are worth.
#[derive(Debug, Clone)]
pub struct PollingRun {
    /// One plan per source.
    pub plans: Vec<PollingPlan>,
    /// Updates of all sources together; freshness and age are means over sources. Times are in slots.
    pub score: PollingScore,
    /// How long planning took.
    pub seconds: f64,
}

impl Sources {
    /// All sources of a trace, or one of them.
    pub fn new(trace: &TraceFile, source: Option<&str>, cut: Cut) -> Result<Self, Error> {
        let slots = slots(cut)?;
        let chosen: Vec<usize> = match source {
            None => (0..trace.sources.len()).collect(),
            Some(name) if !is_printable(name) => {
                return Err(Error::parameter(
                    "source",
                    &Excerpt::from(name),
                    "an id without control characters",
                ));
            }
            Some(name) => {
                let place = trace.sources.iter().position(|known| known == name);
                let known = || {
                    let known: Vec<_> =
                        trace.sources.iter().take(3).map(|own| Excerpt::from(own.as_str())).collect();
                    let known: Vec<_> = known.iter().map(ToString::to_string).collect();
                    format!("a source of the trace, such as {}", known.join(", "))
                };
                let refused = || Error::parameter("source", &Excerpt::from(name), known());
                vec![place.ok_or_else(refused)?]
            }
        };
        let times: Vec<&[i64]> = chosen.iter().map(|&source| trace.times[source].as_slice()).collect();
        let (past, measured) = spans(&times, cut)?;
        let histories = |span: &Range<i64>| {
            times.iter().map(|own| History::from_seconds(own, cut.slot, span.clone())).collect()
        };
        let names = chosen.iter().map(|&source| trace.sources[source].clone()).collect();
        Ok(Self { names, slots, slot: cut.slot, past: histories(&past), measured: histories(&measured) })
    }

    /// Forgets part of the past; returns how many sources turned out to have changed their rhythm.
    pub fn remember(&mut self, memory: Memory) -> usize {
        let in_slots = |seconds: NonZeroU32| seconds.get().div_ceil(self.slot.get());
        let mut n_broken = 0;
        for past in &mut self.past {
            if let Some(last) = memory.last {
                *past = past.last(in_slots(last));
            }
            if memory.breaks == Breaks::Heeded
                && let Some(found) = polling::find_break(past, self.slots)
            {
                *past = past.part(found.since..past.span().end);
                n_broken += 1;
            }
            if let Some(half_life) = memory.half_life.and_then(|time| NonZeroU32::new(in_slots(time))) {
                *past = past.decayed(half_life);
            }
        }
        n_broken
    }

    /// Plans at most `polls` polls per period for all sources together, and measures the plans.
    ///
    /// The exact method shares polls where they gain most, the modelled one in proportion to the updates of
    /// each source, the uniform one equally.
    pub fn plan(&self, method: PollingMethod, polls: u32, objective: Objective) -> Result<PollingRun, Error> {
        let begin = Instant::now();
        let plans = match (method, self.past.as_slice()) {
            (PollingMethod::Exact, [only]) => vec![polling::exact(only, self.slots, polls, objective)?],
            (PollingMethod::Exact, several) => polling::plan_many(several, self.slots, polls, objective)?,
            (PollingMethod::Modelled, several) => {
                let updates: Vec<_> = several.iter().map(|own| own.len() as u64).collect();
                let plan = |(own, share)| polling::modelled(own, self.slots, share);
                several.iter().zip(shares(polls, &updates)).map(plan).collect()
            }
            (PollingMethod::Uniform, several) => {
                let shares = shares(polls, &vec![1; several.len()]);
                shares.into_iter().map(|share| polling::uniform(self.slots, share)).collect()
            }
        };
        let seconds = begin.elapsed().as_secs_f64();
        let scores = self.measured.iter().zip(&plans).map(|(own, plan)| score_polling(own, plan));
        Ok(PollingRun { score: together(&scores.collect::<Vec<_>>()), plans, seconds })
    }
}

fn slots(cut: Cut) -> Result<u32, Error> {
    let (period, slot) = (cut.period.get(), cut.slot.get());
    if !period.is_multiple_of(slot) {
        let expected = format!("a whole number of slots of {slot} s");
        return Err(Error::parameter("period of seconds", &period, expected));
    }
    let slots = period / slot;
    if slots > MOST_SLOTS {
        let expected = format!("at most {MOST_SLOTS}; try longer slots");
        return Err(Error::parameter("number of slots in a period", &slots, expected));
    }
    Ok(slots)
}

/// What is learnt from and what is measured: whole periods around the updates, cut in two where training ends.
fn spans(times: &[&[i64]], cut: Cut) -> Result<(Range<i64>, Range<i64>), Error> {
    let period = i64::from(cut.period.get());
    let first = times.iter().filter_map(|own| own.first()).min();
    let last = times.iter().filter_map(|own| own.last()).max();
    let (Some(&first), Some(&last)) = (first, last) else {
        return Err(Error::parameter("number of updates", &0, "at least one to plan from"));
    };
    let begin = first.div_euclid(period) * period;
    let end = last.div_euclid(period).saturating_add(1).saturating_mul(period);
    match cut.train_until {
        None => Ok((begin..end, begin..end)),
        Some(until) if first < until && until <= last => Ok((begin..until, until..end)),
        Some(until) => {
            let expected = format!("a second after the first update, {first}, up to the last, {last}");
            Err(Error::parameter("end of training", &until, expected))
        }
    }
}

/// `polls` in proportion to `demands`, by largest remainder; ties go to the first.
fn shares(polls: u32, demands: &[u64]) -> Vec<u32> {
    let total: u64 = demands.iter().sum();
    if total == 0 {
        return vec![0; demands.len()];
    }
    let exact = |demand: u64| u128::from(polls) * u128::from(demand);
    let whole = |demand: u64| u32::try_from(exact(demand) / u128::from(total)).unwrap_or(polls);
    let mut shares: Vec<u32> = demands.iter().map(|&demand| whole(demand)).collect();
    let mut order: Vec<usize> = (0..demands.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(exact(demands[i]) % u128::from(total)));
    let left = polls - shares.iter().sum::<u32>();
    order.iter().take(left as usize).for_each(|&i| shares[i] += 1);
    shares
}

fn together(scores: &[PollingScore]) -> PollingScore {
    let n = scores.len().max(1) as f64;
    let updates = scores.iter().map(|score| score.updates).sum();
    let missed = scores.iter().map(|score| score.missed).sum();
    let recall = if updates == 0 { 1.0 } else { (updates - missed) as f64 / updates as f64 };
    PollingScore {
        updates,
        missed,
        recall,
        freshness: scores.iter().map(|score| score.freshness).sum::<f64>() / n,
        mean_age: scores.iter().map(|score| score.mean_age).sum::<f64>() / n,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_follow_demand() {
        assert_eq!(shares(10, &[1, 1, 1]), [4, 3, 3]);
        assert_eq!(shares(3, &[100, 1, 50]), [2, 0, 1]);
        assert_eq!(shares(5, &[0, 0]), [0, 0]);
    }
}
