//! The bytes of one connection, plain or under TLS: a plain one pays one branch for the choice.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown, sockopt};
use rustls::ServerConfig;

use crate::counters::tally::Tally;
use crate::tls::stream::TlsStream;

/// A socket, and TLS on it once that has begun.
#[derive(Debug)]
pub(crate) struct Link {
    fd: OwnedFd,
    /// Boxed: idle plain connections stay small.
    tls: Option<Box<TlsStream>>,
}

impl Link {
    pub fn plain(fd: OwnedFd) -> Self {
        Self { fd, tls: None }
    }

    /// From here on all bytes belong to TLS.
    pub fn start_tls(&mut self, config: &Arc<ServerConfig>) -> Result<(), rustls::Error> {
        self.tls = Some(Box::new(TlsStream::new(config)?));
        Ok(())
    }

    pub fn is_secure(&self) -> bool {
        self.tls.is_some()
    }

    /// Whether TLS resumed a session of before.
    pub fn is_resumed(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.is_resumed())
    }

    /// Goes on with the handshake; done when it returns well.
    pub fn shake(&mut self, tally: &mut Tally) -> Result<(), Errno> {
        match &mut self.tls {
            Some(tls) => tls.shake(&self.fd, tally),
            None => Ok(()),
        }
    }

    /// Reads what is there; 0 at the end.
    pub fn receive(&mut self, into: &mut [u8], tally: &mut Tally) -> Result<usize, Errno> {
        if let Some(tls) = &mut self.tls {
            return tls.receive(&self.fd, into, tally);
        }
        self.receive_raw(into, tally)
    }

    /// Reads from the socket beneath TLS: for bytes no one will look at.
    pub fn receive_raw(&mut self, into: &mut [u8], tally: &mut Tally) -> Result<usize, Errno> {
        let (count, _) = recv(&self.fd, into, RecvFlags::empty())?;
        tally.bytes_in += count as u64;
        Ok(count)
    }

    /// Sends as much as is taken; `more` follow at once.
    pub fn send(&mut self, bytes: &[u8], more: bool, tally: &mut Tally) -> Result<usize, Errno> {
        if let Some(tls) = &mut self.tls {
            return tls.send(&self.fd, bytes, more, tally);
        }
        let flags = if more {
            SendFlags::NOSIGNAL | SendFlags::MORE
        } else {
            SendFlags::NOSIGNAL
        };
        let count = send(&self.fd, bytes, flags)?;
        tally.bytes_out += count as u64;
        Ok(count)
    }

    /// Sends what was taken but not sent; `EAGAIN` if some of it must wait.
    pub fn flush(&mut self, tally: &mut Tally) -> Result<(), Errno> {
        match &mut self.tls {
            Some(tls) => tls.flush(&self.fd, tally),
            None => Ok(()),
        }
    }

    /// Says that nothing more comes, where the transport has a word for it.
    pub fn announce_end(&mut self, tally: &mut Tally) {
        if let Some(tls) = &mut self.tls {
            tls.close(&self.fd, tally);
        }
    }

    pub fn stop_sending(&self) -> Result<(), Errno> {
        shutdown(&self.fd, Shutdown::Write)
    }

    /// The close will be a reset.
    pub fn arm_reset(&self) {
        // If refused, the close sends FIN instead of RST: nothing better can be done.
        let _ = sockopt::set_socket_linger(&self.fd, Some(Duration::ZERO));
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
