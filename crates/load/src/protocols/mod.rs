//! Protocols as machines without input and output: bytes in, bytes and decisions out.
//!
//! A new protocol is a file here, a line in [`crate::run`] and a variant of the job's operation.

pub mod http;
mod http_body;
mod http_head;
pub mod smtp;
mod smtp_message;
mod smtp_reply;

use std::ops::Range;

use crate::fault::ErrorKind;

/// One worker's side of a protocol: what all its connections share.
pub trait Protocol {
    /// What one connection remembers; small, there may be many thousands.
    type Session;

    /// Names of the phases, in the order in which they usually happen; the first is `connect`.
    const PHASES: &'static [&'static str];

    /// Whether each operation opens a connection of its own and begins with it.
    fn one_shot(&self) -> bool;

    /// State of a connection about to be opened.
    fn open(&mut self) -> Self::Session;

    /// The connection is there.
    fn connected(&mut self, session: &mut Self::Session, turn: &mut Turn) -> Step;

    /// Begins an operation on a connection that is [`Step::Ready`].
    fn start(&mut self, session: &mut Self::Session, out: &mut Output);

    /// `bytes` have arrived; all of them are consumed.
    fn received(&mut self, session: &mut Self::Session, bytes: &[u8], turn: &mut Turn) -> Step;

    /// The peer has closed its side.
    fn ended(&mut self, session: &mut Self::Session, turn: &mut Turn) -> Step;

    /// Index into [`Self::PHASES`] of what the connection is waiting for.
    fn phase(&self, session: &Self::Session) -> usize;

    /// Bytes that are the same for every operation; [`Output::tail`] points into them.
    fn shared(&self) -> &[u8];

    /// What is said before an idle connection is closed at the end of a run.
    fn farewell(&self) -> &'static [u8];
}

/// What follows from what has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Wait for more.
    More,
    /// The connection can take an operation.
    Ready,
    /// The operation is over, well or not.
    Done(Result<(), ErrorKind>, After),
    /// The conversation is over as agreed: close.
    Finished,
    /// The conversation cannot go on: close; an operation on its way has failed.
    Broken(ErrorKind),
}

/// What becomes of the connection after an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// It can take the next one at once.
    Ready,
    /// It still has something to say; [`Step::Ready`] or [`Step::Finished`] will follow.
    Busy,
    /// It must be closed.
    Close,
}

/// Bytes to send: `head`, then the shared bytes of `tail`.
#[derive(Debug, Default)]
pub struct Output {
    /// Differs from operation to operation.
    pub head: Vec<u8>,
    /// Range of [`Protocol::shared`]; never copied.
    pub tail: Range<usize>,
}

impl Output {
    /// Nothing to send.
    pub fn clear(&mut self) {
        self.head.clear();
        self.tail = 0..0;
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty()
    }
}

/// Most phases that can end with one arrival.
const MOST_MARKS: usize = 4;

/// What a machine may use while it takes a step.
#[derive(Debug)]
pub struct Turn<'a> {
    /// When the bytes arrived.
    pub now_ns: u64,
    /// Bytes to send in answer.
    pub out: &'a mut Output,
    marks: [(u8, u64); MOST_MARKS],
    marked: usize,
}

impl<'a> Turn<'a> {
    /// A turn at `now_ns` that sends what is put into `out`.
    pub fn new(now_ns: u64, out: &'a mut Output) -> Self {
        Self {
            now_ns,
            out,
            marks: [(0, 0); MOST_MARKS],
            marked: 0,
        }
    }

    /// Phase `phase` has ended well now.
    pub fn mark(&mut self, phase: usize) {
        self.mark_at(phase, self.now_ns);
    }

    /// Phase `phase` has ended well at `at_ns`.
    pub fn mark_at(&mut self, phase: usize, at_ns: u64) {
        if let Some(mark) = self.marks.get_mut(self.marked) {
            *mark = (phase as u8, at_ns);
            self.marked += 1;
        }
    }

    /// `(phase, instant of its end)` in the order of their ends.
    pub fn marks(&self) -> impl Iterator<Item = (usize, u64)> + use<> {
        let (marks, marked) = (self.marks, self.marked);
        marks
            .into_iter()
            .take(marked)
            .map(|(phase, at_ns)| (phase as usize, at_ns))
    }
}
