//! Waiting until a server listens, without connecting to it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where something is to listen: at a port, or at a unix socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListeningJob {
    /// Address that must be served, by itself or by a wildcard; any otherwise.
    pub address: Option<String>,
    /// TCP or UDP port.
    pub port: Option<u16>,
    /// Path of a unix socket, in the place of a port.
    pub unix_path: Option<String>,
    /// Its protocol.
    #[serde(default)]
    pub protocol: Transport,
    /// How long it may take.
    pub timeout_ms: u64,
    /// Name of a started process; its end ends the waiting.
    pub unless_ended: Option<String>,
}

/// Connections or datagrams.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// Connections.
    #[default]
    Tcp,
    /// Datagrams.
    Udp,
}
