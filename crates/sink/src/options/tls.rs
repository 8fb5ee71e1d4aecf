//! TLS of a sink: when it begins, and with which certificate.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// TLS of one listener.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsServerOptions {
    /// From the first byte; else the protocol's own command (STARTTLS, STLS, AUTH TLS) begins it.
    pub implicit: bool,
    /// What the server shows.
    #[serde(default)]
    pub certificate: Certificate,
}

impl TlsServerOptions {
    /// With a certificate made for `localhost` and the loopback addresses.
    pub fn new(implicit: bool) -> Self {
        Self {
            implicit,
            certificate: Certificate::default(),
        }
    }
}

/// The certificate a server shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Certificate {
    /// Made at the start by an authority of its own, which no one trusts until configured to.
    SelfSigned {
        /// Names and addresses clients connect to.
        #[serde(default = "loopback")]
        names: Vec<String>,
        /// Where the authority's certificate is written as PEM, for clients to verify against.
        #[serde(default)]
        write_ca: Option<PathBuf>,
    },
    /// Read at the start.
    Files {
        /// PEM: the server's certificate, then those in between.
        certificate: PathBuf,
        /// PEM: PKCS#8, PKCS#1 or SEC1.
        key: PathBuf,
    },
}

impl Default for Certificate {
    fn default() -> Self {
        Self::SelfSigned {
            names: loopback(),
            write_ca: None,
        }
    }
}

fn loopback() -> Vec<String> {
    ["localhost", "127.0.0.1", "::1"]
        .map(str::to_owned)
        .to_vec()
}
