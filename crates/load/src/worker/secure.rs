//! TLS between a socket and its protocol.

use steelyard_net::clock::monotonic_ns;
use steelyard_net::stream;

use super::Worker;
use super::drive::Input;
use crate::connection::State;
use crate::fault::ErrorKind;
use crate::protocols::{Protocol, TLS};

/// Clear text taken from TLS at once: the longest record.
pub(super) const CLEAR_BYTES: usize = 16 * 1024;

impl<P: Protocol> Worker<'_, P> {
    /// Begins the handshake.
    pub(super) fn secure(&mut self, place: usize, now_ns: u64) {
        if self.connections[place].socket.is_none() {
            return;
        }
        let opened = match &self.plan.tls {
            Some(_) if P::HAS_SIDE => self.open_resumable(place),
            Some(plan) => plan.open(),
            None => Err(ErrorKind::TlsHandshake),
        };
        let connection = &mut self.connections[place];
        match opened {
            Ok(tls) => {
                connection.tls = Some(tls);
                connection.state = State::Securing;
                self.send_encrypted(place);
            }
            Err(kind) => self.lost(place, kind, now_ns),
        }
    }

    /// Encrypts `out` and hands it to the kernel.
    pub(super) fn flush_secured(&mut self, place: usize) {
        let connection = &mut self.connections[place];
        if let Some(tls) = &mut connection.tls {
            tls.write(&self.buffers.out.head);
            tls.write(&self.protocol.shared()[self.buffers.out.tail.clone()]);
        }
        self.buffers.out.clear();
        self.send_encrypted(place);
    }

    /// Sends what TLS has to say.
    pub(super) fn send_encrypted(&mut self, place: usize) {
        let connection = &mut self.connections[place];
        let (Some(tls), Some(socket)) = (&mut connection.tls, &connection.socket) else {
            return;
        };
        if !connection.unsent.is_empty() {
            tls.encrypted_into(&mut connection.unsent.head);
            return;
        }
        self.buffers.encrypted.clear();
        tls.encrypted_into(&mut self.buffers.encrypted);
        if self.buffers.encrypted.is_empty() {
            return;
        }
        match stream::send_both(socket, &self.buffers.encrypted, &[]) {
            Ok(count) => {
                let left = &self.buffers.encrypted[count..];
                connection.unsent.head.extend_from_slice(left);
                if !connection.unsent.is_empty() {
                    self.watch_room(place);
                }
                self.count_out(count);
            }
            Err(errno) => self.lost(place, ErrorKind::from(errno), monotonic_ns()),
        }
    }

    /// Bytes have arrived on a connection that speaks TLS.
    pub(super) fn receive_secured(
        &mut self,
        place: usize,
        generation: u32,
        now_ns: u64,
        mut bytes: &[u8],
    ) {
        let mut clear = std::mem::take(&mut self.buffers.clear);
        clear.resize(CLEAR_BYTES, 0);
        while !bytes.is_empty() && self.connections.is_same(place, generation) {
            let Some(tls) = &mut self.connections[place].tls else {
                break;
            };
            let taken = tls.take(&mut bytes);
            // Answers of the handshake, or the alert that says why there is none.
            self.send_encrypted(place);
            if let Err(kind) = taken {
                if self.connections.is_same(place, generation) {
                    self.lost(place, kind, now_ns);
                }
                break;
            }
            self.finish_handshake(place, generation, now_ns);
            self.feed_clear(place, generation, now_ns, &mut clear);
        }
        self.buffers.clear = clear;
    }

    fn feed_clear(&mut self, place: usize, generation: u32, now_ns: u64, clear: &mut [u8]) {
        while self.connections.is_same(place, generation) {
            let Some(tls) = &mut self.connections[place].tls else {
                return;
            };
            match tls.read(clear) {
                0 => return,
                count => self.feed(place, generation, now_ns, &clear[..count]),
            }
        }
    }

    fn finish_handshake(&mut self, place: usize, generation: u32, now_ns: u64) {
        if !self.connections.is_same(place, generation) {
            return;
        }
        let connection = &mut self.connections[place];
        let Some(tls) = &connection.tls else {
            return;
        };
        if connection.state != State::Securing || tls.is_handshaking() {
            return;
        }
        let wanted = self.protocol.alpn();
        if !wanted.is_empty() && !tls.alpn().is_some_and(|chosen| wanted.contains(&chosen)) {
            self.lost(place, ErrorKind::CapabilityMissing, now_ns);
            return;
        }
        self.records.tls.count(tls);
        connection.state = State::Talking;
        self.end_phase(place, 0, TLS, now_ns);
        let from_start = self.plan.tls.as_ref().is_some_and(|plan| plan.from_start);
        let input = if from_start {
            Input::Connected
        } else {
            Input::Secured
        };
        self.step(place, now_ns, &input);
    }

    /// Tells the peer that nothing more comes, so that it need not think of a truncation.
    pub(super) fn say_close(&mut self, place: usize) {
        let connection = &mut self.connections[place];
        if let (Some(tls), Some(socket)) = (&mut connection.tls, &connection.socket)
            && connection.state != State::Securing
            && connection.unsent.is_empty()
        {
            tls.say_close();
            self.buffers.encrypted.clear();
            tls.encrypted_into(&mut self.buffers.encrypted);
            // A courtesy: who does not get it sees the end all the same.
            let _ = stream::send_both(socket, &self.buffers.encrypted, &[]);
        }
    }
}
