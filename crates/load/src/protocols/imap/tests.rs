use std::collections::BTreeMap;

use imap_codec::CommandCodec;
use imap_codec::decode::Decoder;
use imap_codec::imap_types::command::CommandBody;
use steelyard_wire::job::{Login, Mechanism, StartTls};

use super::*;
use crate::payload::PayloadCheck;

mod login;
mod messages;

fn operation(commands: &[ImapCommand]) -> ImapOperation {
    ImapOperation {
        commands: commands.iter().map(|command| (*command, 1.0)).collect(),
        append_bytes: 10,
        ..ImapOperation::new(Login {
            user: "ann{n}".to_owned(),
            password: "se\"cret".to_owned(),
            users: 1,
            mechanism: Mechanism::Plain,
        })
    }
}

const PLACES: Places = Places {
    worker: 2,
    first: 0,
    all: 1,
};

/// A connection in conversation; remembers what was sent last, and the phases that ended.
struct Exchange {
    imap: Imap,
    session: Session,
    now_ns: u64,
    sent: String,
    phases: Vec<&'static str>,
}

impl Exchange {
    fn new(operation: &ImapOperation) -> Self {
        let mut imap = Imap::new(operation, PLACES, 10_000, 7, 1).unwrap();
        let session = imap.open(0);
        let mut exchange = Self {
            imap,
            session,
            now_ns: 1,
            sent: String::new(),
            phases: Vec::new(),
        };
        exchange.turn(Imap::connected);
        exchange
    }

    /// Ready, with `exists` messages in the mailbox.
    fn selected(operation: &ImapOperation, offers: &str, exists: u32) -> Self {
        let mut exchange = Self::new(operation);
        let greeting = format!("* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN SASL-IR {offers}] hi\r\n");
        exchange.receive(&greeting);
        exchange.receive(&format!("S1 OK [CAPABILITY IMAP4rev1 {offers}] in\r\n"));
        let step = exchange.receive(&format!("* {exists} EXISTS\r\nS2 OK selected\r\n"));
        assert!(step == Step::Ready || exists == 0, "{step:?}");
        exchange.phases.clear();
        exchange
    }

