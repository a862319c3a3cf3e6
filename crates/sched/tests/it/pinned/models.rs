//! What probes of every kind teach about synthetic sources, at a few times of their lives.

use dunlin_core::Time;
use dunlin_sched::model::{Completeness, Evidence, Model, Parts, Prior, ProbeEvidence};

use super::{check, row};
use crate::sources::{DAY, HOUR, Reported, WEEK, changed, changes, rng, time};

const MINUTE: f64 = 60.0;

/// What a forecast says, in every way it can be asked.
fn describe(table: &mut String, name: &str, model: &Model, last: f64, among: Option<Prior>) {
    let forecast = among.map_or_else(|| model.forecast(), |prior| model.forecast_among(prior));
    row(
        table,
        &format!("{name} rate, evidence, hope"),
        &[forecast.mean_rate() * DAY, forecast.evidence(), forecast.hope()],
    );
    let ahead = [MINUTE, HOUR, 7.0 * HOUR, DAY, 3.5 * DAY, 9.0 * WEEK];
    let until = |seconds: f64| (time(last), time(last + seconds));
    let over = |figure: &dyn Fn((Time, Time)) -> f64| ahead.map(|seconds| figure(until(seconds)));
    row(table, &format!("{name} expected"), &over(&|(from, to)| forecast.expected(from, to)));
    row(table, &format!("{name} probability"), &over(&|(from, to)| forecast.probability(from, to)));
    row(table, &format!("{name} chance since"), &over(&|(from, to)| forecast.chance_since(from, to)));
    let (from, to) = until(2.0 * DAY);
    let bounds = [0.5, 0.8, 0.99].map(|level| forecast.interval(from, to, level));
    row(table, &format!("{name} bounds"), &bounds.map(|bound| [bound.start, bound.end]).concat());
    row(
        table,
        &format!("{name} changes for"),
        &[0.01, 0.3, 0.6, 0.95].map(|chance| forecast.changes_for(chance)),
    );
    let seconds_to = |changes| forecast.reaches(from, changes).since(from).as_secs_f64();
    row(table, &format!("{name} reaches"), &[0.01, 0.5, 1.0, 7.0].map(seconds_to));
    let segments: Vec<f64> = (0..8)
        .flat_map(|step| {
            let at = time(last + f64::from(step) * 11.3 * HOUR + f64::from(step) * 7.0 * MINUTE);
            let segment = forecast.segment(at);
            [segment.rate * DAY, segment.until.since(at).as_secs_f64()]
        })
        .collect();
    row(table, &format!("{name} segments"), &segments);
    let points = forecast.curve(from, to, 3);
    let point = |point: &dunlin_sched::forecast::Point| {
        [point.rate * DAY, point.bounds.start * DAY, point.bounds.end * DAY, point.probability]
    };
    row(table, &format!("{name} curve"), &points.iter().flat_map(point).collect::<Vec<_>>());
}

/// A source by the times of its changes, how it is probed, and what the probes tell.
struct Case {
    name: &'static str,
    times: Vec<f64>,
    gap: f64,
    reported: Reported,
    parts: Parts,
    prior: Prior,
    /// What the first probe lists.
    history: Option<(Completeness, usize)>,
}

impl Case {
    fn new(name: &'static str, times: Vec<f64>, gap: f64, reported: Reported) -> Self {
        Self { name, times, gap, reported, parts: Parts::All, prior: Prior::default(), history: None }
    }

    /// The probes, at distances that go up and down.
    fn probes(&self) -> Vec<ProbeEvidence> {
        let end = self.times.last().copied().unwrap_or(4.0 * WEEK);
        let mut probes = Vec::new();
        let mut since = 0.0;
        if let Some((completeness, entries)) = self.history {
            since = end / 3.0;
            let before: Vec<Time> =
                self.times.iter().filter(|&&at| at <= since).map(|&at| time(at)).collect();
            let listed = before[before.len().saturating_sub(entries)..].to_vec();
            probes.push(ProbeEvidence {
                since: None,
                at: time(since),
                evidence: changed(listed, completeness),
            });
        }
        for step in 0.. {
            let at = since + self.gap * [0.6, 1.0, 1.7, 0.7][step % 4];
            if at > end {
                return probes;
            }
            let new: Vec<Time> = self
                .times
                .iter()
                .filter(|&&change| since < change && change <= at)
                .map(|&at| time(at))
                .collect();
            let evidence = match (self.reported, new.last()) {
                (_, None) => Evidence::Unchanged,
                (Reported::Nothing, _) => changed(Vec::new(), Completeness::Latest),
                (Reported::Last, Some(&last)) => changed(vec![last], Completeness::Latest),
                (Reported::All, _) => changed(new, Completeness::All),
            };
            probes.push(ProbeEvidence { since: Some(time(since)), at: time(at), evidence });
            since = at;
        }
        probes
    }
}

fn poisson(per_day: f64, days: f64, seed: u64) -> Vec<f64> {
    changes(per_day / DAY, |_| per_day / DAY, days * DAY, &mut rng(seed))
}

fn by_day(per_day: f64, days: f64, seed: u64) -> Vec<f64> {
    let is_busy = |at: f64| (8.0..18.0).contains(&(at % DAY / HOUR)) && at % WEEK < 5.0 * DAY;
    changes(per_day / DAY, |at| if is_busy(at) { per_day / DAY } else { 0.0 }, days * DAY, &mut rng(seed))
}

