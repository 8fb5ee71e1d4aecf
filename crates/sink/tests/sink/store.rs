//! Messages on disk: whole, once, safe, and nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use steelyard_sink::{Fault, Protocol, SinkOptions, Store, Sync};
use tempfile::{TempDir, tempdir};

use crate::peer::Peer;
use crate::running::{options, start};

fn storing(folder: &TempDir, sync: Sync, threads: u32) -> SinkOptions {
    let mut options = options(Protocol::Smtp);
    options.smtp.hostname = Some("mx.example".to_owned());
    options.smtp.store = Store::Maildir {
        folder: folder.path().to_owned(),
        sync,
        threads,
    };
    options
}

fn files(folder: &Path) -> Vec<Vec<u8>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries
            .map(|entry| fs::read(entry.unwrap().path()).unwrap())
            .collect(),
        Err(_) => Vec::new(),
    }
}

/// The message behind the lines the sink put in front.
fn text(file: &[u8]) -> &[u8] {
    let mut lines = file.split_inclusive(|byte| *byte == b'\n');
    let trace: Vec<&[u8]> = lines.by_ref().take(4).collect();
    assert!(
        trace[0].starts_with(b"Return-Path: <"),
        "{}",
        String::from_utf8_lossy(file)
    );
    assert!(trace[1].starts_with(b"Received: from "));
    &file[trace.iter().map(|line| line.len()).sum()..]
}

fn stuffed(message: &str) -> String {
    let lines = message.split_inclusive("\r\n");
    let stuffed = lines.map(|line| match line.strip_prefix('.') {
        Some(_) => format!(".{line}"),
        None => line.to_owned(),
    });
    stuffed.collect::<String>() + ".\r\n"
}

fn send(peer: &mut Peer, recipients: &[&str], message: &str) -> String {
    peer.expect("MAIL FROM:<sender@example.org>", "250 ");
    for recipient in recipients {
        peer.expect(&format!("RCPT TO:<{recipient}@example.org>"), "250 ");
    }
    peer.expect("DATA", "354 ");
    peer.send(stuffed(message));
    peer.reply()
}

#[test]
fn a_message_lies_in_new_with_its_trace_in_front() {
    let folder = tempdir().unwrap();
    let sink = start(storing(&folder, Sync::EachMessage, 2));
    let mut peer = Peer::introduced(sink.address);
    assert!(send(&mut peer, &["user1"], "Subject: x\r\n\r\n.dot\r\n").starts_with("250 "));
    let stored = files(&folder.path().join("user1/new"));
    assert_eq!(stored.len(), 1);
    assert_eq!(text(&stored[0]), b"Subject: x\r\n\r\n.dot\r\n");
    let head = String::from_utf8_lossy(&stored[0]).into_owned();
    assert!(
        head.starts_with("Return-Path: <sender@example.org>\r\n"),
        "{head}"
    );
    assert!(
        head.contains("from test.example ([127.0.0.1])\r\n\tby mx.example "),
        "{head}"
    );
    assert!(files(&folder.path().join("user1/tmp")).is_empty());
    assert!(folder.path().join("user1/cur").is_dir());
    let counters = sink.finish();
    assert_eq!((counters.ok, counters.stored_files), (1, 1));
    assert_eq!(counters.stored_bytes, stored[0].len() as u64);
}

#[test]
fn each_recipient_has_its_own_copy() {
    let folder = tempdir().unwrap();
    let sink = start(storing(&folder, Sync::None, 2));
    let mut peer = Peer::introduced(sink.address);
    for message in ["short\r\n".to_owned(), "long line\r\n".repeat(30_000)] {
        assert!(send(&mut peer, &["a", "b", "c", "a"], &message).starts_with("250 "));
        for user in ["a", "b", "c"] {
            let stored = files(&folder.path().join(user).join("new"));
            assert!(
                stored.iter().any(|file| text(file) == message.as_bytes()),
                "{user}"
            );
        }
    }
    assert_eq!(sink.finish().stored_files, 6);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_sent_is_what_lies_in_the_file(
        lines in proptest::collection::vec("[.a\u{e4}]{0,5}", 0..20),
        repeat in prop_oneof![Just(1_usize), Just(2000), Just(7000)],
        cut in 0.0_f64..1.0,
    ) {
        let once: String = lines.iter().flat_map(|line| [line.as_str(), "\r\n"]).collect();
        let message = once.repeat(repeat);
        let folder = tempdir().unwrap();
        let sink = start(storing(&folder, Sync::None, 1));
        let mut peer = Peer::introduced(sink.address);
        peer.send("MAIL FROM:<>\r\nRCPT TO:<user@x>\r\nDATA\r\n");
        (0..3).for_each(|_| drop(peer.reply()));
        let wire = stuffed(&message);
        let (first, second) = wire.as_bytes().split_at((wire.len() as f64 * cut) as usize);
        peer.send(first);
        peer.send(second);
        prop_assert!(peer.reply().starts_with("250 "));
        let stored = files(&folder.path().join("user/new"));
        prop_assert_eq!(stored.len(), 1);
        prop_assert!(text(&stored[0]) == message.as_bytes());
        sink.finish();
    }
}

