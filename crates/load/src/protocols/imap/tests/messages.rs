use super::*;

#[test]
fn an_append_waits_for_leave_unless_the_server_gives_it_in_advance() {
    let mut exchange = Exchange::selected(&operation(&[ImapCommand::Append]), "", 1);
    assert!(exchange.start().starts_with("S3 APPEND \"INBOX\" {"));
    let length: usize = exchange.sent[19..]
        .trim_end_matches("}\r\n")
        .parse()
        .unwrap();
    assert_eq!(exchange.receive("+ go\r\n"), Step::More);
    assert_eq!(exchange.sent.len(), length + 2);
    assert_eq!(exchange.receive("* 2 EXISTS\r\nS3 OK\r\n"), GOOD);
    assert_eq!(exchange.phases, ["append-ready", "append"]);

    for offers in ["LITERAL+", "LITERAL-"] {
        let mut exchange = Exchange::selected(&operation(&[ImapCommand::Append]), offers, 1);
        assert!(exchange.start().contains("+}\r\nFrom: "));
        assert_eq!(exchange.receive("* 2 EXISTS\r\nS3 OK\r\n"), GOOD);
        assert_eq!(exchange.phases, ["append"]);
        assert_eq!(exchange.imap.moved(&exchange.session).appended, 1);
    }
}

#[test]
fn messages_that_are_appended_differ_and_check_out() {
    let mut exchange = Exchange::selected(&operation(&[ImapCommand::Append]), "LITERAL+", 1);
    let mut texts = Vec::new();
    for tag in 3..6 {
        let text = exchange.start().split_once("+}\r\n").unwrap().1.to_owned();
        exchange.receive(&format!("S{tag} OK\r\n"));
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
    let mut exchange = Exchange::selected(&verify, "", 1);
    let header = String::from_utf8(exchange.imap.message.header(1, 1)).unwrap();
    let damaged = format!("{header}damaged");
    let reply = format!(
        "* 1 FETCH (BODY[] {{{}}}\r\n{damaged})\r\nS3 OK\r\n",
        damaged.len()
    );
    assert_eq!(
        exchange.command(&reply),
        failed(ErrorKind::ChecksumMismatch)
    );
    assert_eq!(
        exchange.command("* 1 FETCH (BODY[] {1}\r\nx)\r\nS4 OK\r\n"),
        GOOD
    );
    let payload = exchange.imap.payload().unwrap();
    assert_eq!(
        (payload.checked, payload.corrupted, payload.unmarked),
        (1, 1, 1)
    );
}

#[test]
fn an_empty_mailbox_is_given_a_message_before_it_is_needed() {
    let mut exchange = Exchange::selected(&operation(&[ImapCommand::Fetch]), "LITERAL+", 0);
    assert!(exchange.sent.starts_with("S3 APPEND "), "{}", exchange.sent);
    assert_eq!(exchange.receive("* 1 EXISTS\r\nS3 OK\r\n"), Step::Ready);
    // Others empty it again before the operation, and during it.
    exchange.receive("* 1 EXPUNGE\r\n");
    assert!(exchange.start().starts_with("S4 APPEND "));
    assert_eq!(exchange.receive("* 1 EXISTS\r\nS4 OK\r\n"), Step::More);
    assert!(exchange.sent.starts_with("S5 FETCH 1 "));
    let step = exchange.receive("* 1 FETCH (BODY[] \"x\")\r\n* 1 EXPUNGE\r\nS5 OK\r\n");
    assert_eq!(step, Step::Done(Ok(()), After::Busy));
    assert!(exchange.sent.starts_with("S6 APPEND "));
    assert_eq!(exchange.receive("* 1 EXISTS\r\nS6 OK\r\n"), Step::Ready);
    assert_eq!(exchange.imap.moved(&exchange.session).appended, 0);
}

#[test]
fn a_mailbox_that_stays_empty_ends_the_connection() {
    let mut exchange = Exchange::selected(&operation(&[ImapCommand::Fetch]), "LITERAL+", 0);
    assert_eq!(
        exchange.receive("S3 OK\r\n"),
        Step::Broken(ErrorKind::BadProtocol)
    );
}

#[test]
fn a_message_is_deleted_and_expunged_in_one_operation() {
    let mut exchange = Exchange::selected(&operation(&[ImapCommand::Expunge]), "", 2);
    exchange.imap.random.set_word_pos(0);
    assert!(exchange.start().ends_with(" +FLAGS.SILENT (\\Deleted)\r\n"));
    assert_eq!(exchange.receive("S3 OK\r\n"), Step::More);
    assert_eq!(exchange.sent, "S4 EXPUNGE\r\n");
    assert_eq!(exchange.receive("* 1 EXPUNGE\r\nS4 OK\r\n"), GOOD);
    assert_eq!(exchange.phases, ["store", "expunge"]);
    assert_eq!(
        (exchange.session.exists, exchange.session.moved.deleted),
        (1, 1)
    );
}
