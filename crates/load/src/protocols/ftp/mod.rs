//! FTP: a conversation about transfers, and the transfers beside it.
//!
//! One operation is one action: a whole login and QUIT, a download, an upload or a listing. A
//! transfer is good when its data connection has come to its end, the server has said 226 or 250,
//! and nothing is missing; in which order these come is the server's affair.

mod login;
mod passive;
mod phases;
pub mod reply;
mod transfer;
mod work;

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;
use steelyard_wire::job::{FtpAction, FtpOperation, Passive, StartTls};
use steelyard_wire::result::Payload;

use crate::error::LoadError;
use crate::fault::ErrorKind;
use crate::payload::{Finding, PayloadCheck, PayloadTally};
use crate::protocols::{
    After, Output, Protocol, SideAddress, SideEvent, SideInput, SidePlan, Step, Turn,
};
use crate::schedule::{Purpose, random_stream};
use crate::target::Target;

use reply::ReplyReader;
use transfer::Transfer;
use work::{Work, fits_a_command};

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
    /// Nobody has asked.
    Unasked,
    /// The server does not say.
    Unknown,
    Bytes(u64),
}

/// One connection.
#[derive(Debug)]
pub struct Session {
    state: State,
    reply: ReplyReader,
    place: u64,
    user: u32,
    transfers: u32,
    /// Place of the operation among the actions.
    kind: usize,
    /// The file of a download.
    file: usize,
    sequence: u64,
    marker: Vec<u8>,
    transfer: Transfer,
    /// The last refusal of this operation, or of the login before it.
    refusal: Option<u16>,
}

