use super::*;
use steelyard_wire::job::Passive;

mod connections;
mod refusals;

fn operation(action: FtpAction) -> FtpOperation {
    FtpOperation {
        actions: [(action, 1.0)].into(),
        folder: "in".to_owned(),
        upload_bytes: 10,
        ..FtpOperation::default()
    }
}

/// A connection in conversation; remembers what was sent last.
struct Exchange {
    ftp: Ftp,
    session: Session,
    sent: String,
    marks: Vec<&'static str>,
    left: usize,
    now_ns: u64,
}

impl Exchange {
    fn with(operation: &FtpOperation, url: &str) -> Self {
        let target = Target::resolve(url, None).unwrap();
        let mut ftp = Ftp::new(operation, &target, 1, 1).unwrap();
        let session = ftp.open(0);
        let mut exchange = Self {
            ftp,
            session,
            sent: String::new(),
            marks: Vec::new(),
            left: 0,
            now_ns: 0,
        };
        assert_eq!(exchange.step(Ftp::connected), Step::More);
        exchange
    }

    fn new(operation: &FtpOperation) -> Self {
        Self::with(operation, "ftp://127.0.0.1/file")
    }

    fn ready(operation: &FtpOperation) -> Self {
        let mut exchange = Self::new(operation);
        exchange.receive("220 hi\r\n");
        exchange.receive("331 who?\r\n");
        exchange.receive("230 you\r\n");
        let mut step = exchange.receive("200 binary\r\n");
        while exchange.sent.starts_with("SIZE") {
            step = exchange.receive("550 no such command\r\n");
        }
        assert_eq!(step, Step::Ready);
        exchange
    }

    /// An operation whose data connection is there.
    fn transferring(operation: &FtpOperation) -> Self {
        let mut exchange = Self::ready(operation);
        exchange.start();
        assert_eq!(exchange.receive("229 here (|||4000|)\r\n"), Step::OpenSide);
        assert_eq!(exchange.side(SideEvent::Connected), Step::More);
        exchange.marks.clear();
        exchange
    }

    fn step(&mut self, act: impl FnOnce(&mut Ftp, &mut Session, &mut Turn<'_>) -> Step) -> Step {
        let mut out = Output::default();
        let mut turn = Turn::new(self.now_ns, &mut out);
        let step = act(&mut self.ftp, &mut self.session, &mut turn);
        self.marks
            .extend(turn.marks().map(|(phase, _)| phases::NAMES[phase]));
        self.left = turn.left;
        self.sent = String::from_utf8(out.head).unwrap();
        step
    }

    fn receive(&mut self, reply: &str) -> Step {
        self.step(|ftp, session, turn| ftp.received(session, reply.as_bytes(), turn))
    }

    fn side(&mut self, event: SideEvent<'_>) -> Step {
        self.step(|ftp, session, turn| ftp.side(session, event, turn))
    }

    fn start(&mut self) {
        self.step(|ftp, session, turn| {
            ftp.start(session, 0, turn.out);
            Step::More
        });
    }

    fn phase(&self) -> &'static str {
        phases::NAMES[self.ftp.phase(&self.session)]
    }
}

const DONE: Step = Step::Done(Ok(()), After::Ready);

const END: SideEvent<'static> = SideEvent::Ended { clean: true };

fn failed(kind: ErrorKind) -> Step {
    Step::Done(Err(kind), After::Ready)
}

#[test]
fn every_phase_has_its_name() {
    for (place, name) in [
        (phases::CONNECT, "connect"),
        (phases::TLS, "tls"),
        (phases::PASS, "pass"),
        (phases::SIZE, "size"),
        (phases::DATA_CONNECT, "data-connect"),
        (phases::COMPLETE, "226"),
        (phases::QUIT, "quit"),
    ] {
        assert_eq!(phases::NAMES[place], name);
    }
    assert_eq!(phases::NAMES.len(), phases::QUIT + 1);
}

#[test]
fn a_login_asks_for_the_size_of_the_file_once_for_all_connections() {
    let mut exchange = Exchange::new(&operation(FtpAction::Download));
    exchange.receive("220-first\r\n220 second\r\n");
    assert_eq!(exchange.sent, "USER anonymous\r\n");
    exchange.receive("331 password?\r\n");
    assert!(exchange.sent.starts_with("PASS "));
    exchange.receive("230 welcome\r\n");
    assert_eq!(exchange.sent, "TYPE I\r\n");
    exchange.receive("200 ok\r\n");
    assert_eq!(exchange.sent, "SIZE file\r\n");
    assert_eq!(exchange.receive("213 5\r\n"), Step::Ready);
    assert_eq!(exchange.marks, ["banner", "user", "pass", "type", "size"]);
    exchange.session = exchange.ftp.open(1);
    exchange.step(Ftp::connected);
    for reply in ["220 hi\r\n", "230 no password\r\n"] {
        assert_eq!(exchange.receive(reply), Step::More);
    }
    assert_eq!(exchange.receive("200 ok\r\n"), Step::Ready);
}

