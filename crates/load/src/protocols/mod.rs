//! Protocols as machines without input and output: bytes in, bytes and decisions out.
//!
//! A new protocol is a file here, a line in [`crate::run`] and a variant of the job's operation.

pub mod account;
pub mod connect;
pub mod ftp;
pub mod http;
pub mod http2;
pub mod imap;
pub mod mailboxes;
pub mod pop3;
pub mod request_response;
mod side;
pub mod smtp;

use std::ops::Range;

use steelyard_wire::result::Payload;

use crate::fault::ErrorKind;

pub use mailboxes::{Growth, Moved};
pub use side::{SideAddress, SideEvent, SideInput, SidePlan};

/// Index of the phase `connect` in [`Protocol::PHASES`].
pub const CONNECT: usize = 0;

/// Index of the phase `tls` in [`Protocol::PHASES`].
pub const TLS: usize = 1;

/// One worker's side of a protocol: what all its connections share.
///
/// TLS lies beneath: a machine sees and writes clear text only. With a target like `https://` it
/// gets [`Protocol::connected`] when the handshake is over; a machine that upgrades later says
/// [`Step::Secure`] and gets [`Protocol::secured`].
pub trait Protocol {
    /// What one connection remembers; small, there may be many thousands.
    type Session;

    /// Names of the phases, in the order in which they usually happen; the first are `connect`
    /// and `tls`.
    const PHASES: &'static [&'static str];

    /// Whether connections have a data connection (FTP) at times; costs nothing where they have not.
    const HAS_SIDE: bool = false;

    /// Whether each operation opens a connection of its own and begins with it.
    fn one_shot(&self) -> bool;

    /// Operations that may be under way on one connection. With more than one, output must be
    /// written to [`Output::head`] alone, and [`Turn::slot`] tells which operation is over.
    fn slots(&self) -> usize {
        1
    }

    /// Whether a connection that has a free slot can take an operation (`slots` above 1 only).
    fn has_room(&self, _session: &Self::Session) -> bool {
        true
    }

    /// Names of the kinds of operations, if there are several: commands, paths, targets.
    fn kinds(&self) -> Vec<String> {
        Vec::new()
    }

    /// Index into [`Self::kinds`] of the operation in `slot`; asked when it is over.
    fn kind(&self, _session: &Self::Session, _slot: usize) -> usize {
        0
    }

    /// Which of the plan's addresses a connection goes to.
    fn address(&self, _session: &Self::Session) -> usize {
        0
    }

    /// State of a connection about to be opened; `place` is the same for all that a user opens
    /// and different for each user of a worker.
    fn open(&mut self, place: usize) -> Self::Session;

    /// The connection is there, secured if the target asks for TLS from the first byte.
    fn connected(&mut self, session: &mut Self::Session, turn: &mut Turn) -> Step;

    /// TLS is agreed on, after [`Step::Secure`].
    fn secured(&mut self, _session: &mut Self::Session, _turn: &mut Turn) -> Step {
        Step::Broken(ErrorKind::BadProtocol)
    }

    /// The time of [`Step::Pause`] is over.
    fn resumed(&mut self, _session: &mut Self::Session, _turn: &mut Turn) -> Step {
        Step::More
    }

    /// Begins an operation in `slot` on a connection that is [`Step::Ready`].
    fn start(&mut self, session: &mut Self::Session, slot: usize, out: &mut Output);

    /// `bytes` have arrived. All are consumed, unless the step ends an operation and
    /// [`Turn::left`] says how many at the end were not looked at: they come again at once.
    fn received(&mut self, session: &mut Self::Session, bytes: &[u8], turn: &mut Turn) -> Step;

    /// The peer has closed its side.
    fn ended(&mut self, session: &mut Self::Session, turn: &mut Turn) -> Step;

    /// Index into [`Self::PHASES`] of what the connection is waiting for.
    fn phase(&self, session: &Self::Session) -> usize;

    /// Bytes that are the same for every operation; [`Output::tail`] points into them.
    fn shared(&self) -> &[u8];

    /// What the side channel is for, after [`Step::OpenSide`].
    fn side_plan(&self, _session: &Self::Session) -> Option<SidePlan> {
        None
    }

    /// Something has become of the side channel; what is written to `turn.out` goes to the
    /// connection that it belongs to.
    fn side(
        &mut self,
        _session: &mut Self::Session,
        _event: SideEvent<'_>,
        _turn: &mut Turn,
    ) -> Step {
        Step::Broken(ErrorKind::BadProtocol)
    }

    /// What the side channel sends after [`Step::SendSide`]: these bytes, then so many of
    /// [`Self::shared`], from its start and over and over; then it is closed.
    fn side_output<'a>(&'a self, _session: &'a Self::Session) -> (&'a [u8], u64) {
        (&[], 0)
    }

    /// What is said before an idle connection is closed at the end of a run.
    fn farewell(&self) -> &'static [u8];

    /// Names of application protocols to offer with TLS, the best first; none for no offer.
    ///
    /// With an offer, a server that chooses none of them has not agreed.
    fn alpn(&self) -> &'static [&'static [u8]] {
        &[]
    }

    /// Code of the reply that refused what the connection did last, of a protocol that has codes
    /// worth counting; asked when an operation has failed for a refusal.
    fn refusal(&self, _session: &Self::Session) -> Option<u16> {
        None
    }

    /// The reply that failed the last operation, of a protocol whose replies arrive in parts.
    fn failed_reply<'a>(&self, _session: &'a Self::Session) -> &'a [u8] {
        b""
    }

    /// Messages that the operation in the only slot has moved; asked when it has succeeded.
    fn moved(&self, _session: &Self::Session) -> Moved {
        Moved::default()
    }

    /// Sizes of the mailboxes that connections have seen, if they have mailboxes.
    fn growth(&self) -> Option<&Growth> {
        None
    }

    /// Payloads that were read back and checked, if the job asks for it.
    fn payload(&self) -> Option<Payload> {
        None
    }
}

