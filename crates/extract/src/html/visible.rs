//! The text of an element as a reader sees it: one line per block, without scripts and the like.

use std::collections::BTreeSet;

use ego_tree::NodeId;
use ego_tree::iter::Edge;
use scraper::{ElementRef, Node};

use crate::text::tidy_lines;
use crate::work::Work;

/// Elements that are not read.
pub(super) type NodeIds = BTreeSet<NodeId>;

/// The visible text of `element`, without what is `ignored`; its beginning when it is longer than `max_text`, or when the
/// work is used up: elements that contain each other are read once for each.
pub(super) fn text_of(element: ElementRef<'_>, ignored: &NodeIds, max_text: usize, work: &Work) -> String {
    let mut text = String::new();
    // The element that is being skipped with all that is in it.
    let mut skipping = None;
    for edge in element.traverse() {
        let (node, opens) = match edge {
            Edge::Open(node) => (node, true),
            Edge::Close(node) => (node, false),
        };
        if text.len() > max_text || !work.take(1) {
            break;
        }
        if skipping.is_some() {
            skipping = skipping.filter(|skipped| opens || *skipped != node.id());
            continue;
        }
        match node.value() {
            // White space between elements would use up the allowance of text for nothing.
            Node::Text(piece) if opens && piece.trim().is_empty() => text.push(' '),
            Node::Text(piece) if opens => {
                work.take(piece.len() as u64);
                text.push_str(&piece.replace(['\n', '\r'], " "));
            }
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
