//! CAM: which of the updates expected in an epoch to probe for, and in which chronon.
//!
//! A [`UpdateForecast`] says at which instants each source may be updated, and how likely. [`allocate`] picks the
//! instants worth a probe; there are fewer probes than instants. The picked instants collide, as only so many probes
//! fit into a chronon; [`assign`] finds the achievable times that lose least. [`plan`] does both.
//!
//! An update that is not probed before the source's next instant is taken as lost: it is overwritten. Nothing here
//! reacts to what probes find; an epoch later there is a new forecast and a new plan.
//!
//! A forecast learned from probes is a rate, which has no instants to pick from. [`Sharing`] is the allocation for those,
//! and [`instants`] says where in the epoch a source's probes belong; the assignment is the same.

mod allocation;
mod assignment;
mod forecast;
mod instants;
mod sharing;

use dunlin_core::{Chronon, Probe, Schedule, SourceIdx};

pub use allocation::{Allocation, allocate};
pub use assignment::{LOST, assign, assign_greedily, assign_within};
pub use forecast::{Expected, UpdateForecast};
pub use instants::instants;
pub use sharing::{ProbeDemand, Sharing};

/// An intended probe.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Task {
    /// The source to probe.
    pub source: SourceIdx,
    /// The best chronon for it, and the first that is any use.
    pub ideal: Chronon,
    /// The last chronon that is any use.
    pub last: Chronon,
    /// What is lost when it is not made, and by every chronon that it is late.
    pub worth: f64,
}

/// The best achievable schedule of `probes` probes in all, with at most `room[t]` in chronon t + 1.
///
/// Where the room is what limits, the instants are not picked beforehand: all of them compete for it, and none is
/// passed over for one that then finds no place.
pub fn plan(forecast: &UpdateForecast, probes: usize, room: &[u32]) -> Schedule {
    let all_room: u64 = room.iter().map(|&room| u64::from(room)).sum();
    let probes = if probes as u64 >= all_room { forecast.n_instants() } else { probes };
    let tasks = allocate(forecast, probes, Allocation::Optimal);
    schedule(&tasks, &assign(&tasks, room))
}

/// The tasks as a schedule, each at the time it was given; those without are left out.
pub fn schedule(tasks: &[Task], times: &[Option<Chronon>]) -> Schedule {
    let probe =
        |(task, time): (&Task, &Option<Chronon>)| time.map(|chronon| Probe { chronon, source: task.source });
    Schedule::from_probes(tasks.iter().zip(times).filter_map(probe).collect())
}
