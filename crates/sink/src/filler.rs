//! The bytes that large bodies are made of.

use std::sync::LazyLock;

/// Length of the page that is sent again and again.
pub(crate) const PAGE_BYTES: usize = 64 * 1024;
const PATTERN: &[u8] = b"steelyard weighs one thing against another.....................\n";

static PAGE: LazyLock<Vec<u8>> = LazyLock::new(|| PATTERN.repeat(PAGE_BYTES / PATTERN.len()));

/// `length` bytes of a body from its byte `offset` on, in the order in which they are sent; fewer, but
/// at least one, when so many do not lie in one piece.
pub(crate) fn filler(offset: u64, length: usize) -> &'static [u8] {
    let start = (offset % PATTERN.len() as u64) as usize;
    &PAGE[start..start + length.min(PAGE.len() - start)]
}
