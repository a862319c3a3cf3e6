//! Values by dense index, each in its own box: removing one frees its memory, and growing moves only pointers.
//!
//! Invariant: indices beyond [`MOST`] hold nothing, so that a wrong one from a damaged record cannot allocate all the
//! memory there is.

/// More resources or hosts than one scheduler can hold.
const MOST: usize = 1 << 26;

#[derive(Debug, Clone)]
pub(super) struct Slab<T> {
    slots: Vec<Option<Box<T>>>,
    count: usize,
}

impl<T> Slab<T> {
    pub(super) const fn new() -> Self {
        Self { slots: Vec::new(), count: 0 }
    }

    pub(super) const fn len(&self) -> usize {
        self.count
    }

    /// One more than the largest index that may hold something.
    pub(super) const fn n_slots(&self) -> u32 {
        self.slots.len() as u32
    }

    pub(super) fn get(&self, index: u32) -> Option<&T> {
        self.slots.get(index as usize)?.as_deref()
    }

    pub(super) fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        self.slots.get_mut(index as usize)?.as_deref_mut()
    }

    /// Puts a value in, and returns it; `None` if the index is too large.
    pub(super) fn insert(&mut self, index: u32, value: T) -> Option<&mut T> {
        let index = index as usize;
        if index >= MOST {
            return None;
        }
        if index >= self.slots.len() {
            self.slots.resize_with(index + 1, || None);
        }
        let slot = &mut self.slots[index];
        self.count += usize::from(slot.is_none());
        *slot = Some(Box::new(value));
        slot.as_deref_mut()
    }

    pub(super) fn remove(&mut self, index: u32) -> Option<T> {
        let gone = self.slots.get_mut(index as usize)?.take()?;
        self.count -= 1;
        Some(*gone)
    }

    pub(super) fn indices(&self) -> impl Iterator<Item = u32> + use<'_, T> {
        (0..).zip(&self.slots).filter(|(_, slot)| slot.is_some()).map(|(index, _)| index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_and_go_and_no_index_allocates_all_the_memory_there_is() {
        let mut slab = Slab::new();
        assert!(slab.insert(1 << 26, 'a').is_none() && slab.insert(u32::MAX, 'a').is_none());
        assert_eq!((slab.len(), slab.n_slots(), slab.get(0)), (0, 0, None));
        assert_eq!(slab.insert(3, 'b').copied(), Some('b'));
        assert_eq!(slab.insert(3, 'c').copied(), Some('c'));
        assert_eq!(slab.insert(1, 'd').copied(), Some('d'));
        assert_eq!((slab.len(), slab.n_slots(), slab.indices().collect::<Vec<_>>()), (2, 4, vec![1, 3]));
        assert_eq!((slab.remove(3), slab.remove(3), slab.remove(9)), (Some('c'), None, None));
        assert_eq!((slab.len(), slab.get(3).copied(), slab.get_mut(1).copied()), (1, None, Some('d')));
    }
}
