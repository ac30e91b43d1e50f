//! A slab: records at stable `u32` indexes in pages of 256.
//! Owns the records. An empty page gives its memory back at once, growth never moves a record, and
//! an index is good until its record is removed; after that the slot holds a default record until
//! it is used again, so holders of long-lived indexes carry a serial number of their own.

use std::ops::{Index, IndexMut};

/// No record.
pub(crate) const NONE: u32 = u32::MAX;

const PAGE: usize = 256;
/// With no record left and more pages than this, the table of pages goes too.
const KEPT_PAGES: usize = 4;

#[derive(Debug)]
pub(crate) struct Slab<T> {
    pages: Vec<Page<T>>,
    /// Pages that have room.
    open: Vec<u32>,
    len: usize,
}

#[derive(Debug)]
struct Page<T> {
    slots: Vec<T>,
    free: Vec<u8>,
    /// Whether the page stands in `open`.
    open: bool,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self {
            pages: Vec::new(),
            open: Vec::new(),
            len: 0,
        }
    }
}

impl<T: Default> Slab<T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Slots and pages that hold memory, used or not.
    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.pages
            .iter()
            .map(|page| page.slots.capacity())
            .sum::<usize>()
            + self.pages.capacity()
    }

    pub(crate) fn insert(&mut self, record: T) -> u32 {
        let number = self.open.last().copied().unwrap_or_else(|| self.add_page());
        let page = &mut self.pages[number as usize];
        let slot = match page.free.pop() {
            Some(slot) => {
                page.slots[usize::from(slot)] = record;
                usize::from(slot)
            }
            None => {
                page.slots.push(record);
                page.slots.len() - 1
            }
        };
        if page.free.is_empty() && page.slots.len() == PAGE {
            page.open = false;
            self.open.pop();
        }
        self.len += 1;
        number * PAGE as u32 + slot as u32
    }

    /// Takes the record out. The index must be one that `insert` gave and that was not removed.
    pub(crate) fn remove(&mut self, index: u32) -> T {
        let (number, slot) = split(index);
        let page = &mut self.pages[number];
        let record = std::mem::take(&mut page.slots[slot]);
        page.free.push(slot as u8);
        if page.free.len() == page.slots.len() {
            page.slots = Vec::new();
            page.free = Vec::new();
        }
        if !page.open {
            page.open = true;
            self.open.push(number as u32);
        }
        self.len -= 1;
        if self.len == 0 && self.pages.len() > KEPT_PAGES {
            *self = Self::default();
        }
        record
    }

    fn add_page(&mut self) -> u32 {
        let number = self.pages.len() as u32;
        self.pages.push(Page {
            slots: Vec::new(),
            free: Vec::new(),
            open: true,
        });
        self.open.push(number);
        number
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;

    fn index(&self, index: u32) -> &T {
        let (page, slot) = split(index);
        &self.pages[page].slots[slot]
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    fn index_mut(&mut self, index: u32) -> &mut T {
        let (page, slot) = split(index);
        &mut self.pages[page].slots[slot]
    }
}

fn split(index: u32) -> (usize, usize) {
    (index as usize / PAGE, index as usize % PAGE)
}

#[cfg(test)]
mod tests;
