//! FTP: a conversation about transfers, and the transfers beside it.
//!
//! One operation is one action: a whole login and QUIT, a download, an upload or a listing. A
//! transfer is good when its data connection has come to its end, the server has said 226 or 250,
//! and nothing is missing; in which order these come is the server's affair.

mod login;
mod passive;
mod phases;
pub mod reply;
mod session;
mod steps;
mod transfer;
mod work;

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;
use steelyard_wire::job::{FtpAction, FtpOperation, StartTls};
use steelyard_wire::result::Payload;

use crate::error::LoadError;
use crate::fault::ErrorKind;
use crate::payload::{PayloadCheck, PayloadTally};
use crate::plan::schedule::{Purpose, random_stream};
use crate::plan::target::Target;
use crate::protocols::{
    After, Output, Protocol, SideAddress, SideEvent, SideInput, SidePlan, Step, Turn,
};

use reply::ReplyReader;
use session::State;
use steps::{open_side, send_if_possible};
use transfer::Transfer;
use work::{Work, fits_a_command};

pub use session::Session;

/// One worker's transfers.
#[derive(Debug, Clone)]
pub struct Ftp {
    operation: Arc<FtpOperation>,
    work: Arc<Work>,
    /// Data connections are encrypted.
    secure: bool,
    worker: u32,
    workers: u32,
    random: ChaCha8Rng,
    sequence: u64,
    next_download: usize,
    /// What is known of the length of each file to download.
    lengths: Vec<Length>,
    /// The server does not know EPSV.
    epsv_refused: bool,
    tally: PayloadTally,
}

/// What is known of the length of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    /// No one has asked.
    Unasked,
    /// The server does not say.
    Unknown,
    Bytes(u64),
}

impl Ftp {
    /// What `operation` asks of `target`; the time of the run tells the uploads of two runs apart.
    pub fn new(
        operation: &FtpOperation,
        target: &Target,
        run_unix_ns: u64,
        seed: u64,
    ) -> Result<Self, LoadError> {
        check(operation)?;
        let work = Work::new(operation, &target.path, run_unix_ns, seed)?;
        Ok(Self {
            operation: Arc::new(operation.clone()),
            secure: target.scheme == "ftps" || operation.starttls == StartTls::Require,
            worker: 0,
            workers: 1,
            random: random_stream(seed, Purpose::Operations, 0),
            sequence: 0,
            next_download: 0,
            lengths: vec![Length::Unasked; work.downloads.len()],
            epsv_refused: false,
            tally: PayloadTally::of_some(),
            work,
        })
    }

    /// The same for worker `worker` of `workers`, with choices of its own.
    #[must_use]
    pub fn for_worker(&self, worker: u32, workers: u32, seed: u64) -> Self {
        Self {
            worker,
            workers,
            random: random_stream(seed, Purpose::Operations, worker),
            next_download: worker as usize,
            ..self.clone()
        }
    }

    fn sender(&self, session: &Session) -> u64 {
        u64::from(self.worker) << 20 | session.place
    }

    /// What follows when the reply to `session.state` has come.
    fn answered(&mut self, session: &mut Session, code: u16, turn: &mut Turn<'_>) -> Step {
        if matches!(code, 400..600) {
            session.refusal = Some(code);
        }
        match (session.state, code / 100) {
            // Something for the eye before the reply.
            (State::Banner, 1) => Step::More,
            (State::Idle, _) if code == 421 => Step::Finished,
            (State::Epsv, 2) => {
                turn.mark(phases::EPSV);
                let port = passive::extended_port(session.reply.text());
                open_side(session, port.map(SideAddress::PeerPort))
            }
            (State::Epsv, 5) if self.falls_back(code) => {
                self.epsv_refused = true;
                session.state = State::Pasv;
                turn.out.head.extend_from_slice(b"PASV\r\n");
                Step::More
            }
            (State::Pasv, 2) => {
                turn.mark(phases::PASV);
                let address = self.passive_address(session);
                open_side(session, address)
            }
            (State::Transfer, _) => self.answered_transfer(session, code, turn),
            (State::Dele, 2) => {
                turn.mark(phases::DELE);
                self.operation_over(session, Ok(()), turn)
            }
            (State::Leave, 2) => {
                turn.mark(phases::QUIT);
                Step::Done(Ok(()), After::Close)
            }
            (State::Quit, class) => {
                if class == 2 {
                    turn.mark(phases::QUIT);
                }
                Step::Finished
            }
            (State::Epsv | State::Pasv | State::Dele | State::DataConnect, 4 | 5) => {
                self.refused(session, code, turn)
            }
            (State::Leave, 4 | 5) => Step::Done(Err(kind_of(code)), After::Close),
            _ => self.answered_login(session, code, turn),
        }
    }
}

