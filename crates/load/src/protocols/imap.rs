//! IMAP: commands of users who are logged in and have selected their mailbox.

mod command;
mod message;
mod reader;
mod response;
mod setup;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;
use steelyard_wire::job::{ImapCommand, ImapOperation};
use steelyard_wire::result::Payload;

use crate::error::LoadError;
use crate::fault::ErrorKind;
use crate::payload::{PayloadCheck, PayloadTally};
use crate::protocols::account::{Accounts, Places};
use crate::protocols::mailboxes::{Growth, Moved};
use crate::protocols::{After, Output, Protocol, Step, Turn};
use crate::schedule::{Purpose, random_stream};
use message::Message;
pub use reader::{Event, Reader, Text};
use response::Offers;
pub use response::{Response, Status};

const CONNECT: usize = crate::protocols::CONNECT;
const BANNER: usize = 2;
const STARTTLS: usize = 3;
const CAPABILITY: usize = 4;
const AUTH: usize = 5;
const SELECT: usize = 6;
const LIST: usize = 7;
const STATUS: usize = 8;
const FETCH_FIRST: usize = 9;
const FETCH_LAST: usize = 10;
const SEARCH: usize = 11;
const STORE: usize = 12;
const APPEND_READY: usize = 13;
const APPEND: usize = 14;
const EXPUNGE: usize = 15;
const IDLE_READY: usize = 16;
/// Index of the phase that ends when a server that idles announces a message.
pub const IDLE_WAKE: usize = 17;
const IDLE_HOLD: usize = 18;
const IDLE_DONE: usize = 19;
const NOOP: usize = 20;
const LOGOUT: usize = 21;

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

/// One connection.
#[derive(Debug)]
pub struct Session {
    state: State,
    reader: Reader,
    place: u32,
    user: u32,
    /// Number of the last command.
    tag: u32,
    /// Messages in the mailbox.
    exists: u32,
    /// Operations on this connection.
    operations: u32,
    /// One of them is under way.
    under_way: bool,
    command: ImapCommand,
    /// The message that the command is about.
    drawn: u32,
    /// When the first byte of a FETCH came.
    first_byte_ns: u64,
    idle_until_ns: u64,
    /// Sequence of the message that is being appended.
    sequence: u64,
    offers: Offers,
    moved: Moved,
    check: Option<Box<PayloadCheck>>,
    marks: Marks,
}

impl Session {
    /// Messages in the mailbox.
    pub fn exists(&self) -> u32 {
        self.exists
    }

    /// The server idles.
    pub fn is_idling(&self) -> bool {
        self.state == State::Idling
    }

    /// The next command can be said.
    pub fn is_ready(&self) -> bool {
        self.state == State::Ready
    }

    /// `* number word` was heard in the answer to a command that the machine did not say.
    pub fn note_size(&mut self, number: u32, word: &[u8]) {
        if word.eq_ignore_ascii_case(b"EXISTS") {
            self.exists = number;
        } else if word.eq_ignore_ascii_case(b"EXPUNGE") {
            self.exists = self.exists.saturating_sub(1);
        }
    }
}

/// What has been noticed since a command began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "a set of observations")]
struct Marks {
    secured: bool,
    /// Capabilities came without being asked for.
    offered: bool,
    /// The response that the command asks for was there.
    answered: bool,
    /// The response being read is about the drawn message.
    ours: bool,
    /// The literal being read is the message.
    body: bool,
    /// The mailbox has grown.
    grew: bool,
}

