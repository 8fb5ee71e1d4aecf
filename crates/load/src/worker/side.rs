//! The second socket of a connection: opened for an operation, read, and closed with it.

use std::cmp::Reverse;
use std::net::SocketAddr;
use std::sync::Arc;

use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustls::client::Resumption;
use steelyard_net::clock::monotonic_ns;
use steelyard_net::socket::{self, Address};
use steelyard_net::stream::{self, Received};

use super::Worker;
use super::drive::{Ending, Input};
use super::secure::CLEAR_BYTES;
use crate::connection::token;
use crate::fault::ErrorKind;
use crate::operation::Part;
use crate::protocols::{Protocol, SideAddress, SideEvent, SideInput, SidePlan};
use crate::side::{Bucket, SIDE, Side, SideState};
use crate::tls::Tls;

/// Thrown away at once; others have their turn after that.
const DISCARD_BYTES: usize = 16 << 20;

/// Tickets of a connection: a server gives a few, and each serves one data connection.
const SESSIONS: usize = 8;

/// Buffers of a side channel that is held to a rate, lest the kernel take what nobody may have.
const SMALLEST_BUFFER: usize = 4 * 1024;
const LARGEST_BUFFER: usize = 256 * 1024;

/// Level-triggered: what is left over comes again.
const INPUT: EventFlags = EventFlags::IN.union(EventFlags::RDHUP);
const NOTHING: EventFlags = EventFlags::empty();

