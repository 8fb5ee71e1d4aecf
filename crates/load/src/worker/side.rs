//! The data connection of a connection (FTP): opened for an operation, read, and closed with it.

use std::net::SocketAddr;
use std::sync::Arc;

use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustls::client::Resumption;
use steelyard_net::clock::monotonic_ns;
use steelyard_net::socket::{self, Address};

use super::Worker;
use super::drive::{Ending, Input};
use crate::connection::side::{Bucket, SIDE, Side, SideState};
use crate::connection::token;
use crate::fault::ErrorKind;
use crate::protocols::{Protocol, SideAddress, SideEvent, SideInput, SidePlan};
use crate::tls::Tls;

/// Tickets of a connection: a server gives a few, and each serves one data connection.
const SESSIONS: usize = 8;

/// Buffers of a side channel that is held to a rate, lest the kernel take what no one may have.
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
        let reads = plan.input != SideInput::Nothing || plan.secure;
        let interest = match (there, reads) {
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
        let reads = !side.deaf && (side.input != SideInput::Nothing || side.secure);
        let mut interest = if input && reads { INPUT } else { NOTHING };
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

    /// Closes a side channel that broke, and tells the machine.
    pub(super) fn fail_side(&mut self, place: usize, kind: ErrorKind, now_ns: u64) {
        let sent_all = self.sides.open[place]
            .as_ref()
            .is_none_or(|side| side.state == SideState::SentAll);
        self.sides.close(place);
        // The machine was given the end of this one; the server knows whether it is.
        if !sent_all {
            self.step(place, now_ns, &Input::Side(SideEvent::Failed(kind)));
        }
    }
}
