//! Large chunked bodies, made piece by piece as the socket takes them.

use crate::filler::filler;
use crate::http::reply::{LAST_CHUNK, write_chunk};

const CHUNK_BYTES: usize = 16 * 1024;
/// Written before the socket is asked again.
const PIECE_BYTES: usize = 64 * 1024;

/// A chunked body under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chunking {
    pub left: u64,
    pub done: u64,
    /// The connection ends with the body.
    pub close: bool,
}

impl Chunking {
    /// Writes the next piece; `true` when it was the last.
    pub fn write(&mut self, out: &mut Vec<u8>) -> bool {
        let from = out.len();
        while self.left > 0 && out.len() - from < PIECE_BYTES {
            let wanted = usize::try_from(self.left).unwrap_or(usize::MAX);
            let data = filler(self.done, wanted.min(CHUNK_BYTES));
            write_chunk(out, data);
            self.left -= data.len() as u64;
            self.done += data.len() as u64;
        }
        if self.left == 0 {
            out.extend_from_slice(LAST_CHUNK);
        }
        self.left == 0
    }
}