impl<P: Protocol> Worker<'_, P> {
    /// State of TLS for a connection whose side channels will resume its sessions, no others.
    pub(super) fn open_resumable(&mut self, place: usize) -> Result<Box<Tls>, ErrorKind> {
        let Some(plan) = &self.plan.tls else {
            return Err(ErrorKind::TlsHandshake);
        };
        let mut config = (**plan.config()).clone();
        config.resumption = Resumption::in_memory_sessions(SESSIONS);
        let config = Arc::new(config);
        self.sides.configs[place] = Some(Arc::clone(&config));
        plan.open_with(config)
    }

    /// Opens what the machine asks for.
    pub(super) fn open_side(&mut self, place: usize, now_ns: u64) {
        let opened = self
            .protocol
            .side_plan(&self.connections[place].session)
            .ok_or(Errno::INVAL)
            .and_then(|plan| self.start_side(place, &plan, now_ns));
        match opened {
            Ok((side, there)) => {
                let generation = side.generation;
                self.sides.open[place] = Some(Box::new(side));
                if there {
                    self.side_is_there(place, generation, monotonic_ns());
                }
            }
            Err(errno) => {
                let event = SideEvent::Failed(ErrorKind::from(errno));
                self.step(place, now_ns, &Input::Side(event));
            }
        }
    }

    /// A side channel, and whether it is there already.
    fn start_side(
        &mut self,
        place: usize,
        plan: &SidePlan,
        now_ns: u64,
    ) -> Result<(Side, bool), Errno> {
        let address = self.side_address(place, plan.address)?;
        let (socket, there) = socket::start_connect(&address.into(), self.plan.source(place))?;
        let bucket = Bucket::new(plan.bytes_per_s, now_ns);
        if let Some(bucket) = &bucket {
            let bytes = bucket.piece_bytes().clamp(SMALLEST_BUFFER, LARGEST_BUFFER);
            socket::set_receive_buffer(&socket, bytes)?;
            socket::set_send_buffer(&socket, bytes)?;
        }
        let generation = self.sides.next_generation();
        let hears = plan.input != SideInput::Nothing || plan.secure;
        let interest = match (there, hears) {
            (false, _) => EventFlags::OUT,
            (true, true) => INPUT,
            (true, false) => NOTHING,
        };
        self.poller
            .add(&socket, token(place | SIDE, generation), interest)?;
        let side = Side {
            socket,
            generation,
            state: SideState::Connecting,
            input: plan.input,
            secure: plan.secure,
            tls: None,
            encrypted: Vec::new(),
            interest,
            deaf: false,
            sending: None,
            bucket,
        };
        Ok((side, there))
    }

    fn side_address(&self, place: usize, address: SideAddress) -> Result<SocketAddr, Errno> {
        let port = match address {
            SideAddress::At(address) => return Ok(address),
            SideAddress::PeerPort(port) => port,
        };
        let peer = self.protocol.address(&self.connections[place].session);
        match self.plan.addresses.get(peer) {
            Some(Address::Inet(peer)) => Ok(SocketAddr::new(peer.ip(), port)),
            _ => Err(Errno::ADDRNOTAVAIL),
        }
    }

    /// Something has happened to a side channel.
    pub(super) fn handle_side(&mut self, place: usize, generation: u32, flags: EventFlags) {
        let Some(side) = self.sides.get_mut(place, generation) else {
            return;
        };
        if side.state == SideState::Connecting {
            self.finish_side(place, generation);
            return;
        }
        let broken = flags.intersects(EventFlags::HUP | EventFlags::ERR);
        if broken || flags.intersects(INPUT) {
            self.read_side(place, generation, Ending::of(flags));
        }
        if flags.contains(EventFlags::OUT) {
            self.send_side(place, generation);
        }
    }

    fn finish_side(&mut self, place: usize, generation: u32) {
        let now_ns = monotonic_ns();
        let Some(side) = self.sides.get_mut(place, generation) else {
            return;
        };
        if let Ok(Some(errno)) | Err(errno) = socket::connect_error(&side.socket) {
            self.fail_side(place, ErrorKind::from(errno), now_ns);
            return;
        }
        self.side_is_there(place, generation, now_ns);
    }

    fn side_is_there(&mut self, place: usize, generation: u32, now_ns: u64) {
        let Some(side) = self.sides.get_mut(place, generation) else {
            return;
        };
        side.state = SideState::Flowing;
        if let Some(bucket) = &mut side.bucket {
            // The time it took to connect was not for bytes.
            *bucket = bucket.renewed(now_ns);
        }
        let secure = side.secure;
        self.watch_side(place, generation, true, false);
        self.step(place, now_ns, &Input::Side(SideEvent::Connected));
        if secure {
            self.secure_side(place, generation, now_ns);
        }
    }

    /// Begins the handshake; the server will find it when it comes to the data connection.
    fn secure_side(&mut self, place: usize, generation: u32, now_ns: u64) {
        let config = self.sides.configs[place].clone();
        let opened = match (&self.plan.tls, config) {
            (Some(plan), Some(config)) => plan.open_with(config),
            _ => Err(ErrorKind::TlsHandshake),
        };
        let Some(side) = self.sides.get_mut(place, generation) else {
            return;
        };
        match opened {
            Ok(tls) => {
                side.tls = Some(tls);
                side.state = SideState::Securing;
                self.send_side(place, generation);
            }
            Err(kind) => self.fail_side(place, kind, now_ns),
        }
    }

    /// Watches for input, if there is any to be expected, and for room to send.
    pub(super) fn watch_side(&mut self, place: usize, generation: u32, input: bool, output: bool) {
        let Some(side) = self.sides.get_mut(place, generation) else {
            return;
        };
        // In TLS who sends has something to hear as well.
        let hears = !side.deaf && (side.input != SideInput::Nothing || side.secure);
        let mut interest = if input && hears { INPUT } else { NOTHING };
        if output {
            interest |= EventFlags::OUT;
        }
        if interest == side.interest {
            return;
        }
        side.interest = interest;
        let token = token(place | SIDE, generation);
        // A refusal would be a defect of this loop; the operation then ends by its deadline.
        let _ = self.poller.modify(&side.socket, token, interest);
    }

    /// Reads what is there, or what may be taken of it; to the end, if that is near.
    fn read_side(&mut self, place: usize, generation: u32, ending: Ending) {
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
        if self.recorder.window.part(now_ns) == Part::Window {
            self.recorder.counts.bytes_in += count as u64;
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
        let mut clear = std::mem::take(&mut self.clear);
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
        self.clear = clear;
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
            self.tls_tally.count(tls);
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

    /// Closes a side channel that broke, and tells the machine.
    pub(super) fn fail_side(&mut self, place: usize, kind: ErrorKind, now_ns: u64) {
        let sent_all = self.sides.open[place]
            .as_ref()
            .is_none_or(|side| side.state == SideState::SentAll);
        self.sides.close(place);
        // The machine was told that this one is done with; the server knows whether it is.
        if !sent_all {
            self.step(place, now_ns, &Input::Side(SideEvent::Failed(kind)));
        }
    }
}
