//! Server-Sent Events: any lines are a stream; it goes on from where it was after a connection breaks.

use dunlin_net::Events;

/// Each line is one of the stream.
pub fn events(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.split('\n').collect();
    let mut events = Events::default();
    let received: Vec<_> = lines.iter().filter_map(|line| events.line(line)).collect();
    for event in &received {
        assert!(!event.name.is_empty());
        assert!(event.id.as_ref().is_none_or(|id| !id.contains('\0')));
    }
    let last = events.last_id().map(str::to_owned);
    events.interrupted();
    assert_eq!(events.last_id(), last.as_deref());
    assert_eq!(events.line(""), None, "nothing is left of an event that was broken off");
    // The same lines give the same events from any start.
    let mut again = Events::after("0");
    assert_eq!(lines.iter().filter_map(|line| again.line(line)).count(), received.len());
}
