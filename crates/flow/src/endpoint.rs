//! One direction of one flow at one end.

use std::os::fd::OwnedFd;

use rustix::io::{Result, dup};
use steelyard_net::bulk::{TcpState, allow_zero_copy, set_buffers, set_pacing, tcp_state};
use steelyard_net::poller::Interest;

use crate::ledger::Ledger;
use crate::pace::Pace;
use crate::report::{EndpointReport, TcpFacts};
use crate::run::{Run, Spec, Transport};
use crate::step::{Ending, NEVER, Step};
use crate::tcp::{TcpIn, TcpOut};
use crate::udp::{UdpIn, UdpOut};

/// Of UDP sockets, unless the job says otherwise: bursts must find room.
const DATAGRAM_BUFFER: u32 = 4 << 20;

/// One direction of one flow at one end.
#[derive(Debug)]
pub struct Endpoint {
    flow: u32,
    pub(crate) socket: OwnedFd,
    pump: Pump,
    ledger: Ledger,
    pub(crate) ready: bool,
    pub(crate) hung_up: bool,
    pub(crate) due_ns: u64,
    pub(crate) ending: Option<Ending>,
    tcp_at_start: TcpState,
    tcp_last: TcpState,
    tcp: Option<TcpFacts>,
    pub(crate) reported_bytes: u64,
}

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "a few for each thread")]
enum Pump {
    TcpOut(TcpOut),
    TcpIn(TcpIn),
    UdpOut(UdpOut),
    UdpIn(UdpIn),
}

/// The endpoints of a connected socket: one that sends, one that receives, or both.
///
/// `tag` is what datagrams of the run carry. Fails with what the system refuses, for example an
/// unknown congestion control.
pub fn endpoints(
    socket: OwnedFd,
    flow: u32,
    spec: &Spec,
    run: &Run,
    tag: u32,
    (sends, receives): (bool, bool),
) -> Result<Vec<Endpoint>> {
    prepare(&socket, spec)?;
    let kernel_paced = spec.transport == Transport::Tcp
        && spec.bytes_per_s > 0
        && set_pacing(&socket, spec.bytes_per_s).is_ok();
    let mut endpoints = Vec::with_capacity(2);
    if receives {
        // A descriptor of its own, since an event carries one endpoint.
        let own = dup(&socket)?;
        let pump = match spec.transport {
            Transport::Tcp => Pump::TcpIn(TcpIn::new(&own, spec.bytes_per_s > 0)),
            Transport::Udp => Pump::UdpIn(UdpIn::new(&own, spec.offload, tag)),
        };
        endpoints.push(Endpoint::new(flow, own, pump));
    }
    if sends {
        let rate = spec.bytes_per_s as f64;
        let pump = match spec.transport {
            Transport::Tcp => {
                let rate = if kernel_paced { 0.0 } else { rate };
                let pace = Pace::new(rate, run.start_ns);
                Pump::TcpOut(TcpOut::new(spec.block_bytes, spec.zero_copy, pace))
            }
            Transport::Udp => {
                let pace = Pace::new(rate / f64::from(spec.block_bytes), run.start_ns);
                let size = spec.block_bytes;
                Pump::UdpOut(UdpOut::new(&socket, size, spec.offload, tag, pace))
            }
        };
        endpoints.push(Endpoint::new(flow, socket, pump));
    }
    Ok(endpoints)
}

/// Sets what `spec` asks of a socket; fails with what the system refuses.
pub fn prepare(socket: &OwnedFd, spec: &Spec) -> Result<()> {
    match (spec.buffer_bytes, spec.transport) {
        (0, Transport::Tcp) => {}
        (0, Transport::Udp) => set_buffers(socket, DATAGRAM_BUFFER)?,
        (bytes, _) => set_buffers(socket, bytes)?,
    }
    if spec.transport == Transport::Tcp {
        if let Some(name) = &spec.congestion {
            rustix::net::sockopt::set_tcp_congestion(socket, name)?;
        }
        if spec.zero_copy {
            allow_zero_copy(socket)?;
        }
    }
    Ok(())
}

impl Endpoint {
    fn new(flow: u32, socket: OwnedFd, pump: Pump) -> Self {
        Self {
            flow,
            socket,
            pump,
            ledger: Ledger::default(),
            ready: true,
            hung_up: false,
            due_ns: NEVER,
            ending: None,
            tcp_at_start: TcpState::default(),
            tcp_last: TcpState::default(),
            tcp: None,
            reported_bytes: 0,
        }
    }

    /// What its socket is to be watched for.
    pub(crate) fn interest(&self) -> Interest {
        let way = match self.pump {
            Pump::TcpIn(_) | Pump::UdpIn(_) => Interest::IN | Interest::RDHUP,
            Pump::TcpOut(_) | Pump::UdpOut(_) => Interest::OUT,
        };
        way | Interest::ET
    }

    /// Bytes so far.
    pub(crate) fn total_bytes(&self) -> u64 {
        self.ledger.total_bytes
    }

    pub(crate) fn step(&mut self, run: &Run) -> Step {
        let (socket, ledger) = (&self.socket, &mut self.ledger);
        match &mut self.pump {
            Pump::TcpOut(pump) => pump.step(socket, run, ledger),
            Pump::TcpIn(pump) => pump.step(socket, run, ledger, self.hung_up),
            Pump::UdpOut(pump) => pump.step(socket, run, ledger),
            Pump::UdpIn(pump) => pump.step(socket, run, ledger),
        }
    }

    /// The window begins.
    pub(crate) fn begin_window(&mut self) {
        if let Some(state) = self.sender_state() {
            self.tcp_at_start = state;
            self.tcp_last = state;
        }
    }

    /// An interval that holds `inside_ns` is over.
    pub(crate) fn end_interval(&mut self, run: &Run, inside_ns: u64) {
        if let Some(state) = self.sender_state() {
            let row = self.ledger.row(run, inside_ns);
            row.retransmits = Some(state.retransmits.saturating_sub(self.tcp_last.retransmits));
            row.rtt_ns = Some(state.rtt_ns);
            self.tcp_last = state;
        }
    }

    /// The window ends.
    pub(crate) fn end_window(&mut self) {
        self.tcp = self.sender_state().map(|state| TcpFacts {
            rtt_ns: state.rtt_ns,
            retransmits: state
                .retransmits
                .saturating_sub(self.tcp_at_start.retransmits),
            congestion_window_bytes: state.congestion_window_bytes,
        });
    }

    /// Only a sender knows what it had to send again.
    fn sender_state(&self) -> Option<TcpState> {
        matches!(self.pump, Pump::TcpOut(_))
            .then(|| tcp_state(&self.socket))
            .flatten()
    }

    pub(crate) fn report(self) -> EndpointReport {
        let (sending, datagrams, copied) = match &self.pump {
            Pump::TcpOut(pump) => (true, None, pump.is_zero_copy().then_some(pump.copied)),
            Pump::TcpIn(_) => (false, None, None),
            Pump::UdpOut(pump) => (true, Some(pump.sent), None),
            Pump::UdpIn(pump) => (false, Some(pump.received()), None),
        };
        EndpointReport {
            flow: self.flow,
            sending,
            total_bytes: self.ledger.total_bytes,
            // A datagram belongs to the window if it was sent in it, a byte of TCP if it was moved.
            window_bytes: datagrams.map_or(self.ledger.window_bytes, |datagrams| datagrams.bytes),
            datagrams,
            tcp: self.tcp,
            copied,
            rows: self.ledger.rows,
            ending: self.ending.unwrap_or(Ending::Cut),
        }
    }
}
