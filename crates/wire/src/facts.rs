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

/// Where a path lies.
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
}