/// What the next reply answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Connecting,
    Banner,
    Auth,
    Securing,
    User,
    Pass,
    Pbsz,
    Prot,
    Type,
    /// SIZE of this file to download.
    Size(usize),
    Idle,
    Epsv,
    Pasv,
    DataConnect,
    Transfer,
    Dele,
    /// QUIT after a login that is the operation.
    Leave,
    /// QUIT after the last transfer.
    Quit,
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

    fn falls_back(&self, code: u16) -> bool {
        self.operation.passive == Passive::EpsvThenPasv && matches!(code, 500..=502 | 522 | 550)
    }

    fn passive_address(&self, session: &Session) -> Option<SideAddress> {
        let address = passive::passive_address(session.reply.text())?;
        Some(if self.operation.trust_pasv_address {
            SideAddress::At(address)
        } else {
            SideAddress::PeerPort(address.port())
        })
    }

    /// Asks for a data connection.
    fn ask_for_side(&self, session: &mut Session, out: &mut Output) {
        let extended = match self.operation.passive {
            Passive::EpsvThenPasv => !self.epsv_refused,
            Passive::Epsv => true,
            Passive::Pasv => false,
        };
        let (state, command) = if extended {
            (State::Epsv, &b"EPSV\r\n"[..])
        } else {
            (State::Pasv, &b"PASV\r\n"[..])
        };
        session.state = state;
        out.head.extend_from_slice(command);
    }

    /// The data connection is there: says what it is for.
    fn begin_transfer(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        turn.mark(phases::DATA_CONNECT);
        session.state = State::Transfer;
        session.transfer.start_ns = turn.now_ns;
        let out = &mut turn.out.head;
        match self.work.action(session.kind) {
            FtpAction::Upload => {
                out.extend_from_slice(b"STOR ");
                let sender = self.sender(session);
                self.work.write_upload_name(sender, session.sequence, out);
            }
            FtpAction::List => self.work.write_list(out),
            FtpAction::Download | FtpAction::Login => {
                out.extend_from_slice(b"RETR ");
                out.extend_from_slice(self.work.downloads[session.file].as_bytes());
            }
        }
        out.extend_from_slice(b"\r\n");
        Step::More
    }

    fn answered_transfer(&mut self, session: &mut Session, code: u16, turn: &mut Turn<'_>) -> Step {
        let transfer = &mut session.transfer;
        match code {
            100..200 | 226 | 250 if transfer.confirmed => Step::Broken(ErrorKind::BadProtocol),
            // A second one is a remark.
            100..200 if transfer.begun => Step::More,
            100..200 => {
                turn.mark(phases::PRELIMINARY);
                transfer.begun = true;
                if self.work.action(session.kind) == FtpAction::Download {
                    let announced = passive::announced_bytes(session.reply.text());
                    transfer.expected_bytes = announced.or(transfer.expected_bytes);
                }
                send_if_possible(transfer)
            }
            // Complete, says the server, but it has not got all of it.
            226 | 250 if transfer.upload && !transfer.over => {
                self.operation_over(session, Err(ErrorKind::ShortWrite), turn)
            }
            226 | 250 => {
                transfer.confirmed = true;
                turn.mark(phases::COMPLETE);
                self.settle(session, turn)
            }
            400..600 => self.refused(session, code, turn),
            _ => Step::Broken(ErrorKind::BadProtocol),
        }
    }

    /// Ends a transfer whose two conversations have ended.
    fn settle(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        if !session.transfer.settled() {
            return Step::More;
        }
        let outcome = self.outcome(session, turn.now_ns);
        if outcome.is_ok() && session.transfer.upload && self.operation.delete_uploads {
            session.state = State::Dele;
            let out = &mut turn.out.head;
            out.extend_from_slice(b"DELE ");
            let sender = self.sender(session);
            self.work.write_upload_name(sender, session.sequence, out);
            out.extend_from_slice(b"\r\n");
            return Step::More;
        }
        self.operation_over(session, outcome, turn)
    }

    fn outcome(&mut self, session: &mut Session, now_ns: u64) -> Result<(), ErrorKind> {
        let transfer = &mut session.transfer;
        if let Some(kind) = transfer.failure {
            return Err(kind);
        }
        transfer.whole()?;
        if let Some(check) = transfer.check.take() {
            let finding = check.finish();
            self.tally.add(finding);
            if matches!(finding, Finding::Corrupted(_)) {
                return Err(ErrorKind::ChecksumMismatch);
            }
        }
        let least = self.operation.least_share * self.operation.user_bytes_per_s as f64;
        let moved = if transfer.upload {
            self.work.upload_bytes() + session.marker.len() as u64
        } else {
            transfer.bytes
        };
        let listing = self.work.action(session.kind) == FtpAction::List;
        if !listing && transfer.too_slow(moved, now_ns, least) {
            return Err(ErrorKind::TooSlow);
        }
        Ok(())
    }

    /// The server has said no.
    fn refused(&mut self, session: &mut Session, code: u16, turn: &mut Turn<'_>) -> Step {
        if code == 421 {
            return Step::Done(Err(kind_of(code)), After::Close);
        }
        self.operation_over(session, Err(kind_of(code)), turn)
    }

    fn operation_over(
        &mut self,
        session: &mut Session,
        outcome: Result<(), ErrorKind>,
        turn: &mut Turn<'_>,
    ) -> Step {
        session.transfers += 1;
        let limit = self.operation.transfers_per_connection;
        if limit > 0 && session.transfers >= limit {
            session.state = State::Quit;
            turn.out.head.extend_from_slice(b"QUIT\r\n");
            return Step::Done(outcome, After::Busy);
        }
        session.state = State::Idle;
        Step::Done(outcome, After::Ready)
    }
}

/// An upload starts when the server has said so and TLS, if any, is agreed on.
fn send_if_possible(transfer: &Transfer) -> Step {
    if transfer.upload && transfer.begun && !transfer.unsecured {
        Step::SendSide
    } else {
        Step::More
    }
}

fn open_side(session: &mut Session, address: Option<SideAddress>) -> Step {
    if address.is_none() {
        return Step::Broken(ErrorKind::BadProtocol);
    }
    session.transfer.address = address;
    session.state = State::DataConnect;
    Step::OpenSide
}

/// Refused: for now, for good, or for who asks.
fn kind_of(code: u16) -> ErrorKind {
    match code {
        430 | 530 | 532 => ErrorKind::AuthFail,
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

    fn kind(&self, session: &Session, _lane: usize) -> usize {
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

    fn start(&mut self, session: &mut Session, _lane: usize, out: &mut Output) {
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
#[path = "ftp_tests.rs"]
mod tests;

#[cfg(test)]
mod oracle_tests;
