//! Promises about messages on their way out.

use std::time::Duration;

use dunlin_store::{Lease, Message, NewMessage, Store};

use super::Fresh;
use crate::fixtures::{self, time};

/// Takes everything due at that second, for a minute.
pub(crate) fn lease(store: &dyn Store, second: i64) -> Vec<Message> {
    let lease = Lease { now: time(second), length: Duration::from_mins(1), destination: None, limit: 100 };
    store.lease_messages(lease).unwrap()
}

fn keys(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|message| message.key.as_str()).collect()
}

pub(crate) fn a_message_is_delivered_until_acknowledged(fresh: Fresh<'_>) {
    let store = fresh();
    store.queue_messages(time(0), vec![fixtures::message("a"), fixtures::message("b")]).unwrap();
    let first = lease(store.as_ref(), 0);
    assert_eq!(keys(&first), ["a", "b"]);
    assert_eq!(
        (first[0].receipt.attempt, first[0].payload.as_slice(), first[0].queued),
        (1, &b"a"[..], time(0))
    );
    store.postpone_message(first[0].receipt, time(500), "no answer".to_owned()).unwrap();
    store.acknowledge_message(first[1].receipt).unwrap();
    assert_eq!(keys(&lease(store.as_ref(), 499)), [""; 0]);
    assert_eq!(store.next_message_due().unwrap(), Some(time(500)));
    let second = lease(store.as_ref(), 500);
    assert_eq!((keys(&second), second[0].receipt.attempt), (vec!["a"], 2));
    assert_eq!(second[0].last_error, "no answer");
    store.acknowledge_message(second[0].receipt).unwrap();
    store.acknowledge_message(second[0].receipt).unwrap();
    assert_eq!(store.next_message_due().unwrap(), None);
}

pub(crate) fn a_lease_keeps_others_out_until_it_ends(fresh: Fresh<'_>) {
    let store = fresh();
    let mut elsewhere = fixtures::message("mail");
    elsewhere.destination = "mail".to_owned();
    store.queue_messages(time(0), vec![fixtures::message("a"), elsewhere, fixtures::message("b")]).unwrap();
    let hook = |now, limit| {
        let destination = Some("hook".to_owned());
        let lease = Lease { now: time(now), length: Duration::from_mins(1), destination, limit };
        store.lease_messages(lease).unwrap()
    };
    assert_eq!(keys(&hook(0, 1)), ["a"]);
    assert_eq!(keys(&hook(1, 9)), ["b"]);
    assert_eq!(keys(&hook(59, 9)), [""; 0]);
    assert_eq!(keys(&hook(60, 9)), ["a"]);
    assert_eq!(keys(&lease(store.as_ref(), 61)), ["mail", "b"]);
}

pub(crate) fn a_late_failure_does_not_disturb_the_next_attempt(fresh: Fresh<'_>) {
    let store = fresh();
    store.queue_messages(time(0), vec![fixtures::message("a")]).unwrap();
    let slow = lease(store.as_ref(), 0).pop().unwrap();
    let quick = lease(store.as_ref(), 60).pop().unwrap();
    store.postpone_message(slow.receipt, time(61), "too late".to_owned()).unwrap();
    assert_eq!(keys(&lease(store.as_ref(), 62)), [""; 0], "the second attempt still has its lease");
    // But a late success is a success.
    store.acknowledge_message(slow.receipt).unwrap();
    store.postpone_message(quick.receipt, time(63), "gone".to_owned()).unwrap();
    assert_eq!(keys(&lease(store.as_ref(), 1000)), [""; 0]);
}

pub(crate) fn a_key_that_waits_is_not_queued_again(fresh: Fresh<'_>) {
    let store = fresh();
    let source = store.add_source(fixtures::source("a")).unwrap();
    for number in 1..=2_u8 {
        let mut capture = fixtures::probe(source, number.into());
        capture.messages = vec![NewMessage { payload: vec![number], ..fixtures::message("same") }];
        store.record_capture(capture).unwrap();
    }
    let waiting = lease(store.as_ref(), 10);
    assert_eq!((keys(&waiting), &waiting[0].payload), (vec!["same"], &vec![1]), "as it was queued first");
}

pub(crate) fn messages_outlive_their_source(fresh: Fresh<'_>) {
    let store = fresh();
    let source = store.add_source(fixtures::source("a")).unwrap();
    let mut capture = fixtures::news(source, 1, b"x");
    capture.messages = vec![fixtures::message("m")];
    store.record_capture(capture).unwrap();
    store.remove_source(source).unwrap();
    let message = lease(store.as_ref(), 10).pop().unwrap();
    assert_eq!((message.key.as_str(), message.source), ("m", None));
}
