//! The far end of streams and of exchanges: TCP and UDP on the same port number.
//!
//! Not on the event loops of the other protocols: a bulk flow keeps a thread busy by itself, and
//! there are few of them. Each connection has a thread for its first words; the endpoints of a session
//! have threads of their own, which run the same loop as the generator's.

mod conversation;
mod datagrams;
mod exchange;
mod session;

use std::collections::HashMap;
use std::io::{self, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

use rustix::io::Errno;
use steelyard_flow::handshake::Line;
use steelyard_net::datagram;
use steelyard_net::poller::{Interest, Poller};
use steelyard_net::socket::{accept_one, listen_on, local_address};

use crate::counters::SinkCounters;
use crate::error::SinkError;
use crate::options::{Listen, SinkOptions};
use crate::stop::StopHandle;
use session::Session;

/// How often a free pair of ports is looked for when the system may choose.
const TRIES: usize = 20;

/// What all threads of one sink share.
struct Hall {
    /// As bound.
    address: SocketAddr,
    /// Most threads of one session.
    threads: u32,
    stopping: AtomicBool,
    next_guest: AtomicU64,
    guests: Mutex<HashMap<u64, TcpStream>>,
    sessions: Mutex<HashMap<u64, Arc<Session>>>,
    seen: Seen,
}

/// What is counted.
#[derive(Debug, Default)]
struct Seen {
    connections: AtomicU64,
    commands: AtomicU64,
    exchanges: AtomicU64,
    bytes_in: AtomicU64,
    bytes_out: AtomicU64,
}

/// Serves until `stop` is pulled.
pub(crate) fn serve(
    options: &SinkOptions,
    stop: &StopHandle,
    ready: impl FnOnce(Listen),
) -> Result<SinkCounters, SinkError> {
    let listen = check(options)?;
    let backlog = i32::try_from(options.backlog).unwrap_or(i32::MAX);
    let (listener, socket, address) = open_both(listen, backlog)
        .map_err(|errno| SinkError::from_listen(&options.listen, errno))?;
    let hall = Hall {
        address,
        threads: options.threads,
        stopping: AtomicBool::new(false),
        next_guest: AtomicU64::new(0),
        guests: Mutex::default(),
        sessions: Mutex::default(),
        seen: Seen::default(),
    };
    let poller = watch(&listener, &socket, stop)
        .map_err(|errno| SinkError::from_errno("set up an event loop", errno))?;
    ready(Listen::Tcp(address));
    let open_at_stop = std::thread::scope(|scope| {
        hall.receive_guests(&poller, &listener, &socket, |guest, stream| {
            let hall = &hall;
            let named = Builder::new().name("sink-stream".to_owned());
            let work = move || hall.converse(guest, stream);
            // Without a thread no one is there to speak to the guest: it is dismissed.
            if named.spawn_scoped(scope, work).is_err() {
                hall.dismiss(guest);
            }
        });
        hall.close()
    });
    Ok(hall.seen.counters(open_at_stop))
}

fn check(options: &SinkOptions) -> Result<SocketAddr, SinkError> {
    let refused = |option, problem: &str| {
        Err(SinkError::BadOption {
            option,
            problem: problem.to_owned(),
        })
    };
    if options.threads == 0 {
        return refused("threads", "must be at least 1");
    }
    if !options.delays.is_empty() {
        return refused("delays", "a stream has no replies to delay");
    }
    if !options.faults.is_empty() {
        return refused("faults", "a stream has no replies to fail");
    }
    if options.tls.is_some() {
        return refused("tls", "streams are not encrypted");
    }
    match options.listen {
        Listen::Tcp(address) => Ok(address),
        Listen::Unix(_) => refused("listen", "streams need an address and a port"),
    }
}

/// TCP and UDP on one port number.
fn open_both(listen: SocketAddr, backlog: i32) -> Result<(OwnedFd, OwnedFd, SocketAddr), Errno> {
    let mut tries = if listen.port() == 0 { TRIES } else { 1 };
    loop {
        let listener = listen_on(listen, backlog, false)?;
        let address = local_address(&listener)?;
        tries -= 1;
        match datagram::open(address, true) {
            Err(Errno::ADDRINUSE) if tries > 0 => {}
            socket => return Ok((listener, socket?, address)),
        }
    }
}

const LISTENER: u64 = 0;
const DATAGRAMS: u64 = 1;
const STOP: u64 = 2;

fn watch(listener: &OwnedFd, socket: &OwnedFd, stop: &StopHandle) -> Result<Poller, Errno> {
    let poller = Poller::new()?;
    poller.add(listener, LISTENER, Interest::IN)?;
    poller.add(socket, DATAGRAMS, Interest::IN)?;
    poller.add(stop, STOP, Interest::IN)?;
    Ok(poller)
}

impl Hall {
    /// Lets guests in and answers datagrams until the stop is pulled.
    fn receive_guests(
        &self,
        poller: &Poller,
        listener: &OwnedFd,
        socket: &OwnedFd,
        mut enter: impl FnMut(u64, TcpStream),
    ) {
        let mut events = Vec::with_capacity(3);
        let mut room = vec![0; datagram::LONGEST];
        loop {
            // A refused wait would be a defect; the loop then spins until it is stopped.
            let _ = poller.wait(&mut events, None);
            for event in &events {
                match event.data.u64() {
                    LISTENER => {
                        while let Ok(Some(fd)) = accept_one(listener) {
                            if let Some((guest, stream)) = self.welcome(fd.into()) {
                                enter(guest, stream);
                            }
                        }
                    }
                    DATAGRAMS => self.answer_datagrams(socket, &mut room),
                    _ => return,
                }
            }
        }
    }

    /// Notes a guest, so that it can be dismissed when the sink stops.
    fn welcome(&self, stream: TcpStream) -> Option<(u64, TcpStream)> {
        self.seen.connections.fetch_add(1, Relaxed);
        stream.set_nonblocking(false).ok()?;
        let guest = self.next_guest.fetch_add(1, Relaxed);
        locked(&self.guests).insert(guest, stream.try_clone().ok()?);
        Some((guest, stream))
    }

    fn dismiss(&self, guest: u64) {
        locked(&self.guests).remove(&guest);
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Relaxed)
    }

    /// Ends every conversation and session; returns how many guests were there.
    fn close(&self) -> u64 {
        self.stopping.store(true, Relaxed);
        for session in locked(&self.sessions).values() {
            session.abandon();
        }
        let guests = locked(&self.guests);
        for stream in guests.values() {
            // Wakes the thread that reads from it; one that has left needs no waking.
            let _ = stream.shutdown(Shutdown::Both);
        }
        guests.len() as u64
    }
}

impl Seen {
    fn counters(&self, open_at_stop: u64) -> SinkCounters {
        let exchanges = self.exchanges.load(Relaxed);
        SinkCounters {
            connections: self.connections.load(Relaxed),
            connections_open_at_stop: open_at_stop,
            commands: self.commands.load(Relaxed),
            received: exchanges,
            ok: exchanges,
            bytes_in: self.bytes_in.load(Relaxed),
            bytes_out: self.bytes_out.load(Relaxed),
            ..SinkCounters::default()
        }
    }
}

/// A poisoned table is still a whole table: nothing can fail between its statements.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says no and why.
fn refuse(mut stream: &TcpStream, reason: &str) -> io::Result<()> {
    let text = Line::new("refused").put("reason", reason).text();
    stream.write_all(text.as_bytes())
}
