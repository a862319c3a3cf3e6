//! Notes of earlier releases: what they hold is still known, and what they do not say is found out.

use super::*;

const SOURCE: (&str, &str, &str) = ("http://a.example/", "page", "{}");

/// What a probe begins with where this is the note of the last one.
fn begun_with(form: u8, fields: &impl Serialize) -> (ProbeNote, FetchState) {
    let (url, kind, recipe) = SOURCE;
    let note = Note { name: PROBE_NOTE.to_owned(), value: postcard::to_extend(fields, vec![form]).unwrap() };
    let basis = ProbeBasis {
        url: url.to_owned(),
        kind: kind.to_owned(),
        recipe: recipe.to_owned(),
        notes: vec![note],
        fetch_state: Vec::new(),
    };
    let (note, _, fetch_state) = read_probe_notes(&basis);
    (note, fetch_state)
}

fn spec() -> u64 {
    let (url, kind, recipe) = SOURCE;
    spec_hash(url, kind, recipe)
}

const HASH: Option<[u8; 32]> = Some([7; 32]);

#[test]
fn a_note_of_an_earlier_release_is_known_and_its_content_is_read_once_more() {
    let (last, none) = (Some(Time::from_seconds(9)), None::<Time>);
    let validators = Validators { etag: Some("\"tag\"".to_owned()), ..Validators::default() };
    let first = (spec(), &validators, HASH, last, none, 3_u8, 2_u32, none);
    let (charset, ended_early) = (Some("koi8-r"), true);
    let second = (spec(), HASH, last, none, 3_u8, 2_u32, none, charset, ended_early, last);
    for (form, (note, fetch_state)) in [(1, begun_with(1, &first)), (2, begun_with(2, &second))] {
        assert_eq!((note.last_probe, note.n_reported, note.failures), (last, 3, 2), "{form}");
        assert!(note.has_baseline(), "{form}: what comes is compared with what is stored");
        assert_ne!(
            note.hash, HASH,
            "{form}: the same content is read again, for what its owner should know of it"
        );
        assert_eq!((note.needs_attention, note.remark.as_str()), (false, ""), "{form}");
        let is_second = form == 2;
        assert_eq!((note.charset.as_deref(), note.ended_early), (charset.filter(|_| is_second), is_second));
        assert_eq!(fetch_state.validators.etag.is_some(), !is_second, "{form}");
    }
}

#[test]
fn a_note_says_how_the_content_was_read() {
    let written = ProbeNote {
        spec: spec(),
        hash: HASH,
        needs_attention: true,
        remark: "nothing found".to_owned(),
        ..ProbeNote::default()
    };
    let (note, _) = begun_with(PROBE_FORM, &written);
    assert_eq!(note, written);
}
