//! References in XML text: `&amp;`, `&#233;`, HTML's names, and the names that a document type declares. No reference
//! is followed to another file, and none grows beyond what its declaration has written out.

use std::collections::BTreeMap;

use quick_xml::escape::{resolve_html5_entity, resolve_xml_entity};

use crate::work::Work;

/// The names that a document declares for itself.
#[derive(Debug, Default)]
pub(super) struct Entities {
    own: BTreeMap<String, String>,
}

/// What becomes of HTML's own names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HtmlNames {
    /// They stay, because the text is going to be read as HTML.
    Kept,
    Resolved,
}

/// A document that declares more or longer ones has something else in mind than saving its author some writing.
const MAX_DECLARED: usize = 500;
const MAX_VALUE: usize = 4096;
/// The longest name of HTML has 31 letters.
const MAX_NAME: usize = 64;

impl Entities {
    /// Takes the declarations of a document type. A value that refers to another declared name is left out: that is how
    /// a few lines become gigabytes.
    pub(super) fn declare(&mut self, doctype: &str, work: &Work) {
        let mut rest = doctype;
        for _ in 0..MAX_DECLARED {
            let Some(at) = rest.find("<!ENTITY") else { return };
            rest = rest[at + "<!ENTITY".len()..].trim_start();
            let Some(length) = rest.find(|c: char| c.is_whitespace()) else { return };
            let (name, after) = rest.split_at(length);
            let after = after.trim_start();
            let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''));
            let Some((value, _)) = quote.and_then(|quote| after[1..].split_once(quote)) else { continue };
            if value.len() <= MAX_VALUE && length <= MAX_NAME {
                let (resolved, is_whole) = Self::default().resolve(value, HtmlNames::Resolved, work);
                if is_whole {
                    self.own.entry(name.to_owned()).or_insert(resolved);
                }
            }
        }
    }

    /// The text that is meant, and whether every ampersand began a reference that means something.
    pub(super) fn resolve(&self, text: &str, names: HtmlNames, work: &Work) -> (String, bool) {
        let mut resolved = String::with_capacity(text.len());
        let mut is_whole = true;
        let mut rest = text;
        while let Some(at) = rest.find('&') {
            resolved.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let head = crate::text::cut(rest, MAX_NAME);
            let reference =
                head.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '#' | '_' | '-' | '.' | ':'));
            let reference =
                reference.filter(|end| *end > 0 && rest[*end..].starts_with(';')).map(|end| &rest[..end]);
            let length = resolved.len();
            let is_known = reference.is_some_and(|name| self.push(name, names, &mut resolved, work));
            if let (true, Some(name)) = (is_known, reference) {
                rest = &rest[name.len() + 1..];
                work.take((resolved.len() - length) as u64);
            } else {
                // It may be HTML's after all, or nothing: the rest of it is text.
                resolved.push('&');
                is_whole &= names == HtmlNames::Kept && reference.is_some_and(is_html_name);
            }
        }
        resolved.push_str(rest);
        (resolved, is_whole)
    }

    fn push(&self, name: &str, names: HtmlNames, resolved: &mut String, work: &Work) -> bool {
        if let Some(number) = name.strip_prefix('#') {
            return character(number).map(|c| resolved.push(c)).is_some();
        }
        let meant = resolve_xml_entity(name)
            .or_else(|| self.own.get(name).map(String::as_str).filter(|_| !work.is_used_up()))
            .or_else(|| resolve_html5_entity(name).filter(|_| names == HtmlNames::Resolved));
        meant.map(|meant| resolved.push_str(meant)).is_some()
    }
}

fn is_html_name(name: &str) -> bool {
    resolve_html5_entity(name).is_some()
}

/// The character of a number such as `233` or `xE9`. As in HTML, the numbers that Unicode gives to control characters are
/// those of Windows: nobody means the former.
fn character(number: &str) -> Option<char> {
    let code = match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => number.parse().ok()?,
    };
    if let (0x80..=0x9f, Ok(byte)) = (code, u8::try_from(code)) {
        return encoding_rs::WINDOWS_1252.decode_without_bom_handling(&[byte]).0.chars().next();
    }
    char::from_u32(code).filter(|c| *c != '\0')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(doctype: &str, text: &str, kept: &str, resolved: &str) {
        let work = Work::default();
        let mut entities = Entities::default();
        entities.declare(doctype, &work);
        assert_eq!(entities.resolve(text, HtmlNames::Kept, &work).0, kept);
        assert_eq!(entities.resolve(text, HtmlNames::Resolved, &work).0, resolved);
    }

    #[test]
    fn references_are_resolved_and_other_ampersands_stay() {
        check("", "a &amp; b &#233;&#xE9;&#XE9; &#146;", "a & b ééé ’", "a & b ééé ’");
        check("", "caf&eacute; &amp;lt;", "caf&eacute; &lt;", "café &lt;");
        check(
            "",
            "a & b &; &&amp; ?a=1&b=2;&nothing; &#x110000; &",
            "a & b &; && ?a=1&b=2;&nothing; &#x110000; &",
            "a & b &; && ?a=1&b=2;&nothing; &#x110000; &",
        );
    }

    #[test]
    fn declared_names_are_known_unless_they_build_on_each_other() {
        let doctype =
            "<!DOCTYPE rss [<!ENTITY me 'M &#38; E'> <!ENTITY two \"&me;&me;\"><!ENTITY out SYSTEM 'file'>]>";
        check(doctype, "&me;: &two; &out;", "M & E: &two; &out;", "M & E: &two; &out;");
    }

    #[test]
    fn what_a_long_value_adds_up_to_is_paid_for() {
        let work = Work::new(100_000);
        let mut entities = Entities::default();
        entities.declare(&format!("<!ENTITY a '{}'>", "x".repeat(4000)), &work);
        let (text, _) = entities.resolve(&"&a;".repeat(10_000), HtmlNames::Resolved, &work);
        assert!(work.is_used_up() && text.len() < 200_000, "{}", text.len());
    }

    #[test]
    fn an_ampersand_that_begins_nothing_is_noticed() {
        let whole = |text: &str| Entities::default().resolve(text, HtmlNames::Kept, &Work::default()).1;
        assert!(whole("&amp; &nbsp; &#1; plain"));
        assert!(!whole("a & b") && !whole("&nonsense;") && !whole("&"));
    }
}
