//! POP3: one session, from the connection to the reply to QUIT.

pub mod reader;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;
use steelyard_wire::job::{Mechanism, Pop3Operation, StartTls};
use steelyard_wire::result::Payload;

use crate::error::LoadError;
use crate::fault::ErrorKind;
use crate::payload::{Finding, PayloadCheck, PayloadTally, write_decimal};
use crate::protocols::account::{Accounts, Places};
use crate::protocols::mailboxes::{Growth, Moved};
use crate::protocols::{After, CONNECT, Output, Protocol, Step, Turn};
use crate::schedule::{Purpose, random_stream};
use reader::{Data, Reader, Status};

/// More messages than any mailbox holds: a number above is not believed.
const MOST_MESSAGES: u32 = 10_000_000;

/// Capabilities are few and short; what comes behind so many bytes is not looked at.
const MOST_CAPA_BYTES: usize = 4 * 1024;

/// Markers kept of one session.
const MOST_FOUND: usize = 1024;

/// One worker's sessions.
#[derive(Debug, Clone)]
pub struct Pop3 {
    operation: Pop3Operation,
    accounts: Accounts,
    random: ChaCha8Rng,
    tally: PayloadTally,
    growth: Growth,
    /// Marked messages of the last session.
    found: Vec<Finding>,
    /// A damaged message is told and removed like any other, instead of ending the session.
    takes_damaged: bool,
    /// Sessions begun at each place.
    rounds: Vec<u32>,
}

/// One connection.
#[derive(Debug)]
pub struct Session {
    state: State,
    reader: Reader,
    place: u32,
    user: u32,
    secured: bool,
    /// The lines of CAPA, until they are complete.
    capa: Vec<u8>,
    offers: Offers,
    /// Messages in the mailbox, those to retrieve and those to delete.
    messages: u32,
    to_retrieve: u32,
    to_delete: u32,
    /// Lines of the listing.
    listed: u32,
    /// Commands of a group whose replies are still to come.
    grouped: bool,
    check: Option<Box<PayloadCheck>>,
    moved: Moved,
}

/// What CAPA has listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Offers {
    stls: bool,
    pipelining: bool,
}

/// What the next bytes belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Connecting,
    Banner,
    Capa,
    CapaLines,
    Stls,
    Handshake,
    User,
    Pass,
    Plain,
    LoggedIn,
    Stat,
    List,
    Listing,
    /// The status line of message so many.
    Retr(u32),
    /// The content of message so many.
    Content(u32),
    Dele(u32),
    Quit,
    /// QUIT after a failure: its reply changes nothing.
    Leaving,
}

const BANNER: usize = 2;
const STLS: usize = 3;
const CAPA: usize = 4;
const AUTH: usize = 5;
/// Index of the phase that tells how many messages there are.
pub const STAT: usize = 6;
const LIST: usize = 7;
const RETR_FIRST: usize = 8;
const RETR_LAST: usize = 9;
const DELE: usize = 10;
const GROUP: usize = 11;
const QUIT: usize = 12;

impl Pop3 {
    /// The sessions of `operation`.
    pub fn new(operation: &Pop3Operation, places: Places, seed: u64) -> Result<Self, LoadError> {
        for (name, share) in [
            ("retrieve_share", operation.retrieve_share),
            ("delete_share", operation.delete_share),
        ] {
            if !(0.0..=1.0).contains(&share) {
                return Err(LoadError::bad_job(
                    format!("{name} {share} is no share"),
                    "between 0 and 1",
                ));
            }
        }
        Ok(Self {
            operation: operation.clone(),
            accounts: Accounts::new(&operation.login, places)?,
            random: random_stream(seed, Purpose::Operations, places.worker),
            tally: if operation.expect_all {
                PayloadTally::of_all()
            } else {
                PayloadTally::of_some()
            },
            growth: Growth::default(),
            found: Vec::new(),
            takes_damaged: false,
            rounds: Vec::new(),
        })
    }

