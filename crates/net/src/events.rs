//! Server-Sent Events: lines to events. Pure; the lines come from [`crate::Lines`] or anywhere else.
//!
//! Invariant: an event is complete only when its empty line has arrived, and is never longer than the limit.

/// The most bytes that the data of one event may have; longer data is dropped and the event is empty.
const MAX_DATA: usize = 1 << 20;

/// One event from the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Where to resume after this event, if the server sent an id; sent back as `Last-Event-ID`.
    pub id: Option<String>,
    /// What kind of event; `message` where the server does not say.
    pub name: String,
    /// What it says. Empty when it was longer than a mebibyte.
    pub data: String,
}

/// Puts events together from lines.
///
/// ```
/// use dunlin_net::Events;
/// let mut events = Events::default();
/// assert_eq!(events.line("id: 7"), None);
/// assert_eq!(events.line("data: news"), None);
/// let event = events.line("").unwrap();
/// assert_eq!((event.id.as_deref(), event.data.as_str()), (Some("7"), "news"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Events {
    last_id: Option<String>,
    name: String,
    data: Option<String>,
    is_too_long: bool,
}

impl Events {
    /// Resumes after an event that was received before.
    pub fn after(id: impl Into<String>) -> Self {
        Self { last_id: Some(id.into()), ..Self::default() }
    }

    /// The id of the last event that had one.
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// Forgets an incomplete event, as after a broken connection.
    pub fn interrupted(&mut self) {
        *self = Self { last_id: self.last_id.take(), ..Self::default() };
    }

    /// Takes in a line, without its end; gives the event that it completes.
    pub fn line(&mut self, line: &str) -> Option<Event> {
        if line.is_empty() {
            return self.complete();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => self.append(value),
            "event" => value.clone_into(&mut self.name),
            "id" if !value.contains('\0') => self.last_id = Some(value.to_owned()),
            // Comments, `retry`, and what a later standard may add.
            _ => {}
        }
        None
    }

    fn append(&mut self, value: &str) {
        let data = self.data.get_or_insert_default();
        if data.len() + value.len() > MAX_DATA {
            self.is_too_long = true;
            data.clear();
        } else if !self.is_too_long {
            data.push_str(value);
            data.push('\n');
        }
    }

    fn complete(&mut self) -> Option<Event> {
        let name = std::mem::take(&mut self.name);
        self.is_too_long = false;
        let mut data = self.data.take()?;
        data.pop();
        let name = if name.is_empty() { "message".to_owned() } else { name };
        Some(Event { id: self.last_id.clone(), name, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<(Option<String>, String, String)> {
        let mut events = Events::default();
        let parsed = text.split('\n').filter_map(|line| events.line(line));
        parsed.map(|event| (event.id, event.name, event.data)).collect()
    }

    #[test]
    fn fields_make_events() {
        let text = ": hello\n\nid: 1\nevent: change\ndata: a\ndata:b\n\ndata\n\nid: 2\n\ndata: never ended";
        let id = || Some("1".to_owned());
        let expected =
            [(id(), "change".to_owned(), "a\nb".to_owned()), (id(), "message".to_owned(), String::new())];
        assert_eq!(all(text), expected);
    }

    #[test]
    fn a_broken_connection_drops_the_event_but_keeps_the_position() {
        let mut events = Events::after("6");
        for line in ["id: 7", "data: whole", ""] {
            events.line(line);
        }
        events.line("data: half");
        events.interrupted();
        assert_eq!(events.last_id(), Some("7"));
        assert_eq!(events.line(""), None);
    }

    #[test]
    fn endless_data_is_let_go() {
        let mut events = Events::default();
        let line = format!("data: {}", "x".repeat(MAX_DATA / 2));
        for _ in 0..10 {
            events.line(&line);
        }
        assert_eq!(events.line("").unwrap().data, "");
        events.line("data: again");
        assert_eq!(events.line("").unwrap().data, "again");
    }
}
