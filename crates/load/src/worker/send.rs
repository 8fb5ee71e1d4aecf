//! Bytes on their way out, and what the kernel does not take at once.

use steelyard_net::clock::monotonic_ns;
use steelyard_net::poller::READ_WRITE;
use steelyard_net::stream;

use super::Worker;
use crate::connection::token;
use crate::fault::ErrorKind;
use crate::protocols::Protocol;

impl<P: Protocol> Worker<'_, P> {
    /// Hands `out` to the kernel, unless more is to come from the same read.
    pub(super) fn flush_unless_batching(&mut self, place: usize) {
        if self.buffers.batching != Some(place) {
            self.flush(place);
        }
    }

    /// Hands `out` to the kernel; what it does not take follows when the socket is writable.
    pub(super) fn flush(&mut self, place: usize) {
        // Also what says nothing yet, because it waits behind another, has been given away.
        if self.slots > 1 {
            self.stamp(place);
        }
        if self.buffers.out.is_empty() {
            return;
        }
        let connection = &mut self.connections[place];
        if connection.tls.is_some() {
            self.flush_secured(place);
            return;
        }
        let Some(socket) = &connection.socket else {
            return;
        };
        if !connection.unsent.is_empty() {
            // Only several slots have more to say before everything is sent.
            connection
                .unsent
                .head
                .extend_from_slice(&self.buffers.out.head);
            self.buffers.out.clear();
            return;
        }
        let tail = &self.protocol.shared()[self.buffers.out.tail.clone()];
        match stream::send_both(socket, &self.buffers.out.head, tail) {
            Ok(count) => {
                let whole = self.buffers.out.head.len() + tail.len();
                if count < whole {
                    connection
                        .unsent
                        .head
                        .extend_from_slice(&self.buffers.out.head);
                    connection.unsent.tail = self.buffers.out.tail.clone();
                    connection.unsent.advance(count);
                    self.watch_room(place);
                }
                self.count_out(count);
                if self.slots > 1 {
                    self.buffers.out.clear();
                }
            }
            Err(errno) => self.lost(place, ErrorKind::from(errno), monotonic_ns()),
        }
    }

    /// Asks for an event when the socket takes more. Few ever have to, so that none does before.
    pub(super) fn watch_room(&mut self, place: usize) {
        let connection = &mut self.connections[place];
        let Some(socket) = &connection.socket else {
            return;
        };
        if !std::mem::replace(&mut connection.watches_room, true) {
            let token = token(place, connection.generation);
            // A refusal would be a defect of this loop; the operation then ends by its deadline.
            let _ = self.poller.modify(socket, token, READ_WRITE);
        }
    }

    pub(super) fn send_unsent(&mut self, place: usize) {
        let connection = &mut self.connections[place];
        let Some(socket) = &connection.socket else {
            return;
        };
        let tail = &self.protocol.shared()[connection.unsent.tail.clone()];
        match stream::send_both(socket, &connection.unsent.head, tail) {
            Ok(count) => {
                connection.unsent.advance(count);
                self.count_out(count);
            }
            Err(errno) => self.lost(place, ErrorKind::from(errno), monotonic_ns()),
        }
    }

    pub(super) fn count_out(&mut self, count: usize) {
        if self.state.is_metering() {
            self.records.recorder.counts.bytes_out += count as u64;
        }
    }
}
