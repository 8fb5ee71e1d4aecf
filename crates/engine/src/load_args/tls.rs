//! Options of TLS, and of logins.

use clap::Args;

/// Wherever TLS is used.
#[derive(Debug, Args)]
pub(crate) struct TlsArgs {
    /// Accept any certificate; the result says so.
    #[arg(short = 'k', long)]
    pub(crate) insecure: bool,
    /// PEM file of the authorities to trust, instead of the system's.
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub(crate) cacert: Option<String>,
    /// Name to ask for and to verify, instead of the target's host.
    #[arg(long, value_name = "NAME")]
    pub(crate) servername: Option<String>,
    /// Resume TLS sessions; otherwise every handshake is a full one.
    #[arg(long)]
    pub(crate) tls_resume: bool,
}
