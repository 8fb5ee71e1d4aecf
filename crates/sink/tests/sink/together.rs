//! SMTP, POP3 and IMAP on the same maildrops.

use std::sync::mpsc;

use steelyard_sink::{Fault, Protocol, SinkError, SinkOptions, StopHandle, Store, serve_together};

use crate::peer::Peer;
use crate::running::options;

fn listener(protocol: Protocol) -> SinkOptions {
    let mut listener = options(protocol);
    listener.smtp.store = Store::Memory;
    listener
}

#[test]
fn what_smtp_takes_is_pushed_to_who_idles_and_read_by_pop3() {
    let protocols = [Protocol::Smtp, Protocol::Pop3, Protocol::Imap];
    let listeners = protocols.map(listener);
    let stop = StopHandle::new().unwrap();
    let (sender, bound) = mpsc::channel();
    let handle = stop.clone();
    let thread = std::thread::spawn(move || {
        serve_together(&listeners, &handle, |all| sender.send(all).unwrap())
    });
    let all = bound.recv().unwrap();
    let address = |index: usize| all[index].1.tcp().unwrap();

    let mut imap = Peer::connect(address(2));
    imap.send("t LOGIN user1 x\r\nt SELECT INBOX\r\nt IDLE\r\n");
    while !imap.line().starts_with("+ ") {}

    let mut smtp = Peer::introduced(address(0));
    smtp.expect("MAIL FROM:<a@b>", "250 ");
    smtp.expect("RCPT TO:<user1@b>", "250 ");
    smtp.expect("DATA", "354 ");
    smtp.send("Subject: x\r\n\r\n..dot\r\n.\r\n");
    assert!(smtp.reply().starts_with("250 "));
    assert_eq!(imap.line(), "* 1 EXISTS\r\n");

    let mut pop3 = Peer::connect(address(1));
    pop3.send("USER user1\r\nPASS x\r\nRETR 1\r\nQUIT\r\n");
    let said = pop3.rest();
    assert!(said.contains("Subject: x\r\n\r\n..dot\r\n.\r\n"), "{said}");

    stop.stop();
    let counters = thread.join().unwrap().unwrap();
    assert_eq!(counters[0].0, Protocol::Smtp);
    assert_eq!((counters[0].1.ok, counters[0].1.stored_files), (1, 1));
    assert_eq!(counters[1].1.received, 4);
}

#[test]
fn a_listener_that_cannot_start_stops_the_others() {
    let mut taken = listener(Protocol::Imap);
    taken.listen = "192.0.2.1:0".parse().unwrap();
    let stop = StopHandle::new().unwrap();
    let listeners = [listener(Protocol::Smtp), taken];
    let refused = serve_together(&listeners, &stop, |_| panic!("it started")).unwrap_err();
    assert!(matches!(refused, SinkError::AddressNotAvailable(_)));
}

#[test]
fn a_fault_goes_to_the_protocols_that_have_its_verb() {
    let mut smtp = listener(Protocol::Smtp);
    smtp.faults = vec![Fault::parse("FETCH:drop").unwrap()];
    let stop = StopHandle::new().unwrap();
    stop.stop();
    let both = [smtp.clone(), listener(Protocol::Imap)];
    serve_together(&both, &stop, |_| {}).unwrap();
    let alone = serve_together(&[smtp], &stop, |_| {}).unwrap_err();
    assert!(matches!(alone, SinkError::UnknownVerb { .. }));
}
