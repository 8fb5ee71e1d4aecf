//! TLS of a sink.

use std::path::PathBuf;

use clap::Args;
use steelyard_sink::{Certificate, TlsServerOptions};

#[derive(Debug, Args)]
#[command(next_help_heading = "TLS")]
pub(crate) struct TlsSinkArgs {
    /// Speak TLS from the first byte.
    #[arg(long, conflicts_with = "starttls")]
    pub(crate) tls: bool,
    /// Offer to begin TLS on request (STARTTLS, STLS, AUTH TLS).
    #[arg(long)]
    pub(crate) starttls: bool,
    /// PEM file of the certificate and those in between; without it one is made.
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(crate) cert: Option<PathBuf>,
    /// PEM file of the private key.
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub(crate) key: Option<PathBuf>,
    /// Name or address the made certificate is for; may be given several times; localhost,
    /// 127.0.0.1 and `::1` without any.
    #[arg(long = "tls-name", value_name = "NAME", conflicts_with = "cert")]
    pub(crate) names: Vec<String>,
    /// Write the certificate of the authority that signed the made certificate, as PEM.
    #[arg(long, value_name = "FILE", conflicts_with = "cert")]
    pub(crate) write_ca: Option<PathBuf>,
}

impl TlsSinkArgs {
    pub(crate) fn given(&self) -> Vec<&'static str> {
        super::named(&[
            (self.tls, "--tls"),
            (self.cert.is_some(), "--cert"),
            (!self.names.is_empty(), "--tls-name"),
            (self.write_ca.is_some(), "--write-ca"),
        ])
    }

    pub(crate) fn given_starttls(&self) -> Vec<&'static str> {
        super::named(&[(self.starttls, "--starttls")])
    }

    /// What was asked for; an option that needs `--tls` or `--starttls` is named without.
    pub(crate) fn options(&self) -> Result<Option<TlsServerOptions>, &'static str> {
        if !self.tls && !self.starttls {
            return self.given().first().map_or(Ok(None), |name| Err(*name));
        }
        let mut options = TlsServerOptions::new(self.tls);
        if let (Some(certificate), Some(key)) = (&self.cert, &self.key) {
            options.certificate = Certificate::Files {
                certificate: certificate.clone(),
                key: key.clone(),
            };
        } else if let Certificate::SelfSigned { names, write_ca } = &mut options.certificate {
            if !self.names.is_empty() {
                names.clone_from(&self.names);
            }
            write_ca.clone_from(&self.write_ca);
        }
        Ok(Some(options))
    }
}
