//! TLS beneath a protocol: what is agreed on, and the state of one connection.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ClientConnection, Resumption};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    AlertDescription, ClientConfig, DigitallySignedStruct, HandshakeKind, RootCertStore,
    SignatureScheme,
};
use steelyard_wire::job::TlsOptions;

use crate::error::LoadError;
use crate::fault::ErrorKind;

/// How the connections of a plan speak TLS.
#[derive(Debug, Clone)]
pub struct TlsPlan {
    /// From the first byte; otherwise when the protocol says so.
    pub from_start: bool,
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl TlsPlan {
    /// Reads and checks what `options` ask for; `host` is the name unless they give another.
    pub fn new(
        options: &TlsOptions,
        host: &str,
        from_start: bool,
        alpn: &[&[u8]],
    ) -> Result<Self, LoadError> {
        let name = options.server_name.as_deref().unwrap_or(host).to_owned();
        let name = ServerName::try_from(name.clone()).map_err(|_| {
            LoadError::bad_job(
                format!("{name:?} is no name that a certificate can have"),
                "give --servername",
            )
        })?;
        let mut config = config(options)?;
        if !options.resume {
            config.resumption = Resumption::disabled();
        }
        config.alpn_protocols = alpn.iter().map(|protocol| protocol.to_vec()).collect();
        Ok(Self {
            from_start,
            config: Arc::new(config),
            name,
        })
    }

    /// The configuration, for connections that need one of their own.
    pub fn config(&self) -> &Arc<ClientConfig> {
        &self.config
    }

    /// State of a connection about to begin its handshake.
    pub fn open(&self) -> Result<Box<Tls>, ErrorKind> {
        self.open_with(Arc::clone(&self.config))
    }

    /// The same with another configuration.
    pub fn open_with(&self, config: Arc<ClientConfig>) -> Result<Box<Tls>, ErrorKind> {
        let connection = ClientConnection::new(config, self.name.clone())
            .map_err(|_| ErrorKind::TlsHandshake)?;
        Ok(Box::new(Tls {
            connection,
            peer_has_closed: false,
            says_close: false,
        }))
    }
}

fn config(options: &TlsOptions) -> Result<ClientConfig, LoadError> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| LoadError::bad_job(error.to_string(), None))?;
    if options.insecure {
        let anyone = Arc::new(Anyone::of(&provider));
        return Ok(builder
            .dangerous()
            .with_custom_certificate_verifier(anyone)
            .with_no_client_auth());
    }
    let roots = match &options.ca_file {
        Some(path) => roots_of_file(path)?,
        None => roots_of_system()?,
    };
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

fn roots_of_file(path: &str) -> Result<RootCertStore, LoadError> {
    let refused = |reason: String| {
        LoadError::bad_job(
            format!("{path}: {reason}"),
            "give a PEM file with the certificates to trust",
        )
    };
    let mut roots = RootCertStore::empty();
    let certificates =
        CertificateDer::pem_file_iter(path).map_err(|error| refused(error.to_string()))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| refused(error.to_string()))?;
        roots
            .add(certificate)
            .map_err(|error| refused(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(refused("no certificate in it".to_owned()));
    }
    Ok(roots)
}

fn roots_of_system() -> Result<RootCertStore, LoadError> {
    let mut roots = RootCertStore::empty();
    let (_, _) = roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err(LoadError::bad_job(
            "this system trusts no certificate authority",
            "install ca-certificates, or give --cacert FILE or --insecure",
        ));
    }
    Ok(roots)
}

/// Takes any certificate; the signatures of the handshake are checked all the same.
#[derive(Debug)]
struct Anyone {
    algorithms: WebPkiSupportedAlgorithms,
}

impl Anyone {
    fn of(provider: &CryptoProvider) -> Self {
        Self {
            algorithms: provider.signature_verification_algorithms,
        }
    }
}

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// One connection's TLS: bytes of the network in, clear text out, and back.
#[derive(Debug)]
pub struct Tls {
    connection: ClientConnection,
    peer_has_closed: bool,
    says_close: bool,
}

