//! Files below `/proc` and `/sys`: kept open, read again, parsed.

pub(crate) mod parse;
pub(crate) mod place;
pub(crate) mod source;
