//! How a user sees a message appear: IDLE of IMAP, or POP3 sessions again and again.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use steelyard_net::clock::monotonic_ns;
use steelyard_wire::result::Payload;

use super::answer::{Answer, AnswerPart, marker_in};
use super::line::{Line, Patience, Reading, Route};
use crate::fault::ErrorKind;
use crate::payload::{Finding, Marker, PayloadCheck, PayloadTally};
use crate::protocols::imap::{self, Imap};
use crate::protocols::pop3::{self, Pop3};
use crate::protocols::{After, Output, Protocol as _, Step};
use crate::tls::TlsTally;

/// Tags of what is said beside the machine; it counts from 1 and never comes here.
const FIRST_TAG: u32 = 1_000_000_000;

/// A user's view of the mailbox.
pub enum Watch {
    /// A connection that idles.
    Imap(Box<ImapWatch>),
    /// A session every so often.
    Pop3(Box<Pop3Watch>),
}

/// A mailbox watched by IDLE.
pub struct ImapWatch {
    line: Line<Imap>,
    /// When the server has announced a message, since IDLE began.
    announced_ns: Option<u64>,
    /// Messages that were there then.
    announced: u32,
    tag: u32,
}

/// A message that has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// When it was seen.
    pub seen_ns: u64,
    /// It is as it was sent.
    pub whole: bool,
}

/// A mailbox watched by polling.
pub struct Pop3Watch {
    pop3: Option<Pop3>,
    route: Route,
    poll_ns: u64,
}

impl Watch {
    /// Polling, by sessions of `pop3`, each `poll_ns` after the last began.
    pub fn polling(pop3: Pop3, route: Route, poll_ns: u64) -> Self {
        Self::Pop3(Box::new(Pop3Watch {
            pop3: Some(pop3),
            route,
            poll_ns,
        }))
    }

    /// Logs in and begins to idle; a failure gives the machine back.
    #[allow(
        clippy::result_large_err,
        reason = "once for each connection; a box would only move the machine twice"
    )]
    pub fn idling(
        imap: Imap,
        route: &Route,
        patience: Patience<'_>,
        tally: &mut TlsTally,
    ) -> Result<Self, (Imap, ErrorKind)> {
        let mut line = Line::open(imap, 0, route, patience, tally)?;
        if let Err(kind) = line.until_ready(patience, tally) {
            return Err((line.protocol, kind));
        }
        let mut watch = ImapWatch {
            line,
            announced_ns: None,
            announced: 0,
            tag: FIRST_TAG,
        };
        match watch.idle(patience, tally) {
            Ok(()) => Ok(Self::Imap(Box::new(watch))),
            Err(kind) => Err((watch.line.protocol, kind)),
        }
    }

    /// What can be waited for while something else is done.
    pub fn socket(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Imap(watch) => Some(watch.line.socket()),
            Self::Pop3(_) => None,
        }
    }

    /// Notes what has been announced meanwhile.
    pub fn glance(
        &mut self,
        patience: Patience<'_>,
        tally: &mut TlsTally,
    ) -> Result<(), ErrorKind> {
        match self {
            Self::Imap(watch) if watch.announced_ns.is_none() => watch.glance(patience, tally),
            Self::Imap(_) | Self::Pop3(_) => Ok(()),
        }
    }

    /// Waits for the message of `marker`, which is read, counted in `payloads`, and removed.
    pub fn wait_for(
        &mut self,
        marker: &Marker,
        payloads: &mut PayloadTally,
        patience: Patience<'_>,
        tally: &mut TlsTally,
    ) -> Result<Arrival, ErrorKind> {
        match self {
            Self::Imap(watch) => watch.wait_for(marker, payloads, patience, tally),
            Self::Pop3(watch) => watch.wait_for(marker, patience, tally),
        }
    }

    /// What its own machine has checked, if it checks by itself.
    pub fn payload(&self) -> Option<Payload> {
        match self {
            Self::Imap(_) => None,
            Self::Pop3(watch) => watch.pop3.as_ref().and_then(Pop3::payload),
        }
    }
}

