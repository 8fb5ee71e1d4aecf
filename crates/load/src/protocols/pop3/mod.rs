//! POP3: one session, from the connection to the reply to QUIT.

mod dialogue;
pub mod reader;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;
use steelyard_wire::job::Pop3Operation;
use steelyard_wire::result::Payload;

use crate::error::LoadError;
use crate::fault::ErrorKind;
use crate::payload::{Finding, PayloadCheck, PayloadTally};
use crate::plan::schedule::{Purpose, random_stream};
use crate::protocols::account::{Accounts, Places};
use crate::protocols::mailboxes::{Growth, Moved};
use crate::protocols::{After, CONNECT, Output, Protocol, Step, Turn};
use dialogue::go_on;
use reader::Reader;

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
    /// A damaged message is noted and removed like any other, instead of ending the session.
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

    fn start(&mut self, session: &mut Session, _slot: usize, out: &mut Output) {
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
mod tests;
