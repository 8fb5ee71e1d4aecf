//! What SMTP gained later: AUTH, BDAT, STARTTLS.

use steelyard_sink::{Fault, Protocol, Store, User};

use crate::peer::Peer;
use crate::running::{options, smtp, start};
use crate::tls::{Secured, secured, upgrade};

/// `\0user\0secret` and its parts in base64.
const PLAIN: &str = "AHVzZXIAc2VjcmV0";
const NAME: &str = "dXNlcg==";
const SECRET: &str = "c2VjcmV0";

fn envelope(peer: &mut Peer) {
    peer.expect("MAIL FROM:<a@b>", "250 ");
    peer.expect("RCPT TO:<user1@b>", "250 ");
}

#[test]
fn users_log_in_with_plain_and_login_in_one_step_or_several() {
    let mut closed = options(Protocol::Smtp);
    closed.mail.users = vec![User {
        name: "user".to_owned(),
        password: "secret".to_owned(),
    }];
    let sink = start(closed);
    let ways: [&[(&str, &str)]; 4] = [
        &[(&format!("AUTH PLAIN {PLAIN}"), "235 2.7.0 ")],
        &[("AUTH PLAIN", "334 "), (PLAIN, "235 ")],
        &[
            ("auth login", "334 VXNlcm5hbWU6"),
            (NAME, "334 UGFzc3dvcmQ6"),
            (SECRET, "235 "),
        ],
        &[(&format!("AUTH LOGIN {NAME}"), "334 "), (SECRET, "235 ")],
    ];
    for way in ways {
        let mut peer = Peer::introduced(sink.address);
        for (line, start) in way {
            peer.expect(line, start);
        }
        peer.expect("AUTH PLAIN", "503 ");
        envelope(&mut peer);
    }
    assert!(sink.finish().errors.keys().eq(["bad_sequence"]));
}

#[test]
fn wrong_passwords_and_broken_responses_are_refused_and_the_connection_lives() {
    let mut closed = options(Protocol::Smtp);
    closed.mail.users = vec![User {
        name: "user".to_owned(),
        password: "other".to_owned(),
    }];
    let sink = start(closed);
    let mut peer = Peer::introduced(sink.address);
    peer.expect(&format!("AUTH PLAIN {PLAIN}"), "535 5.7.8 ");
    peer.expect("AUTH CRAM-MD5", "504 ");
    peer.expect("AUTH PLAIN", "334 ");
    peer.expect("*", "501 ");
    peer.expect("AUTH PLAIN", "334 ");
    peer.expect("%%%", "501 ");
    peer.expect("NOOP", "250 ");
    let counters = sink.finish();
    assert_eq!(counters.errors.get("login_failed"), Some(&2));
}

#[test]
fn a_message_in_chunks_is_one_message_whatever_its_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let mut stored = options(Protocol::Smtp);
    stored.smtp.store = Store::Maildir {
        folder: folder.path().to_owned(),
        sync: steelyard_sink::Sync::None,
        threads: 1,
    };
    let sink = start(stored);
    let mut peer = Peer::introduced(sink.address);
    envelope(&mut peer);
    peer.send("BDAT 6\r\n.\r\nab\nBDAT 5\r\n\r\n.\r\nBDAT 3 LAST\r\nendNOOP\r\n");
    for _ in 0..4 {
        assert!(peer.reply().starts_with("250 "));
    }
    envelope(&mut peer);
    peer.send("BDAT 0 LAST\r\n");
    assert!(peer.reply().starts_with("250 "));
    let counters = sink.finish();
    assert_eq!((counters.received, counters.ok), (2, 2));
    let mut texts: Vec<_> = std::fs::read_dir(folder.path().join("user1/new"))
        .unwrap()
        .map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap())
        .collect();
    texts.sort_by_key(String::len);
    assert!(
        texts[1].ends_with("+0000\r\n.\r\nab\n\r\n.\r\nend"),
        "{texts:?}"
    );
}

#[test]
fn a_chunk_without_recipients_is_read_and_refused() {
    let sink = smtp();
    let mut peer = Peer::introduced(sink.address);
    peer.send("BDAT 4 LAST\r\nQUITNOOP\r\n");
    assert!(peer.reply().starts_with("503 "));
    assert!(peer.reply().starts_with("250 "));
    peer.expect("MAIL FROM:<a@b>", "250 ");
    peer.expect("RCPT TO:<a/b@c>", "553 ");
    peer.send("BDAT 4 LAST\r\nQUIT");
    assert!(peer.reply().starts_with("554 "));
    let counters = sink.finish();
    assert_eq!(counters.received, 0);
}

