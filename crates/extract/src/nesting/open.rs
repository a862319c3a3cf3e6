//! The elements that a parser may still hold open, as the nesting gate keeps count of them: never fewer, and no
//! more than a page written for readers makes look deep.

use std::collections::BTreeMap;

use super::names::{self, Kind, Name};

/// An element on the stack.
#[derive(Debug, Clone, Copy)]
struct Open {
    name: Name,
    /// For elements that formatting does not outlive, such as a cell: how many formatting elements there were before.
    n_formatting_before: Option<usize>,
    /// A parser may have closed it long ago, so no end tag may close it here together with what came since.
    is_lost: bool,
}

/// A formatting element: it outlives its parent, and only its own end tag ends it.
#[derive(Debug, Clone, Copy)]
struct Formatting {
    id: u64,
    /// How high the stack was when it was opened, or has been at the least since.
    height: usize,
}

/// The elements that a parser may still hold open.
#[derive(Debug, Default)]
pub(super) struct OpenElements {
    stack: Vec<Open>,
    formatting: Vec<Formatting>,
    /// How often each name is on the stack, so that a search for a missing one costs nothing.
    counts: BTreeMap<u64, usize>,
    /// Heights on the stack at which HTML may have begun again inside SVG or `MathML`.
    html_again: Vec<usize>,
    /// Set once it is not known any more whether a table is open.
    is_table_lost: bool,
    pub(super) n_steps: usize,
}

impl OpenElements {
    pub(super) fn depth(&self) -> usize {
        self.stack.len() + self.formatting.len()
    }

    pub(super) fn n_formatting(&self) -> usize {
        self.formatting.len()
    }

    pub(super) fn hides_raw_text(&self) -> bool {
        names::HIDING_RAW_TEXT.into_iter().any(|id| self.has(id))
    }

    fn has(&self, id: u64) -> bool {
        self.counts.contains_key(&id)
    }

    fn is_foreign(&self) -> bool {
        self.has(names::SVG) || self.has(names::MATH)
    }

    /// Whether it is not known if a cell or row means anything here.
    fn is_table_doubtful(&self) -> bool {
        self.is_table_lost || self.has(names::TEMPLATE)
    }

    pub(super) fn open(&mut self, name: Name, closes_itself: bool) {
        if self.is_foreign() || name.starts_foreign() {
            // There an element ends by its own end tag only, regardless of its name.
            if !closes_itself || !self.html_again.is_empty() {
                if name.leads_back_to_html() {
                    self.html_again.push(self.stack.len());
                }
                self.push(name, None);
            }
            return;
        }
        // Where the rules depend on what came first, nothing is taken for ended.
        let is_doubtful = self.is_table_doubtful();
        if name.ends_paragraph() && self.has(names::P) {
            // Whether a table ends a paragraph depends on the document type.
            match self.height_of(Name::P).filter(|_| name.id != names::TABLE) {
                Some(height) => self.cut(height),
                None => self.lose(names::P),
            }
        }
        match name.kind {
            Kind::Void => {}
            Kind::Formatting => {
                let first = self.first_formatting_here();
                // A link inside a link ends the outer one.
                if name.id != names::A || self.formatting[first..].iter().all(|other| other.id != names::A) {
                    self.formatting.push(Formatting { id: name.id, height: self.stack.len() });
                }
            }
            Kind::TablePart if !self.has(names::TABLE) && !is_doubtful => {}
            Kind::Paragraph | Kind::ListItem | Kind::Term | Kind::Choice | Kind::TablePart => {
                if !is_doubtful {
                    self.close(name);
                }
                let outlived = (name.is_cell() && !is_doubtful).then_some(self.formatting.len());
                self.push(name, outlived);
            }
            _ => {
                let outlived = name.confines_formatting().then_some(self.formatting.len());
                self.push(name, outlived);
            }
        }
    }

    fn push(&mut self, name: Name, n_formatting_before: Option<usize>) {
        self.stack.push(Open { name, n_formatting_before, is_lost: false });
        *self.counts.entry(name.id).or_default() += 1;
    }

    /// The first formatting element that an end tag here can end.
    fn first_formatting_here(&self) -> usize {
        self.stack.iter().rev().find_map(|open| open.n_formatting_before).unwrap_or(0)
    }

    /// Ends an element if a parser certainly would; everything above it on the stack ends with it.
    pub(super) fn close(&mut self, name: Name) {
        let is_on_top = self.stack.last().is_some_and(|top| top.name.id == name.id);
        if self.is_foreign() && !is_on_top {
            // Only what is certain counts: the end of the last element, or of all of it.
            if names::LEAVING_FOREIGN.contains(&name.id) {
                let outermost = self.stack.iter().position(|open| open.name.starts_foreign());
                self.html_again.extend(outermost);
                self.html_again.sort_unstable();
                self.html_again.dedup();
            }
            if !name.starts_foreign() {
                return;
            }
        } else if name.kind == Kind::Formatting && !is_on_top {
            self.close_formatting(name.id);
            return;
        }
        if name.id == names::FORM && !is_on_top {
            self.take_out_form();
            return;
        }
        if name.kind == Kind::TablePart && !is_on_top && self.is_table_doubtful() {
            return;
        }
        match self.height_of(name) {
            Some(height) => self.cut(height),
            None if name.kind == Kind::Inline || name.starts_foreign() || !self.has(name.id) => {}
            None => {
                self.is_table_lost |= name.id == names::TABLE;
                self.lose(name.id);
            }
        }
    }

    /// The end tag of a form ends the form alone; what was opened in it stays open.
    fn take_out_form(&mut self) {
        let is_form = |open: &Open| open.name.id == names::FORM;
        let Some(height) = self.stack.iter().rposition(is_form) else { return };
        if self.stack[height..].iter().any(|open| open.name.is_wall()) {
            return;
        }
        self.stack.remove(height);
        self.discount(names::FORM);
        for formatting in self.formatting.iter_mut().rev().take_while(|open| open.height > height) {
            formatting.height -= 1;
        }
    }

    fn discount(&mut self, id: u64) {
        if let Some(count) = self.counts.get_mut(&id) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&id);
            }
        }
    }

    fn lose(&mut self, id: u64) {
        let last = self.stack.iter_mut().rev().find(|open| open.name.id == id && !open.is_lost);
        if let Some(open) = last {
            open.is_lost = true;
        }
    }

    fn close_formatting(&mut self, id: u64) {
        let first = self.first_formatting_here();
        let Some(index) = self.formatting[first..].iter().rposition(|open| open.id == id) else { return };
        let height = self.formatting[first + index].height.min(self.stack.len());
        self.n_steps += self.stack.len() - height;
        if !self.stack[height..].iter().any(|open| open.name.is_wall()) {
            self.formatting.remove(first + index);
        }
    }

    /// Where on the stack the element is that an end tag of this name would end.
    fn height_of(&mut self, name: Name) -> Option<usize> {
        if !self.has(name.id) {
            return None;
        }
        for (height, open) in self.stack.iter().enumerate().rev() {
            self.n_steps += 1;
            if open.name.id == name.id && !open.is_lost {
                return Some(height);
            }
            if !name.may_close_over(open.name) {
                return None;
            }
        }
        None
    }

    fn cut(&mut self, height: usize) {
        while self.html_again.pop_if(|again| *again >= height).is_some() {}
        for ended in self.stack.split_off(height) {
            if let Some(n_before) = ended.n_formatting_before {
                self.formatting.truncate(n_before);
            }
            self.discount(ended.name.id);
        }
        for formatting in self.formatting.iter_mut().rev().take_while(|open| open.height > height) {
            formatting.height = height;
        }
    }
}