#[test]
fn many_users_at_once_store_every_message_exactly_once() {
    const USERS: usize = 8;
    const MESSAGES: usize = 12;
    let folder = tempdir().unwrap();
    let mut options = storing(&folder, Sync::EachMessage, 4);
    options.threads = 2;
    let sink = start(options);
    let address = sink.address;
    std::thread::scope(|scope| {
        for user in 0..USERS {
            scope.spawn(move || {
                let mut peer = Peer::introduced(address);
                for number in 0..MESSAGES {
                    let message = format!("{user} {number}\r\n");
                    let recipient = format!("user{}", number % 3);
                    assert!(send(&mut peer, &[&recipient], &message).starts_with("250 "));
                }
                peer.expect("QUIT", "221 ");
            });
        }
    });
    let stored: Vec<Vec<u8>> = (0..3)
        .flat_map(|user| files(&folder.path().join(format!("user{user}/new"))))
        .collect();
    let texts: BTreeSet<&[u8]> = stored.iter().map(|file| text(file)).collect();
    assert_eq!(
        (stored.len(), texts.len()),
        (USERS * MESSAGES, USERS * MESSAGES)
    );
    let counters = sink.finish();
    assert_eq!(counters.stored_files as usize, USERS * MESSAGES);
    assert_eq!(
        (counters.ok, counters.connections as usize),
        (counters.stored_files, USERS)
    );
}

#[test]
fn pipelined_messages_are_stored_and_answered_in_order() {
    let folder = tempdir().unwrap();
    let sink = start(storing(&folder, Sync::EachMessage, 4));
    let mut peer = Peer::introduced(sink.address);
    let one =
        |user| format!("MAIL FROM:<a@b>\r\nRCPT TO:<{user}@b>\r\nDATA\r\nx\r\n.\r\nVRFY x\r\n");
    peer.send(
        (0..20)
            .map(|number| one(format!("u{number}")))
            .collect::<String>()
            + "QUIT\r\n",
    );
    let codes: Vec<String> = peer
        .rest()
        .lines()
        .map(|line| line[..3].to_owned())
        .collect();
    assert_eq!(codes[..100], ["250", "250", "354", "250", "252"].repeat(20));
    assert_eq!(sink.finish().stored_files, 20);
}

#[test]
fn a_message_that_is_not_answered_well_is_not_stored() {
    let folder = tempdir().unwrap();
    for fault in [
        "EOM:reject",
        "EOM:tempfail",
        "EOM:drop",
        "EOM:stall",
        "EOM:reset",
    ] {
        let mut options = storing(&folder, Sync::None, 1);
        options.faults = vec![Fault::parse(fault).unwrap()];
        let sink = start(options);
        let mut peer = Peer::introduced(sink.address);
        peer.send("MAIL FROM:<>\r\nRCPT TO:<user@x>\r\nDATA\r\n");
        (0..3).for_each(|_| drop(peer.reply()));
        peer.send(stuffed(&"spilled to its file\r\n".repeat(5000)));
        if fault == "EOM:stall" {
            assert!(peer.is_silent());
        } else {
            // An answer, an end or a reset: the message was read.
            let _ = std::io::Read::read(&mut peer.0, &mut [0; 100]);
        }
        drop(peer);
        assert_eq!(sink.finish().stored_files, 0, "{fault}");
        assert!(files(&folder.path().join("user/new")).is_empty(), "{fault}");
        assert!(files(&folder.path().join("user/tmp")).is_empty(), "{fault}");
    }
}

#[test]
fn a_message_left_half_sent_leaves_nothing() {
    let folder = tempdir().unwrap();
    let sink = start(storing(&folder, Sync::None, 1));
    let mut peer = Peer::introduced(sink.address);
    peer.send("MAIL FROM:<>\r\nRCPT TO:<user@x>\r\nDATA\r\n");
    (0..3).for_each(|_| drop(peer.reply()));
    peer.send("half\r\n".repeat(50_000));
    peer.done_sending();
    assert_eq!(peer.rest(), "");
    assert_eq!(sink.finish().received, 0);
    assert!(files(&folder.path().join("user/new")).is_empty());
    assert!(files(&folder.path().join("user/tmp")).is_empty());
}

#[test]
fn a_folder_removed_while_serving_is_made_again() {
    let folder = tempdir().unwrap();
    let sink = start(storing(&folder, Sync::EachMessage, 1));
    let mut peer = Peer::introduced(sink.address);
    assert!(send(&mut peer, &["user"], "one\r\n").starts_with("250 "));
    fs::remove_dir_all(folder.path().join("user")).unwrap();
    assert!(send(&mut peer, &["user"], "two\r\n").starts_with("250 "));
    assert_eq!(files(&folder.path().join("user/new")).len(), 1);
    sink.finish();
}

#[test]
fn a_folder_that_cannot_be_made_refuses_for_now() {
    let folder = tempdir().unwrap();
    fs::write(
        folder.path().join("user"),
        "a file stands where the folder should",
    )
    .unwrap();
    let sink = start(storing(&folder, Sync::None, 1));
    let mut peer = Peer::introduced(sink.address);
    assert!(send(&mut peer, &["user"], "x\r\n").starts_with("451 4.3.0 "));
    assert!(send(&mut peer, &["other"], "x\r\n").starts_with("250 "));
    let counters = sink.finish();
    assert_eq!(
        (counters.ok, counters.failed, counters.errors["store_io"]),
        (1, 1, 1)
    );
}
