//! Plays what a peer says to a machine, as a worker does.
//!
//! A peer may not answer what was not yet asked. So where a machine has said or decided something,
//! what comes next comes in another piece.

use std::ops::Range;

use super::script::Script;
use crate::error::LoadError;
use crate::protocols::{After, LOOK_AGAIN, Output, Protocol, SideEvent, SideInput, Step, Turn};

/// So many connections are opened; what comes then is not played.
const MOST_CONNECTIONS: u32 = 6;

/// Something that the machine did when it had so many bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Event {
    at: usize,
    slot: usize,
    step: Step,
    /// Sent since the event before.
    sent: Vec<u8>,
}

/// Plays `script` to machines that `machine` makes, cut in three ways.
pub fn play<P: Protocol>(script: &Script<'_>, machine: impl Fn() -> Result<P, LoadError>) {
    // Jobs that are refused are none that could be run.
    let Ok(reference) = machine().map(Player::new) else {
        return;
    };
    let (events, borders) = reference.play(script.data, &script.bytes());
    if let Ok(player) = machine().map(Player::new) {
        let (again, _) = player.play(script.data, &script.pieces(&borders));
        assert_eq!(again, events, "left: in pieces, right: byte by byte");
    }
    if let Ok(player) = machine().map(Player::new) {
        player.play(script.data, &script.pieces(&[]));
    }
}

/// Plays `script` to two machines that must do the same.
pub fn agree<P: Protocol>(
    script: &Script<'_>,
    one: Result<P, LoadError>,
    two: Result<P, LoadError>,
) {
    let play = |machine: P| {
        Player::new(machine)
            .play(script.data, &script.pieces(&[]))
            .0
    };
    if let (Ok(one), Ok(two)) = (one, two) {
        assert_eq!(play(one), play(two), "left: as usual, right: strict");
    }
}

struct Player<P: Protocol> {
    protocol: P,
    session: P::Session,
    busy: Vec<bool>,
    connections: u32,
    at: usize,
    now_ns: u64,
    out: Output,
    sent: Vec<u8>,
    events: Vec<Event>,
    /// Where something was said or decided.
    borders: Vec<usize>,
}

enum Input<'a> {
    Connected,
    Secured,
    Resumed,
    Bytes(&'a [u8]),
    End,
    Side(SideEvent<'a>),
}

impl<P: Protocol> Player<P> {
    fn new(mut protocol: P) -> Self {
        let session = protocol.open(0);
        Self {
            busy: vec![false; protocol.slots()],
            protocol,
            session,
            connections: 0,
            at: 0,
            now_ns: 1,
            out: Output::default(),
            sent: Vec::new(),
            events: Vec::new(),
            borders: Vec::new(),
        }
    }

    fn play(mut self, data: &[u8], pieces: &[Range<usize>]) -> (Vec<Event>, Vec<usize>) {
        self.connect();
        for piece in pieces {
            if self.connections > MOST_CONNECTIONS {
                break;
            }
            self.at = piece.end;
            self.feed(&data[piece.clone()]);
        }
        if self.connections <= MOST_CONNECTIONS {
            self.at += 1;
            self.give(&Input::End);
        }
        (self.events, self.borders)
    }

    fn connect(&mut self) {
        self.connections += 1;
        if self.connections > MOST_CONNECTIONS {
            return;
        }
        self.session = self.protocol.open(0);
        self.busy.fill(false);
        self.busy[0] = self.protocol.one_shot();
        self.give(&Input::Connected);
    }

    fn feed(&mut self, piece: &[u8]) {
        let connection = self.connections;
        let mut rest = piece;
        loop {
            let left = self.give(&Input::Bytes(rest));
            if left == LOOK_AGAIN && self.connections == connection {
                rest = &[];
                continue;
            }
            if left == 0 || left >= rest.len() || self.connections != connection {
                return;
            }
            rest = &rest[rest.len() - left..];
        }
    }

    fn give(&mut self, input: &Input<'_>) -> usize {
        assert!(self.protocol.phase(&self.session) < P::PHASES.len());
        let mut turn = Turn::new(self.now_ns, &mut self.out);
        let (protocol, session) = (&mut self.protocol, &mut self.session);
        let step = match input {
            Input::Connected => protocol.connected(session, &mut turn),
            Input::Secured => protocol.secured(session, &mut turn),
            Input::Resumed => protocol.resumed(session, &mut turn),
            Input::Bytes(bytes) => protocol.received(session, bytes, &mut turn),
            Input::End => protocol.ended(session, &mut turn),
            Input::Side(event) => protocol.side(session, *event, &mut turn),
        };
        let left = turn.left;
        // Of other steps it says nothing.
        let slot = if matches!(step, Step::Done(..)) {
            turn.slot
        } else {
            0
        };
        assert!(turn.marks().all(|(phase, _)| phase < P::PHASES.len()));
        self.keep_sent();
        if step != Step::More {
            self.borders.push(self.at);
            let (at, sent) = (self.at, std::mem::take(&mut self.sent));
            self.events.push(Event {
                at,
                slot,
                step,
                sent,
            });
        }
        self.follow(step, slot);
        left
    }

    fn follow(&mut self, step: Step, slot: usize) {
        match step {
            Step::More => {}
            Step::Pause(wait_ns) => {
                self.now_ns += wait_ns;
                self.give(&Input::Resumed);
            }
            Step::Secure => {
                self.give(&Input::Secured);
            }
            Step::OpenSide => self.transfer(),
            Step::SendSide => {
                self.give(&Input::Side(SideEvent::SentAll));
            }
            Step::Ready if self.busy[0] => self.start(0),
            Step::Ready => self.fill(),
            Step::Done(_, after) => {
                let kinds = self.protocol.kinds().len().max(1);
                assert!(self.protocol.kind(&self.session, slot) < kinds);
                assert!(self.busy[slot], "an operation ended that had not begun");
                self.busy[slot] = false;
                match after {
                    After::Ready => self.fill(),
                    After::Busy => {}
                    After::Close => self.connect(),
                }
            }
            Step::Finished | Step::Broken(_) => self.connect(),
        }
    }

    fn fill(&mut self) {
        for slot in 0..self.busy.len() {
            let room = self.busy.len() == 1 || self.protocol.has_room(&self.session);
            if !self.busy[slot] && room {
                self.busy[slot] = true;
                self.start(slot);
            }
        }
    }

    fn start(&mut self, slot: usize) {
        self.protocol.start(&mut self.session, slot, &mut self.out);
        self.keep_sent();
    }

    fn keep_sent(&mut self) {
        assert!(self.busy.len() == 1 || self.out.tail.is_empty());
        if !self.out.is_empty() {
            self.borders.push(self.at);
        }
        self.sent.append(&mut self.out.head);
        let tail = std::mem::take(&mut self.out.tail);
        self.sent.extend_from_slice(&self.protocol.shared()[tail]);
    }

    /// A data connection on which everything goes well.
    fn transfer(&mut self) {
        let connection = self.connections;
        let Some(plan) = self.protocol.side_plan(&self.session) else {
            panic!("a side channel without a plan");
        };
        let arrives: &[SideEvent<'_>] = match plan.input {
            SideInput::Bytes => &[SideEvent::Received(b"-rw 1 a\r\n"), END],
            SideInput::Count => &[SideEvent::Discarded(9), END],
            SideInput::Nothing => &[],
        };
        for event in [SideEvent::Connected].iter().chain(arrives) {
            if self.connections == connection {
                self.give(&Input::Side(*event));
            }
        }
    }
}

const END: SideEvent<'static> = SideEvent::Ended { clean: true };