    fn turn(&mut self, act: impl FnOnce(&mut Imap, &mut Session, &mut Turn<'_>) -> Step) -> Step {
        let mut out = Output::default();
        let mut turn = Turn::new(self.now_ns, &mut out);
        let step = act(&mut self.imap, &mut self.session, &mut turn);
        self.phases
            .extend(turn.marks().map(|(phase, _)| Imap::PHASES[phase]));
        self.keep(out);
        step
    }

    fn keep(&mut self, mut out: Output) {
        out.head.extend_from_slice(&self.imap.shared()[out.tail]);
        self.sent = String::from_utf8(out.head).unwrap();
    }

    fn receive(&mut self, reply: &str) -> Step {
        self.turn(|imap, session, turn| imap.received(session, reply.as_bytes(), turn))
    }

    fn start(&mut self) -> &str {
        let mut out = Output::default();
        self.imap.start(&mut self.session, 0, &mut out);
        self.keep(out);
        &self.sent
    }

    /// Starts an operation and receives `reply`.
    fn command(&mut self, reply: &str) -> Step {
        self.start();
        self.receive(reply)
    }
}

const GOOD: Step = Step::Done(Ok(()), After::Ready);

fn failed(kind: ErrorKind) -> Step {
    Step::Done(Err(kind), After::Ready)
}

#[test]
fn a_message_is_fetched_however_its_literal_is_split() {
    let reply = "* 1 FETCH (UID 9 BODY[] {7}\r\nS3 OK\r\n FLAGS ())\r\nS3 OK done\r\n";
    for at in 1..reply.len() {
        let mut exchange = Exchange::selected(&operation(&[ImapCommand::Fetch]), "", 1);
        assert_eq!(exchange.start(), "S3 FETCH 1 (UID BODY.PEEK[])\r\n");
        assert_eq!(exchange.receive(&reply[..at]), Step::More, "split at {at}");
        assert_eq!(exchange.receive(&reply[at..]), GOOD, "split at {at}");
        assert_eq!(exchange.phases, ["fetch-first", "fetch-last"]);
        assert_eq!(exchange.imap.moved(&exchange.session).retrieved, 1);
    }
}

#[test]
fn an_answer_without_what_was_asked_for_is_no_success() {
    for (command, reply, kind) in [
        (ImapCommand::Fetch, "", ErrorKind::BodyMismatch),
        (
            ImapCommand::Fetch,
            "* 2 FETCH (BODY[] {0}\r\n)\r\n",
            ErrorKind::BodyMismatch,
        ),
        (
            ImapCommand::Fetch,
            "* 1 FETCH (FLAGS ())\r\n",
            ErrorKind::BodyMismatch,
        ),
        (
            ImapCommand::FetchHeaders,
            "* 1 FETCH (FLAGS ())\r\n",
            ErrorKind::BodyMismatch,
        ),
        (ImapCommand::List, "", ErrorKind::BadProtocol),
        (
            ImapCommand::Status,
            "* LIST () NIL a\r\n",
            ErrorKind::BadProtocol,
        ),
        (ImapCommand::Search, "", ErrorKind::BadProtocol),
        (
            ImapCommand::Select,
            "* 0 RECENT\r\n",
            ErrorKind::BadProtocol,
        ),
    ] {
        let mut exchange = Exchange::selected(&operation(&[command]), "", 1);
        assert_eq!(
            exchange.command(&format!("{reply}S3 OK\r\n")),
            failed(kind),
            "{command:?}"
        );
    }
}

#[test]
fn refusals_are_typed_and_the_conversation_goes_on() {
    let mut exchange = Exchange::selected(&operation(&[ImapCommand::Fetch]), "", 1);
    assert_eq!(
        exchange.command("S3 NO [EXPUNGEISSUED] gone\r\n"),
        failed(ErrorKind::ImapNo)
    );
    assert_eq!(
        exchange.command("S4 BAD what\r\n"),
        failed(ErrorKind::ImapBad)
    );
    assert_eq!(
        exchange.command("S5 NO [OVERQUOTA] full\r\n"),
        failed(ErrorKind::NoRoom)
    );
    let again = "* 1 FETCH (BODY[] \"x\")\r\nS6 OK\r\n";
    assert_eq!(exchange.command(again), GOOD);
    assert_eq!(
        exchange.command("* BYE gone\r\n"),
        Step::Broken(ErrorKind::ImapBye)
    );
}

#[test]
fn a_reply_to_another_command_is_none() {
    let mut exchange = Exchange::selected(&operation(&[ImapCommand::Noop]), "", 1);
    assert_eq!(
        exchange.command("S9 OK\r\n"),
        Step::Broken(ErrorKind::BadProtocol)
    );
}

#[test]
fn unsolicited_responses_are_taken_between_operations() {
    let mut exchange = Exchange::selected(&operation(&[ImapCommand::Noop]), "", 1);
    assert_eq!(
        exchange.receive("* 5 EXISTS\r\n* 2 EXPUNGE\r\n* OK [ALERT] soon\r\n"),
        Step::More
    );
    assert_eq!(exchange.session.exists, 4);
    assert_eq!(exchange.command("S3 OK\r\n* 6 EXISTS\r\n"), GOOD);
    assert_eq!(exchange.session.exists, 6);
    let bye = exchange.command("S4 OK\r\n* BYE shutting down\r\n");
    assert_eq!(bye, Step::Done(Ok(()), After::Close));
    let mut exchange = Exchange::selected(&operation(&[ImapCommand::Noop]), "", 1);
    assert_eq!(
        exchange.receive("* BYE idle for too long\r\n"),
        Step::Finished
    );
    let mut exchange = Exchange::selected(&operation(&[ImapCommand::Noop]), "", 1);
    assert_eq!(
        exchange.receive("* 2 EXPUNGE\r\n"),
        Step::Broken(ErrorKind::BadProtocol)
    );
}

#[test]
fn idle_lasts_its_time_or_until_a_message_comes() {
    let mut idle = operation(&[ImapCommand::Idle]);
    idle.idle_ns = 100;
    let mut exchange = Exchange::selected(&idle, "IDLE", 1);
    assert_eq!(exchange.start(), "S3 IDLE\r\n");
    assert_eq!(exchange.receive("+ idling\r\n"), Step::Pause(100));
    exchange.now_ns = 51;
    assert_eq!(exchange.receive("* OK still here\r\n"), Step::Pause(50));
    exchange.now_ns = 101;
    exchange.turn(Imap::resumed);
    assert_eq!(exchange.sent, "DONE\r\n");
    assert_eq!(exchange.receive("S3 OK\r\n"), GOOD);
    assert_eq!(exchange.phases, ["idle-ready", "idle-hold", "idle-done"]);

    exchange.phases.clear();
    exchange.start();
    exchange.receive("+ idling\r\n");
    assert_eq!(exchange.receive("* 2 EXISTS\r\n"), Step::More);
    assert_eq!(exchange.sent, "DONE\r\n");
    // The timer of before means nothing any more.
    assert_eq!(exchange.turn(Imap::resumed), Step::More);
    assert_eq!(exchange.receive("S4 OK\r\n"), GOOD);
    assert_eq!(exchange.phases, ["idle-ready", "idle-wake", "idle-done"]);
}

#[test]
fn a_server_that_cannot_idle_is_not_asked_to() {
    let mut exchange = Exchange::new(&operation(&[ImapCommand::Idle]));
    exchange.receive("* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN SASL-IR] hi\r\n");
    exchange.receive("S1 OK [CAPABILITY IMAP4rev1] in\r\n");
    let missing = Step::Broken(ErrorKind::CapabilityMissing);
    assert_eq!(exchange.receive("* 1 EXISTS\r\nS2 OK\r\n"), missing);
}

#[test]
fn a_whole_session_is_one_operation_that_ends_with_logout() {
    let mut exchange = Exchange::selected(&operation(&[ImapCommand::Session]), "", 1);
    assert!(exchange.imap.one_shot());
    assert_eq!(exchange.start(), "S3 LOGOUT\r\n");
    assert_eq!(
        exchange.receive("* BYE see you\r\nS3 OK\r\n"),
        Step::Done(Ok(()), After::Close)
    );
    assert_eq!(exchange.phases, ["logout"]);
}

#[test]
fn after_the_last_command_of_a_connection_comes_logout() {
    let mut few = operation(&[ImapCommand::Noop]);
    few.commands_per_connection = 2;
    let mut exchange = Exchange::selected(&few, "", 1);
    assert_eq!(exchange.command("S3 OK\r\n"), GOOD);
    assert_eq!(
        exchange.command("S4 OK\r\n"),
        Step::Done(Ok(()), After::Busy)
    );
    assert_eq!(exchange.sent, "S5 LOGOUT\r\n");
    assert_eq!(exchange.receive("* BYE\r\nS5 OK\r\n"), Step::Finished);
}

#[test]
fn commands_are_drawn_by_weight_and_distinguished() {
    let commands = BTreeMap::from([
        (ImapCommand::Noop, 3.0),
        (ImapCommand::Search, 1.0),
        (ImapCommand::List, 0.0),
    ]);
    let weighed = ImapOperation {
        commands,
        ..operation(&[])
    };
    let mut exchange = Exchange::selected(&weighed, "", 1);
    assert_eq!(exchange.imap.kinds(), ["search", "noop"]);
    let noops = (0..1_000)
        .filter(|_| exchange.imap.any_command() == ImapCommand::Noop)
        .count();
    assert!((680..820).contains(&noops), "{noops}");
}

#[test]
fn another_codec_understands_every_command() {
    for command in ImapCommand::ALL {
        let mut exchange = Exchange::selected(&operation(&[command]), "IDLE LITERAL+", 3);
        let sent = exchange.start().to_owned();
        let (rest, decoded) = CommandCodec::new().decode(sent.as_bytes()).unwrap();
        assert!(rest.is_empty());
        assert_eq!(decoded.tag.as_ref(), "S3");
        let fits = match command {
            ImapCommand::Session => matches!(decoded.body, CommandBody::Logout),
            ImapCommand::Select => matches!(decoded.body, CommandBody::Select { .. }),
            ImapCommand::List => matches!(decoded.body, CommandBody::List { .. }),
            ImapCommand::Status => matches!(decoded.body, CommandBody::Status { .. }),
            ImapCommand::FetchHeaders | ImapCommand::Fetch => {
                matches!(decoded.body, CommandBody::Fetch { .. })
            }
            ImapCommand::Store | ImapCommand::Expunge => {
                matches!(decoded.body, CommandBody::Store { .. })
            }
            ImapCommand::Append => matches!(decoded.body, CommandBody::Append { .. }),
            ImapCommand::Search => matches!(decoded.body, CommandBody::Search { .. }),
            ImapCommand::Idle => matches!(decoded.body, CommandBody::Idle),
            ImapCommand::Noop => matches!(decoded.body, CommandBody::Noop),
        };
        assert!(fits, "{sent}");
    }
}

#[test]
fn jobs_that_make_no_sense_are_refused() {
    let two = [ImapCommand::Session, ImapCommand::Noop];
    let mut long = operation(&[ImapCommand::Idle]);
    long.idle_ns = 10_000;
    let mut name = operation(&[ImapCommand::Noop]);
    name.mailbox = "a\r\nS9 LOGOUT".to_owned();
    let mut negative = operation(&[ImapCommand::Noop]);
    negative.commands.insert(ImapCommand::List, -1.0);
    for bad in [operation(&two), operation(&[]), long, name, negative] {
        assert!(Imap::new(&bad, PLACES, 10_000, 7, 1).is_err(), "{bad:?}");
    }
}
