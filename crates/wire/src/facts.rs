//! What is true of a machine while nothing runs: the raw material of the confounder audit.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Facts of one machine by dotted name (`kernel.release`, `cpu.model`, `disk.vda.scheduler`, ...);
/// `null` where the machine does not tell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Facts {
    /// By dotted name.
    pub values: BTreeMap<String, Option<String>>,
}

/// Where a path lies, and what it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathFacts {
    /// Name in `/proc/diskstats`; `null` for a filesystem without a block device.
    pub device: Option<String>,
    /// Filesystem type, as `ext4`.
    pub filesystem: Option<String>,
    /// Mount options.
    pub options: Option<String>,
    /// Free space for an unprivileged user.
    pub free_bytes: Option<u64>,
    /// Whether the path is there; if not, the rest is said of its nearest parent that is.
    #[serde(default)]
    pub exists: bool,
    /// What the path is; `null` if it is not there.
    #[serde(default)]
    pub path_kind: Option<PathKind>,
    /// Its size as the filesystem has it; `null` if it is not there.
    #[serde(default)]
    pub size_bytes: Option<u64>,
    /// Its permission bits; `null` if it is not there.
    #[serde(default)]
    pub mode: Option<u32>,
}

/// What a path is, links not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PathKind {
    /// Regular, pseudo-files included.
    File,
    /// A directory.
    Folder,
    /// Of blocks or characters.
    Device,
    /// Symbolic.
    Link,
    /// A socket or a pipe.
    Other,
}
