//! The same over UDP, on the port of the listener: one datagram there, one back.

use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::io::Result;
use steelyard_flow::exchange::HEAD_BYTES;
use steelyard_net::poller::{Interest, Poller};

use crate::counters::tally::{ErrorKind, Tally};
use crate::protocols::echo::{Echo, respond};
use crate::protocols::filler;
use crate::stop::StopHandle;

/// Largest payload of a datagram (IPv4).
const MAX_BYTES: usize = 65_507;
const STOP: u64 = 0;
const SOCKET: u64 = 1;

/// Answers datagrams, or drops them, until stopped.
#[derive(Debug)]
pub(crate) struct Datagrams {
    socket: UdpSocket,
    answers: bool,
}

impl Datagrams {
    pub fn bind(address: SocketAddr, answers: bool) -> std::io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket, answers })
    }

    /// Serves until `stop` is pulled; returns what was counted.
    pub fn run(&self, stop: &StopHandle) -> Result<Tally> {
        let poller = Poller::new()?;
        poller.add(stop.as_fd(), STOP, Interest::IN)?;
        poller.add(&self.socket, SOCKET, Interest::IN)?;
        let mut events = Vec::with_capacity(2);
        let mut tally = Tally::default();
        let mut buffer = vec![0; MAX_BYTES];
        let mut out = Vec::new();
        loop {
            poller.wait(&mut events, None::<Duration>)?;
            if events.iter().any(|event| event.data.u64() == STOP) {
                return Ok(tally);
            }
            // Bounded, so that a flood does not hide the stop.
            for _ in 0..256 {
                let Ok((count, peer)) = self.socket.recv_from(&mut buffer) else {
                    break;
                };
                tally.bytes_in += count as u64;
                if self.answers {
                    self.answer(&buffer[..count], peer, &mut out, &mut tally);
                }
            }
        }
    }

    fn answer(&self, request: &[u8], peer: SocketAddr, out: &mut Vec<u8>, tally: &mut Tally) {
        let head = match Echo::head(request) {
            Ok(Some(head))
                if head.request_bytes as usize == request.len()
                    && head.response_bytes as usize <= MAX_BYTES
                    && request.len() >= HEAD_BYTES =>
            {
                head
            }
            _ => return tally.error(ErrorKind::BadRequest),
        };
        tally.commands += 1;
        tally.received += 1;
        out.clear();
        let mut left = respond(head, out) as usize;
        while left > 0 {
            let part = filler((out.len() - HEAD_BYTES) as u64, left);
            out.extend_from_slice(part);
            left -= part.len();
        }
        if self.socket.send_to(out, peer).is_ok() {
            tally.ok += 1;
            tally.bytes_out += out.len() as u64;
        } else {
            // No room: over UDP that is a loss like any other.
            tally.unanswered += 1;
        }
    }
}
