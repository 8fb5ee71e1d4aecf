//! What comes in over a side channel: counted, thrown away, or shown to the machine.

use std::cmp::Reverse;

use rustix::event::epoll::EventFlags;
use steelyard_net::clock::monotonic_ns;
use steelyard_net::stream::{self, Received};

use super::Worker;
use super::drive::{Ending, Input};
use super::secure::CLEAR_BYTES;
use crate::connection::side::SideState;
use crate::fault::ErrorKind;
use crate::measurement::operation::Part;
use crate::protocols::{Protocol, SideEvent, SideInput};

/// Thrown away at once; others have their turn after that.
const DISCARD_BYTES: usize = 16 << 20;

impl<P: Protocol> Worker<'_, P> {
    /// Reads what is there, or what may be taken of it; to the end, if that is near.
    pub(super) fn read_side(&mut self, place: usize, generation: u32, ending: Ending) {
        let room = self.sides.buffer.len();
        while let Some(side) = self.sides.get_mut(place, generation) {
            let now_ns = monotonic_ns();
            let mut most = usize::MAX;
            if let Some(bucket) = &mut side.bucket
                && side.input != SideInput::Nothing
                && side.state == SideState::Flowing
            {
                most = bucket.allowed(now_ns);
                if most == 0 {
                    self.rest_side(place, generation);
                    return;
                }
            }
            let discards = side.tls.is_none() && side.input == SideInput::Count;
            let most = most.min(if discards { DISCARD_BYTES } else { room });
            let received = if discards {
                stream::discard(&side.socket, most)
            } else {
                // Taken out while it is looked at.
                let mut buffer = std::mem::take(&mut self.sides.buffer);
                let received = match self.sides.get_mut(place, generation) {
                    Some(side) => stream::receive(&side.socket, &mut buffer[..most]),
                    None => Ok(Received::Nothing),
                };
                if let Ok(Received::Bytes(count)) = received {
                    self.take_side(place, generation, now_ns, &buffer[..count]);
                }
                self.sides.buffer = buffer;
                received
            };
            match received {
                Ok(Received::Bytes(count)) => {
                    self.count_side(place, generation, count, now_ns);
                    if discards {
                        let event = SideEvent::Discarded(count);
                        self.step(place, now_ns, &Input::Side(event));
                    }
                    match ending {
                        Ending::Open => return,
                        // After a short read nothing is left but the end.
                        Ending::Said if count < most => {
                            return self.end_side(place, generation, now_ns);
                        }
                        Ending::Said | Ending::Broken => {}
                    }
                }
                Ok(Received::Nothing) => return,
                Ok(Received::End) => return self.end_side(place, generation, now_ns),
                Err(errno) => return self.fail_side(place, ErrorKind::from(errno), now_ns),
            }
        }
    }

    fn count_side(&mut self, place: usize, generation: u32, count: usize, now_ns: u64) {
        if self.records.part(now_ns) == Part::Window {
            self.records.recorder.counts.bytes_in += count as u64;
        }
        if let Some(side) = self.sides.get_mut(place, generation)
            && let Some(bucket) = &mut side.bucket
        {
            bucket.take(count);
        }
    }

    /// It has had its share: nothing is watched until there is more.
    pub(super) fn rest_side(&mut self, place: usize, generation: u32) {
        self.watch_side(place, generation, false, false);
        if let Some(side) = self.sides.get_mut(place, generation)
            && let Some(bucket) = &side.bucket
        {
            let at_ns = bucket.next_piece_ns();
            self.sides
                .timers
                .push(Reverse((at_ns, place as u32, generation)));
        }
    }

    /// Those that have waited for their share go on.
    pub(super) fn fire_side_timers(&mut self, now_ns: u64) {
        while let Some(Reverse((at_ns, place, generation))) = self.sides.timers.peek().copied() {
            if at_ns > now_ns {
                return;
            }
            self.sides.timers.pop();
            let place = place as usize;
            self.watch_side(place, generation, true, false);
            self.send_side(place, generation);
        }
    }

    /// Bytes have arrived that the machine, or TLS, looks at.
    fn take_side(&mut self, place: usize, generation: u32, now_ns: u64, bytes: &[u8]) {
        let Some(side) = self.sides.get_mut(place, generation) else {
            return;
        };
        if side.tls.is_some() {
            self.take_side_secured(place, generation, now_ns, bytes);
        } else if side.input == SideInput::Bytes {
            self.step(place, now_ns, &Input::Side(SideEvent::Received(bytes)));
        }
    }

    fn take_side_secured(&mut self, place: usize, generation: u32, now_ns: u64, mut bytes: &[u8]) {
        let mut clear = std::mem::take(&mut self.buffers.clear);
        clear.resize(CLEAR_BYTES, 0);
        while !bytes.is_empty() {
            let Some(side) = self.sides.get_mut(place, generation) else {
                break;
            };
            let Some(tls) = &mut side.tls else {
                break;
            };
            let taken = tls.take(&mut bytes);
            let (agreed, closed) = (!tls.is_handshaking(), tls.peer_has_closed());
            if let Err(kind) = taken {
                self.send_side(place, generation);
                self.fail_side(place, kind, now_ns);
                break;
            }
            if agreed {
                self.finish_side_handshake(place, generation, now_ns);
            }
            self.feed_side_clear(place, generation, now_ns, &mut clear);
            if closed {
                self.end_side(place, generation, now_ns);
                break;
            }
        }
        self.buffers.clear = clear;
        // Answers of the handshake.
        self.send_side(place, generation);
    }

    fn finish_side_handshake(&mut self, place: usize, generation: u32, now_ns: u64) {
        let Some(side) = self.sides.get_mut(place, generation) else {
            return;
        };
        if side.state != SideState::Securing {
            return;
        }
        side.state = SideState::Flowing;
        if let Some(tls) = &side.tls {
            self.records.tls.count(tls);
        }
        self.step(place, now_ns, &Input::Side(SideEvent::Secured));
    }

    fn feed_side_clear(&mut self, place: usize, generation: u32, now_ns: u64, clear: &mut [u8]) {
        while let Some(side) = self.sides.get_mut(place, generation) {
            let input = side.input;
            let count = side.tls.as_mut().map_or(0, |tls| tls.read(clear));
            let event = match (count, input) {
                (0, _) => return,
                (_, SideInput::Bytes) => SideEvent::Received(&clear[..count]),
                (_, SideInput::Count) => SideEvent::Discarded(count),
                (_, SideInput::Nothing) => continue,
            };
            self.step(place, now_ns, &Input::Side(event));
        }
    }

    /// The peer has sent its last byte.
    fn end_side(&mut self, place: usize, generation: u32, now_ns: u64) {
        let Some(side) = self.sides.get_mut(place, generation) else {
            return;
        };
        if side.state == SideState::Securing {
            self.fail_side(place, ErrorKind::PeerClosedEarly, now_ns);
            return;
        }
        if side.input == SideInput::Nothing {
            // Who takes an upload need not say anything, nor keep its half open.
            side.deaf = true;
            let sends = side.interest.contains(EventFlags::OUT);
            if side.state == SideState::SentAll {
                self.sides.close(place);
            } else {
                self.watch_side(place, generation, false, sends);
            }
            return;
        }
        let clean = side.tls.as_ref().is_none_or(|tls| tls.peer_has_closed());
        self.say_side_close(place, generation);
        self.sides.close(place);
        self.step(place, now_ns, &Input::Side(SideEvent::Ended { clean }));
    }
}
