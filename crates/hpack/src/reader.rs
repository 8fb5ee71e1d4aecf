//! The fields of one header block, as they are encoded.

use crate::{DEFAULT_TABLE_BYTES, Malformed, huffman};

/// What a block holds, in order.
#[derive(Debug, Clone, Copy)]
pub enum Field<'a> {
    /// A name and a value from the tables, by index.
    Indexed(usize),
    /// A value in full.
    Literal {
        /// Its name.
        name: Name<'a>,
        /// Its value.
        value: Text<'a>,
        /// Whether it enters the dynamic table.
        indexing: bool,
    },
    /// The dynamic table has this size from here on.
    TableSize(usize),
}

/// The name of a literal field.
#[derive(Debug, Clone, Copy)]
pub enum Name<'a> {
    /// That of the field with this index.
    Indexed(usize),
    /// In full.
    Text(Text<'a>),
}

/// A string, plain or in Huffman code.
#[derive(Debug, Clone, Copy)]
pub struct Text<'a> {
    bytes: &'a [u8],
    coded: bool,
}

impl Text<'_> {
    /// The bytes it stands for; `scratch` holds them if they are Huffman-coded.
    pub fn plain<'s>(&'s self, scratch: &'s mut Vec<u8>) -> Result<&'s [u8], Malformed> {
        if !self.coded {
            return Ok(self.bytes);
        }
        scratch.clear();
        huffman::decode(self.bytes, scratch)?;
        Ok(scratch)
    }

    /// Adds the bytes it stands for to `out`.
    pub fn append(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        if self.coded {
            return huffman::decode(self.bytes, out);
        }
        out.extend_from_slice(self.bytes);
        Ok(())
    }
}

/// Reads one block.
#[derive(Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
    /// Sizes of the table come before the first field.
    may_resize: bool,
}

impl<'a> Reader<'a> {
    /// At the beginning of `block`.
    pub fn new(block: &'a [u8]) -> Self {
        Self {
            rest: block,
            may_resize: true,
        }
    }

    /// The next field; `None` at the end.
    pub fn next_field(&mut self) -> Result<Option<Field<'a>>, Malformed> {
        let Some(first) = self.rest.first().copied() else {
            return Ok(None);
        };
        if first & 0xE0 == 0x20 {
            return self.table_size().map(Some);
        }
        self.may_resize = false;
        match first {
            0x80.. => Ok(Some(Field::Indexed(self.integer(7)?))),
            0x40..0x80 => self.literal(6, true).map(Some),
            _ => self.literal(4, false).map(Some),
        }
    }

    fn table_size(&mut self) -> Result<Field<'a>, Malformed> {
        let bytes = self.integer(5)?;
        if !self.may_resize || bytes > DEFAULT_TABLE_BYTES {
            return Err(Malformed);
        }
        Ok(Field::TableSize(bytes))
    }

    fn literal(&mut self, prefix_bits: u32, indexing: bool) -> Result<Field<'a>, Malformed> {
        let name = match self.integer(prefix_bits)? {
            0 => Name::Text(self.text()?),
            index => Name::Indexed(index),
        };
        Ok(Field::Literal {
            name,
            value: self.text()?,
            indexing,
        })
    }

    /// An integer behind `prefix_bits` of its first byte (5.1); none of more than 28 further bits.
    fn integer(&mut self, prefix_bits: u32) -> Result<usize, Malformed> {
        let most = (1_usize << prefix_bits) - 1;
        let mut value = usize::from(self.byte()?) & most;
        if value < most {
            return Ok(value);
        }
        for shift in (0..=21).step_by(7) {
            let byte = self.byte()?;
            value += usize::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Malformed)
    }

    /// A string (5.2).
    fn text(&mut self) -> Result<Text<'a>, Malformed> {
        let coded = self.rest.first().is_some_and(|byte| byte & 0x80 != 0);
        let length = self.integer(7)?;
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(Malformed)?;
        self.rest = rest;
        Ok(Text { bytes, coded })
    }

    fn byte(&mut self) -> Result<u8, Malformed> {
        let (first, rest) = self.rest.split_first().ok_or(Malformed)?;
        self.rest = rest;
        Ok(*first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_integers_are_read() {
        for (bytes, prefix_bits, value) in [
            (&[0b1110_1010][..], 5, 10),
            (&[0b1111_1111, 0b1001_1010, 0b0000_1010], 5, 1337),
            (&[42], 8, 42),
        ] {
            let mut reader = Reader::new(bytes);
            assert_eq!(reader.integer(prefix_bits), Ok(value));
            assert!(reader.rest.is_empty());
        }
    }
}
