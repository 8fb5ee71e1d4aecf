//! What an FTP connection remembers, and what it waits for.

use super::reply::ReplyReader;
use super::transfer::Transfer;

/// One connection.
#[derive(Debug)]
pub struct Session {
    pub(super) state: State,
    pub(super) reply: ReplyReader,
    pub(super) place: u64,
    pub(super) user: u32,
    pub(super) transfers: u32,
    /// Place of the operation among the actions.
    pub(super) kind: usize,
    /// The file of a download.
    pub(super) file: usize,
    pub(super) sequence: u64,
    pub(super) marker: Vec<u8>,
    pub(super) transfer: Transfer,
    /// The last refusal of this operation, or of the login before it.
    pub(super) refusal: Option<u16>,
}

/// What the next reply answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Connecting,
    Banner,
    Auth,
    Securing,
    User,
    Pass,
    Pbsz,
    Prot,
    Type,
    /// SIZE of this file to download.
    Size(usize),
    Idle,
    Epsv,
    Pasv,
    DataConnect,
    Transfer,
    Dele,
    /// QUIT after a login that is the operation.
    Leave,
    /// QUIT after the last transfer.
    Quit,
}
