//! XML cut into tags and text, whatever is wrong with it. Not a parser of feeds: it knows nothing of items.
//!
//! quick-xml says where each tag, comment and section ends. It is asked for one of them at a time, so that after a
//! mistake the reading goes on at the next `<`. Where a tag or a section has lost its end, what it would swallow shows
//! it: then it ends earlier, or its `<` is text.

use quick_xml::events::Event;
use quick_xml::events::attributes::Attributes;
use quick_xml::reader::Reader;

use crate::work::Work;

/// A piece of XML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// A start tag, or one that is an end tag too.
    Open(Tag<'t>),
    /// The name in an end tag.
    Close(&'t str),
    /// Text with references in it.
    Text(&'t str),
    /// The text of a CDATA section.
    Verbatim(&'t str),
    /// A document type.
    Doctype(&'t str),
}

/// A start tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tag<'t> {
    /// With its prefix.
    pub(super) name: &'t str,
    /// What follows the name.
    pub(super) attributes: &'t str,
    pub(super) closes_itself: bool,
}

impl<'t> Tag<'t> {
    /// Names and values as written; references are not resolved.
    pub(super) fn attributes(self) -> impl Iterator<Item = (&'t str, &'t str)> {
        let mut attributes = Attributes::html(self.attributes, 0);
        attributes.with_checks(false);
        attributes.filter_map(Result::ok).filter_map(|attribute| match attribute.value {
            std::borrow::Cow::Borrowed(value) => Some((attribute.key.0, value)),
            // Values are slices of the tag.
            std::borrow::Cow::Owned(_) => None,
        })
    }
}

/// Cuts a text, front to back.
#[derive(Debug)]
pub(super) struct Tokens<'t> {
    text: &'t str,
    at: usize,
    work: &'t Work,
    /// What was wrong first.
    pub(super) problem: Option<&'static str>,
}

/// Bytes that are read again count as bytes that a pattern scans.
const BYTES_PER_STEP: usize = 16;

impl<'t> Tokens<'t> {
    pub(super) fn new(text: &'t str, work: &'t Work) -> Self {
        Self { text, at: 0, work, problem: None }
    }

    /// The next piece inside of the element `innermost`, which is expected to end some time.
    pub(super) fn next(&mut self, innermost: &str) -> Option<Token<'t>> {
        while self.at < self.text.len() && self.work.take(1) {
            let rest = &self.text[self.at..];
            if !rest.starts_with('<') {
                let length = rest.find('<').unwrap_or(rest.len());
                self.at += length;
                return Some(Token::Text(&rest[..length]));
            }
            let mut reader = Reader::from_str(rest);
            let config = reader.config_mut();
            config.check_end_names = false;
            config.allow_unmatched_ends = true;
            let event = reader.read_event();
            let length = usize::try_from(reader.buffer_position()).unwrap_or(rest.len()).min(rest.len());
            let token = match event {
                Ok(Event::Start(_) | Event::End(_) | Event::Empty(_)) => Some(self.tag(rest, length)),
                Ok(Event::CData(_)) => Some(self.section(rest, length, innermost)),
                Ok(Event::Comment(_)) => {
                    self.skip(rest, length, "<!--");
                    None
                }
                Ok(Event::PI(_) | Event::Decl(_)) => {
                    self.skip(rest, length, "<?");
                    None
                }
                Ok(Event::DocType(_)) => {
                    let end = self.skip(rest, length, "<!DOCTYPE");
                    Some(Token::Doctype(&rest[..end]))
                }
                _ => {
                    // Such an end was searched up to the end of the document.
                    self.charge(rest.len());
                    self.without_end(rest, innermost)
                }
            };
            if token.is_some() {
                return token;
            }
        }
        None
    }

    fn charge(&mut self, n_bytes: usize) {
        self.work.take((n_bytes / BYTES_PER_STEP) as u64);
    }

    fn wrong(&mut self, problem: &'static str) {
        self.problem = self.problem.or(Some(problem));
    }

    /// The tag of `length` bytes that `rest` begins with, or as much of it as is one.
    fn tag(&mut self, rest: &'t str, length: usize) -> Token<'t> {
        let inside = &rest[1..length - 1];
        let Some(next) = inside.find('<') else { return self.whole_tag(rest, length) };
        if has_proper_attributes(inside) {
            return self.whole_tag(rest, length);
        }
        self.charge(length);
        match inside[..next].find('>') {
            // A quote is missing, and the value went on to the next one.
            Some(end) => self.mended_tag(rest, end + 2),
            None => self.stray(rest),
        }
    }

    /// A tag one of whose values has no end. What it says is lost: the reader of HTML would look for the end as well.
    fn mended_tag(&mut self, rest: &'t str, length: usize) -> Token<'t> {
        self.wrong("a tag has a quote without its fellow");
        match self.whole_tag(rest, length) {
            Token::Open(tag) => Token::Open(Tag { attributes: "", ..tag }),
            other => other,
        }
    }

    fn whole_tag(&mut self, rest: &'t str, length: usize) -> Token<'t> {
        let inside = &rest[1..length - 1];
        let (is_end, inside) = inside.strip_prefix('/').map_or((false, inside), |inside| (true, inside));
        let name_length = inside.find(|c: char| c.is_ascii_whitespace()).unwrap_or(inside.len());
        let (name, attributes) = inside.split_at(name_length);
        let closes_itself = !is_end && inside.ends_with('/');
        let name = name.strip_suffix('/').unwrap_or(name);
        let attributes = attributes.strip_suffix('/').unwrap_or(attributes);
        if !is_name(name) {
            return self.stray(rest);
        }
        self.at += length;
        if is_end { Token::Close(name) } else { Token::Open(Tag { name, attributes, closes_itself }) }
    }

    /// A `<` that begins nothing is text, with what follows it.
    fn stray(&mut self, rest: &'t str) -> Token<'t> {
        self.wrong("a `<` that begins no tag");
        let length = rest[1..].find('<').map_or(rest.len(), |length| length + 1);
        self.at += length;
        Token::Text(&rest[..length])
    }

    /// The CDATA section of `length` bytes. If the end of this one is missing, it has found the end of the next one.
    fn section(&mut self, rest: &'t str, length: usize, innermost: &str) -> Token<'t> {
        let content = &rest[CDATA.len()..length - "]]>".len()];
        let own = content.find(CDATA).and_then(|next| end_tag(&content[..next], innermost));
        if let Some(end) = own {
            self.charge(length);
            self.wrong("a CDATA section without an end");
            self.at += CDATA.len() + end;
            return Token::Verbatim(&content[..end]);
        }
        self.at += length;
        Token::Verbatim(content)
    }

    /// Passes over `length` bytes, or fewer if there is so much in them that their end must be another one's.
    fn skip(&mut self, rest: &'t str, length: usize, begin: &'static str) -> usize {
        let inside = &rest[begin.len()..length];
        let swallowed = match begin {
            // Items that are commented out are no mistake, a comment within a comment is one.
            "<!--" => inside.find("<!--").is_some_and(|next| begins_item(&inside[..next])),
            _ => begins_item(inside),
        };
        let end = if swallowed {
            self.charge(length);
            self.wrong("a comment or declaration without an end");
            beginning_of(rest, begin)
        } else {
            length
        };
        self.at += end;
        end
    }

    /// What to do where no end was found at all.
    fn without_end(&mut self, rest: &'t str, innermost: &str) -> Option<Token<'t>> {
        if let Some(content) = rest.strip_prefix(CDATA) {
            self.wrong("a CDATA section without an end");
            let end = end_tag(content, innermost).unwrap_or(content.len());
            self.at += CDATA.len() + end;
            return Some(Token::Verbatim(&content[..end]));
        }
        for begin in ["<!--", "<?", "<!DOCTYPE", "<!doctype"] {
            if rest.starts_with(begin) {
                self.wrong("a comment or declaration without an end");
                self.at += beginning_of(rest, begin);
                return None;
            }
        }
        let next = rest[1..].find('<').map_or(rest.len(), |next| next + 1);
        match rest[..next].find('>') {
            Some(end) if rest.starts_with("<!") => {
                self.wrong("a `<!` that begins nothing known");
                self.at += end + 1;
                None
            }
            // Only a quote can hide the end of a tag.
            Some(end) => Some(self.mended_tag(rest, end + 1)),
            None => Some(self.stray(rest)),
        }
    }
}

const CDATA: &str = "<![CDATA[";

/// Where `</name` stands in a text.
fn end_tag(text: &str, name: &str) -> Option<usize> {
    if name.is_empty() {
        return None;
    }
    text.match_indices("</").map(|(at, _)| at).find(|at| {
        let found = &text[at + 2..];
        found.starts_with(name) && !found[name.len()..].starts_with(|c: char| c.is_alphanumeric())
    })
}

/// How much of a comment or declaration to pass over when its end is missing: no more than its line has of it.
fn beginning_of(rest: &str, begin: &str) -> usize {
    let next = rest[1..].find('<').map_or(rest.len(), |next| next + 1);
    rest[..next].find('>').map_or(begin.len(), |end| end + 1)
}

fn begins_item(text: &str) -> bool {
    ["<item", "<entry", "<channel", "<rss", "<feed", "</item", "</entry"].iter().any(|tag| text.contains(tag))
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':'))
        && !name.ends_with(':')
}

/// Whether a tag has nothing but whole attributes. A value may have a `<` in it, though it should not; a value that
/// has an end tag in it began with another value's last quote.
fn has_proper_attributes(inside: &str) -> bool {
    let name_length = inside.find(|c: char| c.is_ascii_whitespace()).unwrap_or(inside.len());
    let (name, mut rest) = inside.split_at(name_length);
    if name.contains('<') {
        return false;
    }
    loop {
        let trimmed = rest.trim_start_matches(|c: char| c.is_ascii_whitespace());
        if trimmed.is_empty() || trimmed == "/" {
            return true;
        }
        let Some((key, value)) = trimmed.split_once('=') else { return false };
        let value = value.trim_start_matches(|c: char| c.is_ascii_whitespace());
        let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\'')) else { return false };
        let Some((value, after)) = value[1..].split_once(quote) else { return false };
        let is_apart =
            after.is_empty() || after == "/" || after.starts_with(|c: char| c.is_ascii_whitespace());
        if trimmed.len() == rest.len() || !is_apart || !is_name(key.trim_end()) || value.contains("</") {
            return false;
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests;