#[test]
fn a_download_is_done_when_data_and_226_are_there() {
    let mut exchange = Exchange::transferring(&operation(FtpAction::Download));
    assert_eq!(exchange.sent, "RETR file\r\n");
    assert_eq!(
        exchange.receive("150 Opening for file (5 bytes).\r\n"),
        Step::More
    );
    assert_eq!(exchange.side(SideEvent::Discarded(2)), Step::More);
    assert_eq!(exchange.side(SideEvent::Discarded(3)), Step::More);
    assert_eq!(exchange.side(END), Step::More);
    assert_eq!(exchange.phase(), "226");
    assert_eq!(exchange.receive("226 done\r\n"), DONE);
    assert_eq!(exchange.marks, ["150", "first-byte", "last-byte", "226"]);
}

#[test]
fn the_two_conversations_of_a_download_may_come_in_any_order() {
    #[derive(Clone, Copy)]
    enum Piece {
        Reply(&'static str),
        Data,
        End,
    }
    use Piece::{Data, End, Reply};
    let orders: &[&[Piece]] = &[
        &[Reply("150 go\r\n226 done\r\n"), Data, End],
        &[Reply("150 go\r\n"), Data, Reply("226 done\r\n"), End],
        &[Data, End, Reply("150 go\r\n226 done\r\n")],
        &[Data, Reply("125 go\r\n"), End, Reply("250 done\r\n")],
        &[Data, End, Reply("226 without 150\r\n")],
        &[Reply("226 without 150\r\n"), Data, End],
    ];
    for (number, order) in orders.iter().enumerate() {
        let mut exchange = Exchange::transferring(&operation(FtpAction::Download));
        let steps: Vec<Step> = order
            .iter()
            .map(|piece| match piece {
                Reply(text) => exchange.receive(text),
                Data => exchange.side(SideEvent::Discarded(5)),
                End => exchange.side(END),
            })
            .collect();
        let (last, before) = steps.split_last().unwrap();
        assert_eq!(*last, DONE, "order {number}");
        assert!(
            before.iter().all(|step| *step == Step::More),
            "order {number}"
        );
    }
}

#[test]
fn a_download_of_another_length_than_announced_has_failed() {
    for (bytes, kind) in [(4, ErrorKind::ShortRead), (6, ErrorKind::BodyMismatch)] {
        let mut exchange = Exchange::transferring(&operation(FtpAction::Download));
        exchange.receive("150 Opening for file (5 bytes)\r\n");
        exchange.side(SideEvent::Discarded(bytes));
        exchange.side(END);
        assert_eq!(exchange.receive("226 done\r\n"), failed(kind));
    }
}

#[test]
fn data_that_ends_without_a_word_of_tls_is_suspect_unless_its_length_is_known() {
    for (begin, step) in [
        ("150 go\r\n", failed(ErrorKind::ShortRead)),
        ("150 go (5 bytes)\r\n", DONE),
    ] {
        let mut exchange = Exchange::transferring(&operation(FtpAction::Download));
        exchange.receive(begin);
        exchange.side(SideEvent::Discarded(5));
        exchange.side(SideEvent::Ended { clean: false });
        assert_eq!(exchange.receive("226 done\r\n"), step);
    }
}

#[test]
fn an_upload_waits_for_150_and_is_done_with_226() {
    let mut exchange = Exchange::transferring(&operation(FtpAction::Upload));
    assert_eq!(exchange.sent, "STOR in/steelyard-0000000000000001-0-0\r\n");
    assert_eq!(exchange.receive("150 go\r\n"), Step::SendSide);
    assert_eq!(exchange.ftp.side_output(&exchange.session), (&b""[..], 10));
    assert_eq!(exchange.side(SideEvent::SentAll), Step::More);
    assert_eq!(exchange.receive("226 stored\r\n"), DONE);
    assert_eq!(exchange.marks, ["150", "last-byte", "226"]);
    exchange.start();
    exchange.receive("229 (|||1|)\r\n");
    exchange.side(SideEvent::Connected);
    assert_eq!(exchange.sent, "STOR in/steelyard-0000000000000001-0-1\r\n");
}

#[test]
fn an_upload_that_the_server_calls_complete_too_early_has_failed() {
    for replies in [
        &["150 go\r\n", "226 done\r\n"][..],
        &["150 go\r\n226 done\r\n"],
    ] {
        let mut exchange = Exchange::transferring(&operation(FtpAction::Upload));
        let last = replies.iter().map(|reply| exchange.receive(reply)).last();
        assert_eq!(last, Some(failed(ErrorKind::ShortWrite)));
    }
}

#[test]
fn a_login_is_over_with_the_good_bye_and_asks_for_nothing_else() {
    let mut exchange = Exchange::new(&operation(FtpAction::Login));
    assert!(exchange.ftp.one_shot());
    exchange.receive("220 hi\r\n");
    exchange.receive("331 password?\r\n");
    assert_eq!(exchange.receive("230 you\r\n"), Step::Ready);
    exchange.start();
    assert_eq!(exchange.sent, "QUIT\r\n");
    let bye = Step::Done(Ok(()), After::Close);
    assert_eq!(exchange.receive("221 bye\r\n"), bye);
}

#[test]
fn uploads_are_deleted_where_asked_for_and_that_belongs_to_the_operation() {
    let operation = FtpOperation {
        delete_uploads: true,
        ..operation(FtpAction::Upload)
    };
    let mut exchange = Exchange::transferring(&operation);
    exchange.receive("150 go\r\n");
    exchange.side(SideEvent::SentAll);
    assert_eq!(exchange.receive("226 stored\r\n"), Step::More);
    assert_eq!(exchange.sent, "DELE in/steelyard-0000000000000001-0-0\r\n");
    assert_eq!(exchange.receive("250 gone\r\n"), DONE);
}

#[test]
fn the_last_transfer_of_a_connection_is_followed_by_quit() {
    let operation = FtpOperation {
        transfers_per_connection: 1,
        ..operation(FtpAction::List)
    };
    let mut exchange = Exchange::transferring(&operation);
    assert_eq!(exchange.sent, "LIST in\r\n");
    exchange.side(END);
    assert_eq!(
        exchange.receive("226 nothing\r\n"),
        Step::Done(Ok(()), After::Busy)
    );
    assert_eq!(exchange.sent, "QUIT\r\n");
    assert_eq!(exchange.receive("221 bye\r\n"), Step::Finished);
}

#[test]
fn a_transfer_below_its_share_is_too_slow() {
    let operation = FtpOperation {
        user_bytes_per_s: 1_000,
        least_share: 0.5,
        ..operation(FtpAction::Download)
    };
    for (took_ns, step) in [
        (2_000_000_000, DONE),
        (2_100_000_000, failed(ErrorKind::TooSlow)),
    ] {
        let mut exchange = Exchange::transferring(&operation);
        exchange.receive("150 go\r\n");
        exchange.side(SideEvent::Discarded(1_000));
        exchange.now_ns = took_ns;
        exchange.side(END);
        assert_eq!(exchange.receive("226 done\r\n"), step);
    }
}

#[test]
fn a_marked_file_is_checked_and_an_unmarked_one_only_counted() {
    let operation = FtpOperation {
        verify: true,
        ..operation(FtpAction::Download)
    };
    let good = "steelyard-payload: v1 0000000000000001 0 0 0 ef46db3751d8e999\n";
    let bad = good.replace("ef46", "ef47");
    let mut exchange = Exchange::ready(&operation);
    for (file, step) in [
        (good, DONE),
        (&bad, failed(ErrorKind::ChecksumMismatch)),
        ("plain\n", DONE),
    ] {
        exchange.start();
        exchange.receive("229 (|||1|)\r\n");
        exchange.side(SideEvent::Connected);
        assert_eq!(
            exchange.ftp.side_plan(&exchange.session).unwrap().input,
            SideInput::Bytes
        );
        exchange.side(SideEvent::Received(file.as_bytes()));
        exchange.side(END);
        assert_eq!(exchange.receive("226 done\r\n"), step, "{file}");
    }
    let payload = exchange.ftp.payload().unwrap();
    assert_eq!((payload.checked, payload.corrupted), (2, 1));
    assert_eq!(payload.unmarked, 1);
}

#[test]
fn users_take_turns_over_all_workers() {
    let mut operation = operation(FtpAction::Login);
    operation.login.user = "user{n}".to_owned();
    operation.login.users = 3;
    let target = Target::resolve("ftp://127.0.0.1/", None).unwrap();
    let ftp = Ftp::new(&operation, &target, 1, 1).unwrap();
    let mut users: Vec<u32> = (0..2)
        .flat_map(|worker| {
            let mut ftp = ftp.for_worker(worker, 2, 1);
            [0, 1, 2].map(|place| ftp.open(place).user)
        })
        .collect();
    users.sort_unstable();
    assert_eq!(users, [1, 1, 2, 2, 3, 3]);
}

#[test]
fn jobs_that_make_no_sense_are_refused_with_a_hint() {
    let mixed = FtpOperation {
        actions: [(FtpAction::Login, 1.0), (FtpAction::List, 1.0)].into(),
        ..operation(FtpAction::List)
    };
    let mut injected = operation(FtpAction::List);
    injected.login.user = "me\r\nDELE x".to_owned();
    let too_much = FtpOperation {
        least_share: 1.5,
        ..operation(FtpAction::List)
    };
    let target = Target::resolve("ftp://127.0.0.1/", None).unwrap();
    for bad in [mixed, injected, too_much, operation(FtpAction::Download)] {
        let error = Ftp::new(&bad, &target, 1, 1).unwrap_err();
        assert!(error.hint().is_some(), "{bad:?}");
    }
}

#[test]
fn a_farewell_of_the_server_between_transfers_is_none_of_ours() {
    let mut exchange = Exchange::ready(&operation(FtpAction::List));
    assert_eq!(
        exchange.receive("421 idle for too long\r\n"),
        Step::Finished
    );
    let mut exchange = Exchange::transferring(&operation(FtpAction::List));
    exchange.side(END);
    assert_eq!(exchange.receive("226 done\r\n421 now go\r\n"), DONE);
    assert_eq!(exchange.left, 12);
}