fn punctual(days: u32) -> Vec<f64> {
    (0..days * 24).map(|hour| f64::from(hour) * HOUR + 51.0 * MINUTE + f64::from(hour * 7 % 40)).collect()
}

fn bursty(days: f64, seed: u64) -> Vec<f64> {
    let starts = poisson(0.4, days, seed);
    let mut times: Vec<f64> = starts
        .iter()
        .flat_map(|&start| (0..9).map(move |step| start + f64::from(step * step) * 400.0))
        .collect();
    times.sort_by(f64::total_cmp);
    times
}

/// Three at a time, within a second.
fn at_once(days: f64, seed: u64) -> Vec<f64> {
    poisson(2.0, days, seed).iter().flat_map(|&at| [at, at + 0.2, at + 0.3]).collect()
}

fn cases() -> Vec<Case> {
    use Reported::{All, Last, Nothing};
    let timid = Prior { rate: 1e-6, strength: 3.0 };
    vec![
        Case::new("silent", Vec::new(), 9.0 * HOUR, Nothing),
        Case::new("undated", poisson(5.0, 30.0, 1), 3.0 * HOUR, Nothing),
        Case::new("undated, few probes", poisson(5.0, 60.0, 2), 20.0 * HOUR, Nothing),
        Case::new("last", poisson(5.0, 30.0, 3), 3.0 * HOUR, Last),
        Case::new("all", poisson(5.0, 30.0, 4), 9.0 * HOUR, All),
        Case::new("often, undated", poisson(200.0, 8.0, 5), 900.0, Nothing),
        Case::new("often, all", poisson(200.0, 8.0, 6), HOUR, All),
        Case::new("by day, undated", by_day(20.0, 56.0, 7), 2.0 * HOUR, Nothing),
        Case::new("by day, last", by_day(20.0, 56.0, 8), 2.0 * HOUR, Last),
        Case::new("by day, all", by_day(20.0, 56.0, 9), 5.0 * HOUR, All),
        Case::new("punctual, undated", punctual(20), 35.0 * MINUTE, Nothing),
        Case::new("punctual, last", punctual(20), 35.0 * MINUTE, Last),
        Case::new("bursty, undated", bursty(80.0, 10), HOUR, Nothing),
        Case::new("bursty, last", bursty(80.0, 11), HOUR, Last),
        Case::new("bursty, all", bursty(80.0, 12), 4.0 * HOUR, All),
        Case::new("at once, all", at_once(40.0, 17), 6.0 * HOUR, All),
        Case { prior: timid, ..Case::new("timid", poisson(5.0, 20.0, 13), 3.0 * HOUR, Last) },
        Case { parts: Parts::Rate, ..Case::new("rate alone", by_day(20.0, 56.0, 7), 2.0 * HOUR, Last) },
        Case { parts: Parts::Week, ..Case::new("week alone", by_day(20.0, 56.0, 7), 2.0 * HOUR, Last) },
        Case { parts: Parts::Hour, ..Case::new("hour alone", punctual(12), 35.0 * MINUTE, Last) },
        Case {
            history: Some((Completeness::Latest, 20)),
            ..Case::new("a list that was cut", poisson(5.0, 30.0, 14), 5.0 * HOUR, All)
        },
        Case {
            history: Some((Completeness::All, usize::MAX)),
            ..Case::new("a list from the beginning", bursty(40.0, 15), 5.0 * HOUR, All)
        },
    ]
}

#[test]
fn what_probes_teach() {
    let mut table = String::new();
    for case in cases() {
        let mut model = Model::of_parts(case.prior, case.parts);
        let probes = case.probes();
        let middle = probes.len() / 3;
        for (number, probe) in probes.iter().enumerate() {
            model.observe(probe);
            if number == middle || number + 1 == probes.len() {
                let last = probe.at.since(time(0.0)).as_secs_f64();
                describe(&mut table, &format!("{}, {} probes,", case.name, number + 1), &model, last, None);
            }
        }
    }
    check("models", &table);
}

/// Probes beside others, of which something else is assumed than of the source by itself; and probes after years.
#[test]
fn what_probes_teach_beside_others() {
    let mut table = String::new();
    let case = Case::new("beside", poisson(3.0, 20.0, 16), 4.0 * HOUR, Reported::Last);
    for (name, prior) in [
        ("lively", Prior { rate: 1e-2, strength: 4.0 }),
        ("quiet", Prior { rate: 1e-8, strength: 0.5 }),
        ("nonsense", Prior { rate: f64::INFINITY, strength: f64::NAN }),
    ] {
        let mut model = Model::new(Prior::default());
        case.probes().iter().for_each(|probe| model.observe_among(probe, prior));
        describe(&mut table, name, &model, 20.0 * DAY, Some(prior));
        let late = ProbeEvidence {
            since: Some(time(20.0 * DAY)),
            at: time(50.0 * WEEK),
            evidence: Evidence::Unchanged,
        };
        model.observe_among(&late, prior);
        describe(&mut table, &format!("{name}, a year later"), &model, 50.0 * WEEK, Some(prior));
    }
    check("models-beside-others", &table);
}
