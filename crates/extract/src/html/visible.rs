//! The text of an element as a reader sees it, one line per block, without scripts and the like; and where each line stands.

use std::collections::BTreeSet;

use ego_tree::NodeId;
use ego_tree::iter::Edge;
use scraper::node::Element;
use scraper::{ElementRef, Node};

use super::region::{region_of, stable_names};
use crate::hashing::mixed;
use crate::outline::{LineContext, Outline, Region};
use crate::text::one_line;
use crate::work::Work;

/// Elements that are not read.
pub(super) type NodeIds = BTreeSet<NodeId>;

/// What a reader sees of an element.
#[derive(Debug, Default)]
pub(super) struct Visible {
    /// One line for each block.
    pub(super) text: String,
    /// Where the lines stand.
    pub(super) outline: Outline,
}

/// The visible text of `element`, without what is `ignored`; its beginning when it is longer than `max_text`, or when the
/// work is used up: elements that contain each other are read once for each.
pub(super) fn text_of(element: ElementRef<'_>, ignored: &NodeIds, max_text: usize, work: &Work) -> Visible {
    let mut lines = Lines::default();
    // The element that is being skipped with all that is in it.
    let mut skipping = None;
    let mut blocks = vec![Block::default()];
    for edge in element.traverse() {
        let (node, opens) = match edge {
            Edge::Open(node) => (node, true),
            Edge::Close(node) => (node, false),
        };
        if lines.visible.text.len() + lines.line.len() > max_text || !work.take(1) {
            break;
        }
        if skipping.is_some() {
            skipping = skipping.filter(|skipped| opens || *skipped != node.id());
            continue;
        }
        match node.value() {
            // White space between elements would use up the allowance of text for nothing.
            Node::Text(piece) if opens && piece.trim().is_empty() => lines.line.push(' '),
            Node::Text(piece) if opens => {
                work.take(piece.len() as u64);
                lines.push(piece, blocks.last().copied().unwrap_or_default());
            }
            Node::Element(inner) => {
                let name = inner.name();
                if opens
                    && (is_invisible(name) || inner.attr("hidden").is_some() || ignored.contains(&node.id()))
                {
                    skipping = Some(node.id());
                    continue;
                }
                let is_cell = matches!(name, "td" | "th");
                if starts_a_line(name) {
                    lines.end();
                } else if opens && is_cell {
                    lines.line.push(' ');
                }
                if opens {
                    if !work.take(n_bytes_of_names(inner) / BYTES_PER_STEP) {
                        break;
                    }
                    let outer = blocks.last().copied().unwrap_or_default();
                    lines.starts_entry |= is_entry(name);
                    blocks.push(outer.with(inner, is_cell || starts_a_line(name)));
                } else {
                    blocks.pop();
                }
            }
            _ => {}
        }
    }
    lines.end();
    lines.visible.outline.drop_implausible_regions();
    lines.visible
}

/// Bytes of names that are read in one step: each is looked up, and becomes part of where a line stands.
const BYTES_PER_STEP: u64 = 2;

/// Bytes of what says in which region an element is, and which place it is.
fn n_bytes_of_names(element: &Element) -> u64 {
    let names = ["id", "class"].into_iter().filter_map(|name| element.attr(name));
    names.map(|names| names.len() as u64).sum()
}

/// The lines so far, and the one that is being read.
#[derive(Debug, Default)]
struct Lines {
    visible: Visible,
    line: String,
    /// Where the line that is being read begins.
    block: Option<Block>,
    /// Whether an entry has begun since the last line.
    starts_entry: bool,
}

impl Lines {
    fn push(&mut self, piece: &str, block: Block) {
        self.line.push_str(piece);
        // A piece of a line does not make the whole of it advertising.
        let first = self.block.get_or_insert(block);
        first.region = first.region.min(block.region);
    }

    fn end(&mut self) {
        let line = one_line(&self.line);
        self.line.clear();
        let Some(block) = self.block.take().filter(|_| !line.is_empty()) else { return };
        let Visible { text, outline } = &mut self.visible;
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&line);
        let Block { path, container, region, is_heading, .. } = block;
        let starts_entry = std::mem::take(&mut self.starts_entry);
        outline.push(LineContext { path, container, region, is_heading, starts_entry });
    }
}

/// The innermost block that a text stands in.
#[derive(Debug, Clone, Copy, Default)]
struct Block {
    path: u32,
    container: u32,
    region: Region,
    is_in_main: bool,
    is_heading: bool,
}

impl Block {
    /// A block inside this one; anything else only changes the region.
    fn with(self, element: &Element, is_block: bool) -> Self {
        let name = element.name();
        let mut inner = self;
        inner.region = region_of(element, self.region, self.is_in_main);
        inner.is_in_main |= matches!(name, "main" | "article");
        if !is_block {
            return inner;
        }
        inner.path = stable_names(element).fold(mixed(self.path, name), mixed);
        inner.is_heading |= matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6");
        let has_a_name = inner.path != mixed(self.path, name) && !is_entry(name) && name != "p";
        if has_a_name || contains_many(name) {
            inner.container = inner.path;
        }
        inner
    }
}

/// Elements of which a page has several in a row.
fn is_entry(name: &str) -> bool {
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

/// Elements whose text nobody sees.
pub(crate) fn is_invisible(name: &str) -> bool {
    matches!(
        name,
        "script"
            | "style"
            | "noscript"
            | "template"
            | "iframe"
            | "object"
            | "svg"
            | "canvas"
            | "head"
            | "datalist"
    )
}

fn starts_a_line(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "body"
            | "br"
            | "button"
            | "dd"
            | "details"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hr"
            | "li"
            | "main"
            | "nav"
            | "ol"
            | "option"
            | "p"
            | "pre"
            | "section"
            | "summary"
            | "table"
            | "tr"
            | "ul"
    )
}
