//! The first words of a connection decide what it is: a session, a flow, exchanges, or bytes.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use steelyard_flow::handshake::{Line, Lines, NAME};
use steelyard_flow::{Spec, exchange};

use super::session::Session;
use super::{Hall, locked, refuse};

/// Bytes that tell what a connection is.
const MARK: usize = 4;

/// Between two looks at the first bytes, if only some of them have come, and how many looks.
const PATIENCE: Duration = Duration::from_millis(1);
const PATIENT_LOOKS: u32 = 1_000;

impl Hall {
    /// Serves one connection to its end.
    pub(super) fn converse(&self, guest: u64, stream: TcpStream) {
        // What a guest does wrong ends its own connection and nothing else.
        let _ = self.try_converse(stream);
        self.dismiss(guest);
    }

    fn try_converse(&self, stream: TcpStream) -> io::Result<()> {
        let mark = first_bytes(&stream)?;
        if mark == exchange::MAGIC.to_le_bytes() {
            self.exchange(&stream)
        } else if mark[..] == NAME.as_bytes()[..MARK] {
            self.shake_hands(Lines::new(stream))
        } else {
            self.discard(&stream)
        }
    }

    fn shake_hands(&self, mut lines: Lines) -> io::Result<()> {
        let line = lines.next_line()?.ok_or(ErrorKind::TimedOut)?;
        self.seen.commands.fetch_add(1, Relaxed);
        match line.word() {
            "session" => match Spec::of(&line) {
                Ok(spec) => self.hold_session(lines, spec),
                Err(reason) => refuse(lines.stream(), &reason),
            },
            "flow" => self.take_flow(lines, &line),
            word => refuse(lines.stream(), &format!("{word} is no first word")),
        }
    }

    /// Gives the connection to the session that it names.
    fn take_flow(&self, lines: Lines, line: &Line) -> io::Result<()> {
        let Some((session, flow)) = self.session_of(line) else {
            return refuse(lines.stream(), "no such session");
        };
        let stream = lines.into_stream();
        let mut answer = stream.try_clone()?;
        if let Err(reason) = session.add(flow, stream.into()) {
            return refuse(&answer, &reason);
        }
        answer.write_all(b"ok\n")
    }

    /// The session and the flow that a line names.
    pub(super) fn session_of(&self, line: &Line) -> Option<(Arc<Session>, u32)> {
        let session = locked(&self.sessions)
            .get(&line.number("session")?)?
            .clone();
        Some((session, u32::try_from(line.number("flow")?).ok()?))
    }

    /// Reads and drops.
    fn discard(&self, mut stream: &TcpStream) -> io::Result<()> {
        let mut room = vec![0; 256 * 1024];
        loop {
            match stream.read(&mut room)? {
                0 => return Ok(()),
                count => _ = self.seen.bytes_in.fetch_add(count as u64, Relaxed),
            }
        }
    }
}

/// The first bytes, left where they are; zeros stand for those that do not come.
fn first_bytes(stream: &TcpStream) -> io::Result<[u8; MARK]> {
    let mut mark = [0; MARK];
    for _ in 0..PATIENT_LOOKS {
        // Waits for the first; a peek that finds fewer than wanted does not wait for the rest.
        match stream.peek(&mut mark)? {
            0 | MARK => break,
            _ => std::thread::sleep(PATIENCE),
        }
    }
    Ok(mark)
}
