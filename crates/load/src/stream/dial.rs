//! Opening flows, and agreeing with a sink on what they are.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use steelyard_flow::handshake::{Line, Lines};
use steelyard_flow::{Spec, Transport, prepare};
use steelyard_net::clock::monotonic_ns;
use steelyard_net::datagram;
use steelyard_net::poller::{Interest, Poller, READ_WRITE};
use steelyard_net::socket::{Address, connect_error, start_connect};
use steelyard_wire::agent::FailureKind;

use crate::conduct::failure_kind;
use crate::error::LoadError;
use crate::fault::ErrorKind;
use crate::plan::Plan;

/// How often the sink's clock is read; the quickest answer is the truest.
const READINGS: usize = 9;

/// First words over UDP may be lost: said again after so long, so often.
const SAY_AGAIN: Duration = Duration::from_millis(200);
const SAYINGS: u32 = 10;

const NO_SINK: &str =
    "is a sink of streams running there? to send to any other server, leave the handshake out";

/// The connection on which a sink gets its orders.
pub struct Call {
    lines: Lines,
    session: u64,
    /// How far the sink's clock is ahead of this one.
    pub ahead_ns: i64,
    /// Of the quickest question: the window is agreed on to half of it.
    pub round_trip_ns: u64,
}

impl Call {
    /// Asks the sink at `peer` for a session.
    pub fn open(plan: &Plan, peer: SocketAddr, spec: &Spec) -> Result<Self, LoadError> {
        let stream = connect(plan, peer, 0)?;
        let answer = Self::first_words(stream, peer, &spec.line())?;
        let (lines, line) = answer;
        let session = line.number("session").ok_or_else(|| no_sink(peer))?;
        let mut call = Self {
            lines,
            session,
            ahead_ns: 0,
            round_trip_ns: u64::MAX,
        };
        for _ in 0..READINGS {
            call.read_clock().map_err(|()| no_sink(peer))?;
        }
        Ok(call)
    }

    /// What datagrams of the session carry.
    pub fn tag(&self) -> u32 {
        self.session as u32
    }

    /// The lines that the sink says.
    pub fn lines(&mut self) -> &mut Lines {
        &mut self.lines
    }

    /// Says `line`; `false` if the sink is gone.
    pub fn say(&self, line: &Line) -> bool {
        let mut stream = self.lines.stream();
        stream.write_all(line.text().as_bytes()).is_ok()
    }

    fn read_clock(&mut self) -> Result<(), ()> {
        let asked_ns = monotonic_ns();
        if !self.say(&Line::new("clock")) {
            return Err(());
        }
        let line = self.lines.next_line().ok().flatten().ok_or(())?;
        let answered_ns = monotonic_ns();
        let theirs_ns = line.number("ns").ok_or(())?;
        let round_trip_ns = answered_ns - asked_ns;
        if round_trip_ns < self.round_trip_ns {
            self.round_trip_ns = round_trip_ns;
            let mine_ns = asked_ns + round_trip_ns / 2;
            self.ahead_ns = theirs_ns.wrapping_sub(mine_ns).cast_signed();
        }
        Ok(())
    }

    fn first_words(
        stream: TcpStream,
        peer: SocketAddr,
        line: &Line,
    ) -> Result<(Lines, Line), LoadError> {
        let mut lines = Lines::new(stream);
        let said = lines
            .stream()
            .write_all(line.first_text().as_bytes())
            .is_ok();
        let answer = said.then(|| lines.next_line().ok().flatten()).flatten();
        let answer = answer.ok_or_else(|| no_sink(peer))?;
        match answer.word() {
            "ok" => Ok((lines, answer)),
            "refused" => Err(refused(&answer)),
            _ => Err(no_sink(peer)),
        }
    }
}

/// What a sink has said no to.
pub fn refused(answer: &Line) -> LoadError {
    let reason = answer.value("reason").unwrap_or("no_reason_given");
    LoadError::bad_job(
        format!("the sink refuses: {}", reason.replace('_', " ")),
        "change what it names, or the sink",
    )
}

fn no_sink(peer: SocketAddr) -> LoadError {
    LoadError::NoSink {
        address: peer.to_string(),
        hint: NO_SINK,
    }
}

