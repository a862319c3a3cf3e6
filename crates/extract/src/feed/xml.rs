//! RSS and Atom of every version, well-formed or not: one reader for all, so that a feed reads the same while it is
//! broken elsewhere. Items are found wherever they are; a part of an item counts directly inside of it.
//!
//! What is open is kept on a stack. An end tag closes what is above its beginning, and one without a beginning closes an
//! element that nobody knows; an item ends where the next one begins. So a mistake stays inside of its item.

use super::draft::{Dates, Draft};
use super::entities::{Entities, HtmlNames};
use super::field::{self, Meaning};
use super::markup::{Writing, local_name};
use super::part::Part;
use super::scope::{Scopes, Surroundings};
use super::tokens::{Tag, Token, Tokens};
use super::vocabulary::Vocabulary;
use crate::document::Diagnostic;
use crate::html::PageReader;
use crate::identity::RawItem;
use crate::text::one_line;

/// What was read of a feed in XML.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) title: Option<String>,
    pub(super) dates: Dates,
    pub(super) items: Vec<RawItem>,
    /// False when items may be missing: the feed ends in the middle, or an item lost its beginning.
    pub(super) is_complete: bool,
    /// What was wrong first.
    pub(super) problem: Option<&'static str>,
}

/// What an open element is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The feed itself, or what it is wrapped in.
    Feed,
    Item,
    /// Holds parts of an item.
    Group,
    /// A part of an item or of a feed.
    Part,
    /// Inside of a part.
    Markup,
    Unknown,
}

#[derive(Debug)]
struct Open<'t> {
    name: &'t str,
    role: Role,
    outside: Surroundings,
}

struct State<'t, 'r> {
    reader: &'r PageReader<'r>,
    entities: Entities,
    scopes: Scopes<'t>,
    stack: Vec<Open<'t>>,
    part: Option<Part>,
    /// The open item, and whether it is one of Atom's.
    item: Option<(Draft, bool)>,
    feed: Draft,
    items: Vec<RawItem>,
    problems: Vec<Diagnostic>,
    is_ended: bool,
    lost_items: bool,
    problem: Option<&'static str>,
}

/// Reads a feed.
pub(super) fn read(text: &str, reader: &PageReader<'_>, diagnostics: &mut Vec<Diagnostic>) -> Read {
    let mut tokens = Tokens::new(text, reader.work);
    let mut state = State {
        reader,
        entities: Entities::default(),
        scopes: Scopes::new(reader.url),
        stack: Vec::new(),
        part: None,
        item: None,
        feed: Draft::default(),
        items: Vec::new(),
        problems: Vec::new(),
        is_ended: false,
        lost_items: false,
        problem: None,
    };
    while state.items.len() <= reader.limits.max_items {
        let innermost = state.stack.last().map_or("", |open| open.name);
        let Some(token) = tokens.next(innermost) else { break };
        match token {
            Token::Open(tag) => state.open(tag),
            Token::Close(name) => state.close(name),
            Token::Text(text) => state.text(text),
            Token::Verbatim(text) => {
                if let Some(part) = &mut state.part {
                    part.markup.text(text);
                }
            }
            Token::Doctype(doctype) => state.entities.declare(doctype, reader.work),
        }
    }
    // An item that is still open was cut off, perhaps within its text: it does not count as whole.
    let was_stopped = state.items.len() > reader.limits.max_items || reader.work.is_used_up();
    match state.item.take() {
        _ if was_stopped => {}
        Some(_) => state.wrong("it ends inside of an item"),
        None if !state.is_ended => state.wrong("its end is missing"),
        None => {}
    }
    // One deep entry is worth a message, a thousand are not worth a thousand.
    let Draft { title, dates, authors, .. } = state.feed;
    // Who writes a feed has written what nobody else signs.
    if let Some(author) = authors.joined() {
        let unsigned = state.items.iter_mut().filter(|item| item.author.is_none());
        unsigned.for_each(|item| item.author = Some(author.clone()));
    }
    let title = title.take().map(|title| one_line(&title.plain(reader, &mut state.problems)));
    diagnostics.extend(state.problems.into_iter().next());
    Read {
        title: title.filter(|title| !title.is_empty()),
        dates,
        items: state.items,
        is_complete: state.is_ended && !state.lost_items,
        problem: tokens.problem.or(state.problem),
    }
}