/// What follows from what has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Wait for more.
    More,
    /// Send what is to be sent and wait for more, but no longer than so many nanoseconds:
    /// [`Protocol::resumed`] follows then.
    Pause(u64),
    /// Send what is to be sent, then agree on TLS: [`Protocol::secured`] follows.
    Secure,
    /// Open the side channel: [`Protocol::side_plan`] says where to.
    OpenSide,
    /// Send [`Protocol::side_output`] over the side channel.
    SendSide,
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

/// In [`Turn::left`]: there is more to say, whatever is left. [`Protocol::received`] follows, with
/// nothing, and must break the connection then.
pub const LOOK_AGAIN: usize = usize::MAX;

/// Most phases that can end with one arrival.
const MOST_MARKS: usize = 8;

/// What a machine may use while it takes a step.
#[derive(Debug)]
pub struct Turn<'a> {
    /// When the bytes arrived.
    pub now_ns: u64,
    /// Bytes to send in answer.
    pub out: &'a mut Output,
    /// The slot of the operation that a step speaks of.
    pub slot: usize,
    /// Bytes at the end of the input that were not looked at, or [`LOOK_AGAIN`].
    pub left: usize,
    marks: [(u8, u64); MOST_MARKS],
    marked: usize,
}

impl<'a> Turn<'a> {
    /// A turn at `now_ns` that sends what is put into `out`.
    pub fn new(now_ns: u64, out: &'a mut Output) -> Self {
        Self {
            now_ns,
            out,
            slot: 0,
            left: 0,
            marks: [(0, 0); MOST_MARKS],
            marked: 0,
        }
    }

    /// Phase `phase` has succeeded now.
    pub fn mark(&mut self, phase: usize) {
        self.mark_at(phase, self.now_ns);
    }

    /// Phase `phase` has succeeded at `at_ns`.
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