impl Tls {
    /// Whether the handshake is still going on.
    pub fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Whether the peer has said that it closes; without it an end may be a truncation.
    pub fn peer_has_closed(&self) -> bool {
        self.peer_has_closed
    }

    /// What the peer has chosen by ALPN.
    pub fn alpn(&self) -> Option<&[u8]> {
        self.connection.alpn_protocol()
    }

    /// Takes bytes of the network from the front of `input`.
    pub fn take(&mut self, input: &mut &[u8]) -> Result<(), ErrorKind> {
        self.connection
            .read_tls(input)
            .map_err(|_| ErrorKind::TlsHandshake)?;
        let state = self
            .connection
            .process_new_packets()
            .map_err(|error| kind(&error))?;
        self.peer_has_closed |= state.peer_has_closed();
        Ok(())
    }

    /// Reads clear text; 0 when there is none for now.
    pub fn read(&mut self, buffer: &mut [u8]) -> usize {
        // An empty or closed buffer is reported as an error; neither is one here.
        self.connection.reader().read(buffer).unwrap_or(0)
    }

    /// Takes clear text that is to be sent.
    pub fn write(&mut self, text: &[u8]) {
        self.connection.set_buffer_limit(None);
        // Without a limit everything is taken.
        let _ = self.connection.writer().write_all(text);
    }

    /// Says that nothing more will be sent.
    pub fn say_close(&mut self) {
        if !std::mem::replace(&mut self.says_close, true) {
            self.connection.send_close_notify();
        }
    }

    /// Whether that has been said.
    pub fn says_close(&self) -> bool {
        self.says_close
    }

    /// Appends what must go to the network.
    pub fn encrypted_into(&mut self, out: &mut Vec<u8>) {
        while self.connection.wants_write() {
            // Writing into memory does not fail.
            if self.connection.write_tls(out).is_err() {
                return;
            }
        }
    }
}

fn kind(error: &rustls::Error) -> ErrorKind {
    match error {
        rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented => {
            ErrorKind::TlsCert
        }
        rustls::Error::AlertReceived(AlertDescription::NoApplicationProtocol) => {
            ErrorKind::CapabilityMissing
        }
        rustls::Error::AlertReceived(_) => ErrorKind::TlsAlert,
        _ => ErrorKind::TlsHandshake,
    }
}

/// What the connections of a worker have agreed on.
#[derive(Debug, Default, Clone)]
pub struct TlsTally {
    versions: BTreeMap<&'static str, u64>,
    ciphers: BTreeMap<&'static str, u64>,
    resumed: u64,
}

impl TlsTally {
    /// Counts a finished handshake.
    pub fn count(&mut self, tls: &Tls) {
        let version = tls.connection.protocol_version();
        let version = version.and_then(|version| version.as_str());
        let cipher = tls.connection.negotiated_cipher_suite();
        let cipher = cipher.and_then(|cipher| cipher.suite().as_str());
        *self
            .versions
            .entry(version.unwrap_or("unknown"))
            .or_default() += 1;
        *self.ciphers.entry(cipher.unwrap_or("unknown")).or_default() += 1;
        let kind = tls.connection.handshake_kind();
        self.resumed += u64::from(kind == Some(HandshakeKind::Resumed));
    }

    /// Adds what another worker has counted.
    pub fn add(&mut self, other: &Self) {
        for (name, count) in &other.versions {
            *self.versions.entry(name).or_default() += count;
        }
        for (name, count) in &other.ciphers {
            *self.ciphers.entry(name).or_default() += count;
        }
        self.resumed += other.resumed;
    }

    /// For the result; `None` if no handshake was finished.
    pub fn result(&self, verified: bool) -> Option<steelyard_wire::result::Tls> {
        let named = |counts: &BTreeMap<&'static str, u64>| {
            counts
                .iter()
                .map(|(name, count)| ((*name).to_owned(), *count))
                .collect()
        };
        (!self.versions.is_empty()).then(|| steelyard_wire::result::Tls {
            versions: named(&self.versions),
            ciphers: named(&self.ciphers),
            resumed: self.resumed,
            verified,
        })
    }
}