/// One connected socket for each flow.
pub fn flows(
    plan: &Plan,
    peer: SocketAddr,
    spec: &Spec,
    call: Option<&Call>,
) -> Result<Vec<OwnedFd>, LoadError> {
    (0..spec.flows)
        .map(|flow| {
            let words = call.map(|call| {
                let mut line = Line::new("flow");
                line.put("session", call.session).put("flow", flow);
                line
            });
            let place = flow as usize;
            let socket = match spec.transport {
                Transport::Tcp => tcp_flow(plan, peer, place, words.as_ref())?,
                Transport::Udp => udp_flow(plan, peer, place, words.as_ref())?,
            };
            prepare(&socket, spec).map_err(|errno| {
                LoadError::bad_job(
                    format!("the system refuses what was asked for a flow: {errno}"),
                    "leave congestion control, buffers or zero copy to the system",
                )
            })?;
            Ok(socket)
        })
        .collect()
}

fn tcp_flow(
    plan: &Plan,
    peer: SocketAddr,
    place: usize,
    words: Option<&Line>,
) -> Result<OwnedFd, LoadError> {
    let stream = connect(plan, peer, place)?;
    match words {
        None => Ok(stream.into()),
        Some(words) => {
            let (lines, _) = Call::first_words(stream, peer, words)?;
            Ok(lines.into_stream().into())
        }
    }
}

fn udp_flow(
    plan: &Plan,
    peer: SocketAddr,
    place: usize,
    words: Option<&Line>,
) -> Result<OwnedFd, LoadError> {
    let failed = |errno| no_connection(peer, ErrorKind::from(errno));
    let socket = datagram::open_to(peer, plan.source(place)).map_err(failed)?;
    let Some(words) = words else {
        return Ok(socket);
    };
    let poller = Poller::new().map_err(LoadError::Worker)?;
    poller
        .add(&socket, 0, Interest::IN)
        .map_err(LoadError::Worker)?;
    let mut events = Vec::with_capacity(1);
    for _ in 0..SAYINGS {
        let text = words.first_text();
        send(&socket, text.as_bytes(), SendFlags::DONTWAIT).map_err(failed)?;
        poller
            .wait(&mut events, Some(SAY_AGAIN))
            .map_err(LoadError::Worker)?;
        let mut answer = [0; 64];
        match recv(&socket, &mut answer, RecvFlags::DONTWAIT) {
            Ok((count, _)) if answer[..count].starts_with(b"ok") => return Ok(socket),
            Ok(_) | Err(Errno::AGAIN) => {}
            Err(errno) => return Err(failed(errno)),
        }
    }
    Err(no_connection(peer, ErrorKind::ConnTimeout))
}

/// A blocking connection, with the job's deadline for reads too.
fn connect(plan: &Plan, peer: SocketAddr, place: usize) -> Result<TcpStream, LoadError> {
    let failed = |errno| no_connection(peer, ErrorKind::from(errno));
    let (socket, _) = start_connect(&Address::Inet(peer), plan.source(place)).map_err(failed)?;
    let deadline = Duration::from_nanos(plan.job.timeout_ns);
    let poller = Poller::new().map_err(LoadError::Worker)?;
    poller
        .add(&socket, 0, READ_WRITE)
        .map_err(LoadError::Worker)?;
    let mut events = Vec::with_capacity(1);
    poller
        .wait(&mut events, Some(deadline))
        .map_err(LoadError::Worker)?;
    if events.is_empty() {
        return Err(no_connection(peer, ErrorKind::ConnTimeout));
    }
    if let Some(errno) = connect_error(&socket).map_err(failed)? {
        return Err(failed(errno));
    }
    let stream = TcpStream::from(socket);
    stream
        .set_nonblocking(false)
        .and_then(|()| stream.set_read_timeout(Some(deadline)))
        .and_then(|()| stream.set_write_timeout(Some(deadline)))
        .map_err(|error| failed(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
    Ok(stream)
}

fn no_connection(peer: SocketAddr, kind: ErrorKind) -> LoadError {
    let kind_of_failure: FailureKind = failure_kind(kind);
    LoadError::NoConnection {
        address: peer.to_string(),
        kind: kind_of_failure,
        message: kind.word().to_owned(),
        hint: "is the far end running and listening there?",
    }
}
