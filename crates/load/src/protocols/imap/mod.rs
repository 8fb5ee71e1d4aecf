//! IMAP: commands of users who are logged in and have selected their mailbox.

mod check;
mod command;
mod message;
mod phases;
mod reader;
mod receive;
mod response;
mod session;
mod setup;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;
use steelyard_wire::job::{ImapCommand, ImapOperation};
use steelyard_wire::result::Payload;

use crate::error::LoadError;
use crate::fault::ErrorKind;
use crate::payload::PayloadTally;
use crate::plan::schedule::{Purpose, random_stream};
use crate::protocols::account::{Accounts, Places};
use crate::protocols::mailboxes::{Growth, Moved};
use crate::protocols::{After, Output, Protocol, Step, Turn};
use check::check;
use message::Message;
pub use reader::{Event, Reader};
use receive::wake;
use response::Offers;
pub use response::{Response, Status};
pub use session::Session;
use session::{Marks, State};

pub use phases::IDLE_WAKE;
use phases::{
    APPEND, APPEND_READY, AUTH, BANNER, CAPABILITY, CONNECT, EXPUNGE, FETCH_FIRST, FETCH_LAST,
    IDLE_DONE, IDLE_HOLD, IDLE_READY, LIST, LOGOUT, NOOP, SEARCH, SELECT, STARTTLS, STATUS, STORE,
};

/// One worker's commands.
#[derive(Debug, Clone)]
pub struct Imap {
    operation: ImapOperation,
    accounts: Accounts,
    places: Places,
    random: ChaCha8Rng,
    /// Commands with the sum of the weights up to each.
    commands: Vec<(ImapCommand, f64)>,
    message: Message,
    /// Messages appended at each place.
    appended: Vec<u64>,
    /// Connections opened at each place.
    rounds: Vec<u32>,
    tally: PayloadTally,
    growth: Growth,
}

impl Imap {
    /// The commands of `operation`; the time of the run tells the messages of two runs apart.
    pub fn new(
        operation: &ImapOperation,
        places: Places,
        timeout_ns: u64,
        run: u64,
        seed: u64,
    ) -> Result<Self, LoadError> {
        check(operation, timeout_ns)?;
        let mut sum = 0.0;
        let commands = operation
            .commands
            .iter()
            .filter(|(_, weight)| **weight > 0.0);
        let commands = commands.map(|(command, weight)| {
            sum += weight;
            (*command, sum)
        });
        Ok(Self {
            commands: commands.collect(),
            operation: operation.clone(),
            accounts: Accounts::new(&operation.login, places)?,
            places,
            random: random_stream(seed, Purpose::Operations, places.worker),
            message: Message::new(operation.append_bytes, run, seed),
            appended: Vec::new(),
            rounds: Vec::new(),
            tally: PayloadTally::of_some(),
            growth: Growth::default(),
        })
    }

    /// The same for another worker, with connections and choices of its own.
    #[must_use]
    pub fn for_worker(&self, places: Places, seed: u64) -> Self {
        Self {
            accounts: self.accounts.at(places),
            places,
            random: random_stream(seed, Purpose::Operations, places.worker),
            ..self.clone()
        }
    }

    /// The same, but IDLE lasts until a message comes.
    #[must_use]
    pub fn idling_on(mut self) -> Self {
        self.operation.idle_ns = u64::MAX;
        self
    }

    fn any_command(&mut self) -> ImapCommand {
        let Some((last, sum)) = self.commands.last().copied() else {
            return ImapCommand::Noop;
        };
        if self.commands.len() == 1 {
            return last;
        }
        let drawn = f64::from(self.random.next_u32()) / 4_294_967_296.0 * sum;
        let found = self.commands.iter().find(|(_, until)| drawn < *until);
        found.map_or(last, |(command, _)| *command)
    }

    fn any_message(&mut self, exists: u32) -> u32 {
        // Multiply and shift: even to 2^-32.
        ((u64::from(self.random.next_u32()) * u64::from(exists)) >> 32) as u32 + 1
    }

    fn needs_messages(&self) -> bool {
        self.commands
            .iter()
            .any(|(command, _)| needs_message(*command))
    }

    fn sessions_only(&self) -> bool {
        matches!(self.commands.as_slice(), [(ImapCommand::Session, _)])
    }
}

fn needs_message(command: ImapCommand) -> bool {
    matches!(
        command,
        ImapCommand::Fetch | ImapCommand::FetchHeaders | ImapCommand::Store | ImapCommand::Expunge
    )
}

/// What follows from two steps of one arrival.
fn joined(before: Step, next: Step) -> Step {
    match (before, next) {
        (Step::Done(outcome, _), Step::Finished | Step::Broken(_)) => {
            Step::Done(outcome, After::Close)
        }
        (Step::More | Step::Pause(_), step)
        | (step, Step::More)
        | (_, step @ (Step::Finished | Step::Broken(_))) => step,
        _ => Step::Broken(ErrorKind::BadProtocol),
    }
}

impl Protocol for Imap {
    type Session = Session;

