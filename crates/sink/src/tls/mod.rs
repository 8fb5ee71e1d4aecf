//! TLS of a sink: who it says it is, and what it agrees to.

pub(crate) mod stream;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::error::SinkError;
use crate::options::{Certificate, TlsServerOptions};

/// Certificates and key of one sink, shared by all its listeners.
#[derive(Debug)]
pub(crate) struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

/// TLS of one listener.
#[derive(Debug, Clone)]
pub(crate) struct Secure {
    pub config: Arc<ServerConfig>,
    /// From the first byte.
    pub implicit: bool,
}

impl Identity {
    /// Reads the files, or makes an authority and a certificate signed by it.
    pub fn open(certificate: &Certificate) -> Result<Self, SinkError> {
        match certificate {
            Certificate::Files { certificate, key } => Self::read(certificate, key),
            Certificate::SelfSigned { names, write_ca } => {
                let (identity, ca) = Self::make(names).map_err(|error| bad("tls", &error))?;
                if let Some(path) = write_ca {
                    fs::write(path, ca).map_err(|error| bad(path, &error))?;
                }
                Ok(identity)
            }
        }
    }

    fn read(certificate: &Path, key: &Path) -> Result<Self, SinkError> {
        let chain = CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| bad(certificate, &error))?;
        if chain.is_empty() {
            return Err(bad(certificate, &"no certificate in it"));
        }
        let key = PrivateKeyDer::from_pem_file(key).map_err(|error| bad(key, &error))?;
        Ok(Self { chain, key })
    }

    /// With the authority's certificate as PEM.
    fn make(names: &[String]) -> Result<(Self, String), rcgen::Error> {
        let mut authority = CertificateParams::new(Vec::new())?;
        authority
            .distinguished_name
            .push(DnType::CommonName, "Steelyard sink authority");
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let authority_key = KeyPair::generate()?;
        let ca = authority.self_signed(&authority_key)?;
        let mut server = CertificateParams::new(names)?;
        server
            .distinguished_name
            .push(DnType::CommonName, "Steelyard sink");
        let key = KeyPair::generate()?;
        let certificate = server.signed_by(&key, &Issuer::new(authority, authority_key))?;
        let identity = Self {
            chain: vec![certificate.der().clone()],
            key: PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
        };
        Ok((identity, ca.pem()))
    }

    /// What one listener agrees to: TLS 1.2 and 1.3, tickets, and these application protocols.
    pub fn secure(&self, options: &TlsServerOptions, alpn: &[&[u8]]) -> Result<Secure, SinkError> {
        let refused = |error: rustls::Error| bad("tls", &error);
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(refused)?
            .with_no_client_auth()
            .with_single_cert(self.chain.clone(), self.key.clone_key())
            .map_err(refused)?;
        config.ticketer = ring::Ticketer::new().map_err(refused)?;
        config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
        Ok(Secure {
            config: Arc::new(config),
            implicit: options.implicit,
        })
    }
}

fn bad(path: impl AsRef<Path>, problem: &impl ToString) -> SinkError {
    SinkError::Tls {
        path: path.as_ref().to_owned(),
        problem: problem.to_string(),
    }
}
