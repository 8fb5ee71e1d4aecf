//! SMTP in lockstep: one message, from MAIL FROM to the reply after the final dot.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;
use steelyard_wire::job::SmtpOperation;

use crate::error::LoadError;
use crate::fault::ErrorKind;
use crate::protocols::smtp_message::Message;
use crate::protocols::smtp_reply::ReplyReader;
use crate::protocols::{After, CONNECT, Output, Protocol, Step, Turn};
use crate::schedule::{Purpose, random_stream};

/// One worker's messages.
#[derive(Debug, Clone)]
pub struct Smtp {
    operation: SmtpOperation,
    message: Message,
    random: ChaCha8Rng,
    sequence: u64,
    recipient: Vec<u8>,
}

/// One connection.
#[derive(Debug)]
pub struct Session {
    state: State,
    reply: ReplyReader,
    messages: u32,
    recipient: u32,
}

/// What the next reply answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Connecting,
    Banner,
    Ehlo,
    Helo,
    Idle,
    Mail,
    Rcpt,
    Data,
    Eom,
    Rset,
    Quit,
}

impl State {
    /// Index into [`Protocol::PHASES`].
    fn phase(self) -> usize {
        match self {
            Self::Connecting => CONNECT,
            Self::Banner => 2,
            Self::Ehlo | Self::Helo => 3,
            Self::Idle | Self::Mail => 4,
            Self::Rcpt => 5,
            Self::Data => 6,
            Self::Eom => 7,
            Self::Rset => 8,
            Self::Quit => 9,
        }
    }
}

impl Smtp {
    /// Builds the message of `operation`; the time of the run tells the messages of two runs apart.
    pub fn new(operation: &SmtpOperation, run_unix_ns: u64, seed: u64) -> Result<Self, LoadError> {
        check(operation)?;
        Ok(Self {
            operation: operation.clone(),
            message: Message::new(operation, run_unix_ns, seed),
            random: random_stream(seed, Purpose::Operations, 0),
            sequence: 0,
            recipient: Vec::new(),
        })
    }

    /// The same for worker `worker`, with choices and sequence numbers of its own.
    #[must_use]
    pub fn for_worker(&self, worker: u32, seed: u64) -> Self {
        Self {
            random: random_stream(seed, Purpose::Operations, worker),
            sequence: u64::from(worker) << 48,
            ..self.clone()
        }
    }

    fn write_recipient(&mut self, number: u32) {
        self.recipient.clear();
        self.recipient.extend_from_slice(b"user");
        self.recipient
            .extend_from_slice(number.to_string().as_bytes());
        self.recipient.push(b'@');
        self.recipient
            .extend_from_slice(self.operation.recipient_domain.as_bytes());
    }

    fn any_recipient(&mut self) -> u32 {
        let all = u64::from(self.operation.recipients.max(1));
        // Multiply and shift: even to 2^-32, which no mailbox count can show.
        ((u64::from(self.random.next_u32()) * all) >> 32) as u32 + 1
    }

    /// The dialogue as a table: what follows when the reply to `session.state` has come.
    fn answered(&mut self, session: &mut Session, code: u16, turn: &mut Turn<'_>) -> Step {
        let state = session.state;
        match (state, code / 100) {
            (State::Banner, 2) => self.go_on(session, turn, State::Ehlo, b"EHLO "),
            (State::Ehlo | State::Helo | State::Rset, 2) => ready(session, turn),
            (State::Ehlo, 5) => self.greet_again(session, turn),
            (State::Mail, 2) => self.go_on(session, turn, State::Rcpt, b"RCPT TO:<"),
            (State::Rcpt, 2) => self.go_on(session, turn, State::Data, b"DATA"),
            (State::Data, 3) => self.send_message(session, turn),
            (State::Eom, 2) => {
                turn.mark(state.phase());
                self.message_over(session, Ok(()), turn)
            }
            (State::Quit, class) => {
                if class == 2 {
                    turn.mark(state.phase());
                }
                Step::Finished
            }
            (State::Idle, _) if code == 421 => Step::Finished,
            (_, class @ (4 | 5)) => self.refused(session, code, class, turn),
            _ => Step::Broken(ErrorKind::BadProtocol),
        }
    }

    fn go_on(
        &mut self,
        session: &mut Session,
        turn: &mut Turn<'_>,
        next: State,
        command: &[u8],
    ) -> Step {
        turn.mark(session.state.phase());
        session.state = next;
        self.write_command(session, command, turn.out);
        Step::More
    }

    fn greet_again(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        session.state = State::Helo;
        self.write_command(session, b"HELO ", turn.out);
        Step::More
    }

    fn write_command(&mut self, session: &Session, command: &[u8], out: &mut Output) {
        out.head.extend_from_slice(command);
        match session.state {
            State::Ehlo | State::Helo => out.head.extend_from_slice(self.operation.helo.as_bytes()),
            State::Rcpt => {
                self.write_recipient(session.recipient);
                out.head.extend_from_slice(&self.recipient);
                out.head.push(b'>');
            }
            _ => {}
        }
        out.head.extend_from_slice(b"\r\n");
    }