    /// The same for another worker, with connections and choices of its own.
    #[must_use]
    pub fn for_worker(&self, places: Places, seed: u64) -> Self {
        Self {
            accounts: self.accounts.at(places),
            random: random_stream(seed, Purpose::Operations, places.worker),
            ..self.clone()
        }
    }

    /// The same for a reader who asks for [`Pop3::take_found`]: damage is no failure of a session.
    #[must_use]
    pub fn taking_damaged(self) -> Self {
        Self {
            takes_damaged: true,
            ..self
        }
    }

    /// Marked messages that were retrieved since this was asked last (`verify`).
    pub fn take_found(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.found)
    }

    /// A share of `count`, rounded up or down at random so that it is right on average.
    fn share_of(&mut self, count: u32, share: f64) -> u32 {
        let uniform = f64::from(self.random.next_u32()) / 4_294_967_296.0;
        ((f64::from(count) * share + uniform) as u32).min(count)
    }

    /// The dialogue as a table: what follows when the status line of `session.state` has come.
    fn answered(&mut self, session: &mut Session, status: Status, turn: &mut Turn<'_>) -> Step {
        let state = session.state;
        match (state, status) {
            (State::Banner, Status::Ok) => {
                turn.mark(BANNER);
                self.greeted(session, turn.out)
            }
            (State::Capa, Status::Ok) => go_on(session, State::CapaLines),
            // An old server has no CAPA and offers nothing.
            (State::Capa, Status::Err) => self.offered(session, turn),
            (State::Stls, Status::Ok) => {
                turn.mark(STLS);
                session.state = State::Handshake;
                Step::Secure
            }
            (State::User, Status::Ok) => {
                turn.out.head.extend_from_slice(b"PASS ");
                let password = self.accounts.password(session.user);
                turn.out.head.extend_from_slice(&password);
                turn.out.head.extend_from_slice(b"\r\n");
                go_on(session, State::Pass)
            }
            (State::Pass | State::Plain, Status::Ok) => {
                turn.mark(AUTH);
                session.state = State::LoggedIn;
                Step::Ready
            }
            (State::Stat, Status::Ok) => self.counted(session, turn),
            (State::List, Status::Ok) => go_on(session, State::Listing),
            (State::Retr(number), Status::Ok) => {
                if !session.grouped {
                    turn.mark(RETR_FIRST);
                }
                session.check = self
                    .operation
                    .verify
                    .then(|| Box::new(PayloadCheck::mail()));
                go_on(session, State::Content(number))
            }
            (State::Dele(number), Status::Ok) => {
                if !session.grouped {
                    turn.mark(DELE);
                }
                session.moved.deleted += 1;
                next_command(session, Next::after_delete(number, session), turn)
            }
            (State::Quit, Status::Ok) => {
                turn.mark(QUIT);
                self.growth
                    .found(session.user, session.messages - session.moved.deleted);
                Step::Done(Ok(()), After::Close)
            }
            (State::Leaving, _) => Step::Finished,
            (_, Status::Err) => refused(session, turn),
            _ => Step::Broken(ErrorKind::BadProtocol),
        }
    }

    fn greeted(&mut self, session: &mut Session, out: &mut Output) -> Step {
        let upgrade = self.operation.starttls == StartTls::Require && !session.secured;
        if upgrade || self.operation.pipelining {
            out.head.extend_from_slice(b"CAPA\r\n");
            return go_on(session, State::Capa);
        }
        self.log_in(session, out)
    }

    /// CAPA has been answered.
    fn offered(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        turn.mark(CAPA);
        if self.operation.starttls == StartTls::Never || session.secured {
            return self.log_in(session, turn.out);
        }
        if !session.offers.stls {
            return Step::Broken(ErrorKind::CapabilityMissing);
        }
        turn.out.head.extend_from_slice(b"STLS\r\n");
        go_on(session, State::Stls)
    }

    fn log_in(&mut self, session: &mut Session, out: &mut Output) -> Step {
        match self.operation.login.mechanism {
            Mechanism::Plain => {
                out.head.extend_from_slice(b"AUTH PLAIN ");
                self.accounts.write_plain(session.user, &mut out.head);
                session.state = State::Plain;
            }
            Mechanism::Login => {
                out.head.extend_from_slice(b"USER ");
                out.head
                    .extend_from_slice(&self.accounts.user(session.user));
                session.state = State::User;
            }
        }
        out.head.extend_from_slice(b"\r\n");
        Step::More
    }

    /// STAT has been answered.
    fn counted(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        let Some(messages) = count_of(session.reader.line()) else {
            return Step::Broken(ErrorKind::BadProtocol);
        };
        turn.mark(STAT);
        session.messages = messages;
        self.growth.found(session.user, messages);
        let share = self.share_of(messages, self.operation.retrieve_share);
        session.to_retrieve = match self.operation.most_messages {
            0 => share,
            most => share.min(most),
        };
        session.to_delete = self.share_of(session.to_retrieve, self.operation.delete_share);
        let command: &[u8] = if self.operation.uidl {
            b"UIDL\r\n"
        } else {
            b"LIST\r\n"
        };
        turn.out.head.extend_from_slice(command);
        go_on(session, State::List)
    }

    /// The lone dot behind a reply's lines.
    fn lines_end(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        match session.state {
            State::CapaLines => {
                session.offers = Offers::of(&std::mem::take(&mut session.capa));
                self.offered(session, turn)
            }
            State::Listing if session.listed == session.messages => {
                turn.mark(LIST);
                self.fetch(session, turn)
            }
            State::Content(number) => {
                if !session.grouped {
                    turn.mark(RETR_LAST);
                }
                session.moved.retrieved += 1;
                if let Some(check) = session.check.take() {
                    let finding = check.finish();
                    self.tally.add(finding);
                    match finding {
                        Finding::Corrupted(_) if !self.takes_damaged => {
                            return fail(session, ErrorKind::ChecksumMismatch, turn);
                        }
                        Finding::Unmarked => {}
                        finding if self.found.len() < MOST_FOUND => self.found.push(finding),
                        Finding::Good(_) | Finding::Corrupted(_) => {}
                    }
                }
                next_command(session, Next::after_message(number, session), turn)
            }
            _ => Step::Broken(ErrorKind::BadProtocol),
        }
    }

    /// The first RETR, or all there is to be said but QUIT.
    fn fetch(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        let (retrieve, delete) = (session.to_retrieve, session.to_delete);
        session.grouped = self.operation.pipelining && session.offers.pipelining && retrieve > 0;
        if session.grouped {
            for number in 1..=retrieve {
                write_command(b"RETR ", number, turn.out);
            }
            for number in 1..=delete {
                write_command(b"DELE ", number, turn.out);
            }
        }
        next_command(session, Next::after_message(0, session), turn)
    }

    /// A line, or a part of one, that is no message.
    fn note_line(session: &mut Session, piece: &[u8]) {
        match session.state {
            State::Listing => {
                let lines = memchr::memchr_iter(b'\n', piece).count() as u32;
                session.listed = session.listed.saturating_add(lines);
            }
            State::CapaLines if session.capa.len() + piece.len() <= MOST_CAPA_BYTES => {
                session.capa.extend_from_slice(piece);
            }
            _ => {}
        }
    }

    fn take_lines(
        &mut self,
        session: &mut Session,
        input: &mut &[u8],
        turn: &mut Turn<'_>,
    ) -> Step {
        while let Some(data) = session.reader.data(input) {
            match data {
                Data::End => return self.lines_end(session, turn),
                Data::Piece(piece) => match &mut session.check {
                    Some(check) => check.feed(piece),
                    None => Self::note_line(session, piece),
                },
            }
        }
        Step::More
    }
}