/// Refused: for now, for good, or for who asks.
fn kind_of(code: u16) -> ErrorKind {
    match code {
        430 | 530 | 532 => ErrorKind::AuthFail,
        452 | 552 => ErrorKind::NoRoom,
        400..500 => ErrorKind::Ftp4xx,
        _ => ErrorKind::Ftp5xx,
    }
}

impl Protocol for Ftp {
    type Session = Session;

    const PHASES: &'static [&'static str] = phases::NAMES;

    const HAS_SIDE: bool = true;

    fn one_shot(&self) -> bool {
        self.operation.transfers_per_connection == 1 || self.work.has(FtpAction::Login)
    }

    fn kinds(&self) -> Vec<String> {
        self.work.kinds()
    }

    fn kind(&self, session: &Session, _slot: usize) -> usize {
        session.kind
    }

    fn open(&mut self, place: usize) -> Session {
        let users = u64::from(self.operation.login.users.max(1));
        let number = place as u64 * u64::from(self.workers) + u64::from(self.worker);
        Session {
            state: State::Connecting,
            reply: ReplyReader::default(),
            place: place as u64,
            user: (number % users) as u32 + 1,
            transfers: 0,
            kind: 0,
            file: 0,
            sequence: 0,
            marker: Vec::new(),
            transfer: Transfer::default(),
            refusal: None,
        }
    }

    fn connected(&mut self, session: &mut Session, _turn: &mut Turn<'_>) -> Step {
        session.state = State::Banner;
        Step::More
    }

    fn secured(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        self.write_user(session, turn.out);
        Step::More
    }

    fn refusal(&self, session: &Session) -> Option<u16> {
        session.refusal
    }

    fn start(&mut self, session: &mut Session, _slot: usize, out: &mut Output) {
        session.refusal = None;
        session.kind = self.work.pick(self.random.next_u32());
        let action = self.work.action(session.kind);
        session.transfer = Transfer {
            upload: action == FtpAction::Upload,
            unsecured: self.secure,
            ..Transfer::default()
        };
        match action {
            FtpAction::Login => {
                session.state = State::Leave;
                out.head.extend_from_slice(b"QUIT\r\n");
                return;
            }
            FtpAction::Upload => {
                session.sequence = self.sequence;
                self.sequence += 1;
                let sender = self.sender(session);
                self.work
                    .write_marker(sender, session.sequence, &mut session.marker);
            }
            FtpAction::Download => {
                session.file = self.next_download % self.work.downloads.len();
                self.next_download = session.file + 1;
                if let Length::Bytes(bytes) = self.lengths[session.file] {
                    session.transfer.expected_bytes = Some(bytes);
                }
                if self.operation.verify {
                    session.transfer.check = Some(Box::new(PayloadCheck::file()));
                }
            }
            FtpAction::List => {}
        }
        self.ask_for_side(session, out);
    }

    fn received(&mut self, session: &mut Session, bytes: &[u8], turn: &mut Turn<'_>) -> Step {
        let mut rest = bytes;
        let mut step = Step::More;
        while !rest.is_empty() {
            let (code, taken) = match session.reply.take(rest) {
                Ok(Some(reply)) => reply,
                Ok(None) => break,
                Err(kind) => return Step::Broken(kind),
            };
            rest = &rest[taken..];
            match self.answered(session, code, turn) {
                Step::More => {}
                Step::SendSide => step = Step::SendSide,
                done @ Step::Done(..) => {
                    turn.left = rest.len();
                    return done;
                }
                // A second reply to one command.
                Step::Ready | Step::Secure | Step::OpenSide if !rest.is_empty() => {
                    return Step::Broken(ErrorKind::BadProtocol);
                }
                last => return last,
            }
        }
        step
    }

    fn ended(&mut self, session: &mut Session, _turn: &mut Turn<'_>) -> Step {
        match session.state {
            State::Idle | State::Quit => Step::Finished,
            _ => Step::Broken(ErrorKind::PeerClosedEarly),
        }
    }

    fn phase(&self, session: &Session) -> usize {
        session.state.phase(&session.transfer)
    }

    fn shared(&self) -> &[u8] {
        self.work.page()
    }

    fn side_plan(&self, session: &Session) -> Option<SidePlan> {
        let action = self.work.action(session.kind);
        Some(SidePlan {
            address: session.transfer.address?,
            secure: self.secure,
            input: match action {
                FtpAction::Upload => SideInput::Nothing,
                _ if session.transfer.check.is_some() => SideInput::Bytes,
                _ => SideInput::Count,
            },
            bytes_per_s: match action {
                FtpAction::List => 0,
                _ => self.operation.user_bytes_per_s,
            },
        })
    }

    fn side(&mut self, session: &mut Session, event: SideEvent<'_>, turn: &mut Turn<'_>) -> Step {
        let transfer = &mut session.transfer;
        match event {
            SideEvent::Connected => return self.begin_transfer(session, turn),
            SideEvent::Secured => {
                turn.mark(phases::DATA_TLS);
                transfer.unsecured = false;
                return send_if_possible(transfer);
            }
            SideEvent::Received(bytes) => {
                arrived(transfer, bytes.len(), turn);
                if let Some(check) = &mut transfer.check {
                    check.feed(bytes);
                }
                return Step::More;
            }
            SideEvent::Discarded(count) => {
                arrived(transfer, count, turn);
                return Step::More;
            }
            SideEvent::Ended { clean } => {
                turn.mark(phases::LAST_BYTE);
                transfer.unclean = !clean;
            }
            SideEvent::SentAll => turn.mark(phases::LAST_BYTE),
            SideEvent::Failed(kind) if session.state == State::DataConnect => {
                return self.operation_over(session, Err(kind), turn);
            }
            // The server will say what it thinks of it.
            SideEvent::Failed(kind) => transfer.failure = Some(kind),
        }
        transfer.over = true;
        self.settle(session, turn)
    }

    fn side_output<'a>(&'a self, session: &'a Session) -> (&'a [u8], u64) {
        (&session.marker, self.work.upload_bytes())
    }

    fn farewell(&self) -> &'static [u8] {
        b"QUIT\r\n"
    }

    fn payload(&self) -> Option<Payload> {
        let checks = self.operation.verify && self.work.has(FtpAction::Download);
        checks.then(|| self.tally.payload())
    }
}

fn arrived(transfer: &mut Transfer, count: usize, turn: &mut Turn<'_>) {
    if transfer.bytes == 0 {
        turn.mark(phases::FIRST_BYTE);
    }
    transfer.bytes += count as u64;
}

fn check(operation: &FtpOperation) -> Result<(), LoadError> {
    fits_a_command("user", &operation.login.user)?;
    fits_a_command("password", &operation.login.password)?;
    let others = operation
        .actions
        .iter()
        .any(|(action, weight)| *action != FtpAction::Login && *weight > 0.0);
    let logins = operation.actions.get(&FtpAction::Login).copied();
    if others && logins > Some(0.0) && operation.transfers_per_connection != 1 {
        return Err(LoadError::bad_job(
            "logins are to be mixed with transfers that keep their connection",
            "set transfers_per_connection to 1: each operation then is a session of its own",
        ));
    }
    if !(0.0..=1.0).contains(&operation.least_share) {
        return Err(LoadError::bad_job(
            format!("least_share {} is no share", operation.least_share),
            "between 0 and 1",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod oracle_tests;
