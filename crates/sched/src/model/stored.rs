//! The stored form of a model: numbers by their bits, so that what is read is what was written in any format, under
//! a version, so that later versions can still read it. The factors are not stored: they follow from the counts.
//!
//! Invariant: what does not make a model that could have been learned is refused.

use dunlin_core::Time;
use serde::{Deserialize, Serialize};

use super::bursts::{self, Bursts, N_SHAPES, ShapeFit};
use super::calendar::{HOURS, MINUTES};
use super::rate::Rate;
use super::rhythm::{BinNoise, MOST_ODDS, Rhythm, SUPPOSED_ODDS};
use super::{Model, Parts, Prior};

/// Something that is not a stored model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// A number that no probe can lead to.
    #[error("{0} is not a number that a model can hold (start the source with a new model)")]
    Number(&'static str),
    /// A table of the wrong length.
    #[error("a table by {by} has {found} entries, not {expected} (start the source with a new model)")]
    Length {
        /// What it is indexed by.
        by: &'static str,
        /// How many it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
}

/// Every version that was ever written. A new one gets a new variant at the end.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Stored {
    V1(V1),
    V2(V2),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct V1 {
    prior_rate: u64,
    prior_strength: u64,
    changes: u64,
    seconds: u64,
    begin: Option<Time>,
    parts: Parts,
    rhythm: Option<Tables>,
}

/// What came later: bursts, and whether rhythms are believed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct V2 {
    first: V1,
    rhythm_odds: u32,
    /// Changes, seconds, age and odds of each shape.
    bursts: Option<[[u64; 4]; N_SHAPES]>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Tables {
    updated: Time,
    by_hour: Vec<u32>,
    by_minute: Vec<u32>,
    /// By hour of the week, hour of the day, weekday, minute.
    noise: [u32; 4],
}

impl From<Model> for Stored {
    fn from(model: Model) -> Self {
        let tables = |rhythm: Box<Rhythm>| Tables {
            updated: rhythm.updated,
            by_hour: rhythm.by_hour.iter().map(|count| count.to_bits()).collect(),
            by_minute: rhythm.by_minute.iter().map(|count| count.to_bits()).collect(),
            noise: {
                let BinNoise { week_hours, day_hours, weekdays, minutes } = rhythm.noise;
                [week_hours, day_hours, weekdays, minutes].map(f32::to_bits)
            },
        };
        let rhythm_odds = model.rhythm.as_ref().map_or(SUPPOSED_ODDS, |rhythm| rhythm.odds).to_bits();
        let bursts = model.bursts.map(|bursts| {
            bursts
                .fits
                .map(|ShapeFit { rate, age, odds }| [rate.changes, rate.seconds, age, odds].map(f64::to_bits))
        });
        let first = V1 {
            prior_rate: model.prior.rate.to_bits(),
            prior_strength: model.prior.strength.to_bits(),
            changes: model.rate.changes.to_bits(),
            seconds: model.rate.seconds.to_bits(),
            begin: model.begin,
            parts: model.parts,
            rhythm: model.rhythm.map(tables),
        };
        Self::V2(V2 { first, rhythm_odds, bursts })
    }
}

impl TryFrom<Stored> for Model {
    type Error = Unreadable;

    fn try_from(stored: Stored) -> Result<Self, Unreadable> {
        match stored {
            Stored::V1(stored) => Self::try_from(stored),
            Stored::V2(V2 { first, rhythm_odds, bursts }) => {
                let mut model = Self::try_from(first)?;
                let odds = within(f32::from_bits(rhythm_odds).into(), MOST_ODDS.into())?;
                model.rhythm.iter_mut().for_each(|rhythm| rhythm.odds = odds as f32);
                model.bursts = bursts.map(bursts_of).transpose()?;
                Ok(model)
            }
        }
    }
}

impl TryFrom<V1> for Model {
    type Error = Unreadable;

    fn try_from(stored: V1) -> Result<Self, Unreadable> {
        let prior = Prior {
            rate: f64::from_bits(stored.prior_rate),
            strength: f64::from_bits(stored.prior_strength),
        };
        if prior.sane() != prior {
            return Err(Unreadable::Number("the prior"));
        }
        let rate = Rate {
            changes: amount(f64::from_bits(stored.changes), "the number of changes")?,
            seconds: amount(f64::from_bits(stored.seconds), "the time watched")?,
        };
        let mut model =
            Self { prior, rate, begin: stored.begin, parts: stored.parts, rhythm: None, bursts: None };
        if let Some(tables) = stored.rhythm {
            let mut rhythm = Box::new(Rhythm::new(tables.updated));
            rhythm.by_hour = table::<HOURS>(&tables.by_hour, "hour of the week")?;
            rhythm.by_minute = table::<MINUTES>(&tables.by_minute, "minute of the hour")?;
            let [week_hours, day_hours, weekdays, minutes] = table(&tables.noise, "view")?;
            rhythm.noise = BinNoise { week_hours, day_hours, weekdays, minutes };
            rhythm.settle(stored.begin.unwrap_or(tables.updated), stored.parts);
            model.rhythm = Some(rhythm);
        }
        Ok(model)
    }
}

fn bursts_of(stored: [[u64; 4]; N_SHAPES]) -> Result<Box<Bursts>, Unreadable> {
    let mut bursts = Box::<Bursts>::default();
    for (fits, bits) in bursts.fits.iter_mut().zip(stored) {
        let [changes, seconds, age, odds] = bits.map(f64::from_bits);
        fits.rate.changes = amount(changes, "the number of changes in bursts")?;
        fits.rate.seconds = amount(seconds, "the time watched for bursts")?;
        fits.age = amount(age, "the time since the last change")?;
        fits.odds = within(odds, bursts::MOST_ODDS)?;
    }
    Ok(bursts)
}

fn within(odds: f64, most: f64) -> Result<f64, Unreadable> {
    if odds.abs() <= most { Ok(odds) } else { Err(Unreadable::Number("a belief")) }
}

/// The most that is believed of a count or of seconds: far more than any source can do in any time.
const MOST: f64 = 1e15;

fn amount(value: f64, name: &'static str) -> Result<f64, Unreadable> {
    if (0.0..=MOST).contains(&value) { Ok(value) } else { Err(Unreadable::Number(name)) }
}

fn table<const BINS: usize>(bits: &[u32], by: &'static str) -> Result<[f32; BINS], Unreadable> {
    let bits: &[u32; BINS] =
        bits.try_into().map_err(|_| Unreadable::Length { by, found: bits.len(), expected: BINS })?;
    let counts = bits.map(f32::from_bits);
    counts.iter().try_for_each(|&count| amount(f64::from(count), "a count").map(drop))?;
    Ok(counts)
}