/// The command after the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Retr(u32),
    Dele(u32),
    Quit,
}

impl Next {
    fn after_message(number: u32, session: &Session) -> Self {
        if number < session.to_retrieve {
            Self::Retr(number + 1)
        } else {
            Self::after_delete(0, session)
        }
    }

    fn after_delete(number: u32, session: &Session) -> Self {
        if number < session.to_delete {
            Self::Dele(number + 1)
        } else {
            Self::Quit
        }
    }
}

fn next_command(session: &mut Session, next: Next, turn: &mut Turn<'_>) -> Step {
    let (state, verb): (_, &[u8]) = match next {
        Next::Retr(number) => (State::Retr(number), b"RETR "),
        Next::Dele(number) => (State::Dele(number), b"DELE "),
        Next::Quit => {
            if std::mem::take(&mut session.grouped) {
                turn.mark(GROUP);
            }
            turn.out.head.extend_from_slice(b"QUIT\r\n");
            return go_on(session, State::Quit);
        }
    };
    session.state = state;
    if let (false, Next::Retr(number) | Next::Dele(number)) = (session.grouped, next) {
        write_command(verb, number, turn.out);
    }
    Step::More
}

fn write_command(verb: &[u8], number: u32, out: &mut Output) {
    out.head.extend_from_slice(verb);
    write_decimal(u64::from(number), &mut out.head);
    out.head.extend_from_slice(b"\r\n");
}

