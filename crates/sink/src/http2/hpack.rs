//! HPACK (RFC 7541): header blocks of requests are read, those of replies written without memory.

pub(crate) mod encode;
mod huffman;
mod table;

use table::Table;

/// The dynamic table's size that a peer may use without being told otherwise, and the only one here.
const TABLE_BYTES: usize = 4096;

/// A header block that no decoder can read; the connection cannot go on (RFC 9113, 4.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Undecodable;

/// The decoder of one connection.
#[derive(Debug)]
pub(crate) struct Decoder {
    table: Table,
    scratch: Vec<u8>,
}

impl Default for Decoder {
    fn default() -> Self {
        Self {
            table: Table::new(TABLE_BYTES),
            scratch: Vec::new(),
        }
    }
}

impl Decoder {
    /// Grows with every change of what later blocks mean; a block that left it as it was means
    /// the same again as long as it stays so.
    pub fn version(&self) -> u64 {
        self.table.version()
    }

    /// Reads a whole block and shows its fields in order.
    pub fn decode(
        &mut self,
        block: &[u8],
        show: &mut impl FnMut(&[u8], &[u8]),
    ) -> Result<(), Undecodable> {
        let mut rest = block;
        let mut may_resize = true;
        while let Some(first) = rest.first().copied() {
            if first & 0xE0 == 0x20 {
                if !may_resize {
                    return Err(Undecodable);
                }
                self.resize(&mut rest)?;
                continue;
            }
            may_resize = false;
            match first {
                0x80.. => {
                    let index = integer(&mut rest, 7)?;
                    let (name, value) = self.table.get(index).ok_or(Undecodable)?;
                    show(name, value);
                }
                0x40..0x80 => self.literal(&mut rest, 6, true, show)?,
                _ => self.literal(&mut rest, 4, false, show)?,
            }
        }
        Ok(())
    }

    fn resize(&mut self, rest: &mut &[u8]) -> Result<(), Undecodable> {
        let size = integer(rest, 5)?;
        if size > TABLE_BYTES {
            return Err(Undecodable);
        }
        self.table.resize(size);
        Ok(())
    }

    fn literal(
        &mut self,
        rest: &mut &[u8],
        prefix_bits: u32,
        keep: bool,
        show: &mut impl FnMut(&[u8], &[u8]),
    ) -> Result<(), Undecodable> {
        self.scratch.clear();
        let index = integer(rest, prefix_bits)?;
        if index == 0 {
            string(rest, &mut self.scratch)?;
        } else {
            let (name, _) = self.table.get(index).ok_or(Undecodable)?;
            self.scratch.extend_from_slice(name);
        }
        let name_bytes = self.scratch.len();
        string(rest, &mut self.scratch)?;
        let (name, value) = self.scratch.split_at(name_bytes);
        show(name, value);
        if keep {
            self.table.insert(name, value);
        }
        Ok(())
    }
}

/// An integer behind `prefix_bits` of its first byte (RFC 7541, 5.1); none above 2^28 is sensible.
fn integer(rest: &mut &[u8], prefix_bits: u32) -> Result<usize, Undecodable> {
    let (first, mut tail) = rest.split_first().ok_or(Undecodable)?;
    let most = (1_usize << prefix_bits) - 1;
    let mut value = usize::from(*first) & most;
    if value == most {
        let mut shift = 0;
        loop {
            let (byte, after) = tail.split_first().ok_or(Undecodable)?;
            tail = after;
            value += usize::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                break;
            }
            shift += 7;
            if shift > 21 {
                return Err(Undecodable);
            }
        }
    }
    *rest = tail;
    Ok(value)
}

/// A string, plain or in Huffman code, added to `out` (RFC 7541, 5.2).
fn string(rest: &mut &[u8], out: &mut Vec<u8>) -> Result<(), Undecodable> {
    let coded = rest.first().ok_or(Undecodable)? & 0x80 != 0;
    let length = integer(rest, 7)?;
    let (text, tail) = rest.split_at_checked(length).ok_or(Undecodable)?;
    *rest = tail;
    if coded {
        return huffman::decode(text, out);
    }
    out.extend_from_slice(text);
    Ok(())
}

#[cfg(test)]
#[path = "hpack_tests.rs"]
mod tests;
