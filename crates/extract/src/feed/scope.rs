//! What holds inside of an element: the prefixes of namespaces and the base of links (`xml:base`). Not the elements
//! themselves.

use super::entities::{Entities, HtmlNames};
use super::markup::local_name;
use super::tokens::Tag;
use super::vocabulary::{Vocabulary, vocabulary};
use crate::work::Work;

/// Declarations that hold at some place.
#[derive(Debug)]
pub(super) struct Scopes<'t> {
    /// Prefixes and addresses, the innermost last.
    prefixes: Vec<(&'t str, String)>,
    bases: Vec<String>,
    url: Option<String>,
    /// The namespace of the root and its prefix: what the document is written in, known or not.
    root: Option<(String, &'t str)>,
}

/// What held outside of an element.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Surroundings {
    n_prefixes: usize,
    n_bases: usize,
}

/// Every name is looked up among them.
const MAX_PREFIXES: usize = 100;
const MAX_BASE: usize = 2000;

impl<'t> Scopes<'t> {
    pub(super) fn new(url: Option<&str>) -> Self {
        Self { prefixes: Vec::new(), bases: Vec::new(), url: url.map(str::to_owned), root: None }
    }

    /// Enters an element. Leave it with what is returned.
    pub(super) fn enter(
        &mut self,
        tag: Tag<'t>,
        is_root: bool,
        entities: &Entities,
        work: &Work,
    ) -> Surroundings {
        let outside = Surroundings { n_prefixes: self.prefixes.len(), n_bases: self.bases.len() };
        if tag.attributes.contains("xml") {
            for (name, value) in tag.attributes() {
                let prefix = if name == "xmlns" { Some("") } else { name.strip_prefix("xmlns:") };
                let resolved = || entities.resolve(value, HtmlNames::Resolved, work).0;
                if let Some(prefix) = prefix.filter(|_| self.prefixes.len() < MAX_PREFIXES) {
                    self.prefixes.push((prefix, resolved()));
                } else if name == "xml:base" && value.len() <= MAX_BASE {
                    self.push_base(&resolved());
                }
            }
        }
        work.take(1 + self.prefixes.len() as u64 / 16);
        if is_root && self.root.is_none() {
            let prefix = prefix_of(tag.name);
            self.root = Some((self.address(prefix).unwrap_or_default().to_owned(), prefix));
            // RDF wraps a feed that is written in the default namespace.
            let is_rdf = local_name(tag.name).eq_ignore_ascii_case("rdf");
            if let (true, Some(default)) = (is_rdf, self.address("")) {
                self.root = Some((default.to_owned(), ""));
            }
        }
        outside
    }

    pub(super) fn leave(&mut self, outside: Surroundings) {
        self.prefixes.truncate(outside.n_prefixes);
        self.bases.truncate(outside.n_bases);
    }

    /// What relative links are relative to.
    pub(super) fn base(&self) -> Option<&str> {
        self.bases.last().or(self.url.as_ref()).map(String::as_str)
    }

    pub(super) fn vocabulary_of(&self, name: &str) -> Vocabulary {
        let prefix = prefix_of(name);
        let root = self.root.as_ref();
        // A prefix that nobody declared, on the root too.
        if self.address(prefix).is_none()
            && root.is_some_and(|(address, of_root)| address.is_empty() && *of_root == prefix)
        {
            return match vocabulary(prefix, None, None) {
                Vocabulary::Foreign => Vocabulary::Core,
                known => known,
            };
        }
        let of_root = root.map(|(address, _)| address.as_str()).filter(|address| !address.is_empty());
        vocabulary(prefix, self.address(prefix), of_root)
    }

    fn address(&self, prefix: &str) -> Option<&str> {
        let found = self.prefixes.iter().rev().find(|(known, _)| *known == prefix);
        found.map(|(_, address)| address.as_str())
    }

    fn push_base(&mut self, base: &str) {
        let outer = self.base().and_then(|outer| url::Url::parse(outer).ok());
        let joined = match outer {
            Some(outer) => outer.join(base.trim()).ok(),
            None => url::Url::parse(base.trim()).ok(),
        };
        // Relative ones add up.
        self.bases.extend(joined.map(String::from).filter(|base| base.len() <= MAX_BASE));
    }
}

fn prefix_of(name: &str) -> &str {
    &name[..(name.len() - local_name(name).len()).saturating_sub(1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(attributes: &'static str) -> Tag<'static> {
        Tag { name: "a", attributes, closes_itself: false }
    }

    #[test]
    fn declarations_hold_inside_of_their_element() {
        let (entities, work) = (Entities::default(), Work::default());
        let mut scopes = Scopes::new(Some("https://x.example/a/b"));
        let outer =
            scopes.enter(tag(" xmlns:p='http://purl.org/dc/terms/' xml:base='/c/'"), true, &entities, &work);
        let inner = scopes.enter(
            tag(" xmlns:p='http://search.yahoo.com/mrss/' xml:base='d/e'"),
            false,
            &entities,
            &work,
        );
        assert_eq!(scopes.vocabulary_of("p:title"), Vocabulary::Media);
        assert_eq!(scopes.base(), Some("https://x.example/c/d/e"));
        scopes.leave(inner);
        assert_eq!(scopes.vocabulary_of("p:title"), Vocabulary::DublinCore);
        assert_eq!(scopes.base(), Some("https://x.example/c/"));
        scopes.leave(outer);
        assert_eq!(scopes.vocabulary_of("p:title"), Vocabulary::Foreign);
        assert_eq!(scopes.base(), Some("https://x.example/a/b"));
    }

    #[test]
    fn what_the_root_is_written_in_is_what_the_feed_is_written_in() {
        let (entities, work) = (Entities::default(), Work::default());
        let root = Tag { name: "r:rss", attributes: " xmlns:r='http://made.example/'", closes_itself: false };
        let mut scopes = Scopes::new(None);
        scopes.enter(root, true, &entities, &work);
        assert_eq!(scopes.vocabulary_of("r:item"), Vocabulary::Core);
        assert_eq!(scopes.vocabulary_of("s:item"), Vocabulary::Foreign);
    }
}
