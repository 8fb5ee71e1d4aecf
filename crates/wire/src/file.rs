//! Small files that are read and written whole: settings, pseudo-files, configurations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A file to be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileJob {
    /// Absolute; its folder must exist.
    pub path: String,
    /// All it is to hold.
    pub content: String,
    /// Permission bits; as they were, or as the umask has it, otherwise.
    pub mode: Option<u32>,
    /// It may be created; otherwise it must exist.
    #[serde(default)]
    pub create: bool,
    /// Answered when the content is on the disk; the old or the new one survives a crash, whole.
    #[serde(default)]
    pub durable: bool,
}

/// A file as read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileContent {
    /// What was read; what is not UTF-8 is replaced.
    pub content: String,
    /// `content` is the file, byte for byte: all of it was read, and it is UTF-8.
    pub exact: bool,
    /// Size as the filesystem has it; 0 below `/proc`, and a page below `/sys`, whatever is in it.
    pub size_bytes: u64,
}
