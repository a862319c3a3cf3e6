//! A model survives being written down, bit by bit, and nonsense is refused.

use dunlin_sched::model::{Completeness, Evidence, Model, Prior, ProbeEvidence};
use proptest::prelude::*;

use crate::sources::{changed, time};

fn models() -> impl Strategy<Value = Model> {
    let probe = (1.0..1e6f64, any::<u8>());
    (1e-9..1.0f64, prop::collection::vec(probe, 0..40)).prop_map(|(rate, probes)| {
        let mut model = Model::new(Prior { rate, strength: 0.5 });
        let mut since = 0.0;
        model.observe(&ProbeEvidence { since: None, at: time(since), evidence: Evidence::Unchanged });
        for (gap, kind) in probes {
            let at = since + gap;
            let evidence = match kind % 3 {
                0 => Evidence::Unchanged,
                1 => changed(Vec::new(), Completeness::Latest),
                _ => changed(vec![time(since + gap / 3.0)], Completeness::All),
            };
            model.observe(&ProbeEvidence { since: Some(time(since)), at: time(at), evidence });
            since = at;
        }
        model
    })
}

proptest! {
    #[test]
    fn what_is_read_is_what_was_written(model in models()) {
        let bytes = postcard::to_stdvec(&model).unwrap();
        let from_bytes: Model = postcard::from_bytes(&bytes).unwrap();
        prop_assert_eq!(&from_bytes, &model);
        prop_assert_eq!(postcard::to_stdvec(&from_bytes).unwrap(), bytes);
        let text = serde_json::to_string(&model).unwrap();
        let from_text: Model = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&from_text, &model);
        prop_assert_eq!(serde_json::to_string(&from_text).unwrap(), text);
    }

    #[test]
    fn what_is_read_goes_on_learning_as_before(model in models()) {
        let mut again: Model = postcard::from_bytes(&postcard::to_stdvec(&model).unwrap()).unwrap();
        let mut model = model;
        let probe = ProbeEvidence { since: Some(time(1e8)), at: time(1.001e8), evidence: changed(Vec::new(), Completeness::Latest) };
        model.observe(&probe);
        again.observe(&probe);
        prop_assert_eq!(again, model);
    }

    #[test]
    fn any_bytes_are_read_or_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..400), model in models(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let sane = |model: Model| {
            let forecast = model.forecast();
            forecast.mean_rate() > 0.0 && forecast.mean_rate().is_finite() && forecast.segment(time(0.0)).rate.is_finite()
        };
        prop_assert!(postcard::from_bytes::<Model>(&bytes).is_ok_and(sane) || postcard::from_bytes::<Model>(&bytes).is_err());
        bytes = postcard::to_stdvec(&model).unwrap();
        let place = at.index(bytes.len());
        bytes[place] = byte;
        prop_assert!(postcard::from_bytes::<Model>(&bytes).map_or(true, sane));
    }
}

#[test]
fn what_no_probe_can_lead_to_is_refused() {
    let mut model = Model::new(Prior::default());
    model.observe(&ProbeEvidence {
        since: Some(time(0.0)),
        at: time(1e5),
        evidence: changed(Vec::new(), Completeness::Latest),
    });
    let text = serde_json::to_string(&model).unwrap();
    let refusal = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
        change(&mut value["V2"]);
        serde_json::from_value::<Model>(value).unwrap_err().to_string()
    };
    let nan = f64::NAN.to_bits();
    assert_eq!(
        refusal(&|model| model["first"]["seconds"] = nan.into()),
        "the time watched is not a number that a model can hold (start the source with a new model)"
    );
    assert!(
        refusal(&|model| model["first"]["changes"] = (-1.0f64).to_bits().into())
            .starts_with("the number of changes")
    );
    assert!(refusal(&|model| model["first"]["prior_rate"] = 0.into()).starts_with("the prior"));
    assert!(
        refusal(&|model| model["first"]["rhythm"]["by_hour"][7] = f32::INFINITY.to_bits().into())
            .starts_with("a count")
    );
    assert_eq!(
        refusal(&|model| drop(model["first"]["rhythm"]["by_minute"].as_array_mut().unwrap().pop())),
        "a table by minute of the hour has 59 entries, not 60 (start the source with a new model)"
    );
    assert!(refusal(&|model| model["rhythm_odds"] = 7f32.to_bits().into()).starts_with("a belief"));
    assert!(refusal(&|model| model["bursts"][1][3] = nan.into()).starts_with("a belief"));
    assert!(
        refusal(&|model| model["bursts"][0][2] = nan.into()).starts_with("the time since the last change")
    );
    assert!(serde_json::from_str::<Model>(&text.replacen("V2", "V9", 1)).is_err());
}

#[test]
fn what_the_first_version_wrote_is_still_read() {
    let mut model = Model::new(Prior::default());
    model.observe(&ProbeEvidence {
        since: Some(time(0.0)),
        at: time(1e5),
        evidence: changed(Vec::new(), Completeness::Latest),
    });
    let value = serde_json::to_value(&model).unwrap();
    let old = serde_json::json!({ "V1": value["V2"]["first"] });
    let read: Model = serde_json::from_value(old).unwrap();
    assert_eq!(read.forecast().mean_rate(), model.forecast().mean_rate());
    assert_eq!(read.forecast().segment(time(2e5)), model.forecast().segment(time(2e5)));
}