#[test]
fn chunks_above_the_size_limit_end_the_message() {
    let mut small = options(Protocol::Smtp);
    small.smtp.max_message_bytes = 10;
    let sink = start(small);
    let mut peer = Peer::introduced(sink.address);
    envelope(&mut peer);
    peer.send("BDAT 8\r\n12345678BDAT 8\r\n12345678BDAT 1 LAST\r\n1");
    for start in ["250 ", "552 ", "503 "] {
        assert!(peer.reply().starts_with(start), "{start}");
    }
    envelope(&mut peer);
    peer.send("BDAT 11 LAST\r\n12345678901");
    assert!(peer.reply().starts_with("552 "));
    let counters = sink.finish();
    assert_eq!((counters.received, counters.failed), (1, 1));
}

#[test]
fn data_after_chunks_is_out_of_order() {
    let sink = smtp();
    let mut peer = Peer::introduced(sink.address);
    envelope(&mut peer);
    peer.send("BDAT 1\r\nx");
    assert!(peer.reply().starts_with("250 "));
    peer.expect("DATA", "503 ");
    peer.expect("RSET", "250 ");
    envelope(&mut peer);
    peer.expect("DATA", "354 ");
    sink.finish();
}

#[test]
fn tls_begins_on_request_and_forgets_what_was_said_before() {
    let Secured { sink, trust } = secured(options(Protocol::Smtp), false);
    let mut peer = Peer::greeted(sink.address);
    assert!(peer.ask("EHLO a").contains("250-STARTTLS\r\n"));
    peer.expect("MAIL FROM:<a@b>", "250 ");
    peer.expect("STARTTLS now", "501 ");
    peer.expect("STARTTLS", "220 ");
    let mut peer = upgrade(peer, &trust);
    peer.expect("MAIL FROM:<a@b>", "503 ");
    assert!(!peer.ask("EHLO a").contains("STARTTLS"));
    peer.expect("STARTTLS", "503 ");
    peer.expect("MAIL FROM:<a@b>", "250 ");
    peer.expect("QUIT", "221 ");
    assert_eq!(peer.end(), None);
    assert_eq!(sink.finish().tls_handshakes, 1);
}

#[test]
fn words_put_behind_starttls_are_not_answered_under_tls() {
    let Secured { sink, trust } = secured(options(Protocol::Smtp), false);
    let mut peer = Peer::introduced(sink.address);
    peer.send("STARTTLS\r\nMAIL FROM:<evil@b>\r\n");
    assert!(peer.reply().starts_with("220 "));
    let mut peer = upgrade(peer, &trust);
    peer.expect("NOOP", "250 2.0.0 ");
    peer.expect("EHLO a", "250-");
    peer.expect("RCPT TO:<a@b>", "503 ");
    let counters = sink.finish();
    assert_eq!(counters.errors.get("tls_injected"), Some(&1));
}

#[test]
fn a_delayed_reply_delays_the_handshake_and_loses_nothing() {
    let mut slow = options(Protocol::Smtp);
    slow.delays = vec!["STARTTLS:5ms".parse().unwrap()];
    let Secured { sink, trust } = secured(slow, false);
    let mut peer = Peer::introduced(sink.address);
    peer.expect("STARTTLS", "220 ");
    let mut peer = upgrade(peer, &trust);
    peer.expect("EHLO a", "250-");
    assert!(sink.finish().lateness.is_some());
}

#[test]
fn a_refused_starttls_stays_plain() {
    let mut refusing = options(Protocol::Smtp);
    refusing.faults = vec![Fault::parse("STARTTLS:tempfail").unwrap()];
    let Secured { sink, .. } = secured(refusing, false);
    let mut peer = Peer::introduced(sink.address);
    peer.expect("STARTTLS", "451 ");
    peer.expect("NOOP", "250 ");
    sink.finish();
}

#[test]
fn silence_is_ended_with_a_word_when_it_has_a_limit() {
    let mut impatient = options(Protocol::Smtp);
    impatient.idle_timeout_ns = Some(500_000_000);
    let sink = start(impatient);
    let mut peer = Peer::greeted(sink.address);
    peer.expect("NOOP", "250 ");
    assert!(peer.rest().starts_with("421 4.4.2 "));
    let counters = sink.finish();
    assert_eq!(counters.errors.get("idle_timeout"), Some(&1));
}
