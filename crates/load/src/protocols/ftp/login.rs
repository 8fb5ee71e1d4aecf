//! From the banner to a connection that can take operations.

use steelyard_wire::job::{FtpAction, StartTls};

use crate::fault::ErrorKind;
use crate::protocols::{Output, Step, Turn};

use super::transfer::Transfer;
use super::{Ftp, Length, Session, State, kind_of, passive, phases};

/// Files whose SIZE is asked for: of more, 150 may tell it.
const MOST_SIZES: usize = 32;

impl State {
    /// Index into [`crate::protocols::Protocol::PHASES`].
    pub(super) fn phase(self, transfer: &Transfer) -> usize {
        match self {
            Self::Connecting => phases::CONNECT,
            Self::Banner => phases::BANNER,
            Self::Auth => phases::AUTH,
            Self::Securing => phases::TLS,
            Self::User => phases::USER,
            Self::Pass => phases::PASS,
            Self::Pbsz | Self::Prot => phases::PROT,
            Self::Type => phases::TYPE,
            Self::Size(_) => phases::SIZE,
            Self::Idle | Self::Epsv => phases::EPSV,
            Self::Pasv => phases::PASV,
            Self::DataConnect => phases::DATA_CONNECT,
            Self::Transfer => transfer.phase(),
            Self::Dele => phases::DELE,
            Self::Leave | Self::Quit => phases::QUIT,
        }
    }
}

impl Ftp {
    /// The table of the dialogue before the first operation.
    pub(super) fn answered_login(
        &mut self,
        session: &mut Session,
        code: u16,
        turn: &mut Turn<'_>,
    ) -> Step {
        let state = session.state;
        match (state, code / 100) {
            (State::Banner, 2) => self.greeted(session, turn),
            (State::Auth, 2) => {
                turn.mark(phases::AUTH);
                session.state = State::Securing;
                Step::Secure
            }
            // The server does not do it: not a whim, and not this user's fault.
            (State::Auth | State::Pbsz | State::Prot, 5) if code != 530 => {
                Step::Broken(ErrorKind::CapabilityMissing)
            }
            (State::User, 3) if code == 331 => {
                turn.mark(phases::USER);
                self.write_pass(session, turn.out);
                Step::More
            }
            (State::User, 2) => {
                turn.mark(phases::USER);
                self.logged_in(session, turn)
            }
            (State::Pass, 2) => {
                turn.mark(phases::PASS);
                self.logged_in(session, turn)
            }
            // An account is asked for, and there is none.
            (State::User | State::Pass, 3 | 5) => Step::Broken(ErrorKind::AuthFail),
            (State::Pbsz, 2) => command(session, State::Prot, b"PROT P\r\n", turn.out),
            (State::Prot, 2) => {
                turn.mark(phases::PROT);
                command(session, State::Type, b"TYPE I\r\n", turn.out)
            }
            (State::Type, 2) => {
                turn.mark(phases::TYPE);
                self.ask_for_size(session, 0, turn.out)
            }
            (State::Size(file), 2 | 4 | 5) if code != 421 => {
                turn.mark(phases::SIZE);
                let bytes = passive::file_bytes(session.reply.text()).filter(|_| code == 213);
                self.lengths[file] = bytes.map_or(Length::Unknown, Length::Bytes);
                self.ask_for_size(session, file + 1, turn.out)
            }
            (_, 4 | 5) => Step::Broken(kind_of(code)),
            _ => Step::Broken(ErrorKind::BadProtocol),
        }
    }

    fn greeted(&self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        turn.mark(phases::BANNER);
        if self.operation.starttls == StartTls::Require {
            return command(session, State::Auth, b"AUTH TLS\r\n", turn.out);
        }
        self.write_user(session, turn.out);
        Step::More
    }

    pub(super) fn write_user(&self, session: &mut Session, out: &mut Output) {
        session.state = State::User;
        out.head.extend_from_slice(b"USER ");
        write_numbered(&self.operation.login.user, session.user, out);
    }

    fn write_pass(&self, session: &mut Session, out: &mut Output) {
        session.state = State::Pass;
        out.head.extend_from_slice(b"PASS ");
        write_numbered(&self.operation.login.password, session.user, out);
    }

    fn logged_in(&self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        let transfers = [FtpAction::Download, FtpAction::Upload, FtpAction::List];
        if !transfers.iter().any(|action| self.work.has(*action)) {
            session.state = State::Idle;
            return Step::Ready;
        }
        if self.secure {
            return command(session, State::Pbsz, b"PBSZ 0\r\n", turn.out);
        }
        command(session, State::Type, b"TYPE I\r\n", turn.out)
    }

    /// Asks for the length of the next file, from `first`, of which none of this worker has asked.
    fn ask_for_size(&self, session: &mut Session, first: usize, out: &mut Output) -> Step {
        let unasked = (first..self.lengths.len().min(MOST_SIZES))
            .find(|file| self.lengths[*file] == Length::Unasked);
        let Some(file) = unasked else {
            session.state = State::Idle;
            return Step::Ready;
        };
        session.state = State::Size(file);
        out.head.extend_from_slice(b"SIZE ");
        out.head
            .extend_from_slice(self.work.downloads[file].as_bytes());
        out.head.extend_from_slice(b"\r\n");
        Step::More
    }
}

fn command(session: &mut Session, next: State, command: &[u8], out: &mut Output) -> Step {
    session.state = next;
    out.head.extend_from_slice(command);
    Step::More
}

fn write_numbered(text: &str, number: u32, out: &mut Output) {
    let text = text.replace("{n}", &number.to_string());
    out.head.extend_from_slice(text.as_bytes());
    out.head.extend_from_slice(b"\r\n");
}
