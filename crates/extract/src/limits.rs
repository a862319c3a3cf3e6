//! How much of a hostile page is read. What lies beyond a limit is left out with a diagnostic.

/// Bounds on what one document may cost. The defaults suit pages and feeds as they are found on the web.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the body that are read.
    pub max_bytes: usize,
    /// Items kept, in the order of the document.
    pub max_items: usize,
    /// Bytes of text kept of each item.
    pub max_item_text: usize,
    /// Levels of nested elements; deeper pages are read as plain text. Browsers stop at 512 too.
    pub max_depth: usize,
    /// Elements that a page may make an HTML parser build.
    pub max_elements: usize,
    /// Steps of selectors, paths, patterns and text that one document may take: see [`crate::Work`].
    pub max_steps: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_bytes: 8 << 20,
            max_items: 5_000,
            max_item_text: 256 << 10,
            max_depth: 512,
            max_elements: 500_000,
            // About a second; a page with ten thousand elements and an ordinary selector takes a thousandth of it.
            max_steps: 30_000_000,
        }
    }
}
