//! One event loop: accepts or is given connections, and sleeps when there is nothing to do.

pub(crate) mod acceptor;
pub(crate) mod connection;
pub(crate) mod data_connection;
mod events;
pub(crate) mod link;
pub(crate) mod output;
mod side;
pub(crate) mod slab;
pub(crate) mod timers;

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Result;
use steelyard_net::clock::{monotonic_ns, realtime_ns};
use steelyard_net::poller::{Event, Interest, Poller, READ_WRITE};

use crate::counters::tally::{ErrorKind, Tally};
use crate::event_loop::acceptor::{Accepted, Acceptor, LoopRegistry};
use crate::event_loop::connection::{BUFFER_BYTES, Connection, Next};
use crate::event_loop::data_connection::Side;
use crate::event_loop::output::Context;
use crate::event_loop::slab::Slab;
use crate::event_loop::timers::Timers;
use crate::protocols::Protocol;
use crate::protocols::shape::Shape;
use crate::stop::StopHandle;
use crate::store::inbox::LoopEvent;
use crate::store::pool::{Job, Pool};
use crate::tls::Secure;

use side::SIDE;

const EVENTS: usize = 512;
/// Tokens of the loop's own descriptors; the slab gives none with the highest bit.
const STOP: u64 = u64::MAX;
const INBOX: u64 = u64::MAX - 1;
const TIMER: u64 = u64::MAX - 2;
const LISTENER: u64 = u64::MAX - 3;
/// Before the next accept when descriptors have run out.
const ACCEPT_PAUSE_NS: u64 = 100_000_000;

const EDGE: Interest = Interest::IN.union(Interest::ET);

/// What holds for every connection of a listener.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    pub shape: Arc<Shape>,
    pub secure: Option<Secure>,
    pub idle_ns: Option<u64>,
}

/// One event loop and its connections.
pub(crate) struct Worker<P: Protocol> {
    index: usize,
    poller: Poller,
    connections: Slab<Connection<P::Session>>,
    /// Data connections, of FTP.
    sides: Slab<Side>,
    timers: Timers,
    cx: Context<P>,
    loops: Arc<LoopRegistry>,
    pool: Option<Arc<Pool>>,
    acceptor: Option<Acceptor>,
    /// Connections that gave way to others in the last turn.
    yielded: Vec<u64>,
    storing: usize,
    stopping: bool,
}

impl<P: Protocol> Worker<P> {
    /// Ready to run; the one with an acceptor hands connections to the others.
    pub fn new(
        index: usize,
        protocol: P,
        loops: Arc<LoopRegistry>,
        pool: Option<Arc<Pool>>,
        acceptor: Option<Acceptor>,
        limits: Limits,
        stop: &StopHandle,
    ) -> Result<Self> {
        let poller = Poller::new()?;
        let timers = Timers::new()?;
        poller.add(stop.as_fd(), STOP, EDGE)?;
        poller.add(loops.inbox(index).as_fd(), INBOX, EDGE)?;
        poller.add(&timers, TIMER, EDGE)?;
        if let Some(acceptor) = &acceptor {
            // Level-triggered: a loop that accepts only some of those who wait is called again.
            poller.add(acceptor, LISTENER, Interest::IN)?;
        }
        Ok(Self {
            index,
            poller,
            connections: Slab::new(),
            sides: Slab::new(),
            timers,
            cx: Context {
                protocol,
                tally: Tally::default(),
                shape: limits.shape,
                secure: limits.secure,
                idle_ns: limits.idle_ns,
                buffer: vec![0; BUFFER_BYTES],
                out: Vec::with_capacity(BUFFER_BYTES),
                fill: 0,
                alarms: Vec::new(),
            },
            loops,
            pool,
            acceptor,
            yielded: Vec::new(),
            storing: 0,
            stopping: false,
        })
    }

    /// Serves until stopped; returns what was counted.
    pub fn run(mut self) -> Result<Tally> {
        let mut events = Vec::with_capacity(EVENTS);
        let mut received = Vec::new();
        while !(self.stopping && self.storing == 0) {
            self.timers.arm()?;
            let timeout = (!self.yielded.is_empty()).then_some(Duration::ZERO);
            self.poller.wait(&mut events, timeout)?;
            self.cx
                .protocol
                .tick((realtime_ns() / 1_000_000_000).cast_signed());
            for event in &events {
                self.dispatch(event, &mut received)?;
            }
            self.expire()?;
            for token in std::mem::take(&mut self.yielded) {
                if token & SIDE != 0 {
                    self.pump_side(token & !SIDE);
                } else {
                    self.pump(token);
                }
            }
        }
        Ok(self.cx.tally)
    }

