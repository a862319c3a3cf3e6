//! CSS selectors at work on a page, with every step counted. Not a parser of pages or selectors.
//!
//! What a selector costs is decided by the page: `:nth-of-type`, `~` or `:has` visit one neighbour or a hundred
//! thousand. So nothing is read off the selector's text. The matcher sees the page through [`Counted`], which takes a
//! step for every node it visits and shows no more neighbours when there are none left.

use cssparser::Parser as CssParser;
use ego_tree::NodeRef;
use scraper::error::SelectorErrorKind;
use scraper::selector::{CssLocalName, CssString, NonTSPseudoClass, Parser, PseudoElement, Simple};
use scraper::{ElementRef, Html, Node};
use selectors::attr::{AttrSelectorOperation, CaseSensitivity, NamespaceConstraint};
use selectors::bloom::BloomFilter;
use selectors::matching::{
    ElementSelectorFlags, MatchingContext, MatchingForInvalidation, MatchingMode, NeedsSelectorFlags,
    QuirksMode, SelectorCaches, matches_selector,
};
use selectors::parser::{ParseRelative, SelectorImpl, SelectorList};
use selectors::{Element, OpaqueElement};

use crate::error::{Error, Part, parse_part};
use crate::work::Work;

/// A selector that was read.
#[derive(Debug, Clone)]
pub(crate) struct CheckedSelector {
    pub(crate) css: String,
    selectors: SelectorList<Simple>,
}

/// Bytes of an attribute that are compared in one step.
const BYTES_PER_STEP: u64 = 64;

impl CheckedSelector {
    pub(crate) fn new(css: &str) -> Result<Self, Error> {
        let parse = |css: &str| {
            SelectorList::parse(&Parser, &mut CssParser::new(css), ParseRelative::No)
                .map_err(|error| SelectorErrorKind::from(error).to_string())
        };
        let selectors = parse_part(Part::Selector, css, parse)?;
        Ok(Self { css: css.to_owned(), selectors })
    }

    /// The elements that it matches, in the order of the page; those found until the work is used up.
    pub(crate) fn matches<'p>(&self, page: &'p Html, work: &Work) -> impl Iterator<Item = ElementRef<'p>> {
        let mut caches = SelectorCaches::default();
        let elements = page.tree.nodes().filter(|node| node.parent().is_some()).filter_map(ElementRef::wrap);
        // An element that is matched by running out of steps (`:not(:has(a))` on half a page) is not matched.
        elements
            .take_while(|_| work.take(1))
            .filter(move |element| self.is_match(*element, work, &mut caches) && !work.is_used_up())
    }

    fn is_match(&self, element: ElementRef<'_>, work: &Work, caches: &mut SelectorCaches) -> bool {
        let mut context = MatchingContext::new(
            MatchingMode::Normal,
            None,
            caches,
            QuirksMode::NoQuirks,
            NeedsSelectorFlags::No,
            MatchingForInvalidation::No,
        );
        let element = Counted { element, work };
        let mut selectors = self.selectors.slice().iter();
        selectors.any(|selector| matches_selector(selector, 0, None, &element, &mut context))
    }
}

/// An element that counts how often it is visited.
#[derive(Debug, Clone, Copy)]
struct Counted<'p, 'w> {
    element: ElementRef<'p>,
    work: &'w Work,
}

impl<'p> Counted<'p, '_> {
    /// The first element among `nodes`, each of which takes a step: there may be a thousand comments before it.
    fn first_of(&self, nodes: impl IntoIterator<Item = NodeRef<'p, Node>>) -> Option<Self> {
        let mut nodes = nodes.into_iter().take_while(|_| self.work.take(1));
        nodes.find_map(ElementRef::wrap).map(|element| Self { element, work: self.work })
    }

    /// Takes steps for comparing all of an attribute.
    fn take_for(&self, attribute: Option<&str>) -> bool {
        self.work.take(1 + attribute.map_or(0, str::len) as u64 / BYTES_PER_STEP)
    }
}

/// As [`ElementRef`] answers, which it asks; only what walks or reads the page is counted.
impl Element for Counted<'_, '_> {
    type Impl = Simple;

    fn opaque(&self) -> OpaqueElement {
        self.element.opaque()
    }

    fn parent_element(&self) -> Option<Self> {
        self.first_of(self.element.parent())
    }

    fn prev_sibling_element(&self) -> Option<Self> {
        self.first_of(self.element.prev_siblings())
    }

    fn next_sibling_element(&self) -> Option<Self> {
        self.first_of(self.element.next_siblings())
    }

    fn first_element_child(&self) -> Option<Self> {
        self.first_of(self.element.children())
    }

    fn is_empty(&self) -> bool {
        let mut nodes = self.element.children().take_while(|_| self.work.take(1));
        !nodes.any(|node| node.value().is_element() || node.value().is_text())
    }

    fn attr_matches(
        &self,
        namespace: &NamespaceConstraint<&<Simple as SelectorImpl>::NamespaceUrl>,
        name: &CssLocalName,
        operation: &AttrSelectorOperation<&CssString>,
    ) -> bool {
        self.take_for(self.element.attr(&name.0)) && self.element.attr_matches(namespace, name, operation)
    }

    fn has_id(&self, id: &CssLocalName, case: CaseSensitivity) -> bool {
        self.work.take(1) && self.element.has_id(id, case)
    }

    fn has_class(&self, name: &CssLocalName, case: CaseSensitivity) -> bool {
        self.take_for(self.element.attr("class")) && self.element.has_class(name, case)
    }

    fn has_local_name(&self, name: &CssLocalName) -> bool {
        self.work.take(1) && self.element.has_local_name(name)
    }

    fn is_same_type(&self, other: &Self) -> bool {
        self.element.is_same_type(&other.element)
    }

    fn has_namespace(&self, namespace: &<Simple as SelectorImpl>::BorrowedNamespaceUrl) -> bool {
        self.element.has_namespace(namespace)
    }

    fn is_html_element_in_html_document(&self) -> bool {
        self.element.is_html_element_in_html_document()
    }

    fn is_link(&self) -> bool {
        self.element.is_link()
    }

    fn is_root(&self) -> bool {
        self.element.is_root()
    }

    fn is_html_slot_element(&self) -> bool {
        self.element.is_html_slot_element()
    }

    fn match_non_ts_pseudo_class(
        &self,
        pseudo_class: &NonTSPseudoClass,
        _: &mut MatchingContext<'_, Simple>,
    ) -> bool {
        // There are none.
        match *pseudo_class {}
    }

    fn match_pseudo_element(&self, element: &PseudoElement, _: &mut MatchingContext<'_, Simple>) -> bool {
        match *element {}
    }

    // A page that was fetched has no shadow trees, no parts of components and no states.

    fn parent_node_is_shadow_root(&self) -> bool {
        false
    }

    fn containing_shadow_host(&self) -> Option<Self> {
        None
    }

    fn is_pseudo_element(&self) -> bool {
        false
    }

    fn is_part(&self, _: &CssLocalName) -> bool {
        false
    }

    fn imported_part(&self, _: &CssLocalName) -> Option<CssLocalName> {
        None
    }

    fn has_custom_state(&self, _: &CssLocalName) -> bool {
        false
    }

    fn apply_selector_flags(&self, _: ElementSelectorFlags) {}

    fn add_element_unique_hashes(&self, _: &mut BloomFilter) -> bool {
        false
    }
}