fn go_on(session: &mut Session, next: State) -> Step {
    session.state = next;
    Step::More
}

/// `-ERR`, by what it answers.
fn refused(session: &mut Session, turn: &mut Turn<'_>) -> Step {
    let code = session.reader.line().get(5..).unwrap_or_default();
    let says = |word: &[u8]| memchr::memmem::find(code, word).is_some();
    match session.state {
        State::User | State::Pass | State::Plain if says(b"[IN-USE]") => {
            Step::Broken(ErrorKind::PopInUse)
        }
        State::User | State::Pass | State::Plain => Step::Broken(ErrorKind::AuthFail),
        State::Banner | State::Capa | State::Stls => Step::Broken(ErrorKind::PopErr),
        _ => fail(session, ErrorKind::PopErr, turn),
    }
}

/// The session has failed; the mailbox is left as the protocol wants it, unless replies to a
/// group are still on their way.
fn fail(session: &mut Session, kind: ErrorKind, turn: &mut Turn<'_>) -> Step {
    let over = session.grouped || session.state == State::Quit;
    if over {
        return Step::Done(Err(kind), After::Close);
    }
    session.state = State::Leaving;
    turn.out.head.extend_from_slice(b"QUIT\r\n");
    Step::Done(Err(kind), After::Busy)
}

/// The number behind `+OK `.
fn count_of(line: &[u8]) -> Option<u32> {
    let words = std::str::from_utf8(line.get(3..)?).ok()?;
    let count = words.split_ascii_whitespace().next()?.parse().ok()?;
    (count <= MOST_MESSAGES).then_some(count)
}

impl Offers {
    fn of(lines: &[u8]) -> Self {
        let has = |wanted: &[u8]| {
            lines.split(|byte| *byte == b'\n').any(|line| {
                let word = line.split(|byte| *byte == b' ').next().unwrap_or_default();
                word.trim_ascii().eq_ignore_ascii_case(wanted)
            })
        };
        Self {
            stls: has(b"STLS"),
            pipelining: has(b"PIPELINING"),
        }
    }
}

impl Protocol for Pop3 {
    type Session = Session;

