//! What a protocol says about a run.

/// What the protocol says about the run.
#[derive(Debug, Clone)]
pub struct About {
    /// Names of its phases.
    pub phases: Vec<String>,
    /// Names of the kinds of operations, if they are distinguished.
    pub kinds: Vec<String>,
    /// Connections come and go with operations.
    pub one_shot: bool,
    /// Operations on one connection at once.
    pub slots: u32,
}
