//! What a run tells while it runs, about ten times a second.

/// Where a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Connections are being opened.
    Connecting,
    /// Operations run but count for nothing.
    Warmup,
    /// Operations count.
    Window,
    /// Operations of the window are being completed, none starts.
    Drain,
}

/// A glance at a run; figures lag by up to 50 ms and are for display only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Where the run is.
    pub stage: Stage,
    /// Since the stage began.
    pub elapsed_ns: u64,
    /// Planned length of the stage, where it has one.
    pub planned_ns: Option<u64>,
    /// Connections established.
    pub connections: u64,
    /// Operations answered well since the run began.
    pub ok: u64,
    /// Operations failed since the run began.
    pub errors: u64,
    /// Operations waiting for an answer.
    pub inflight: u64,
    /// Arrivals waiting for a connection.
    pub backlog: u64,
}
