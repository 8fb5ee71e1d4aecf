//! TLS and logins: what several protocols share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How TLS is used, whether from the first byte (`https`, `smtps` ...) or after STARTTLS.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TlsOptions {
    /// Accept any certificate. Stored in the result: such a run has not verified its peer.
    pub insecure: bool,
    /// PEM file of the authorities to trust, instead of the system's.
    pub ca_file: Option<String>,
    /// Name to ask for and to verify, instead of the target's host.
    pub server_name: Option<String>,
    /// Resume sessions; otherwise every handshake is a full one.
    pub resume: bool,
}

/// Whether a clear-text connection is upgraded to TLS.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StartTls {
    /// Stay in clear text.
    #[default]
    Never,
    /// Upgrade; a server that does not offer it fails the connection (`capability_missing`).
    Require,
}

/// Credentials of users; `{n}` in either is replaced by the number of the user, from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Login {
    /// Name, for example `user{n}`.
    pub user: String,
    /// Password.
    pub password: String,
    /// Users to draw from: `{n}` runs from 1 to this; connections take them in turn.
    #[serde(default = "one")]
    pub users: u32,
    /// How the credentials are sent.
    #[serde(default)]
    pub mechanism: Mechanism,
}

/// How credentials are sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mechanism {
    /// AUTH PLAIN (SMTP, POP3, IMAP).
    #[default]
    Plain,
    /// AUTH LOGIN (SMTP); LOGIN (IMAP); USER and PASS (POP3, FTP).
    Login,
}

fn one() -> u32 {
    1
}