impl ImapWatch {
    /// Begins to idle.
    fn idle(&mut self, patience: Patience<'_>, tally: &mut TlsTally) -> Result<(), ErrorKind> {
        self.announced_ns = None;
        self.line.start(patience)?;
        while !self.line.session.is_idling() {
            patience.wait(&[self.line.socket()], false)?;
            let reading = self.line.receive(patience, tally)?;
            self.note(&reading)?;
            if reading.step == Step::Done(Ok(()), After::Ready) {
                // A message came before the server had begun to idle.
                return Ok(());
            }
        }
        Ok(())
    }

    fn glance(&mut self, patience: Patience<'_>, tally: &mut TlsTally) -> Result<(), ErrorKind> {
        let reading = self.line.receive(patience, tally)?;
        self.note(&reading)
    }

    fn note(&mut self, reading: &Reading) -> Result<(), ErrorKind> {
        for (phase, at_ns) in &reading.marks {
            if *phase == imap::IDLE_WAKE {
                self.announced_ns = Some(*at_ns);
                self.announced = self.line.session.exists();
            }
        }
        match reading.step {
            Step::Broken(kind) | Step::Done(Err(kind), _) => Err(kind),
            Step::Finished => Err(ErrorKind::PeerClosedEarly),
            _ => Ok(()),
        }
    }

    fn wait_for(
        &mut self,
        marker: &Marker,
        payloads: &mut PayloadTally,
        patience: Patience<'_>,
        tally: &mut TlsTally,
    ) -> Result<Arrival, ErrorKind> {
        loop {
            while self.announced_ns.is_none() {
                patience.wait(&[self.line.socket()], false)?;
                self.glance(patience, tally)?;
            }
            let announced_ns = self.announced_ns.unwrap_or_else(monotonic_ns);
            while !self.line.session.is_ready() {
                patience.wait(&[self.line.socket()], false)?;
                self.glance(patience, tally)?;
            }
            let found = self.look(marker, payloads, patience)?;
            // Announced while somebody else's message was looked at: known to be there by now.
            let (now_ns, announced) = (monotonic_ns(), self.announced);
            self.idle(patience, tally)?;
            if let Some((number, whole)) = found {
                let known_before = number <= announced;
                let seen_ns = if known_before { announced_ns } else { now_ns };
                return Ok(Arrival { seen_ns, whole });
            }
        }
    }

    /// Looks until nothing new has come while it looked.
    fn look(
        &mut self,
        marker: &Marker,
        payloads: &mut PayloadTally,
        patience: Patience<'_>,
    ) -> Result<Option<(u32, bool)>, ErrorKind> {
        loop {
            let looked_at = self.line.session.exists();
            let found = self.take_out(marker, payloads, patience)?;
            if found.is_some() || self.line.session.exists() <= looked_at {
                return Ok(found);
            }
        }
    }

    /// Looks for messages of this sender, reads and removes them, and tells the number of the one
    /// of `marker`, and whether it is whole, if it was among them.
    fn take_out(
        &mut self,
        marker: &Marker,
        payloads: &mut PayloadTally,
        patience: Patience<'_>,
    ) -> Result<Option<(u32, bool)>, ErrorKind> {
        let exists = self.line.session.exists();
        let mut found = None;
        let mut any = false;
        // The newest first; others' messages stay where they are.
        for number in (1..=exists).rev().take(MOST_LOOKED_AT) {
            let fetch = format!("FETCH {number} (BODY.PEEK[HEADER.FIELDS (X-Steelyard-Payload)])");
            let mut field = Vec::new();
            self.command(&fetch, patience, |piece| field.extend_from_slice(piece))?;
            let Some(seen) = marker_in(&field) else {
                continue;
            };
            if seen.run == marker.run && seen.sender == marker.sender {
                let finding = self.check(number, patience)?;
                payloads.add(finding);
                if seen.sequence == marker.sequence {
                    found = Some((number, matches!(finding, Finding::Good(_))));
                }
                any = true;
                let store = format!("STORE {number} +FLAGS.SILENT (\\Deleted)");
                self.command(&store, patience, |_| ())?;
            }
            // While earlier ones are missing they may have come late.
            if found.is_some() && payloads.payload().lost.unwrap_or(0) == 0 {
                break;
            }
        }
        if any {
            self.command("EXPUNGE", patience, |_| ())?;
        }
        Ok(found)
    }