    fn send_message(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        turn.mark(session.state.phase());
        session.state = State::Eom;
        self.write_recipient(session.recipient);
        self.message
            .write_head(self.sequence, &self.recipient, &mut turn.out.head);
        turn.out.tail = 0..self.message.rest.len();
        self.sequence += 1;
        Step::More
    }

    fn refused(
        &mut self,
        session: &mut Session,
        code: u16,
        class: u16,
        turn: &mut Turn<'_>,
    ) -> Step {
        let kind = if class == 4 {
            ErrorKind::Smtp4xx
        } else {
            ErrorKind::Smtp5xx
        };
        match session.state {
            State::Mail | State::Rcpt | State::Data | State::Eom if code == 421 => {
                Step::Done(Err(kind), After::Close)
            }
            State::Mail | State::Rcpt | State::Data | State::Eom => {
                self.message_over(session, Err(kind), turn)
            }
            _ => Step::Broken(kind),
        }
    }

    fn message_over(
        &mut self,
        session: &mut Session,
        outcome: Result<(), ErrorKind>,
        turn: &mut Turn<'_>,
    ) -> Step {
        session.messages += 1;
        let limit = self.operation.messages_per_connection;
        if limit > 0 && session.messages >= limit {
            session.state = State::Quit;
            turn.out.head.extend_from_slice(b"QUIT\r\n");
            return Step::Done(outcome, After::Busy);
        }
        if outcome.is_err() {
            session.state = State::Rset;
            turn.out.head.extend_from_slice(b"RSET\r\n");
            return Step::Done(outcome, After::Busy);
        }
        session.state = State::Idle;
        Step::Done(outcome, After::Ready)
    }
}

fn ready(session: &mut Session, turn: &mut Turn<'_>) -> Step {
    turn.mark(session.state.phase());
    session.state = State::Idle;
    Step::Ready
}

impl Protocol for Smtp {
    type Session = Session;

    const PHASES: &'static [&'static str] = &[
        "connect", "tls", "banner", "ehlo", "mail", "rcpt", "data", "eom", "rset", "quit",
    ];

    fn one_shot(&self) -> bool {
        self.operation.messages_per_connection == 1
    }

    fn open(&mut self, _place: usize) -> Session {
        Session {
            state: State::Connecting,
            reply: ReplyReader::default(),
            messages: 0,
            recipient: 1,
        }
    }

    fn connected(&mut self, session: &mut Session, _turn: &mut Turn<'_>) -> Step {
        session.state = State::Banner;
        Step::More
    }

    fn start(&mut self, session: &mut Session, _lane: usize, out: &mut Output) {
        session.state = State::Mail;
        session.recipient = self.any_recipient();
        out.head.extend_from_slice(b"MAIL FROM:<");
        out.head.extend_from_slice(self.operation.sender.as_bytes());
        out.head.extend_from_slice(b">\r\n");
    }

    fn received(&mut self, session: &mut Session, bytes: &[u8], turn: &mut Turn<'_>) -> Step {
        match session.reply.take(bytes) {
            Ok(None) => Step::More,
            Ok(Some((code, taken))) if taken == bytes.len() => self.answered(session, code, turn),
            // A second reply to one command.
            Ok(Some(_)) => Step::Broken(ErrorKind::BadProtocol),
            Err(kind) => Step::Broken(kind),
        }
    }

    fn ended(&mut self, session: &mut Session, _turn: &mut Turn<'_>) -> Step {
        match session.state {
            State::Idle | State::Quit => Step::Finished,
            _ => Step::Broken(ErrorKind::PeerClosedEarly),
        }
    }

    fn phase(&self, session: &Session) -> usize {
        session.state.phase()
    }

    fn shared(&self) -> &[u8] {
        &self.message.rest
    }

    fn farewell(&self) -> &'static [u8] {
        b"QUIT\r\n"
    }
}

fn check(operation: &SmtpOperation) -> Result<(), LoadError> {
    let fields = [
        ("helo", &operation.helo),
        ("sender", &operation.sender),
        ("recipient_domain", &operation.recipient_domain),
        ("subject", &operation.subject),
    ];
    for (name, value) in fields {
        let blank_allowed = name == "subject";
        if value
            .chars()
            .any(|c| c.is_control() || (c == ' ' && !blank_allowed) || matches!(c, '<' | '>'))
        {
            return Err(LoadError::bad_job(
                format!("{name} {value:?} does not fit an SMTP command"),
                None,
            ));
        }
    }
    if operation.recipients == 0 {
        return Err(LoadError::bad_job(
            "recipients is 0",
            "ask for at least one",
        ));
    }
    Ok(())
}

#[cfg(test)]
#[path = "smtp_tests.rs"]
mod tests;