    fn dispatch(&mut self, event: &Event, received: &mut Vec<LoopEvent>) -> Result<()> {
        match event.data.u64() {
            STOP => self.stop(),
            INBOX => self.read_inbox(received),
            TIMER => {}
            LISTENER => self.accept()?,
            token if token & SIDE != 0 => self.pump_side(token & !SIDE),
            token => {
                if let Some(connection) = self.connections.get_mut(token) {
                    connection.note(event.flags);
                    if self.cx.idle_ns.is_some() {
                        connection.stir(monotonic_ns());
                    }
                    let next = connection.pump(&mut self.cx);
                    self.carry_out(token, next);
                }
            }
        }
        Ok(())
    }

    fn pump(&mut self, token: u64) {
        if let Some(connection) = self.connections.get_mut(token) {
            let next = connection.pump(&mut self.cx);
            self.carry_out(token, next);
        }
    }

    fn carry_out(&mut self, token: u64, next: Next) {
        for at_ns in self.cx.alarms.drain(..) {
            self.timers.push(at_ns, token);
        }
        match next {
            Next::Wait => {}
            Next::Yield => self.yielded.push(token),
            Next::WakeAt(deadline_ns) => self.timers.push(deadline_ns, token),
            Next::Store(work, message) => {
                if let Some(pool) = &self.pool {
                    self.storing += 1;
                    pool.submit(Job {
                        work,
                        message,
                        token,
                        reply_to: self.loops.inbox(self.index),
                    });
                }
            }
            Next::Side(order) => {
                self.order(token, order);
                // What else has come is served meanwhile.
                self.pump(token);
            }
            Next::End => self.close(token),
        }
    }

    fn close(&mut self, token: u64) {
        self.close_side(token);
        if let Some(mut connection) = self.connections.remove(token) {
            connection.left(&mut self.cx);
            self.loops.left(self.index);
        }
    }

    fn expire(&mut self) -> Result<()> {
        if self.timers.is_empty() {
            return Ok(());
        }
        let mut now_ns = monotonic_ns();
        while let Some((deadline_ns, token)) = self.timers.pop_due(now_ns) {
            if token == LISTENER {
                self.resume_accepting()?;
            } else if let Some(connection) = self.connections.get_mut(token) {
                let next = connection.due(deadline_ns, now_ns, &mut self.cx);
                self.carry_out(token, next);
                now_ns = monotonic_ns();
            }
        }
        Ok(())
    }

    fn accept(&mut self) -> Result<()> {
        let Some(acceptor) = &self.acceptor else {
            return Ok(());
        };
        let mut own = Vec::new();
        let accepted = acceptor.accept(&self.loops, self.index, &mut own, &mut self.cx.tally);
        if accepted == Accepted::NoDescriptors {
            self.poller.modify(acceptor, LISTENER, Interest::empty())?;
            self.timers.push(monotonic_ns() + ACCEPT_PAUSE_NS, LISTENER);
        }
        for fd in own {
            self.open(fd);
        }
        Ok(())
    }

    fn resume_accepting(&mut self) -> Result<()> {
        match &self.acceptor {
            Some(acceptor) => self.poller.modify(acceptor, LISTENER, Interest::IN),
            None => Ok(()),
        }
    }

    fn open(&mut self, fd: OwnedFd) {
        self.cx.tally.connections += 1;
        let session = self.cx.protocol.open(fd.as_fd());
        let token = self.connections.insert(Connection::new(fd, session));
        let Some(connection) = self.connections.get_mut(token) else {
            return;
        };
        // Registered once for both directions: edge-triggered, unused output costs nothing.
        let registered = self.poller.add(&*connection, token, READ_WRITE);
        if let Some(limit_ns) = self.cx.idle_ns {
            let due_ns = connection.watch_idleness(monotonic_ns(), limit_ns);
            self.timers.push(due_ns, token);
        }
        let next = if registered.is_ok() {
            connection.begin(token, &mut self.cx)
        } else {
            // Out of memory or of watches: this one goes, the others stay.
            self.cx.tally.error(ErrorKind::AcceptOther);
            Some(Next::End)
        };
        self.carry_out(token, next.unwrap_or(Next::Wait));
    }
}