    /// Reads message `number` and compares it with what it says of itself.
    fn check(&mut self, number: u32, patience: Patience<'_>) -> Result<Finding, ErrorKind> {
        let mut check = PayloadCheck::mail();
        let fetch = format!("FETCH {number} (BODY.PEEK[])");
        self.command(&fetch, patience, |piece| check.feed(piece))?;
        Ok(check.finish())
    }

    /// Says `words` beside the machine and gives the literals of the answer to `take`.
    fn command(
        &mut self,
        words: &str,
        patience: Patience<'_>,
        mut take: impl FnMut(&[u8]),
    ) -> Result<(), ErrorKind> {
        self.tag += 1;
        let out = Output {
            head: format!("S{} {words}\r\n", self.tag).into_bytes(),
            tail: 0..0,
        };
        self.line.say(&out, patience)?;
        let mut answer = Answer::to(self.tag);
        loop {
            patience.wait(&[self.line.socket()], false)?;
            let bytes = self.line.read()?.ok_or(ErrorKind::PeerClosedEarly)?;
            let session = &mut self.line.session;
            let over = answer.receive(&bytes, |part| match part {
                AnswerPart::Literal(piece) => take(piece),
                AnswerPart::Message(number, word) => session.note_size(number, word),
            })?;
            if over {
                return Ok(());
            }
        }
    }
}

/// Messages at the end of a mailbox that are looked at for one's own.
const MOST_LOOKED_AT: usize = 64;

impl Pop3Watch {
    fn wait_for(
        &mut self,
        marker: &Marker,
        patience: Patience<'_>,
        tally: &mut TlsTally,
    ) -> Result<Arrival, ErrorKind> {
        loop {
            let began_ns = monotonic_ns();
            if let Some(arrival) = self.look(marker, patience, tally)? {
                return Ok(arrival);
            }
            let next_ns = (began_ns + self.poll_ns).min(patience.until_ns);
            let wait_ns = next_ns.saturating_sub(monotonic_ns());
            std::thread::sleep(Duration::from_nanos(wait_ns));
        }
    }

    /// One session: the arrival of the message of `marker`, if it was there. It was when STAT was
    /// answered.
    fn look(
        &mut self,
        marker: &Marker,
        patience: Patience<'_>,
        tally: &mut TlsTally,
    ) -> Result<Option<Arrival>, ErrorKind> {
        let pop3 = self.pop3.take().ok_or(ErrorKind::System)?;
        let mut line = match Line::open(pop3, 0, &self.route, patience, tally) {
            Ok(line) => line,
            Err((pop3, kind)) => {
                self.pop3 = Some(pop3);
                return Err(kind);
            }
        };
        let seen = session(&mut line, patience, tally);
        let found = line.protocol.take_found();
        self.pop3 = Some(line.protocol);
        let seen_ns = seen?;
        let whole = found.iter().find_map(|finding| is_of(finding, marker));
        Ok(whole.map(|whole| Arrival { seen_ns, whole }))
    }
}

/// Whether the message is whole, if it is that of `marker`.
fn is_of(finding: &Finding, marker: &Marker) -> Option<bool> {
    match finding {
        Finding::Good(found) => (found == marker).then_some(true),
        Finding::Corrupted(found) => {
            let same = |of: &Marker| (of.run, of.sender, of.sequence);
            (same(found) == same(marker)).then_some(false)
        }
        Finding::Unmarked => None,
    }
}

fn session(
    line: &mut Line<Pop3>,
    patience: Patience<'_>,
    tally: &mut TlsTally,
) -> Result<u64, ErrorKind> {
    line.until_ready(patience, tally)?;
    line.start(patience)?;
    let reading = line.until_step(patience, tally)?;
    let stat = reading.marks.iter().find(|(phase, _)| *phase == pop3::STAT);
    match (reading.step, stat) {
        (Step::Done(Ok(()), _), Some((_, at_ns))) => Ok(*at_ns),
        (Step::Done(Err(kind), _) | Step::Broken(kind), _) => Err(kind),
        _ => Err(ErrorKind::BadProtocol),
    }
}