/// What the next responses belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Connecting,
    Banner,
    Capability,
    StartTls,
    Handshake,
    /// `+` before the response of SASL PLAIN.
    Challenge,
    Auth,
    CapabilityAgain,
    Select,
    /// An empty mailbox is given a message: `+`, then the end.
    FillReady,
    Fill,
    /// No operation.
    Ready,
    /// The command's end.
    Command,
    AppendReady,
    IdleReady,
    Idling,
    IdleDone,
    /// STORE before EXPUNGE.
    Deleting,
    /// LOGOUT after the last operation: nobody waits for it.
    Leaving,
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

    fn text(&mut self, session: &mut Session, text: &Text<'_>, turn: &mut Turn<'_>) -> Step {
        session.marks.body = false;
        if !text.first {
            self.look_for_body(session, text);
            return Step::More;
        }
        session.marks.ours = false;
        match Response::of(text.bytes) {
            None => Step::Broken(ErrorKind::BadProtocol),
            Some(Response::Continue) => self.go_on(session, turn),
            Some(Response::Tagged(tag, status, words)) => {
                if tag != session.tag {
                    return Step::Broken(ErrorKind::BadProtocol);
                }
                note_offers(session, Offers::in_code(words));
                self.ended_command(session, status, turn)
            }
            Some(Response::Status(status, words)) => {
                note_offers(session, Offers::in_code(words));
                self.status(session, status, turn)
            }
            Some(Response::Data(word, rest)) => {
                if word.eq_ignore_ascii_case(b"CAPABILITY") {
                    note_offers(session, Some(Offers::of(rest)));
                }
                session.marks.answered |= answers(session, word);
                Step::More
            }
            Some(Response::Message(number, word, _)) => {
                self.message(session, number, word, text, turn)
            }
        }
    }

    /// `* OK`, `* BYE` and the like.
    fn status(&mut self, session: &mut Session, status: Status, turn: &mut Turn<'_>) -> Step {
        match (session.state, status) {
            (State::Banner, Status::Ok | Status::Preauth) => self.greeted(session, status, turn),
            (State::Banner | State::Connecting, Status::No | Status::Bad) => {
                Step::Broken(ErrorKind::BadProtocol)
            }
            (State::Leaving, _) => Step::More,
            (State::Command, Status::Bye) if session.command == ImapCommand::Session => {
                session.marks.answered = true;
                Step::More
            }
            (State::Ready, Status::Bye) => Step::Finished,
            (_, Status::Bye) => Step::Broken(ErrorKind::ImapBye),
            // Warnings and alerts are for people.
            _ => Step::More,
        }
    }

    /// `* 12 EXISTS` and the like.
    fn message(
        &mut self,
        session: &mut Session,
        number: u32,
        word: &[u8],
        text: &Text<'_>,
        turn: &mut Turn<'_>,
    ) -> Step {
        if word.eq_ignore_ascii_case(b"EXISTS") {
            session.marks.grew |= number > session.exists;
            session.exists = number;
            session.marks.answered |= selects(session);
            if session.state == State::Idling && session.marks.grew {
                turn.mark(IDLE_WAKE);
                return wake(session, turn);
            }
        } else if word.eq_ignore_ascii_case(b"EXPUNGE") {
            if number == 0 || number > session.exists {
                return Step::Broken(ErrorKind::BadProtocol);
            }
            session.exists -= 1;
            session.moved.deleted += u32::from(session.command == ImapCommand::Expunge);
        } else if word.eq_ignore_ascii_case(b"FETCH") {
            session.marks.ours = number == session.drawn && session.state == State::Command;
            self.look_for_body(session, text);
        }
        Step::More
    }

    /// Whether a part of a FETCH response holds what was asked for.
    fn look_for_body(&mut self, session: &mut Session, text: &Text<'_>) {
        if !session.marks.ours {
            return;
        }
        let holds = |item: &[u8]| memchr::memmem::find(text.bytes, item).is_some();
        match session.command {
            ImapCommand::Fetch if holds(b"BODY[] ") => {
                session.marks.answered = true;
                session.marks.body = text.literal.is_some() && text.bytes.ends_with(b"BODY[] ");
                if self.operation.verify {
                    session.check = Some(Box::new(PayloadCheck::mail()));
                }
            }
            ImapCommand::FetchHeaders if holds(b"ENVELOPE (") => session.marks.answered = true,
            _ => {}
        }
    }

    /// What an idle connection waits for, in nanoseconds.
    fn idling(session: &Session, now_ns: u64) -> Step {
        Step::Pause(session.idle_until_ns.saturating_sub(now_ns).max(1))
    }
}

fn needs_message(command: ImapCommand) -> bool {
    matches!(
        command,
        ImapCommand::Fetch | ImapCommand::FetchHeaders | ImapCommand::Store | ImapCommand::Expunge
    )
}

fn selects(session: &Session) -> bool {
    session.state == State::Select
        || session.state == State::Command && session.command == ImapCommand::Select
}

/// Whether an untagged response is what the command was for.
fn answers(session: &Session, word: &[u8]) -> bool {
    let wanted: &[u8] = match session.command {
        ImapCommand::List => b"LIST",
        ImapCommand::Status => b"STATUS",
        ImapCommand::Search => b"SEARCH",
        _ => return false,
    };
    session.state == State::Command && word.eq_ignore_ascii_case(wanted)
}

fn note_offers(session: &mut Session, offers: Option<Offers>) {
    if let Some(offers) = offers {
        session.offers = offers;
        session.marks.offered = true;
    }
}

fn wake(session: &mut Session, turn: &mut Turn<'_>) -> Step {
    turn.out.head.extend_from_slice(b"DONE\r\n");
    session.state = State::IdleDone;
    Step::More
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

    fn kind(&self, session: &Session, _lane: usize) -> usize {
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

    fn start(&mut self, session: &mut Session, _lane: usize, out: &mut Output) {
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

fn check(operation: &ImapOperation, timeout_ns: u64) -> Result<(), LoadError> {
    let mut weights = operation.commands.values();
    let sum: f64 = operation.commands.values().sum();
    if weights.any(|weight| !weight.is_finite() || *weight < 0.0) || sum <= 0.0 {
        return Err(LoadError::bad_job(
            "the weights of commands do not add up to anything",
            "give at least one command a weight above 0, and none one below",
        ));
    }
    let wanted = |command: &ImapCommand| operation.commands.get(command).is_some_and(|w| *w > 0.0);
    let several = operation
        .commands
        .values()
        .filter(|weight| **weight > 0.0)
        .count()
        > 1;
    if several && wanted(&ImapCommand::Session) {
        return Err(LoadError::bad_job(
            "a session is no command beside others",
            "leave the others out, or make two parts of a mix",
        ));
    }
    if wanted(&ImapCommand::Idle) && operation.idle_ns >= timeout_ns {
        return Err(LoadError::bad_job(
            "IDLE would last longer than the timeout",
            "raise the timeout, or let it be shorter",
        ));
    }
    let plain = |byte: u8| (0x20..0x7f).contains(&byte);
    if operation.mailbox.is_empty() || !operation.mailbox.bytes().all(plain) {
        return Err(LoadError::bad_job(
            format!("mailbox {:?} cannot be named", operation.mailbox),
            "write other letters than ASCII in modified UTF-7 (RFC 3501, 5.1.3)",
        ));
    }
    if operation.append_bytes > u64::from(u32::MAX) {
        return Err(LoadError::bad_job(
            "append_bytes is more than a literal holds",
            "at most 4294967295",
        ));
    }
    Ok(())
}

#[cfg(test)]
#[path = "imap/tests.rs"]
mod tests;
