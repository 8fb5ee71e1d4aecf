//! Indices into the phases of IMAP.

pub const CONNECT: usize = crate::protocols::CONNECT;
pub const BANNER: usize = 2;
pub const STARTTLS: usize = 3;
pub const CAPABILITY: usize = 4;
pub const AUTH: usize = 5;
pub const SELECT: usize = 6;
pub const LIST: usize = 7;
pub const STATUS: usize = 8;
pub const FETCH_FIRST: usize = 9;
pub const FETCH_LAST: usize = 10;
pub const SEARCH: usize = 11;
pub const STORE: usize = 12;
pub const APPEND_READY: usize = 13;
pub const APPEND: usize = 14;
pub const EXPUNGE: usize = 15;
pub const IDLE_READY: usize = 16;
/// Index of the phase that ends when a server that idles announces a message.
pub const IDLE_WAKE: usize = 17;
pub const IDLE_HOLD: usize = 18;
pub const IDLE_DONE: usize = 19;
pub const NOOP: usize = 20;
pub const LOGOUT: usize = 21;
