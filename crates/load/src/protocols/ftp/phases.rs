//! Names and places of the phases.

use crate::protocols::{CONNECT as FIRST, TLS as SECOND};

/// See [`crate::protocols::Protocol::PHASES`].
pub const NAMES: &[&str] = &[
    "connect",
    "tls",
    "banner",
    "auth-tls",
    "user",
    "pass",
    "prot",
    "type",
    "size",
    "epsv",
    "pasv",
    "data-connect",
    "data-tls",
    "150",
    "first-byte",
    "last-byte",
    "226",
    "dele",
    "quit",
];

pub const CONNECT: usize = FIRST;
pub const TLS: usize = SECOND;
pub const BANNER: usize = 2;
pub const AUTH: usize = 3;
pub const USER: usize = 4;
pub const PASS: usize = 5;
pub const PROT: usize = 6;
pub const TYPE: usize = 7;
pub const SIZE: usize = 8;
pub const EPSV: usize = 9;
pub const PASV: usize = 10;
pub const DATA_CONNECT: usize = 11;
pub const DATA_TLS: usize = 12;
pub const PRELIMINARY: usize = 13;
pub const FIRST_BYTE: usize = 14;
pub const LAST_BYTE: usize = 15;
pub const COMPLETE: usize = 16;
pub const DELE: usize = 17;
pub const QUIT: usize = 18;
