//! HPACK (RFC 7541): header blocks of HTTP/2, read by the load generator and by the sink.
//!
//! [`Reader`] splits a block into its fields and keeps nothing; [`Decoder`] adds the dynamic table
//! of a connection. What [`write`] encodes needs no dynamic table: equal fields are equal bytes.

mod decoder;
mod huffman;
mod reader;
mod table;
pub mod write;

pub use decoder::Decoder;
pub use reader::{Field, Name, Reader, Text};
pub use table::{FIRST_STATUS, STATIC_FIELDS, STATUSES};

/// Size of the dynamic table before the peer's settings are known.
pub const DEFAULT_TABLE_BYTES: usize = 4096;

/// No header block: the connection cannot go on (RFC 9113, 4.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;