impl<'t> State<'t, '_> {
    fn wrong(&mut self, problem: &'static str) {
        self.problem = self.problem.or(Some(problem));
    }

    fn top(&self) -> Option<Role> {
        self.stack.last().map(|open| open.role)
    }

    fn open(&mut self, tag: Tag<'t>) {
        let is_root = self.stack.is_empty();
        let outside = self.scopes.enter(tag, is_root, &self.entities, self.reader.work);
        let vocabulary = self.scopes.vocabulary_of(tag.name);
        let name = local_name(tag.name).to_ascii_lowercase();
        let meaning = field::meaning(vocabulary, &name);
        let is_item = field::is_item(vocabulary, &name) && !self.is_foreign_to_items();
        if is_item {
            self.end_item_before();
        } else if self.ends_part(meaning, vocabulary, tag) {
            self.wrong("a part of an item has no end");
            self.end_part_and_above();
        }
        let role = match self.top() {
            _ if is_item => Role::Item,
            Some(Role::Part | Role::Markup) => Role::Markup,
            _ if self.item.is_none() && field::is_feed(vocabulary, &name) => Role::Feed,
            Some(Role::Item | Role::Group) if field::is_group(vocabulary, &name) => Role::Group,
            Some(Role::Item | Role::Feed) if meaning.is_some() => Role::Part,
            Some(Role::Group) if vocabulary == Vocabulary::Media && meaning.is_some() => Role::Part,
            _ => Role::Unknown,
        };
        match (role, meaning) {
            (Role::Item, _) => self.begin_item(tag, name == "entry"),
            (Role::Part, Some(meaning)) => {
                let of_atom =
                    self.item.as_ref().map_or(vocabulary == Vocabulary::Atom, |(_, is_atom)| *is_atom);
                self.part =
                    Some(Part::begin(meaning, vocabulary, of_atom, tag, |value| self.resolved(value)));
            }
            (Role::Markup, _) => {
                if let Some(part) = &mut self.part {
                    part.open(tag);
                }
            }
            _ => {}
        }
        let is_deep = self.stack.len() >= self.reader.limits.max_depth;
        if tag.closes_itself || is_deep {
            match role {
                Role::Item => self.end_item(),
                Role::Part => self.end_part(),
                // A root without anything in it.
                Role::Feed => self.is_ended |= is_root,
                _ => {}
            }
            self.scopes.leave(outside);
        } else {
            self.stack.push(Open { name: tag.name, role, outside });
        }
    }

    /// Whether an item here would be part of what an item is about: another feed, or XML that it holds.
    fn is_foreign_to_items(&self) -> bool {
        let is_xml = self.part.as_ref().is_some_and(|part| part.markup.writing() == Writing::Xhtml);
        let is_in_feed = || {
            let above = self.stack.iter().rev().take_while(|open| open.role != Role::Item);
            above.into_iter().any(|open| matches!(local_name(open.name), "feed" | "source" | "rss"))
        };
        self.item.is_some() && (is_xml || is_in_feed())
    }

    /// An item inside an item: the end of the first is missing.
    fn end_item_before(&mut self) {
        if self.item.is_some() {
            self.wrong("an item begins inside of another one");
            let at = self.stack.iter().rposition(|open| open.role == Role::Item);
            self.close_from(at.unwrap_or_default());
        } else if self.part.is_some() {
            self.wrong("a part of the feed has no end");
            self.end_part_and_above();
        }
    }

    /// Whether the part that is open has lost its end, as this element must be outside of it.
    fn ends_part(&self, meaning: Option<Meaning>, vocabulary: Vocabulary, tag: Tag<'_>) -> bool {
        let (Some(part), Some(meaning)) = (&self.part, meaning) else { return false };
        if part.markup.writing() == Writing::Xhtml
            || !matches!(vocabulary, Vocabulary::Core | Vocabulary::Atom)
        {
            return false;
        }
        match meaning {
            // These are no elements of HTML.
            Meaning::Id(_) | Meaning::Date(_) => true,
            _ => {
                let is_bare = tag.attributes.trim().is_empty() && !tag.closes_itself;
                self.top() == Some(Role::Part) && (is_bare || vocabulary == Vocabulary::Atom)
            }
        }
    }

    fn begin_item(&mut self, tag: Tag<'t>, is_atom: bool) {
        let mut draft = Draft::default();
        for (name, value) in tag.attributes() {
            if self.scopes.vocabulary_of(name) == Vocabulary::Rdf && local_name(name) == "about" {
                draft.id.offer(2, self.resolved(value));
            }
        }
        self.item = Some((draft, is_atom));
    }

    fn resolved(&self, value: &str) -> String {
        self.entities.resolve(value, HtmlNames::Resolved, self.reader.work).0
    }

    fn text(&mut self, text: &'t str) {
        let Some(part) = &mut self.part else { return };
        let is_html = part.markup.is_html_source();
        // The reader of HTML must not take it for a tag either.
        let text = match text.strip_prefix('<') {
            Some(rest) => {
                part.markup.text(if is_html { "&lt;" } else { "<" });
                rest
            }
            None => text,
        };
        let names = if is_html { HtmlNames::Kept } else { HtmlNames::Resolved };
        let (resolved, is_whole) = self.entities.resolve(text, names, self.reader.work);
        part.markup.text(&resolved);
        if !is_whole {
            self.wrong("an `&` that begins no reference");
        }
    }

    fn close(&mut self, name: &'t str) {
        let at = self.stack.iter().rposition(|open| open.name.eq_ignore_ascii_case(name));
        self.reader.work.take((self.stack.len() - at.unwrap_or_default()) as u64 / 4);
        if let Some(at) = at {
            if at + 1 < self.stack.len() {
                self.wrong("an element has no end");
            }
            self.close_from(at);
            return;
        }
        self.wrong("an end without a beginning");
        let local = local_name(name).to_ascii_lowercase();
        let vocabulary = self.scopes.vocabulary_of(name);
        if field::is_item(vocabulary, &local) {
            self.lost_items |= self.item.is_none();
        }
        let is_known = field::is_item(vocabulary, &local) || field::meaning(vocabulary, &local).is_some();
        if field::is_feed(vocabulary, &local) && local != "channel" {
            self.close_from(0);
            self.is_ended = true;
        } else if is_known && self.top() == Some(Role::Unknown) {
            self.close_from(self.stack.len() - 1);
        }
    }

    /// Closes the element at this place of the stack, and all inside of it.
    fn close_from(&mut self, at: usize) {
        while self.stack.len() > at {
            let Some(Open { name, role, outside }) = self.stack.pop() else { return };
            match role {
                Role::Part => self.end_part(),
                Role::Item => self.end_item(),
                Role::Markup => {
                    if let Some(part) = &mut self.part {
                        part.close(name);
                    }
                }
                Role::Feed => self.is_ended |= self.stack.is_empty(),
                Role::Group | Role::Unknown => {}
            }
            self.scopes.leave(outside);
        }
    }

    fn end_part_and_above(&mut self) {
        if let Some(at) = self.stack.iter().rposition(|open| open.role == Role::Part) {
            self.close_from(at);
        }
    }

    fn end_item(&mut self) {
        if let Some((draft, _)) = self.item.take() {
            self.items.push(draft.into_item(self.reader, &mut self.problems));
        }
    }

    fn end_part(&mut self) {
        let Some(part) = self.part.take() else { return };
        let base = PageReader { url: self.scopes.base(), ..*self.reader };
        match &mut self.item {
            Some((draft, is_atom)) => part.give_to(draft, *is_atom, &base),
            None => part.give_to(&mut self.feed, false, &base),
        }
    }
}
