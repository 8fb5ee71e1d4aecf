//! One TLS connection over a non-blocking socket.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustls::{AlertDescription, Error, HandshakeKind, ServerConfig, ServerConnection};

use crate::counters::tally::{ErrorKind, Tally};

/// Handed to TLS at once: what is not sent waits in there a second time.
const MOST_BYTES: usize = 64 * 1024;

/// The TLS side of a connection. Errors of TLS itself are counted here and become `EPROTO`.
#[derive(Debug)]
pub(crate) struct TlsStream {
    tls: ServerConnection,
}

impl TlsStream {
    pub fn new(config: &Arc<ServerConfig>) -> Result<Self, Error> {
        ServerConnection::new(Arc::clone(config)).map(|tls| Self { tls })
    }

    pub fn is_resumed(&self) -> bool {
        self.tls.handshake_kind() == Some(HandshakeKind::Resumed)
    }

    /// Goes on with the handshake; done when it returns well.
    pub fn shake(&mut self, fd: &OwnedFd, tally: &mut Tally) -> Result<(), Errno> {
        self.flush(fd, tally)?;
        while self.tls.is_handshaking() {
            if self.feed(fd, tally)? == 0 {
                tally.error(ErrorKind::TlsClosedInHandshake);
                return Err(Errno::PROTO);
            }
        }
        tally.tls_handshakes += 1;
        tally.tls_resumed += u64::from(self.is_resumed());
        Ok(())
    }

    /// Plain bytes; 0 at the end, whether it was announced or not.
    pub fn receive(
        &mut self,
        fd: &OwnedFd,
        into: &mut [u8],
        tally: &mut Tally,
    ) -> Result<usize, Errno> {
        loop {
            match self.tls.reader().read(into) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    tally.error(ErrorKind::TlsCutShort);
                    return Ok(0);
                }
                outcome => return outcome.map_err(|error| errno(&error)),
            }
            self.feed(fd, tally)?;
        }
    }

    /// Reads from the socket once; bytes read.
    fn feed(&mut self, fd: &OwnedFd, tally: &mut Tally) -> Result<usize, Errno> {
        let mut socket = Socket { fd, tally };
        let count = self
            .tls
            .read_tls(&mut socket)
            .map_err(|error| errno(&error))?;
        if let Err(error) = self.tls.process_new_packets() {
            tally.error(cause(&error, self.tls.is_handshaking()));
            // The alert that says why, as far as the socket takes it.
            let _ = self.flush(fd, tally);
            return Err(Errno::PROTO);
        }
        match self.flush(fd, tally) {
            Ok(()) | Err(Errno::AGAIN) => Ok(count),
            Err(errno) => Err(errno),
        }
    }

    /// Plain bytes taken. `more` follow at once: nothing is sent yet.
    pub fn send(
        &mut self,
        fd: &OwnedFd,
        bytes: &[u8],
        more: bool,
        tally: &mut Tally,
    ) -> Result<usize, Errno> {
        self.flush(fd, tally)?;
        let part = &bytes[..bytes.len().min(MOST_BYTES)];
        let count = self
            .tls
            .writer()
            .write(part)
            .map_err(|error| errno(&error))?;
        if more {
            return Ok(count);
        }
        match self.flush(fd, tally) {
            Ok(()) | Err(Errno::AGAIN) => Ok(count),
            Err(errno) => Err(errno),
        }
    }

    /// Sends what TLS has ready; `EAGAIN` if some of it must wait.
    pub fn flush(&mut self, fd: &OwnedFd, tally: &mut Tally) -> Result<(), Errno> {
        while self.tls.wants_write() {
            let mut socket = Socket { fd, tally };
            match self.tls.write_tls(&mut socket) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(errno(&error)),
            }
        }
        Ok(())
    }

    /// Announces the end, as far as the socket takes it.
    pub fn close(&mut self, fd: &OwnedFd, tally: &mut Tally) {
        self.tls.send_close_notify();
        // The peer may be gone: then there is no one to tell.
        let _ = self.flush(fd, tally);
    }
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

fn cause(error: &Error, handshaking: bool) -> ErrorKind {
    use AlertDescription::{
        AccessDenied, BadCertificate, CertificateExpired, CertificateRevoked, CertificateUnknown,
        UnknownCA, UnsupportedCertificate,
    };
    match error {
        _ if !handshaking => ErrorKind::TlsBroken,
        Error::InvalidMessage(_) => ErrorKind::TlsNotTls,
        Error::PeerIncompatible(_) | Error::NoApplicationProtocol => ErrorKind::TlsNothingInCommon,
        Error::AlertReceived(
            UnknownCA
            | BadCertificate
            | CertificateExpired
            | CertificateRevoked
            | CertificateUnknown
            | UnsupportedCertificate
            | AccessDenied,
        ) => ErrorKind::TlsCertificateRefused,
        Error::AlertReceived(_) => ErrorKind::TlsRefusedByPeer,
        _ => ErrorKind::TlsHandshakeOther,
    }
}

/// The socket as TLS wants to see it, with its bytes counted.
struct Socket<'a> {
    fd: &'a OwnedFd,
    tally: &'a mut Tally,
}

impl Read for Socket<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let (count, _) = recv(self.fd, into, RecvFlags::empty())?;
        self.tally.bytes_in += count as u64;
        Ok(count)
    }
}

impl Write for Socket<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = send(self.fd, bytes, SendFlags::NOSIGNAL)?;
        self.tally.bytes_out += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
