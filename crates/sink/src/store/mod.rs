//! Where messages go: what is stored, what came of it, and why not.

pub(crate) mod files;
pub(crate) mod inbox;
pub(crate) mod maildir;
pub(crate) mod pool;
#[cfg(test)]
mod tests;

use rustix::io::Errno;

use crate::counters::tally::ErrorKind;
use crate::store::maildir::Spill;

/// Bytes of a message kept in memory; what is more goes to its file at once.
pub(crate) const MEMORY_BYTES: usize = 64 * 1024;
/// Memory kept by a connection between messages.
const KEPT_BYTES: usize = 16 * 1024;

/// What the store is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreJob {
    /// Write what is in memory and make room for more.
    Append,
    /// The message is whole: make it safe and visible.
    Deliver,
}

/// What came of it.
pub(crate) type Outcome = Result<Stored, StoreError>;

/// Files that became visible, and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Stored {
    pub files: u64,
    pub bytes: u64,
}

/// Why a message was not stored; nothing of it is left then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreError {
    NoSpace,
    Quota,
    Permission,
    Resource,
    Io,
    Cancelled,
}

impl StoreError {
    pub fn kind(self) -> ErrorKind {
        match self {
            Self::NoSpace => ErrorKind::StoreNoSpace,
            Self::Quota => ErrorKind::StoreQuota,
            Self::Permission => ErrorKind::StorePermission,
            Self::Resource => ErrorKind::StoreResource,
            Self::Io => ErrorKind::StoreIo,
            Self::Cancelled => ErrorKind::StoreCancelled,
        }
    }
}

impl From<Errno> for StoreError {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::NOSPC => Self::NoSpace,
            Errno::DQUOT => Self::Quota,
            Errno::ACCESS | Errno::PERM | Errno::ROFS => Self::Permission,
            Errno::MFILE | Errno::NFILE | Errno::NOMEM => Self::Resource,
            _ => Self::Io,
        }
    }
}

/// A message on its way; reused for the next one of its connection.
#[derive(Debug, Default)]
pub(crate) struct Message {
    /// Folder names, checked: no separators, no leading dot, each once.
    pub recipients: Vec<String>,
    /// What is in memory; behind `spill` if there is one.
    pub body: Vec<u8>,
    /// What is in a file already.
    pub spill: Option<Spill>,
}

impl Message {
    /// Forgets everything, also what lies in a file.
    pub fn clear(&mut self) {
        self.recipients.clear();
        self.body.clear();
        self.spill = None;
        if self.body.capacity() > KEPT_BYTES {
            self.body = Vec::new();
        }
    }
}
