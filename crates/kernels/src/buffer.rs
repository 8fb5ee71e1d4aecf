//! Memory for arrays: aligned to cache lines, on huge pages where the system gives them.

use std::alloc::{Layout, alloc, dealloc};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use rustix::mm::{Advice, madvise};

use crate::KernelError;

const LINE_BYTES: usize = 64;
const HUGE_PAGE_BYTES: usize = 2 << 20;

mod sealed {
    /// Of 8 bytes, of alignment 8, and every pattern of bits is a value.
    pub trait Word {}
    impl Word for f64 {}
    impl Word for u64 {}
}

/// What a buffer can hold.
pub(crate) trait Word: sealed::Word + Copy + Default + PartialEq + Send + Sync {}
impl Word for f64 {}
impl Word for u64 {}

/// Zeroed words whose first one begins a cache line.
#[derive(Debug)]
pub(crate) struct Buffer<T: Word> {
    start: NonNull<T>,
    length: usize,
    layout: Layout,
}

// SAFETY: a buffer owns its memory alone and its words are plain numbers, so it may move to
// another thread as a Vec of them may.
unsafe impl<T: Word> Send for Buffer<T> {}

// SAFETY: a shared buffer gives only shared slices of plain numbers.
unsafe impl<T: Word> Sync for Buffer<T> {}

impl<T: Word> Buffer<T> {
    /// `length` zeros, all of them touched.
    pub(crate) fn zeroed(length: usize) -> Result<Self, KernelError> {
        let bytes = length.max(1).saturating_mul(size_of::<T>());
        let layout = Layout::from_size_align(bytes, alignment(bytes))
            .map_err(|_| KernelError::NoMemory(bytes))?;
        // SAFETY: `layout` is not of size zero: `length.max(1)` words of 8 bytes.
        let raw = unsafe { alloc(layout) };
        let start = NonNull::new(raw.cast::<T>()).ok_or(KernelError::NoMemory(bytes))?;
        advise_huge_pages(raw, layout);
        // SAFETY: `raw` is what `alloc` gave for `bytes` bytes, so all of them may be written.
        unsafe { raw.write_bytes(0, bytes) };
        Ok(Self {
            start,
            length,
            layout,
        })
    }
}

fn alignment(bytes: usize) -> usize {
    if bytes >= HUGE_PAGE_BYTES {
        HUGE_PAGE_BYTES
    } else {
        LINE_BYTES
    }
}

/// Best effort: without huge pages the arrays are only slower.
fn advise_huge_pages(raw: *mut u8, layout: Layout) {
    let whole_pages = layout.size() / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    if whole_pages == 0 {
        return;
    }
    // SAFETY: the range lies inside the allocation of `layout.size()` bytes that begins at `raw`,
    // begins on a page (its alignment is a huge page when it is not empty), and advice on the size
    // of pages changes no content.
    let _ = unsafe { madvise(raw.cast(), whole_pages, Advice::LinuxHugepage) };
}

impl<T: Word> Drop for Buffer<T> {
    fn drop(&mut self) {
        // SAFETY: `start` came from `alloc` with this very layout and is freed only here.
        unsafe { dealloc(self.start.as_ptr().cast(), self.layout) };
    }
}

impl<T: Word> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `start` is aligned and points to `length` words that `zeroed` initialised; every
        // pattern of bits is a valid word; the shared borrow of `self` forbids writers.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }
}

impl<T: Word> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`; the unique borrow of `self` forbids every other access.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_begins_a_cache_line_and_holds_zeros() {
        for length in [0, 1, 7, 300_000] {
            let buffer = Buffer::<f64>::zeroed(length).unwrap();
            assert_eq!(buffer.len(), length);
            assert_eq!(buffer.as_ptr().addr() % LINE_BYTES, 0);
            assert!(buffer.iter().all(|word| *word == 0.0));
        }
    }

    #[test]
    fn what_no_machine_has_is_refused() {
        let refused = Buffer::<u64>::zeroed(usize::MAX / 16).err();
        assert!(matches!(refused, Some(KernelError::NoMemory(_))));
    }
}
