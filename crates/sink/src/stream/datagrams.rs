//! Datagrams that belong to no flow yet: first ones of a flow, exchanges, and unrelated ones.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering::Relaxed;

use rustix::net::{RecvFlags, SendFlags, connect, recvfrom, send, sendto};
use steelyard_flow::exchange::{HEAD_BYTES, Head};
use steelyard_flow::handshake::{Line, NAME};
use steelyard_net::datagram;

use super::Hall;

/// Datagrams answered before connections have their turn.
const AT_ONCE: usize = 64;

impl Hall {
    /// Answers what waits on the common socket.
    pub(super) fn answer_datagrams(&self, socket: &OwnedFd, room: &mut [u8]) {
        for _ in 0..AT_ONCE {
            let Ok((count, _, Some(from))) = recvfrom(socket, &mut *room, RecvFlags::DONTWAIT)
            else {
                return;
            };
            let Ok(from) = SocketAddr::try_from(from) else {
                continue;
            };
            self.seen.bytes_in.fetch_add(count as u64, Relaxed);
            if room[..count].starts_with(NAME.as_bytes()) {
                // Who asks without success asks again, and gives up after a time.
                let _ = self.take_datagram_flow(&room[..count], from);
            } else {
                self.answer_exchange(socket, room, count, from);
            }
        }
    }

    fn answer_exchange(&self, socket: &OwnedFd, room: &mut [u8], count: usize, from: SocketAddr) {
        let head = room[..count]
            .first_chunk::<HEAD_BYTES>()
            .and_then(Head::decode);
        let Some(head) = head.filter(|head| head.request_bytes as usize == count) else {
            return;
        };
        let length = head.response_bytes as usize;
        if length > room.len() {
            return;
        }
        room[HEAD_BYTES..].fill(0);
        // A datagram that finds no room is lost, as any may be.
        if sendto(socket, &room[..length], SendFlags::DONTWAIT, &from).is_ok() {
            self.seen.exchanges.fetch_add(1, Relaxed);
            self.seen.bytes_out.fetch_add(length as u64, Relaxed);
        }
    }

    /// Opens a socket for the flow that speaks with this peer alone, and answers from it.
    fn take_datagram_flow(&self, words: &[u8], from: SocketAddr) -> Option<()> {
        let line = Line::parse(std::str::from_utf8(words).ok()?)?;
        let (session, flow) = self.session_of(&line)?;
        let socket = datagram::open(self.address, true).ok()?;
        connect(&socket, &from).ok()?;
        let answer = rustix::io::dup(&socket).ok()?;
        // Repeated words mean that the answer was lost; they reach the flow's own socket then,
        // unless they were sent before it was there.
        if session.add(flow, socket).is_ok() {
            send(&answer, b"ok\n", SendFlags::DONTWAIT).ok()?;
        }
        Some(())
    }
}
