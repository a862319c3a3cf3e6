//! Times for tasks that collide: each in a chronon of its window, no more in a chronon than fit.
//!
//! [`assign`] is exact: it has the least Σ worth·(time − ideal), where a task without a time counts as [`LOST`]
//! chronons late. It is a min-cost flow. Tasks are put in one by one, heaviest first; each goes in along the cheapest
//! chain of moves (a shortest augmenting path), which ends in a chronon with room or pushes out a task. Dijkstra's
//! algorithm finds it among the chronons, with prices that keep all lengths positive.
//!
//! Two things keep searches short. A delay costs more the longer it is, so no task moves beyond the first chronon
//! with room that its window has. And where a task was lost, places have become as expensive as that task, so that
//! lighter ones are turned away at once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use dunlin_core::Chronon;

use super::Task;

/// A task that is not done counts as this late: more than any plan is long, so that no delay is worth a loss of
/// like worth, and small enough that sums of costs keep their last digits.
pub const LOST: f64 = 1_048_576.0;

/// The time of each task, if it has one, with at most `room[t]` tasks in chronon t + 1.
pub fn assign(tasks: &[Task], room: &[u32]) -> Vec<Option<Chronon>> {
    assign_within(tasks, room, u64::MAX).unwrap_or_else(|| assign_greedily(tasks, room))
}

/// The same, or `None` if it takes more than so many steps; a step is one place tried for one task. How many it
/// takes hangs on how far tasks can move more than on their number: where all may go anywhere, on the square of it.
pub fn assign_within(tasks: &[Task], room: &[u32], most_steps: u64) -> Option<Vec<Option<Chronon>>> {
    let mut assignment = Assignment::new(tasks, room);
    let mut order: Vec<usize> = (0..tasks.len()).collect();
    order.sort_by(|&a, &b| tasks[b].worth.total_cmp(&tasks[a].worth));
    for task in order {
        assignment.insert(task);
        if assignment.search.steps > most_steps {
            return None;
        }
    }
    let chronon = |time: &Option<usize>| time.and_then(|t| Chronon::new(t as u32 + 1));
    Some(assignment.times.iter().map(chronon).collect())
}

/// The baseline: chronon by chronon, the heaviest tasks whose windows are open. Ties go to the earlier task.
pub fn assign_greedily(tasks: &[Task], room: &[u32]) -> Vec<Option<Chronon>> {
    let mut times = vec![None; tasks.len()];
    let mut arriving: Vec<usize> = (0..tasks.len()).collect();
    arriving.sort_by_key(|&task| tasks[task].ideal);
    let mut arriving = arriving.into_iter().peekable();
    let mut waiting: BinaryHeap<(Length, Reverse<usize>)> = BinaryHeap::new();
    for (now, &room) in Chronon::first(u32::try_from(room.len()).unwrap_or(u32::MAX)).zip(room) {
        while let Some(task) = arriving.next_if(|&task| tasks[task].ideal <= now) {
            waiting.push((Length(tasks[task].worth), Reverse(task)));
        }
        let mut left = room;
        while left > 0
            && let Some((_, Reverse(task))) = waiting.pop()
        {
            if tasks[task].last >= now {
                times[task] = Some(now);
                left -= 1;
            }
        }
    }
    times
}

struct Assignment<'a> {
    tasks: &'a [Task],
    room: &'a [u32],
    /// The chronon of each task, counted from 0.
    times: Vec<Option<usize>>,
    /// The tasks in each chronon.
    held: Vec<Vec<usize>>,
    /// What a place in each chronon is worth to the task that would have to leave it: at most 0, and 0 where there is room.
    prices: Vec<f64>,
    /// The first chronon with room from each chronon on, as far as known: a union-find forest.
    next_free: Vec<usize>,
    search: Search,
}

/// A chain of moves.
struct Chain {
    length: f64,
    end: End,
}

enum End {
    /// In a chronon with room.
    Room(usize),
    /// By leaving out a task.
    Lost(usize),
}

/// What is known of each chronon during one search; forgotten by counting searches.
struct Search {
    number: u32,
    seen: Vec<u32>,
    distance: Vec<f64>,
    /// The task that would move here.
    by: Vec<usize>,
    is_final: Vec<bool>,
    reached: Vec<usize>,
    /// Over all searches.
    steps: u64,
}

