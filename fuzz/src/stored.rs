//! Notes in the store: a model or what is known of a flicker. Damaged bytes are refused, or make a value that works and
//! is written as it was read.

use std::time::Duration;

use dunlin_core::Time;
use dunlin_extract::{Flicker, Work};
use dunlin_sched::model::{Completeness, Evidence, Model, ProbeEvidence};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::compare::MOST_BYTES;

/// The first byte picks what the rest is.
pub fn stored(bytes: &[u8]) {
    let (choice, rest) = crate::choice(bytes);
    if choice.is_multiple_of(2) { model(rest) } else { flicker(rest) }
}

fn model(bytes: &[u8]) {
    let Some(mut model) = read::<Model>(bytes) else { return };
    let now = Time::from_seconds(1_700_000_000);
    foresees(&model, now);
    for evidence in
        [Evidence::Unchanged, Evidence::Changed { times: Vec::new(), completeness: Completeness::Latest }]
    {
        let at = now.plus(Duration::from_mins(5));
        model.observe(&ProbeEvidence { since: Some(now), at, evidence });
        foresees(&model, at);
    }
}

/// The forecast's own invariants.
fn foresees(model: &Model, now: Time) {
    let forecast = model.forecast();
    let later = now.plus(Duration::from_hours(30));
    let segment = forecast.segment(now);
    assert!(segment.rate.is_finite() && segment.rate > 0.0 && segment.until > now, "{segment:?}");
    for chance in [forecast.probability(now, later), forecast.chance_since(now, later)] {
        assert!((0.0..=1.0).contains(&chance), "{chance}");
    }
    assert!(forecast.expected(now, later) >= 0.0);
    assert!(forecast.reaches(now, 1.0) >= now);
    assert!(!forecast.changes_for(0.5).is_nan());
    let bounds = forecast.interval(now, later, 0.9);
    assert!(bounds.start <= bounds.end, "{bounds:?}");
}

fn flicker(bytes: &[u8]) {
    let Some(flicker) = read::<Flicker>(bytes) else { return };
    assert!(flicker.n_bytes() <= MOST_BYTES);
    let (after_burst, _) = flicker.clone().observe_burst(&[], &[], &Work::default());
    assert!(after_burst.n_bytes() <= MOST_BYTES);
    let (next, verdict) = flicker.observe(&[], &[]);
    assert!(verdict.reported.is_empty() && verdict.suppressed.is_empty());
    assert!(next.n_bytes() <= MOST_BYTES);
}

/// What these bytes mean, if anything, after it was written and read again.
fn read<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(bytes: &[u8]) -> Option<T> {
    let value: T = postcard::from_bytes(bytes).ok()?;
    let written = postcard::to_stdvec(&value).expect("fits into memory");
    let again: T = postcard::from_bytes(&written).expect("was written just now");
    assert_eq!(again, value);
    Some(value)
}