    const PHASES: &'static [&'static str] = &[
        "connect",
        "tls",
        "banner",
        "stls",
        "capa",
        "auth",
        "stat",
        "list",
        "retr-first",
        "retr-last",
        "dele",
        "retr+dele",
        "quit",
    ];

    fn one_shot(&self) -> bool {
        true
    }

    fn open(&mut self, place: usize) -> Session {
        Session {
            state: State::Connecting,
            reader: Reader::default(),
            place: place as u32,
            user: 0,
            secured: false,
            capa: Vec::new(),
            offers: Offers::default(),
            messages: 0,
            to_retrieve: 0,
            to_delete: 0,
            listed: 0,
            grouped: false,
            check: None,
            moved: Moved::default(),
        }
    }

    fn connected(&mut self, session: &mut Session, _turn: &mut Turn<'_>) -> Step {
        let place = session.place as usize;
        if self.rounds.len() <= place {
            self.rounds.resize(place + 1, 0);
        }
        self.found.clear();
        let round = &mut self.rounds[place];
        session.user = self.accounts.number(place, *round);
        *round = round.wrapping_add(1);
        go_on(session, State::Banner)
    }

    fn secured(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        session.secured = true;
        // What was said in clear text may have been said by anyone.
        session.offers = Offers::default();
        self.greeted(session, turn.out)
    }

    fn start(&mut self, session: &mut Session, _lane: usize, out: &mut Output) {
        session.state = State::Stat;
        out.head.extend_from_slice(b"STAT\r\n");
    }

    fn received(&mut self, session: &mut Session, bytes: &[u8], turn: &mut Turn<'_>) -> Step {
        let mut input = bytes;
        while !input.is_empty() {
            let lines = matches!(
                session.state,
                State::CapaLines | State::Listing | State::Content(_)
            );
            let step = if lines {
                self.take_lines(session, &mut input, turn)
            } else {
                match session.reader.status(&mut input) {
                    Ok(Some(status)) => {
                        let step = self.answered(session, status, turn);
                        session.reader.forget();
                        step
                    }
                    Ok(None) => Step::More,
                    Err(kind) => Step::Broken(kind),
                }
            };
            let unasked = !input.is_empty() && !turn.out.is_empty();
            if step != Step::More && !input.is_empty() || unasked {
                // More than was asked for; behind STLS it would even be taken for secured.
                return match step {
                    Step::Done(Err(kind), _) => Step::Done(Err(kind), After::Close),
                    Step::Broken(kind) => Step::Broken(kind),
                    _ => Step::Broken(ErrorKind::BadProtocol),
                };
            }
            if step != Step::More {
                return step;
            }
        }
        Step::More
    }

    fn ended(&mut self, session: &mut Session, _turn: &mut Turn<'_>) -> Step {
        match session.state {
            State::Leaving => Step::Finished,
            State::Content(_) => Step::Broken(ErrorKind::ShortRead),
            _ => Step::Broken(ErrorKind::PeerClosedEarly),
        }
    }

    fn phase(&self, session: &Session) -> usize {
        match session.state {
            State::Connecting => CONNECT,
            State::Banner => BANNER,
            State::Capa | State::CapaLines => CAPA,
            State::Stls | State::Handshake => STLS,
            State::User | State::Pass | State::Plain | State::LoggedIn => AUTH,
            State::Stat => STAT,
            State::List | State::Listing => LIST,
            State::Retr(_) | State::Content(_) | State::Dele(_) if session.grouped => GROUP,
            State::Retr(_) => RETR_FIRST,
            State::Content(_) => RETR_LAST,
            State::Dele(_) => DELE,
            State::Quit | State::Leaving => QUIT,
        }
    }

    fn shared(&self) -> &[u8] {
        &[]
    }

    fn farewell(&self) -> &'static [u8] {
        b"QUIT\r\n"
    }

    fn moved(&self, session: &Session) -> Moved {
        session.moved
    }

    fn growth(&self) -> Option<&Growth> {
        Some(&self.growth)
    }

    fn payload(&self) -> Option<Payload> {
        self.operation.verify.then(|| self.tally.payload())
    }
}

#[cfg(test)]
#[path = "pop3/tests.rs"]
mod tests;
