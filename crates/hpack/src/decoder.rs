//! Header blocks of one connection, with its dynamic table.

use crate::reader::{Field, Name, Reader, Text};
use crate::table::Table;
use crate::{DEFAULT_TABLE_BYTES, Malformed};

/// The decoder of one connection, whose table has the default size.
#[derive(Debug)]
pub struct Decoder {
    table: Table,
    scratch: Vec<u8>,
}

impl Default for Decoder {
    fn default() -> Self {
        Self {
            table: Table::new(DEFAULT_TABLE_BYTES),
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
    ) -> Result<(), Malformed> {
        let mut reader = Reader::new(block);
        while let Some(field) = reader.next_field()? {
            match field {
                Field::Indexed(index) => {
                    let (name, value) = self.table.get(index).ok_or(Malformed)?;
                    show(name, value);
                }
                Field::Literal {
                    name,
                    value,
                    indexing,
                } => self.literal(name, value, indexing, show)?,
                Field::TableSize(bytes) => self.table.resize(bytes),
            }
        }
        Ok(())
    }

    fn literal(
        &mut self,
        name: Name<'_>,
        value: Text<'_>,
        indexing: bool,
        show: &mut impl FnMut(&[u8], &[u8]),
    ) -> Result<(), Malformed> {
        self.scratch.clear();
        match name {
            Name::Text(text) => text.append(&mut self.scratch)?,
            Name::Indexed(index) => {
                let (name, _) = self.table.get(index).ok_or(Malformed)?;
                self.scratch.extend_from_slice(name);
            }
        }
        let name_bytes = self.scratch.len();
        value.append(&mut self.scratch)?;
        let (name, value) = self.scratch.split_at(name_bytes);
        show(name, value);
        if indexing {
            self.table.insert(name, value);
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "decoder_tests.rs"]
mod tests;
