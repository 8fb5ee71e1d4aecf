//! One connection of a user, with a machine behind it, read and written by one thread.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use steelyard_net::clock::{monotonic_ns, timespec};
use steelyard_net::socket::{self, Address};
use steelyard_net::stream::{self, Received};

use crate::fault::ErrorKind;
use crate::protocols::{Output, Protocol, Step, Turn};
use crate::tls::{Tls, TlsPlan, TlsTally};
use crate::worker::control::Control;

/// Read at once.
const BUFFER_BYTES: usize = 16 * 1024;

/// Between two looks at whether to stop.
const LOOK_NS: u64 = 10_000_000;

/// Where a connection goes, and how.
#[derive(Debug, Clone)]
pub struct Route {
    pub address: Address,
    pub tls: Option<TlsPlan>,
}

/// How long one may wait, and who may end it.
#[derive(Debug, Clone, Copy)]
pub struct Patience<'a> {
    pub until_ns: u64,
    pub control: &'a Control,
}

impl Patience<'_> {
    /// Waits until one of `sockets` can be read (`writable`: written), at most until `until_ns`.
    pub fn wait(&self, sockets: &[BorrowedFd<'_>], writable: bool) -> Result<(), ErrorKind> {
        let flags = if writable {
            PollFlags::OUT
        } else {
            PollFlags::IN
        };
        let mut fds: Vec<PollFd<'_>> = sockets
            .iter()
            .map(|socket| PollFd::from_borrowed_fd(*socket, flags))
            .collect();
        loop {
            let now_ns = monotonic_ns();
            if now_ns >= self.until_ns || self.control.stopped() {
                return Err(ErrorKind::RecvTimeout);
            }
            let wait_ns = (self.until_ns - now_ns).min(LOOK_NS);
            match poll(&mut fds, Some(&timespec(wait_ns))) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(errno) => return Err(ErrorKind::from(errno)),
            }
        }
    }
}

/// What one reading of a connection has led to.
#[derive(Debug)]
pub struct Reading {
    pub step: Step,
    /// Phases of the protocol that ended, and when.
    pub marks: Vec<(usize, u64)>,
}

/// A machine and its connection.
pub struct Line<P: Protocol> {
    pub protocol: P,
    pub session: P::Session,
    socket: OwnedFd,
    tls: Option<Box<Tls>>,
    plan: Option<TlsPlan>,
    /// What was said last, in clear text.
    pub said: Vec<u8>,
    buffer: Vec<u8>,
}

impl<P: Protocol> Line<P> {
    /// Connects, and tells `protocol` so; the first step comes with it.
    pub fn open(
        mut protocol: P,
        place: usize,
        route: &Route,
        patience: Patience<'_>,
        tally: &mut TlsTally,
    ) -> Result<Self, (P, ErrorKind)> {
        let session = protocol.open(place);
        let socket = match connect(&route.address, patience) {
            Ok(socket) => socket,
            Err(kind) => return Err((protocol, kind)),
        };
        let mut line = Self {
            protocol,
            session,
            socket,
            tls: None,
            plan: route.tls.clone(),
            said: Vec::new(),
            buffer: vec![0; BUFFER_BYTES],
        };
        let from_start = route.tls.as_ref().is_some_and(|plan| plan.from_start);
        if from_start && let Err(kind) = line.secure(patience, tally) {
            return Err((line.protocol, kind));
        }
        match line.turn(patience, tally, |protocol, session, turn| {
            protocol.connected(session, turn)
        }) {
            Ok(_) => Ok(line),
            Err(kind) => Err((line.protocol, kind)),
        }
    }

