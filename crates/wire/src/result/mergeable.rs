//! What the results of several generators need besides, so that they become one without loss.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What other figures of a result were computed from, as far as they do not tell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mergeable {
    /// Response times of each row of `series`: buckets and counts, packed, base64.
    pub rows_b64: Vec<String>,
    /// Mailboxes behind the means of `mail`.
    pub mailboxes: u64,
    /// Messages in all of them when each was opened for the first time.
    pub messages_at_first: u64,
    /// The same when last counted.
    pub messages_at_last: u64,
    /// Operations on one connection at once; `null` where connections come and go with operations.
    pub slots: Option<u32>,
}
