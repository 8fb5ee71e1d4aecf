use std::collections::BTreeMap;

use imap_codec::CommandCodec;
use imap_codec::decode::Decoder;
use imap_codec::imap_types::command::CommandBody;
use steelyard_wire::job::{Login, Mechanism, StartTls};

use super::*;
use crate::payload::PayloadCheck;

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
struct Talk {
    imap: Imap,
    session: Session,
    now_ns: u64,
    sent: String,
    phases: Vec<&'static str>,
}

impl Talk {
    fn new(operation: &ImapOperation) -> Self {
        let mut imap = Imap::new(operation, PLACES, 10_000, 7, 1).unwrap();
        let session = imap.open(0);
        let mut talk = Self {
            imap,
            session,
            now_ns: 1,
            sent: String::new(),
            phases: Vec::new(),
        };
        talk.turn(Imap::connected);
        talk
    }

    /// Ready, with `exists` messages in the mailbox.
    fn selected(operation: &ImapOperation, offers: &str, exists: u32) -> Self {
        let mut talk = Self::new(operation);
        let greeting = format!("* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN SASL-IR {offers}] hi\r\n");
        talk.hear(&greeting);
        talk.hear(&format!("S1 OK [CAPABILITY IMAP4rev1 {offers}] in\r\n"));
        let step = talk.hear(&format!("* {exists} EXISTS\r\nS2 OK selected\r\n"));
        assert!(step == Step::Ready || exists == 0, "{step:?}");
        talk.phases.clear();
        talk
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

    fn hear(&mut self, reply: &str) -> Step {
        self.turn(|imap, session, turn| imap.received(session, reply.as_bytes(), turn))
    }

    fn start(&mut self) -> &str {
        let mut out = Output::default();
        self.imap.start(&mut self.session, 0, &mut out);
        self.keep(out);
        &self.sent
    }

    /// Starts an operation and hears `reply`.
    fn command(&mut self, reply: &str) -> Step {
        self.start();
        self.hear(reply)
    }
}

const GOOD: Step = Step::Done(Ok(()), After::Ready);

fn failed(kind: ErrorKind) -> Step {
    Step::Done(Err(kind), After::Ready)
}

#[test]
fn a_connection_is_greeted_logged_in_and_selected() {
    let mut talk = Talk::new(&operation(&[ImapCommand::Fetch]));
    talk.hear("* OK hi\r\n");
    assert_eq!(talk.sent, "S1 CAPABILITY\r\n");
    talk.hear("* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\nS1 OK\r\n");
    assert_eq!(talk.sent, "S2 AUTHENTICATE PLAIN\r\n");
    talk.hear("+ \r\n");
    assert_eq!(talk.sent, "AGFubjEAc2UiY3JldA==\r\n");
    talk.hear("S2 OK in\r\n");
    assert_eq!(talk.sent, "S3 CAPABILITY\r\n");
    talk.hear("* CAPABILITY IMAP4rev1 IDLE\r\nS3 OK\r\n");
    assert_eq!(talk.sent, "S4 SELECT \"INBOX\"\r\n");
    assert_eq!(
        talk.hear("* 3 EXISTS\r\n* 0 RECENT\r\nS4 OK [READ-WRITE] done\r\n"),
        Step::Ready
    );
    assert_eq!(
        talk.phases.join(" "),
        "banner capability auth capability select"
    );
    assert_eq!(talk.imap.growth.sums(), (3, 3, 1));
}

#[test]
fn a_login_quotes_what_must_be_quoted_and_respects_its_refusal() {
    let mut login = operation(&[ImapCommand::Noop]);
    login.login.mechanism = Mechanism::Login;
    let mut talk = Talk::new(&login);
    talk.hear("* OK [CAPABILITY IMAP4rev1] hi\r\n");
    assert_eq!(talk.sent, "S1 LOGIN \"ann1\" \"se\\\"cret\"\r\n");
    assert_eq!(
        talk.hear("S1 NO wrong\r\n"),
        Step::Broken(ErrorKind::AuthFail)
    );
    let mut talk = Talk::new(&login);
    let missing = Step::Broken(ErrorKind::CapabilityMissing);
    assert_eq!(
        talk.hear("* OK [CAPABILITY IMAP4rev1 LOGINDISABLED] hi\r\n"),
        missing
    );
}

#[test]
fn who_is_logged_in_already_does_not_log_in() {
    let mut talk = Talk::new(&operation(&[ImapCommand::Noop]));
    talk.hear("* PREAUTH hi\r\n");
    talk.hear("* CAPABILITY IMAP4rev1\r\nS1 OK\r\n");
    assert_eq!(talk.sent, "S2 SELECT \"INBOX\"\r\n");
}

#[test]
fn the_connection_is_upgraded_and_asked_again() {
    let mut secure = operation(&[ImapCommand::Noop]);
    secure.starttls = StartTls::Require;
    let mut talk = Talk::new(&secure);
    talk.hear("* OK [CAPABILITY IMAP4rev1 STARTTLS AUTH=PLAIN] hi\r\n");
    assert_eq!(talk.sent, "S1 STARTTLS\r\n");
    assert_eq!(talk.hear("S1 OK go\r\n"), Step::Secure);
    talk.turn(Imap::secured);
    assert_eq!(talk.sent, "S2 CAPABILITY\r\n");

    let mut talk = Talk::new(&secure);
    let missing = Step::Broken(ErrorKind::CapabilityMissing);
    assert_eq!(talk.hear("* OK [CAPABILITY IMAP4rev1] hi\r\n"), missing);
    let mut talk = Talk::new(&secure);
    talk.hear("* OK [CAPABILITY IMAP4rev1 STARTTLS] hi\r\n");
    let injected = "S1 OK go\r\n* CAPABILITY IMAP4rev1\r\n";
    assert_eq!(talk.hear(injected), Step::Broken(ErrorKind::BadProtocol));
}

#[test]
fn a_message_is_fetched_however_its_literal_is_split() {
    let reply = "* 1 FETCH (UID 9 BODY[] {7}\r\nS3 OK\r\n FLAGS ())\r\nS3 OK done\r\n";
    for at in 1..reply.len() {
        let mut talk = Talk::selected(&operation(&[ImapCommand::Fetch]), "", 1);
        assert_eq!(talk.start(), "S3 FETCH 1 (UID BODY.PEEK[])\r\n");
        assert_eq!(talk.hear(&reply[..at]), Step::More, "split at {at}");
        assert_eq!(talk.hear(&reply[at..]), GOOD, "split at {at}");
        assert_eq!(talk.phases, ["fetch-first", "fetch-last"]);
        assert_eq!(talk.imap.moved(&talk.session).retrieved, 1);
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
        let mut talk = Talk::selected(&operation(&[command]), "", 1);
        assert_eq!(
            talk.command(&format!("{reply}S3 OK\r\n")),
            failed(kind),
            "{command:?}"
        );
    }
}

#[test]
fn refusals_are_typed_and_the_conversation_goes_on() {
    let mut talk = Talk::selected(&operation(&[ImapCommand::Fetch]), "", 1);
    assert_eq!(
        talk.command("S3 NO [EXPUNGEISSUED] gone\r\n"),
        failed(ErrorKind::ImapNo)
    );
    assert_eq!(talk.command("S4 BAD what\r\n"), failed(ErrorKind::ImapBad));
    assert_eq!(
        talk.command("S5 NO [OVERQUOTA] full\r\n"),
        failed(ErrorKind::NoRoom)
    );
    let again = "* 1 FETCH (BODY[] \"x\")\r\nS6 OK\r\n";
    assert_eq!(talk.command(again), GOOD);
    assert_eq!(
        talk.command("* BYE gone\r\n"),
        Step::Broken(ErrorKind::ImapBye)
    );
}

#[test]
fn a_reply_to_another_command_is_none() {
    let mut talk = Talk::selected(&operation(&[ImapCommand::Noop]), "", 1);
    assert_eq!(
        talk.command("S9 OK\r\n"),
        Step::Broken(ErrorKind::BadProtocol)
    );
}

#[test]
fn what_a_server_says_unasked_is_heard_between_operations() {
    let mut talk = Talk::selected(&operation(&[ImapCommand::Noop]), "", 1);
    assert_eq!(
        talk.hear("* 5 EXISTS\r\n* 2 EXPUNGE\r\n* OK [ALERT] soon\r\n"),
        Step::More
    );
    assert_eq!(talk.session.exists, 4);
    assert_eq!(talk.command("S3 OK\r\n* 6 EXISTS\r\n"), GOOD);
    assert_eq!(talk.session.exists, 6);
    let bye = talk.command("S4 OK\r\n* BYE shutting down\r\n");
    assert_eq!(bye, Step::Done(Ok(()), After::Close));
    let mut talk = Talk::selected(&operation(&[ImapCommand::Noop]), "", 1);
    assert_eq!(talk.hear("* BYE idle for too long\r\n"), Step::Finished);
    let mut talk = Talk::selected(&operation(&[ImapCommand::Noop]), "", 1);
    assert_eq!(
        talk.hear("* 2 EXPUNGE\r\n"),
        Step::Broken(ErrorKind::BadProtocol)
    );
}

#[test]
fn an_append_waits_for_leave_unless_the_server_gives_it_in_advance() {
    let mut talk = Talk::selected(&operation(&[ImapCommand::Append]), "", 1);
    assert!(talk.start().starts_with("S3 APPEND \"INBOX\" {"));
    let length: usize = talk.sent[19..].trim_end_matches("}\r\n").parse().unwrap();
    assert_eq!(talk.hear("+ go\r\n"), Step::More);
    assert_eq!(talk.sent.len(), length + 2);
    assert_eq!(talk.hear("* 2 EXISTS\r\nS3 OK\r\n"), GOOD);
    assert_eq!(talk.phases, ["append-ready", "append"]);

    for offers in ["LITERAL+", "LITERAL-"] {
        let mut talk = Talk::selected(&operation(&[ImapCommand::Append]), offers, 1);
        assert!(talk.start().contains("+}\r\nFrom: "));
        assert_eq!(talk.hear("* 2 EXISTS\r\nS3 OK\r\n"), GOOD);
        assert_eq!(talk.phases, ["append"]);
        assert_eq!(talk.imap.moved(&talk.session).appended, 1);
    }
}

#[test]
fn messages_that_are_appended_differ_and_check_out() {
    let mut talk = Talk::selected(&operation(&[ImapCommand::Append]), "LITERAL+", 1);
    let mut texts = Vec::new();
    for tag in 3..6 {
        let text = talk.start().split_once("+}\r\n").unwrap().1.to_owned();
        talk.hear(&format!("S{tag} OK\r\n"));
        texts.push(text);
    }
    for text in &texts {
        let mut check = PayloadCheck::mail();
        check.feed(text.strip_suffix("\r\n").unwrap().as_bytes());
        assert!(matches!(check.finish(), crate::payload::Finding::Good(m) if m.sender == 2 << 20));
    }
    texts.dedup();
    assert_eq!(texts.len(), 3);
}

#[test]
fn a_damaged_message_is_found_and_a_foreign_one_is_only_counted() {
    let mut verify = operation(&[ImapCommand::Fetch]);
    verify.verify = true;
    let mut talk = Talk::selected(&verify, "", 1);
    let header = String::from_utf8(talk.imap.message.header(1, 1)).unwrap();
    let damaged = format!("{header}damaged");
    let reply = format!(
        "* 1 FETCH (BODY[] {{{}}}\r\n{damaged})\r\nS3 OK\r\n",
        damaged.len()
    );
    assert_eq!(talk.command(&reply), failed(ErrorKind::ChecksumMismatch));
    assert_eq!(
        talk.command("* 1 FETCH (BODY[] {1}\r\nx)\r\nS4 OK\r\n"),
        GOOD
    );
    let payload = talk.imap.payload().unwrap();
    assert_eq!(
        (payload.checked, payload.corrupted, payload.unmarked),
        (1, 1, 1)
    );
}

#[test]
fn an_empty_mailbox_is_given_a_message_before_it_is_needed() {
    let mut talk = Talk::selected(&operation(&[ImapCommand::Fetch]), "LITERAL+", 0);
    assert!(talk.sent.starts_with("S3 APPEND "), "{}", talk.sent);
    assert_eq!(talk.hear("* 1 EXISTS\r\nS3 OK\r\n"), Step::Ready);
    // Others empty it again before the operation, and during it.
    talk.hear("* 1 EXPUNGE\r\n");
    assert!(talk.start().starts_with("S4 APPEND "));
    assert_eq!(talk.hear("* 1 EXISTS\r\nS4 OK\r\n"), Step::More);
    assert!(talk.sent.starts_with("S5 FETCH 1 "));
    let step = talk.hear("* 1 FETCH (BODY[] \"x\")\r\n* 1 EXPUNGE\r\nS5 OK\r\n");
    assert_eq!(step, Step::Done(Ok(()), After::Busy));
    assert!(talk.sent.starts_with("S6 APPEND "));
    assert_eq!(talk.hear("* 1 EXISTS\r\nS6 OK\r\n"), Step::Ready);
    assert_eq!(talk.imap.moved(&talk.session).appended, 0);
}

#[test]
fn a_mailbox_that_stays_empty_ends_the_connection() {
    let mut talk = Talk::selected(&operation(&[ImapCommand::Fetch]), "LITERAL+", 0);
    assert_eq!(talk.hear("S3 OK\r\n"), Step::Broken(ErrorKind::BadProtocol));
}

#[test]
fn a_message_is_deleted_and_expunged_in_one_operation() {
    let mut talk = Talk::selected(&operation(&[ImapCommand::Expunge]), "", 2);
    talk.imap.random.set_word_pos(0);
    assert!(talk.start().ends_with(" +FLAGS.SILENT (\\Deleted)\r\n"));
    assert_eq!(talk.hear("S3 OK\r\n"), Step::More);
    assert_eq!(talk.sent, "S4 EXPUNGE\r\n");
    assert_eq!(talk.hear("* 1 EXPUNGE\r\nS4 OK\r\n"), GOOD);
    assert_eq!(talk.phases, ["store", "expunge"]);
    assert_eq!((talk.session.exists, talk.session.moved.deleted), (1, 1));
}

#[test]
fn idle_lasts_its_time_or_until_a_message_comes() {
    let mut idle = operation(&[ImapCommand::Idle]);
    idle.idle_ns = 100;
    let mut talk = Talk::selected(&idle, "IDLE", 1);
    assert_eq!(talk.start(), "S3 IDLE\r\n");
    assert_eq!(talk.hear("+ idling\r\n"), Step::Pause(100));
    talk.now_ns = 51;
    assert_eq!(talk.hear("* OK still here\r\n"), Step::Pause(50));
    talk.now_ns = 101;
    talk.turn(Imap::resumed);
    assert_eq!(talk.sent, "DONE\r\n");
    assert_eq!(talk.hear("S3 OK\r\n"), GOOD);
    assert_eq!(talk.phases, ["idle-ready", "idle-hold", "idle-done"]);

    talk.phases.clear();
    talk.start();
    talk.hear("+ idling\r\n");
    assert_eq!(talk.hear("* 2 EXISTS\r\n"), Step::More);
    assert_eq!(talk.sent, "DONE\r\n");
    // The timer of before means nothing any more.
    assert_eq!(talk.turn(Imap::resumed), Step::More);
    assert_eq!(talk.hear("S4 OK\r\n"), GOOD);
    assert_eq!(talk.phases, ["idle-ready", "idle-wake", "idle-done"]);
}

#[test]
fn a_server_that_cannot_idle_is_not_asked_to() {
    let mut talk = Talk::new(&operation(&[ImapCommand::Idle]));
    talk.hear("* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN SASL-IR] hi\r\n");
    talk.hear("S1 OK [CAPABILITY IMAP4rev1] in\r\n");
    let missing = Step::Broken(ErrorKind::CapabilityMissing);
    assert_eq!(talk.hear("* 1 EXISTS\r\nS2 OK\r\n"), missing);
}

#[test]
fn a_whole_session_is_one_operation_that_ends_with_logout() {
    let mut talk = Talk::selected(&operation(&[ImapCommand::Session]), "", 1);
    assert!(talk.imap.one_shot());
    assert_eq!(talk.start(), "S3 LOGOUT\r\n");
    assert_eq!(
        talk.hear("* BYE see you\r\nS3 OK\r\n"),
        Step::Done(Ok(()), After::Close)
    );
    assert_eq!(talk.phases, ["logout"]);
}

#[test]
fn after_the_last_command_of_a_connection_comes_logout() {
    let mut few = operation(&[ImapCommand::Noop]);
    few.commands_per_connection = 2;
    let mut talk = Talk::selected(&few, "", 1);
    assert_eq!(talk.command("S3 OK\r\n"), GOOD);
    assert_eq!(talk.command("S4 OK\r\n"), Step::Done(Ok(()), After::Busy));
    assert_eq!(talk.sent, "S5 LOGOUT\r\n");
    assert_eq!(talk.hear("* BYE\r\nS5 OK\r\n"), Step::Finished);
}

#[test]
fn commands_are_drawn_by_weight_and_told_apart() {
    let commands = BTreeMap::from([
        (ImapCommand::Noop, 3.0),
        (ImapCommand::Search, 1.0),
        (ImapCommand::List, 0.0),
    ]);
    let weighed = ImapOperation {
        commands,
        ..operation(&[])
    };
    let mut talk = Talk::selected(&weighed, "", 1);
    assert_eq!(talk.imap.kinds(), ["search", "noop"]);
    let noops = (0..1_000)
        .filter(|_| talk.imap.any_command() == ImapCommand::Noop)
        .count();
    assert!((680..820).contains(&noops), "{noops}");
}

#[test]
fn another_codec_understands_every_command() {
    for command in ImapCommand::ALL {
        let mut talk = Talk::selected(&operation(&[command]), "IDLE LITERAL+", 3);
        let sent = talk.start().to_owned();
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