    const PHASES: &'static [&'static str] = &[
        "connect",
        "tls",
        "banner",
        "starttls",
        "capability",
        "auth",
        "select",
        "list",
        "status",
        "fetch-first",
        "fetch-last",
        "search",
        "store",
        "append-ready",
        "append",
        "expunge",
        "idle-ready",
        "idle-wake",
        "idle-hold",
        "idle-done",
        "noop",
        "logout",
    ];

    fn one_shot(&self) -> bool {
        self.sessions_only()
    }

    fn kinds(&self) -> Vec<String> {
        if self.commands.len() < 2 {
            return Vec::new();
        }
        let words = self.commands.iter().map(|(command, _)| command.word());
        words.map(str::to_owned).collect()
    }

    fn kind(&self, session: &Session, _slot: usize) -> usize {
        let mut commands = self.commands.iter();
        commands
            .position(|(command, _)| *command == session.command)
            .unwrap_or(0)
    }

    fn open(&mut self, place: usize) -> Session {
        Session {
            state: State::Connecting,
            reader: Reader::default(),
            place: place as u32,
            user: 1,
            tag: 0,
            exists: 0,
            operations: 0,
            under_way: false,
            command: self
                .commands
                .first()
                .map_or(ImapCommand::Noop, |(command, _)| *command),
            drawn: 0,
            first_byte_ns: 0,
            idle_until_ns: 0,
            sequence: 0,
            offers: Offers::default(),
            moved: Moved::default(),
            check: None,
            marks: Marks::default(),
        }
    }

    fn connected(&mut self, session: &mut Session, _turn: &mut Turn<'_>) -> Step {
        let place = session.place as usize;
        if self.rounds.len() <= place {
            self.rounds.resize(place + 1, 0);
            self.appended.resize(place + 1, 0);
        }
        session.user = self.accounts.number(place, self.rounds[place]);
        self.rounds[place] = self.rounds[place].wrapping_add(1);
        session.state = State::Banner;
        Step::More
    }

    fn secured(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        session.marks.secured = true;
        // What was said in clear text may have been said by anyone.
        session.offers = Offers::default();
        setup::ask_capability(session, State::Capability, turn.out)
    }

    fn resumed(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        if session.state != State::Idling {
            return Step::More;
        }
        if turn.now_ns < session.idle_until_ns {
            return Self::idling(session, turn.now_ns);
        }
        turn.mark(IDLE_HOLD);
        wake(session, turn)
    }

    fn start(&mut self, session: &mut Session, _slot: usize, out: &mut Output) {
        session.moved = Moved::default();
        session.first_byte_ns = 0;
        session.operations += 1;
        session.under_way = true;
        session.command = self.any_command();
        self.begin(session, out);
    }

    fn received(&mut self, session: &mut Session, bytes: &[u8], turn: &mut Turn<'_>) -> Step {
        if session.first_byte_ns == 0 {
            session.first_byte_ns = turn.now_ns;
        }
        let mut reader = std::mem::take(&mut session.reader);
        let mut input = bytes;
        let mut step = Step::More;
        loop {
            let next = match reader.next(&mut input) {
                Ok(None) => break,
                Ok(Some(Event::Literal(piece))) => {
                    if let (true, Some(check)) = (session.marks.body, &mut session.check) {
                        check.feed(piece);
                    }
                    Step::More
                }
                Ok(Some(Event::Text(text))) => self.text(session, &text, turn),
                Err(kind) => Step::Broken(kind),
            };
            step = joined(step, next);
            let over = matches!(
                step,
                Step::Secure | Step::Finished | Step::Broken(_) | Step::Done(_, After::Close)
            );
            if over {
                break;
            }
        }
        if step == Step::Secure && (!input.is_empty() || reader.is_inside()) {
            // It would be taken for what comes over TLS.
            step = Step::Broken(ErrorKind::BadProtocol);
        }
        session.reader = reader;
        if step == Step::More && session.state == State::Idling {
            return Self::idling(session, turn.now_ns);
        }
        step
    }

    fn ended(&mut self, session: &mut Session, _turn: &mut Turn<'_>) -> Step {
        match session.state {
            State::Ready | State::Leaving => Step::Finished,
            _ if session.reader.is_inside() => Step::Broken(ErrorKind::ShortRead),
            _ => Step::Broken(ErrorKind::PeerClosedEarly),
        }
    }

    fn phase(&self, session: &Session) -> usize {
        match session.state {
            State::Connecting => CONNECT,
            State::Banner => BANNER,
            State::StartTls | State::Handshake => STARTTLS,
            State::Capability | State::CapabilityAgain => CAPABILITY,
            State::Challenge | State::Auth => AUTH,
            State::Select | State::Ready => SELECT,
            State::FillReady | State::AppendReady => APPEND_READY,
            State::Fill => APPEND,
            State::Deleting => STORE,
            State::IdleReady => IDLE_READY,
            State::Idling => IDLE_HOLD,
            State::IdleDone => IDLE_DONE,
            State::Leaving => LOGOUT,
            State::Command => command::phase(session),
        }
    }

    fn shared(&self) -> &[u8] {
        &self.message.body_and_end
    }

    fn farewell(&self) -> &'static [u8] {
        b"Z LOGOUT\r\n"
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
