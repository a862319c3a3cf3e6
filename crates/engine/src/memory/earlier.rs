//! Notes of a probe as earlier releases wrote them. In the first form, each source had the validators of its resource; the second
//! one did not say how the content was read.

use dunlin_core::Time;
use dunlin_net::Validators;
use dunlin_store::Note;
use serde::Deserialize;

use super::{FetchState, PROBE_NOTE, ProbeNote, decode};

#[derive(Deserialize)]
struct FirstProbeNote {
    spec: u64,
    validators: Validators,
    hash: Option<[u8; 32]>,
    last_probe: Option<Time>,
    confirming: Option<Time>,
    n_reported: u8,
    failures: u32,
    not_before: Option<Time>,
}

#[derive(Deserialize)]
struct SecondProbeNote {
    spec: u64,
    hash: Option<[u8; 32]>,
    last_probe: Option<Time>,
    confirming: Option<Time>,
    n_reported: u8,
    failures: u32,
    not_before: Option<Time>,
    charset: Option<String>,
    ended_early: bool,
    last_failure: Option<Time>,
}

/// The note of the last probe, and what its fetch left, where that was in the same note.
pub(super) fn probe_note_in(notes: &[Note]) -> Option<(ProbeNote, Option<FetchState>)> {
    if let Some(second) = decode::<SecondProbeNote>(notes, PROBE_NOTE, 2) {
        let note = ProbeNote {
            spec: second.spec,
            hash: to_be_read_again(second.hash),
            last_probe: second.last_probe,
            confirming: second.confirming,
            n_reported: second.n_reported,
            failures: second.failures,
            not_before: second.not_before,
            charset: second.charset,
            ended_early: second.ended_early,
            last_failure: second.last_failure,
            ..ProbeNote::default()
        };
        return Some((note, None));
    }
    let FirstProbeNote { spec, validators, hash, last_probe, confirming, n_reported, failures, not_before } =
        decode(notes, PROBE_NOTE, 1)?;
    let note = ProbeNote {
        spec,
        hash: to_be_read_again(hash),
        last_probe,
        confirming,
        n_reported,
        failures,
        not_before,
        ..ProbeNote::default()
    };
    Some((note, Some(FetchState { validators, hash })))
}

/// How the content was read is not known. No content has this hash, so the next answer is read, and compared with the items
/// that are stored.
fn to_be_read_again(hash: Option<[u8; 32]>) -> Option<[u8; 32]> {
    hash.map(|_| [0; 32])
}
