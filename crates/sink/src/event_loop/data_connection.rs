//! FTP's data connections, opened and served by the event loop.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::io::Errno;
use rustls::ServerConfig;
use steelyard_net::socket::{accept_one, listen_on, local_address};

use crate::counters::tally::Tally;
use crate::event_loop::link::Link;
use crate::protocols::filler;
use crate::protocols::{Event, Transfer, What};

/// Largest piece given to the socket at once.
const PIECE_BYTES: usize = 64 * 1024;
/// Pieces of one transfer before others get their turn.
const PIECES_PER_TURN: usize = 32;

#[derive(Debug)]
enum Socket {
    Listening(OwnedFd),
    Connected(Link),
}

/// How far a side got.
#[derive(Debug)]
pub(crate) enum Progress {
    Wait,
    Yield,
    /// A connection came: its socket must be watched.
    Accepted,
    Ended(Event),
}

/// The data connection of a connection.
#[derive(Debug)]
pub(crate) struct Side {
    /// The connection it belongs to.
    pub owner: u64,
    socket: Socket,
    transfer: Option<Transfer>,
    began: bool,
    shaken: bool,
    done: u64,
    kept: Option<Vec<u8>>,
}

impl Side {
    /// Listens; also says on which port.
    pub fn listen(owner: u64, address: IpAddr) -> rustix::io::Result<(Self, u16)> {
        let fd = listen_on(SocketAddr::new(address, 0), 1, false)?;
        let port = local_address(&fd)?.port();
        let side = Self {
            owner,
            socket: Socket::Listening(fd),
            transfer: None,
            began: false,
            shaken: false,
            done: 0,
            kept: None,
        };
        Ok((side, port))
    }

    pub fn begin(&mut self, transfer: Transfer) {
        if let What::Receive(most) = transfer.what {
            self.kept = (most > 0).then(Vec::new);
        }
        self.transfer = Some(transfer);
    }

    /// Goes on as far as possible without waiting.
    pub fn pump(
        &mut self,
        config: Option<&Arc<ServerConfig>>,
        buffer: &mut [u8],
        tally: &mut Tally,
    ) -> Progress {
        if let Socket::Listening(listener) = &self.socket {
            return match accept_one(listener) {
                Ok(Some(fd)) => {
                    self.socket = Socket::Connected(Link::plain(fd));
                    Progress::Accepted
                }
                Ok(None) => Progress::Wait,
                Err(_) => Progress::Ended(Event::Broken),
            };
        }
        match self.go_on(config, buffer, tally) {
            Ok(progress) => progress,
            Err(Errno::AGAIN) => Progress::Wait,
            Err(Errno::INTR) => Progress::Yield,
            Err(_) => Progress::Ended(Event::Broken),
        }
    }

    fn go_on(
        &mut self,
        config: Option<&Arc<ServerConfig>>,
        buffer: &mut [u8],
        tally: &mut Tally,
    ) -> Result<Progress, Errno> {
        let (Socket::Connected(link), Some(transfer)) = (&mut self.socket, &self.transfer) else {
            return Ok(Progress::Wait);
        };
        if transfer.secure && !self.began {
            let config = config.ok_or(Errno::PROTO)?;
            link.start_tls(config).map_err(|_| Errno::PROTO)?;
            self.began = true;
        }
        if !self.shaken {
            link.shake(tally)?;
            self.shaken = true;
            if transfer.require_reuse && !link.is_resumed() {
                return Ok(Progress::Ended(Event::NotResumed));
            }
        }
        if matches!(transfer.what, What::Stall) {
            return Ok(Progress::Wait);
        }
        for _ in 0..PIECES_PER_TURN {
            let ended = match transfer.what {
                What::Receive(most) => {
                    receive(link, most, &mut self.kept, &mut self.done, buffer, tally)?
                }
                _ => send(link, &transfer.what, &mut self.done, tally)?,
            };
            if transfer.cut_at.is_some_and(|cut_at| self.done >= cut_at) {
                link.arm_reset();
                return Ok(Progress::Ended(Event::Broken));
            }
            if ended {
                let (bytes, kept) = (self.done, self.kept.take());
                return Ok(Progress::Ended(Event::Done { bytes, kept }));
            }
        }
        Ok(Progress::Yield)
    }
}

/// Sends a piece; `true` when nothing is left.
fn send(link: &mut Link, what: &What, done: &mut u64, tally: &mut Tally) -> Result<bool, Errno> {
    let left = what.length() - *done;
    if left == 0 {
        link.flush(tally)?;
        link.announce_end(tally);
        // If the peer is gone already there is no one to tell.
        let _ = link.stop_sending();
        return Ok(true);
    }
    let most = usize::try_from(left).unwrap_or(usize::MAX).min(PIECE_BYTES);
    let piece = match what {
        What::Send(bytes) => &bytes[*done as usize..*done as usize + most],
        _ => filler(*done, most),
    };
    *done += link.send(piece, false, tally)? as u64;
    Ok(false)
}

/// Reads a piece; `true` at the end.
fn receive(
    link: &mut Link,
    most: usize,
    kept: &mut Option<Vec<u8>>,
    done: &mut u64,
    buffer: &mut [u8],
    tally: &mut Tally,
) -> Result<bool, Errno> {
    let count = link.receive(buffer, tally)?;
    *done += count as u64;
    if *done > most as u64 {
        *kept = None;
    }
    if let Some(kept) = kept {
        kept.extend_from_slice(&buffer[..count]);
    }
    Ok(count == 0)
}

impl AsFd for Side {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.socket {
            Socket::Listening(fd) => fd.as_fd(),
            Socket::Connected(link) => link.as_fd(),
        }
    }
}
