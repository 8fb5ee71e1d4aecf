//! Encoded fields that no dynamic table remembers: every block means the same on every connection.

use crate::{FIRST_STATUS, STATUSES};

/// A field that is an entry of the static table.
pub fn indexed(out: &mut Vec<u8>, index: u8) {
    out.push(0x80 | index);
}

/// A field whose name is in the static table (RFC 7541, 6.2.2).
pub fn field(out: &mut Vec<u8>, name_index: u8, value: &[u8]) {
    integer(out, 4, usize::from(name_index));
    text(out, value);
}

/// A field with a name of its own, in lower case.
pub fn named_field(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    out.push(0);
    text(out, name);
    text(out, value);
}

/// `:status`, which has entries of its own for the usual ones.
pub fn status(out: &mut Vec<u8>, status: u16) {
    const NAME: u8 = FIRST_STATUS as u8;
    match STATUSES.iter().position(|known| *known == status) {
        Some(place) => indexed(out, NAME + place as u8),
        None => field(out, NAME, status.to_string().as_bytes()),
    }
}

fn text(out: &mut Vec<u8>, value: &[u8]) {
    integer(out, 7, value.len());
    out.extend_from_slice(value);
}

fn integer(out: &mut Vec<u8>, prefix_bits: u32, value: usize) {
    let most = (1_usize << prefix_bits) - 1;
    if value < most {
        out.push(value as u8);
        return;
    }
    out.push(most as u8);
    let mut rest = value - most;
    while rest >= 0x80 {
        out.push(0x80 | (rest & 0x7F) as u8);
        rest >>= 7;
    }
    out.push(rest as u8);
}
