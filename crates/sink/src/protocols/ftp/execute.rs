//! Commands that move nothing.

use std::net::IpAddr;

use crate::counters::tally::ErrorKind;
use crate::options::fault::FaultKind;
use crate::protocols::Order;
use crate::protocols::ftp::files::absolute;
use crate::protocols::ftp::session::{Data, Passive, Session};
use crate::protocols::ftp::verb::Verb;
use crate::protocols::ftp::{Ftp, answer};
use crate::protocols::{Flow, Reply, Turn};

impl Ftp {
    pub(super) fn execute(
        &mut self,
        session: &mut Session,
        verb: Verb,
        fault: Option<FaultKind>,
        argument: &str,
        turn: &mut Turn,
    ) -> Flow {
        match verb {
            Verb::Auth => self.auth(session, fault, argument, turn),
            Verb::Epsv if argument.eq_ignore_ascii_case("ALL") => {
                answer(verb, fault, "200 Only EPSV from here on.", turn)
            }
            Verb::Epsv => Self::listen(session, Passive::Extended, fault, turn),
            Verb::Pasv => Self::listen(session, Passive::Plain, fault, turn),
            _ => {
                let text = self.say(session, verb, argument);
                match text.get(..3) {
                    Some("500") => turn.tally.error(ErrorKind::UnknownCommand),
                    Some("501" | "504") => turn.tally.error(ErrorKind::BadArgument),
                    Some("503") => turn.tally.error(ErrorKind::BadSequence),
                    _ => {}
                }
                answer(verb, fault, &text, turn)
            }
        }
    }

    /// The reply to a command that concerns this connection only.
    fn say(&self, session: &mut Session, verb: Verb, argument: &str) -> String {
        let fixed = match verb {
            Verb::User if argument.is_empty() => "501 Who?",
            Verb::User => {
                session.named = true;
                session.logged_in = false;
                "331 Any password will do."
            }
            Verb::Pass if session.named => {
                session.logged_in = true;
                "230 Logged in."
            }
            Verb::Pass => "503 USER comes first.",
            Verb::Pbsz | Verb::Prot if !session.secure => "503 AUTH comes first.",
            Verb::Pbsz => "200 PBSZ=0",
            Verb::Prot => match argument.to_ascii_uppercase().as_str() {
                level @ ("P" | "C") => {
                    session.protects = level == "P";
                    "200 As you like."
                }
                _ => "504 Only P and C.",
            },
            Verb::Syst => "215 UNIX Type: L8",
            Verb::Feat => return self.features(),
            Verb::Opts if argument.eq_ignore_ascii_case("UTF8 ON") => "200 Always so.",
            Verb::Opts => "501 No such option.",
            Verb::Type => match argument.to_ascii_uppercase().as_str() {
                "A" | "A N" | "I" | "L 8" => "200 Sent as it is either way.",
                _ => "504 Only A, I and L 8.",
            },
            Verb::Rest if argument == "0" => "350 From the start.",
            Verb::Rest => "502 Only from the start.",
            Verb::Abor => "226 Nothing to abort.",
            Verb::Noop => "200 Done.",
            Verb::Quit => "221 Goodbye.",
            Verb::Pwd => return format!("257 \"{}\"", session.folder.replace('"', "\"\"")),
            Verb::Cwd | Verb::Cdup => {
                let name = if verb == Verb::Cdup { ".." } else { argument };
                session.folder = absolute(&session.folder, name);
                "250 Every folder is there."
            }
            _ => return self.about_file(session, verb, argument),
        };
        fixed.to_owned()
    }

    fn about_file(&self, session: &Session, verb: Verb, argument: &str) -> String {
        let path = absolute(&session.folder, argument);
        let said = match verb {
            Verb::Other => "500 No such command.",
            _ if argument.is_empty() => "501 Which?",
            Verb::Size | Verb::Mdtm => match self.files.size(&path) {
                Some(bytes) if verb == Verb::Size => return format!("213 {bytes}"),
                Some(_) => "213 20260101000000",
                None => "550 No such file.",
            },
            Verb::Dele if self.files.delete(&path) => "250 Deleted.",
            Verb::Dele => "550 No such file.",
            Verb::Mkd => return format!("257 \"{}\"", path.replace('"', "\"\"")),
            Verb::Rmd => "250 Every folder stays there.",
            _ => "500 No such command.",
        };
        said.to_owned()
    }

    fn features(&self) -> String {
        let tls = match self.tls {
            Some(false) => " AUTH TLS\r\n PBSZ\r\n PROT\r\n",
            Some(true) => " PBSZ\r\n PROT\r\n",
            None => "",
        };
        format!(
            "211-Features:\r\n EPSV\r\n PASV\r\n SIZE\r\n MDTM\r\n MLSD\r\n UTF8\r\n{tls}211 End"
        )
    }

    fn auth(
        &self,
        session: &Session,
        fault: Option<FaultKind>,
        argument: &str,
        turn: &mut Turn,
    ) -> Flow {
        let known = ["TLS", "TLS-C", "SSL"]
            .iter()
            .any(|name| argument.eq_ignore_ascii_case(name));
        let text = match self.tls {
            None => "502 No TLS here.",
            Some(_) if session.secure => "503 It is TLS already.",
            Some(_) if !known => "504 Only TLS.",
            Some(_) => "234 Begin.",
        };
        if !text.starts_with("234") {
            return answer(Verb::Auth, fault, text, turn);
        }
        let from = turn.out.len();
        turn.out.extend_from_slice(b"234 Begin.\r\n");
        turn.settle_then_tls(Reply {
            verb: Verb::Auth as usize,
            fault,
            from,
            verdict: None,
            close: false,
        })
    }

    /// Has a port opened; the reply comes with it.
    fn listen(
        session: &mut Session,
        passive: Passive,
        fault: Option<FaultKind>,
        turn: &mut Turn,
    ) -> Flow {
        let (verb, text) = match (passive, session.local) {
            (Passive::Plain, Some(IpAddr::V6(_))) => (Verb::Pasv, "425 Use EPSV over IPv6."),
            (_, Some(local)) => {
                session.data = Data::Opening(passive, fault);
                return Flow::Side(Order::Listen(local));
            }
            (_, None) => (Verb::Epsv, "425 This connection has no address."),
        };
        answer(verb, fault, text, turn)
    }
}
