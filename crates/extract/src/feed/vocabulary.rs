//! Which vocabulary an element belongs to: by the address of its namespace, and where nobody knows that address, by the
//! prefix that everybody uses for it. Not what the element means.

/// The vocabularies that feeds are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vocabulary {
    /// RSS of any version, or whatever the root of the document is in.
    Core,
    /// Atom of any version.
    Atom,
    /// RSS 1.0's `content` module.
    Content,
    /// Dublin Core, elements and terms.
    DublinCore,
    /// Media RSS.
    Media,
    /// Apple's podcasts.
    Itunes,
    /// XHTML.
    Xhtml,
    Rdf,
    /// Anything else.
    Foreign,
}

use Vocabulary::{Atom, Content, Core, DublinCore, Foreign, Itunes, Media, Rdf, Xhtml};

/// Beginnings of addresses, in lower case and without what comes before the host.
const BY_ADDRESS: &[(&str, Vocabulary)] = &[
    ("www.w3.org/2005/atom", Atom),
    ("purl.org/atom/", Atom),
    ("purl.org/rss/1.0/modules/content", Content),
    ("my.netscape.com/rdf/simple/0.9", Core),
    ("channel.netscape.com/rdf/simple/0.9", Core),
    ("my.netscape.com/publish/formats/rss", Core),
    ("purl.org/net/rss", Core),
    ("backend.userland.com/rss", Core),
    ("blogs.law.harvard.edu/tech/rss", Core),
    ("cyber.law.harvard.edu/rss", Core),
    ("www.rssboard.org/rss-specification", Core),
    ("purl.org/dc/elements/1", DublinCore),
    ("purl.org/dc/terms", DublinCore),
    ("search.yahoo.com/mrss", Media),
    ("tools.search.yahoo.com/mrss", Media),
    ("www.itunes.com/dtds/podcast-1.0.dtd", Itunes),
    ("www.w3.org/1999/xhtml", Xhtml),
    ("www.w3.org/1999/02/22-rdf-syntax-ns", Rdf),
];

const BY_PREFIX: &[(&str, Vocabulary)] = &[
    ("atom", Atom),
    ("atom10", Atom),
    ("atom03", Atom),
    ("a10", Atom),
    ("content", Content),
    ("dc", DublinCore),
    ("dcterms", DublinCore),
    ("media", Media),
    ("itunes", Itunes),
    ("xhtml", Xhtml),
    ("rdf", Rdf),
    ("rss", Core),
];

/// The vocabulary of an element with this prefix in the namespace `address`, if there is one. An element that is in the
/// namespace `of_root` is written in what the whole document is written in.
pub(super) fn vocabulary(prefix: &str, address: Option<&str>, of_root: Option<&str>) -> Vocabulary {
    let by_prefix = || {
        let known = BY_PREFIX.iter().find(|(known, _)| prefix.eq_ignore_ascii_case(known));
        known.map_or(Foreign, |(_, vocabulary)| *vocabulary)
    };
    let Some(address) = address.filter(|address| !address.trim().is_empty()) else {
        return if prefix.is_empty() { Core } else { by_prefix() };
    };
    by_address(address).unwrap_or_else(|| match () {
        () if of_root == Some(address) => Core,
        () if prefix.is_empty() => Foreign,
        () => by_prefix(),
    })
}

fn by_address(address: &str) -> Option<Vocabulary> {
    let address = address.trim().to_ascii_lowercase();
    let host = address.strip_prefix("http://").or(address.strip_prefix("https://"))?;
    // Its modules, known or not, are below it.
    if host.trim_end_matches(['/', '#']) == "purl.org/rss/1.0" {
        return Some(Core);
    }
    BY_ADDRESS.iter().find(|(known, _)| host.starts_with(known)).map(|(_, vocabulary)| *vocabulary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_counts_more_than_a_prefix() {
        let found = |prefix, address| vocabulary(prefix, address, Some("http://made.example/up"));
        assert_eq!(found("x", Some("HTTP://purl.org/dc/elements/1.1/")), DublinCore);
        assert_eq!(found("dc", Some("http://search.yahoo.com/mrss")), Media);
        assert_eq!(found("dc", Some("http://purl.org/dX/elements/1.1/")), DublinCore);
        assert_eq!(found("dc", None), DublinCore);
        assert_eq!(found("x", Some("http://made.example/up")), Core);
        assert_eq!(found("", Some("http://made.example/else")), Foreign);
        assert_eq!(found("", None), Core);
        assert_eq!(found("", Some("")), Core);
        assert_eq!(found("l", Some("http://purl.org/rss/1.0/modules/link/")), Foreign);
        assert_eq!(found("content", Some("http://purl.org/rss/1.0/modules/cXntent/")), Content);
        assert_eq!(found("", Some("http://purl.org/rss/1.0/")), Core);
    }
}
