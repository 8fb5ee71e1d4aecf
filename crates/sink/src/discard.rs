//! The discard server: reads and drops.

use std::os::fd::BorrowedFd;

use crate::protocol::{Flow, Protocol, Turn};

/// The discard server of one event loop.
#[derive(Debug)]
pub(crate) struct Discard;

impl Protocol for Discard {
    const VERBS: &'static [&'static str] = &["CONNECT"];
    const GREETS: bool = false;
    type Session = ();

    fn open(&mut self, _peer: BorrowedFd<'_>) {}

    fn greet(&mut self, (): &mut (), turn: &mut Turn<'_>) -> Flow {
        let fault = turn.draw(0);
        Turn::silence(fault).unwrap_or(Flow::Continue)
    }

    fn step(&mut self, (): &mut (), input: &[u8], _turn: &mut Turn<'_>) -> (usize, Option<Flow>) {
        (input.len(), None)
    }

    fn unfinished(&self, (): &()) -> bool {
        false
    }

    fn farewell(&self, (): &(), _out: &mut Vec<u8>) {}

    fn tick(&mut self, _unix_s: i64) {}
}
