//! The steps of one transfer, from the data connection to its end.

use steelyard_wire::job::{FtpAction, Passive};

use super::transfer::Transfer;
use super::{Ftp, Session, State, kind_of, passive, phases};
use crate::fault::ErrorKind;
use crate::payload::Finding;
use crate::protocols::{After, Output, SideAddress, Step, Turn};

impl Ftp {
    pub(super) fn falls_back(&self, code: u16) -> bool {
        self.operation.passive == Passive::EpsvThenPasv && matches!(code, 500..=502 | 522 | 550)
    }

    pub(super) fn passive_address(&self, session: &Session) -> Option<SideAddress> {
        let address = passive::passive_address(session.reply.text())?;
        Some(if self.operation.trust_pasv_address {
            SideAddress::At(address)
        } else {
            SideAddress::PeerPort(address.port())
        })
    }

    /// Asks for a data connection.
    pub(super) fn ask_for_side(&self, session: &mut Session, out: &mut Output) {
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
    pub(super) fn begin_transfer(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
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

    pub(super) fn answered_transfer(
        &mut self,
        session: &mut Session,
        code: u16,
        turn: &mut Turn<'_>,
    ) -> Step {
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
    pub(super) fn settle(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
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
    pub(super) fn refused(
        &mut self,
        session: &mut Session,
        code: u16,
        turn: &mut Turn<'_>,
    ) -> Step {
        if code == 421 {
            return Step::Done(Err(kind_of(code)), After::Close);
        }
        self.operation_over(session, Err(kind_of(code)), turn)
    }

    pub(super) fn operation_over(
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
pub(super) fn send_if_possible(transfer: &Transfer) -> Step {
    if transfer.upload && transfer.begun && !transfer.unsecured {
        Step::SendSide
    } else {
        Step::More
    }
}

pub(super) fn open_side(session: &mut Session, address: Option<SideAddress>) -> Step {
    if address.is_none() {
        return Step::Broken(ErrorKind::BadProtocol);
    }
    session.transfer.address = address;
    session.state = State::DataConnect;
    Step::OpenSide
}
