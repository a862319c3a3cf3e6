//! The text of an element as a reader sees it, one line per block, without scripts and the like; and where each line stands.

use std::collections::BTreeSet;

use ego_tree::NodeId;
use ego_tree::iter::Edge;
use scraper::node::Element;
use scraper::{ElementRef, Node};

use super::block::{Block, Entry, is_entry, is_one_of_many, rank_of};
use super::heading::is_of_extras;
use crate::outline::{LineContext, Outline};
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
                } else if is_box(name) {
                    lines.boundary.passes(opens);
                }
                if opens {
                    if !work.take(n_bytes_of_names(inner) / BYTES_PER_STEP) {
                        break;
                    }
                    let is_card = name == "li" || is_one_of_many(node, inner);
                    let is_block = is_cell || starts_a_line(name);
                    if let Some(outer) = blocks.last_mut().filter(|_| is_block) {
                        outer.opens(rank_of(name), is_card, lines.n_read);
                    }
                    let outer = blocks.last().copied().unwrap_or_default();
                    lines.starts_entry |= is_card || is_entry(name);
                    blocks.push(outer.with(inner, is_block, is_card, lines.n_read));
                } else {
                    let closed = blocks.pop().unwrap_or_default();
                    if let Some(outer) =
                        blocks.last_mut().filter(|_| lines.is_above_extras && lines.line.is_empty())
                    {
                        outer.ends(&closed, rank_of(name), lines.n_read);
                    }
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
    /// Where its last piece begins.
    piece_from: usize,
    /// Where the line that is being read begins.
    block: Option<Block>,
    /// Whether an entry has begun since the last line.
    starts_entry: bool,
    /// What stands between the last piece of the line and the next.
    boundary: Boundary,
    n_read: usize,
    /// Whether the last line is the heading of what was put together for visitors.
    is_above_extras: bool,
}

/// Between two pieces of a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Boundary {
    /// Nothing that pages set apart.
    #[default]
    None,
    /// An inline element ended.
    Closed,
    /// And another one began.
    Boxes,
}

impl Boundary {
    fn passes(&mut self, opens: bool) {
        *self = match (*self, opens) {
            (Self::None, true) => Self::None,
            (Self::None | Self::Closed, false) => Self::Closed,
            _ => Self::Boxes,
        };
    }
}

/// Whether a page that sets inline elements side by side shows two words or figures where the source has nothing between them:
/// `<span>Oslo</span><span>12</span>`. Not where one is a part of the other, as a first letter or the digits of a figure are.
fn are_apart(before: &str, piece: &str) -> bool {
    let (Some(last), Some(first)) = (before.chars().next_back(), piece.chars().next()) else { return false };
    let is_one_letter = before.chars().nth(1).is_none() && last.is_alphabetic();
    last.is_alphanumeric()
        && first.is_alphanumeric()
        && !(last.is_numeric() && first.is_numeric())
        && !is_one_letter
}

impl Lines {
    fn push(&mut self, piece: &str, block: Block) {
        let boundary = std::mem::take(&mut self.boundary);
        if boundary == Boundary::Boxes && are_apart(&self.line[self.piece_from..], piece) {
            self.line.push(' ');
        }
        self.piece_from = self.line.len();
        self.line.push_str(piece);
        // A piece of a line does not make the whole of it advertising.
        let first = self.block.get_or_insert(block);
        first.region = first.region.min(block.region);
    }

    fn end(&mut self) {
        let line = one_line(&self.line);
        self.line.clear();
        (self.piece_from, self.boundary) = (0, Boundary::None);
        let Some(block) = self.block.take().filter(|_| !line.is_empty()) else { return };
        let Visible { text, outline } = &mut self.visible;
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&line);
        let Block { path, container, region, is_heading, entry, .. } = block;
        let is_in_entry = entry != Entry::None;
        let starts_entry = std::mem::take(&mut self.starts_entry);
        outline.push(LineContext { path, container, region, is_heading, starts_entry, is_in_entry });
        self.n_read += 1;
        self.is_above_extras = is_heading && is_of_extras(&line);
    }
}

/// Inline elements that a page may show apart from each other.
fn is_box(name: &str) -> bool {
    matches!(name, "a" | "b" | "data" | "label" | "output" | "small" | "span" | "strong" | "time")
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
