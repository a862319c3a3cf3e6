//! The blocks that a text stands in: what is a block's place, what it is one of several in, and what headings inside say of the rest of
//! it. Reads no text.

use ego_tree::NodeRef;
use scraper::Node;
use scraper::node::Element;

use super::region::{region_of, stable_names};
use crate::hashing::mixed;
use crate::outline::Region;

/// The innermost block that a text stands in.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Block {
    pub(super) path: u32,
    pub(super) container: u32,
    pub(super) region: Region,
    pub(super) is_in_main: bool,
    pub(super) is_heading: bool,
    pub(super) entry: Entry,
    /// Lines above it.
    n_above: usize,
    /// Where a heading said that the rest of it is for visitors.
    extras_below: Option<Extras>,
}

/// What of several of a kind a block is in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Entry {
    #[default]
    None,
    /// A row, which may be there for the layout alone.
    Row,
    /// An element of a list, or one of some blocks in a row that look alike.
    Card,
}

/// What a heading says of the rest of the element that it is in.
#[derive(Debug, Clone, Copy)]
struct Extras {
    /// The heading's rank; another of at least this rank ends it.
    rank: u8,
    /// The region of the element above it.
    region_above: Region,
    /// Whether the heading is right inside, and not in an element of its own.
    is_right_inside: bool,
    /// Whether the element begins with it, and is a box for that; else only what comes next is.
    is_all: bool,
    /// Lines of the page down to it.
    n_above: usize,
}

impl Block {
    /// A block inside this one; anything else only changes the region.
    pub(super) fn with(self, element: &Element, is_block: bool, is_card: bool, n_above: usize) -> Self {
        let name = element.name();
        let mut inner = Self { n_above, extras_below: None, ..self };
        inner.region = region_of(element, self.region, self.is_in_main);
        inner.is_in_main |= matches!(name, "main" | "article");
        if !is_block {
            return inner;
        }
        inner.path = stable_names(element).fold(mixed(self.path, name), mixed);
        inner.is_heading |= matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6");
        inner.entry = self.entry.max(match () {
            () if is_card => Entry::Card,
            () if is_entry(name) && name != "article" => Entry::Row,
            () => Entry::None,
        });
        let has_a_name = inner.path != mixed(self.path, name) && !is_entry(name) && name != "p";
        if has_a_name && self.entry != Entry::Card || contains_many(name) && !(is_card && name == "article") {
            inner.container = inner.path;
            inner.entry = if inner.entry == Entry::Card { Entry::Card } else { Entry::None };
        }
        inner
    }
}

impl Block {
    /// A block begins inside, with `n_above` lines above it: a heading as high ends what another one is about, and so does what
    /// follows a list in the midst of other things.
    pub(super) fn opens(&mut self, rank: Option<u8>, is_card: bool, n_above: usize) {
        let Some(extras) = self.extras_below else { return };
        let is_as_high = rank.is_some_and(|rank| rank <= extras.rank);
        let is_behind_list = !extras.is_all && !is_card && n_above > extras.n_above;
        if is_as_high || is_behind_list {
            (self.region, self.extras_below) = (extras.region_above, None);
        }
    }

    /// An element inside ended, right behind a heading for visitors: if it was the heading, or held nothing else, what comes next is
    /// what the heading is about. There are `n_above` lines so far.
    pub(super) fn ends(&mut self, inner: &Self, rank: Option<u8>, n_above: usize) {
        if self.extras_below.is_some() {
            return;
        }
        let held_only_it = || n_above == inner.n_above + 1;
        let held = inner.extras_below.filter(|extras| extras.is_right_inside && held_only_it());
        // The highest heading is about the whole page.
        if let Some(above) = rank.or(held.map(|extras| extras.rank)).filter(|rank| *rank > 1) {
            self.extras_below = Some(Extras {
                rank: above,
                region_above: self.region,
                is_right_inside: rank.is_some(),
                is_all: n_above == self.n_above + 1,
                n_above,
            });
            self.region = Region::Extra;
        }
    }
}

/// The rank of a heading; the highest is for what the whole page is about.
pub(super) fn rank_of(name: &str) -> Option<u8> {
    match name {
        "h1" => Some(1),
        "h2" => Some(2),
        "h3" => Some(3),
        "h4" => Some(4),
        "h5" => Some(5),
        "h6" => Some(6),
        _ => None,
    }
}

/// Whether a block is one of three or more in a row with the same name and class: a card, a row that is no table's.
pub(super) fn is_one_of_many(node: NodeRef<'_, Node>, element: &Element) -> bool {
    // White space may stand between them.
    const NEAR: usize = 4;
    let (name, class) = (element.name(), element.attr("class"));
    let may_be_one = match name {
        "article" => true,
        "div" | "section" => class.is_some_and(|class| !class.is_empty()),
        _ => false,
    };
    if !may_be_one {
        return false;
    }
    let is_like = |node: &NodeRef<'_, Node>| {
        let element = node.value().as_element();
        element.is_some_and(|other| other.name() == name && other.attr("class") == class)
    };
    let before = node.prev_siblings().take(NEAR).filter(|node| node.value().is_element()).take_while(is_like);
    let after = node.next_siblings().take(NEAR).filter(|node| node.value().is_element()).take_while(is_like);
    before.count() + after.count() >= 2
}

/// Elements of which a page has several in a row.
pub(super) fn is_entry(name: &str) -> bool {
    matches!(name, "li" | "tr" | "dt" | "article" | "option")
}

/// Elements that stand around several of a kind.
fn contains_many(name: &str) -> bool {
    matches!(
        name,
        "ul" | "ol"
            | "dl"
            | "table"
            | "section"
            | "nav"
            | "aside"
            | "footer"
            | "header"
            | "form"
            | "article"
            | "main"
    )
}
