//! Plays what a client says to a server, as a connection does.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::ops::Range;
use std::os::fd::AsFd;

use super::script::Script;
use crate::counters::tally::Tally;
use crate::error::SinkError;
use crate::event_loop::connection::BUFFER_BYTES;
use crate::options::{Protocol as Name, SinkOptions};
use crate::protocols::shape::Shape;
use crate::protocols::{Event, Order, What};
use crate::protocols::{Flow, Protocol, Turn};
use crate::store::Stored;

/// What came of a dialogue.
#[derive(Debug, PartialEq, Eq)]
pub struct Story {
    /// Everything that was answered.
    pub out: Vec<u8>,
    /// Filler bytes beside it.
    pub fill: u64,
    /// The server has ended it.
    pub over: bool,
    /// Commands and those that succeeded.
    pub counts: [u64; 4],
}

/// Plays `script` in three ways and compares; `None` is a server that cannot be.
pub fn compare(script: &Script<'_>, play: impl Fn(&[u8], &[Range<usize>]) -> Option<Story>) {
    let whole = 0..script.data.len();
    for pieces in [&script.pieces(&[])[..], std::slice::from_ref(&whole)] {
        let both = || {
            (
                play(script.data, pieces),
                play(script.data, &script.bytes()),
            )
        };
        let (mut story, mut single) = both();
        if story != single {
            // The clock, of which some replies tell, may have gone on between the two.
            (story, single) = both();
        }
        assert_eq!(story, single, "left: in pieces, right: byte by byte");
    }
}

/// Plays `data`, in `pieces`, to `server`.
pub fn play<P: Protocol>(
    server: Result<P, SinkError>,
    data: &[u8],
    pieces: &[Range<usize>],
) -> Option<Story> {
    play_moving(server, data, pieces, true)
}

/// The same; what data connections are to move is moved at once, unless they stand still.
pub fn play_moving<P: Protocol>(
    server: Result<P, SinkError>,
    data: &[u8],
    pieces: &[Range<usize>],
    moves: bool,
) -> Option<Story> {
    // A socket, for servers that ask for their own address; no one uses it.
    let unused = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).ok()?;
    let mut protocol = server.ok()?;
    protocol.tick(1_000_000_000);
    let options = SinkOptions::new(Name::Http, SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    let mut player = Player {
        session: protocol.open(unused.as_fd()),
        protocol,
        shape: Shape::new(P::VERBS, P::GREETS, &options).ok()?,
        tally: Tally::default(),
        out: Vec::new(),
        sent: Vec::new(),
        fill: 0,
        filled: 0,
        spill: Vec::new(),
        over: false,
        moves,
    };
    let flow = player.call(P::greet);
    player.follow(flow);
    for piece in pieces {
        player.receive(&data[piece.clone()]);
    }
    Some(player.end())
}

/// What every upload brings.
const UPLOAD: &[u8] = b"hello";

fn done(bytes: u64, kept: Option<Vec<u8>>) -> Event {
    Event::Done { bytes, kept }
}

struct Player<P: Protocol> {
    protocol: P,
    session: P::Session,
    shape: Shape,
    tally: Tally,
    out: Vec<u8>,
    sent: Vec<u8>,
    fill: u64,
    filled: u64,
    /// Input that the server has not used up.
    spill: Vec<u8>,
    over: bool,
    moves: bool,
}

impl<P: Protocol> Player<P> {
    fn receive(&mut self, piece: &[u8]) {
        if self.over {
            return;
        }
        self.spill.extend_from_slice(piece);
        loop {
            let input = std::mem::take(&mut self.spill);
            let mut used = 0;
            let flow = self.call(|protocol, session, turn| {
                let (count, flow) = protocol.consume(session, &input, turn);
                used = count;
                flow
            });
            let again = self.follow(flow);
            assert!(used <= input.len(), "more was used than there was");
            self.spill = input[used..].to_vec();
            assert!(self.spill.len() < BUFFER_BYTES, "no room for more input");
            let more = again == Again::Yes || (again == Again::WithRest && used < input.len());
            if self.over || !more {
                return;
            }
        }
    }

    /// One call of the server.
    fn call(&mut self, act: impl FnOnce(&mut P, &mut P::Session, &mut Turn<'_>) -> Flow) -> Flow {
        let mut turn = Turn {
            out: &mut self.out,
            fill: &mut self.fill,
            tally: &mut self.tally,
            shape: &self.shape,
            token: 1,
            alarms: &mut Vec::new(),
        };
        let flow = act(&mut self.protocol, &mut self.session, &mut turn);
        self.sent.append(&mut self.out);
        self.filled += std::mem::take(&mut self.fill);
        flow
    }

    fn follow(&mut self, flow: Flow) -> Again {
        match flow {
            Flow::Continue => Again::No,
            Flow::Flush => Again::Yes,
            Flow::Hold(_) => unreachable!("nothing is delayed"),
            Flow::Store(_, message) => {
                let stored = Ok(Stored::default());
                let flow = self.call(|protocol, session, turn| {
                    protocol.stored(session, message, stored, turn)
                });
                self.follow(flow);
                Again::WithRest
            }
            Flow::StartTls => {
                // What follows is taken as said within TLS.
                self.protocol.secured(&mut self.session);
                Again::WithRest
            }
            Flow::Side(order) => {
                if let Some(event) = self.becomes(&order) {
                    let flow =
                        self.call(|protocol, session, turn| protocol.side(session, event, turn));
                    self.follow(flow);
                }
                Again::WithRest
            }
            Flow::Stall | Flow::Close | Flow::Drop | Flow::Reset => {
                self.over = true;
                Again::No
            }
        }
    }

    /// What becomes of an order for the data connection.
    fn becomes(&self, order: &Order) -> Option<Event> {
        match order {
            Order::Listen(_) => Some(Event::Listening(Some(4711))),
            Order::Close => None,
            Order::Transfer(_) if !self.moves => None,
            Order::Transfer(transfer) if transfer.cut_at.is_some() => Some(Event::Broken),
            Order::Transfer(transfer) => match &transfer.what {
                What::SendFiller(bytes) => Some(done(*bytes, None)),
                What::Send(bytes) => Some(done(bytes.len() as u64, None)),
                What::Receive(most) => {
                    let kept = (*most >= UPLOAD.len()).then(|| UPLOAD.to_vec());
                    Some(done(UPLOAD.len() as u64, kept))
                }
                What::Stall => None,
            },
        }
    }

    fn end(mut self) -> Story {
        if !self.over {
            self.protocol.unfinished(&self.session);
            self.protocol.farewell(&self.session, &mut self.out);
            self.protocol.left(&mut self.session, &mut self.tally);
        }
        let tally = &self.tally;
        Story {
            counts: [tally.commands, tally.received, tally.ok, tally.failed],
            out: self.sent,
            fill: self.filled,
            over: self.over,
        }
    }
}

/// Whether the server is called again without new input.
#[derive(Debug, PartialEq, Eq)]
enum Again {
    No,
    Yes,
    /// If there is input left.
    WithRest,
}
