//! The text of an element as a reader sees it: one line per block, without scripts and the like.

use std::collections::BTreeSet;

use ego_tree::NodeId;
use ego_tree::iter::Edge;
use scraper::{ElementRef, Node};

use crate::text::tidy_lines;

/// Elements that are not read.
pub(super) type NodeIds = BTreeSet<NodeId>;

/// How much of a page may be looked at: elements that contain each other are read once for each.
#[derive(Debug)]
pub(super) struct Allowance {
    pub(super) n_nodes: usize,
    /// Bytes of text after which one element is left.
    pub(super) max_text: usize,
}

/// The visible text of `element`, without what is `ignored`; its beginning when the allowance is used up.
pub(super) fn text_of(element: ElementRef<'_>, ignored: &NodeIds, allowance: &mut Allowance) -> String {
    let mut text = String::new();
    // The element that is being skipped with all that is in it.
    let mut skipping = None;
    for edge in element.traverse() {
        let (node, opens) = match edge {
            Edge::Open(node) => (node, true),
            Edge::Close(node) => (node, false),
        };
        allowance.n_nodes = allowance.n_nodes.saturating_sub(1);
        if allowance.n_nodes == 0 || text.len() > allowance.max_text {
            break;
        }
        if skipping.is_some() {
            skipping = skipping.filter(|skipped| opens || *skipped != node.id());
            continue;
        }
        match node.value() {
            // White space between elements would use up the allowance of text for nothing.
            Node::Text(piece) if opens && piece.trim().is_empty() => text.push(' '),
            Node::Text(piece) if opens => text.push_str(&piece.replace(['\n', '\r'], " ")),
            Node::Element(inner) => {
                let name = inner.name();
                if opens
                    && (is_invisible(name) || inner.attr("hidden").is_some() || ignored.contains(&node.id()))
                {
                    skipping = Some(node.id());
                } else if starts_a_line(name) {
                    text.push('\n');
                } else if opens && matches!(name, "td" | "th") {
                    text.push(' ');
                }
            }
            _ => {}
        }
    }
    tidy_lines(&text)
}

fn is_invisible(name: &str) -> bool {
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