    /// The socket, to wait for.
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Lets the machine take a step and sends what it says.
    pub fn turn(
        &mut self,
        patience: Patience<'_>,
        tally: &mut TlsTally,
        act: impl FnOnce(&mut P, &mut P::Session, &mut Turn<'_>) -> Step,
    ) -> Result<Reading, ErrorKind> {
        let mut reading = self.once(patience, act)?;
        if reading.step == Step::Secure {
            self.secure(patience, tally)?;
            let after = self.once(patience, |protocol, session, turn| {
                protocol.secured(session, turn)
            })?;
            reading.step = after.step;
            reading.marks.extend(after.marks);
        }
        Ok(reading)
    }

    fn once(
        &mut self,
        patience: Patience<'_>,
        act: impl FnOnce(&mut P, &mut P::Session, &mut Turn<'_>) -> Step,
    ) -> Result<Reading, ErrorKind> {
        let mut out = Output::default();
        let mut turn = Turn::new(monotonic_ns(), &mut out);
        let step = act(&mut self.protocol, &mut self.session, &mut turn);
        let marks = turn.marks().collect();
        self.say(&out, patience)?;
        Ok(Reading { step, marks })
    }

    /// Begins an operation; returns when its first byte was about to be sent.
    pub fn start(&mut self, patience: Patience<'_>) -> Result<u64, ErrorKind> {
        let mut out = Output::default();
        self.protocol.start(&mut self.session, 0, &mut out);
        let sent_ns = monotonic_ns();
        self.say(&out, patience)?;
        Ok(sent_ns)
    }

    /// Takes what has arrived, if anything has.
    pub fn receive(
        &mut self,
        patience: Patience<'_>,
        tally: &mut TlsTally,
    ) -> Result<Reading, ErrorKind> {
        let Some(bytes) = self.read()? else {
            return self.turn(patience, tally, Protocol::ended);
        };
        let mut rest = bytes.as_slice();
        let mut all = Reading {
            step: Step::More,
            marks: Vec::new(),
        };
        while !rest.is_empty() {
            let mut left = 0;
            let reading = self.turn(patience, tally, |protocol, session, turn| {
                let step = protocol.received(session, rest, turn);
                left = turn.left;
                step
            })?;
            all.step = reading.step;
            all.marks.extend(reading.marks);
            rest = &rest[rest.len() - left.min(rest.len() - 1)..];
            if left == 0 {
                break;
            }
        }
        Ok(all)
    }

    /// Receives until the machine wants something else than to wait.
    pub fn until_step(
        &mut self,
        patience: Patience<'_>,
        tally: &mut TlsTally,
    ) -> Result<Reading, ErrorKind> {
        let mut marks = Vec::new();
        loop {
            patience.wait(&[self.socket.as_fd()], false)?;
            let reading = self.receive(patience, tally)?;
            marks.extend(reading.marks);
            match reading.step {
                Step::More | Step::Pause(_) => {}
                step => return Ok(Reading { step, marks }),
            }
        }
    }

    /// Receives until the machine can take an operation.
    pub fn until_ready(
        &mut self,
        patience: Patience<'_>,
        tally: &mut TlsTally,
    ) -> Result<(), ErrorKind> {
        match self.until_step(patience, tally)?.step {
            Step::Ready => Ok(()),
            Step::Broken(kind) | Step::Done(Err(kind), _) => Err(kind),
            _ => Err(ErrorKind::PeerClosedEarly),
        }
    }

    /// Clear text that has arrived, perhaps none yet; `None` when the peer has closed.
    pub fn read(&mut self) -> Result<Option<Vec<u8>>, ErrorKind> {
        let mut clear = Vec::new();
        let count = match stream::receive(&self.socket, &mut self.buffer)? {
            Received::Bytes(count) => count,
            Received::Nothing => return Ok(Some(clear)),
            Received::End => return Ok(None),
        };
        let mut input = &self.buffer[..count];
        let Some(tls) = &mut self.tls else {
            return Ok(Some(input.to_vec()));
        };
        let mut piece = [0; 4096];
        loop {
            if !input.is_empty() {
                tls.take(&mut input)?;
            }
            match tls.read(&mut piece) {
                0 if input.is_empty() => break,
                0 => {}
                length => clear.extend_from_slice(&piece[..length]),
            }
        }
        Ok(Some(clear))
    }

    /// Sends `out`.
    pub fn say(&mut self, out: &Output, patience: Patience<'_>) -> Result<(), ErrorKind> {
        if out.is_empty() {
            return Ok(());
        }
        self.said.clear();
        self.said.extend_from_slice(&out.head);
        let tail = &self.protocol.shared()[out.tail.clone()];
        match &mut self.tls {
            None => send_all(&self.socket, &out.head, tail, patience),
            Some(tls) => {
                let mut encrypted = Vec::new();
                tls.write(&out.head);
                tls.write(tail);
                tls.encrypted_into(&mut encrypted);
                send_all(&self.socket, &encrypted, &[], patience)
            }
        }
    }

    fn secure(&mut self, patience: Patience<'_>, tally: &mut TlsTally) -> Result<(), ErrorKind> {
        let plan = self.plan.as_ref().ok_or(ErrorKind::TlsHandshake)?;
        let mut tls = plan.open()?;
        loop {
            let mut encrypted = Vec::new();
            tls.encrypted_into(&mut encrypted);
            send_all(&self.socket, &encrypted, &[], patience)?;
            if !tls.is_handshaking() {
                break;
            }
            patience.wait(&[self.socket.as_fd()], false)?;
            match stream::receive(&self.socket, &mut self.buffer)? {
                Received::Nothing => {}
                Received::End => return Err(ErrorKind::PeerClosedEarly),
                Received::Bytes(count) => {
                    let mut input = &self.buffer[..count];
                    while !input.is_empty() {
                        tls.take(&mut input)?;
                    }
                }
            }
        }
        tally.count(&tls);
        self.tls = Some(tls);
        Ok(())
    }
}

fn connect(address: &Address, patience: Patience<'_>) -> Result<OwnedFd, ErrorKind> {
    let (socket, _) = socket::start_connect(address, None)?;
    patience
        .wait(&[socket.as_fd()], true)
        .map_err(|_| ErrorKind::ConnTimeout)?;
    match socket::connect_error(&socket)? {
        None => Ok(socket),
        Some(errno) => Err(ErrorKind::from(errno)),
    }
}

fn send_all(
    socket: &OwnedFd,
    mut head: &[u8],
    mut tail: &[u8],
    patience: Patience<'_>,
) -> Result<(), ErrorKind> {
    while !head.is_empty() || !tail.is_empty() {
        let count = stream::send_both(socket, head, tail)?;
        if count == 0 {
            patience
                .wait(&[socket.as_fd()], true)
                .map_err(|_| ErrorKind::SendTimeout)?;
        }
        let of_head = count.min(head.len());
        head = &head[of_head..];
        tail = &tail[count - of_head..];
    }
    Ok(())
}