impl<'a> Assignment<'a> {
    fn new(tasks: &'a [Task], room: &'a [u32]) -> Self {
        let n = room.len();
        let mut next_free: Vec<usize> = (0..=n).collect();
        (0..n).filter(|&t| room[t] == 0).for_each(|t| next_free[t] = t + 1);
        Self {
            tasks,
            room,
            times: vec![None; tasks.len()],
            held: vec![Vec::new(); n],
            prices: vec![0.0; n],
            next_free,
            search: Search {
                number: 0,
                seen: vec![0; n],
                distance: vec![0.0; n],
                by: vec![0; n],
                is_final: vec![false; n],
                reached: Vec::new(),
                steps: 0,
            },
        }
    }

    fn first_free(&mut self, from: usize) -> usize {
        let mut free = from;
        while self.next_free[free] != free {
            self.next_free[free] = self.next_free[self.next_free[free]];
            free = self.next_free[free];
        }
        free
    }

    fn cost(&self, task: usize, t: usize) -> f64 {
        self.tasks[task].worth * (t - self.tasks[task].ideal.index()) as f64
    }

    /// Puts a task in, or leaves it or another out, whichever costs least.
    fn insert(&mut self, task: usize) {
        let Chain { length, end } = self.cheapest_chain(task);
        for &t in &self.search.reached {
            if self.search.is_final[t] && self.search.distance[t] < length {
                self.prices[t] -= length - self.search.distance[t];
            }
        }
        match end {
            End::Room(t) => {
                self.shift_into(t);
                if self.held[t].len() == self.room[t] as usize {
                    self.next_free[t] = t + 1;
                }
            }
            End::Lost(lost) => {
                if let Some(t) = self.times[lost].take() {
                    self.held[t].retain(|&held| held != lost);
                    self.shift_into(t);
                }
            }
        }
    }

    /// Back along the chain: the task that moves here leaves a place for the one before it.
    fn shift_into(&mut self, mut t: usize) {
        loop {
            let mover = self.search.by[t];
            let left = self.times[mover].replace(t);
            self.held[t].push(mover);
            let Some(left) = left else { break };
            self.held[left].retain(|&held| held != mover);
            t = left;
        }
    }

    /// The cheapest way to deal with one more task.
    fn cheapest_chain(&mut self, task: usize) -> Chain {
        self.search.number += 1;
        self.search.reached.clear();
        let mut heap = BinaryHeap::new();
        self.relax(task, 0.0, &mut heap);
        let mut best = Chain { length: self.tasks[task].worth * LOST, end: End::Lost(task) };
        while let Some(Reverse((Length(distance), t))) = heap.pop() {
            if distance >= best.length {
                break;
            }
            if self.search.is_final[t] {
                continue;
            }
            self.search.is_final[t] = true;
            if self.held[t].len() < self.room[t] as usize {
                return Chain { length: distance, end: End::Room(t) };
            }
            for i in 0..self.held[t].len() {
                let mover = self.held[t][i];
                let before = distance - (self.cost(mover, t) - self.prices[t]);
                let pushed_out = before + self.tasks[mover].worth * LOST;
                if pushed_out < best.length {
                    best = Chain { length: pushed_out, end: End::Lost(mover) };
                }
                self.relax(mover, before, &mut heap);
            }
        }
        best
    }

    /// Notes where `task` could go, given the length of the chain before.
    fn relax(&mut self, task: usize, before: f64, heap: &mut BinaryHeap<Reverse<(Length, usize)>>) {
        let Task { ideal, last, .. } = self.tasks[task];
        let first = ideal.index();
        if first >= self.room.len() {
            return;
        }
        let last = last.index().min(self.first_free(first)).min(self.room.len() - 1);
        self.search.steps += (last + 1).saturating_sub(first) as u64;
        for t in first..=last {
            if self.room[t] == 0 {
                continue;
            }
            let distance = before + self.cost(task, t) - self.prices[t];
            let search = &mut self.search;
            let is_new = search.seen[t] != search.number;
            if is_new {
                search.seen[t] = search.number;
                search.is_final[t] = false;
                search.reached.push(t);
            }
            if is_new || (!search.is_final[t] && distance < search.distance[t]) {
                search.distance[t] = distance;
                search.by[t] = task;
                heap.push(Reverse((Length(distance), t)));
            }
        }
    }
}

/// A number with the order of numbers.
#[derive(Clone, Copy, PartialEq)]
struct Length(f64);

impl Eq for Length {}

impl Ord for Length {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Length {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
