//! Another implementation reads what this one writes, and writes what this one reads.

use proptest::prelude::*;
use smtp_proto::Request;
use smtp_proto::request::receiver::{BdatReceiver, DataReceiver};
use steelyard_wire::job::Pipelining;

use super::*;

fn local() -> impl Strategy<Value = String> {
    "[a-z0-9][a-z0-9+_-]{0,20}(\\.[a-z0-9]{1,8}){0,2}"
}

fn address() -> impl Strategy<Value = String> {
    (local(), "[a-z][a-z0-9-]{0,10}[a-z0-9]\\.(test|example)")
        .prop_map(|(local, domain)| format!("{local}@{domain}"))
}

fn operation(
    senders: Vec<String>,
    recipients: Vec<String>,
    chunking: bool,
    body_bytes: u64,
) -> SmtpOperation {
    SmtpOperation {
        recipients_per_message: recipients.len() as u32,
        senders,
        recipient_list: recipients,
        pipelining: Pipelining::Envelope,
        chunking,
        body_bytes,
        ..SmtpOperation::default()
    }
}

fn greeted(operation: &SmtpOperation) -> Exchange {
    let mut exchange = Exchange::new(operation);
    exchange.receive("220 hi\r\n");
    exchange.receive("250-hi\r\n250-PIPELINING\r\n250 CHUNKING\r\n");
    exchange
}

/// The sender, the recipients, and what is left to read.
fn parse_envelope(
    bytes: &mut std::slice::Iter<'_, u8>,
    recipients: usize,
) -> (String, Vec<String>) {
    let Ok(Request::Mail { from }) = Request::parse(bytes) else {
        panic!("no MAIL")
    };
    let recipients = (0..recipients).map(|_| match Request::parse(bytes) {
        Ok(Request::Rcpt { to }) => to.address.to_string(),
        other => panic!("no RCPT: {other:?}"),
    });
    (from.address.to_string(), recipients.collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn envelopes_give_back_their_addresses(
        senders in proptest::collection::vec(address(), 1..4),
        recipients in proptest::collection::btree_set(address(), 1..6),
    ) {
        let recipients: Vec<String> = recipients.into_iter().collect();
        let mut exchange = greeted(&operation(senders.clone(), recipients.clone(), false, 10));
        exchange.start();
        let sent = exchange.sent.clone();
        let mut bytes = sent.as_bytes().iter();
        let (from, mut to) = parse_envelope(&mut bytes, recipients.len());
        prop_assert!(senders.contains(&from), "{}", from);
        to.sort();
        prop_assert_eq!(to, recipients);
        prop_assert_eq!(Request::parse(&mut bytes), Ok(Request::Data));
        prop_assert!(bytes.as_slice().is_empty());
    }

    #[test]
    fn content_ends_where_another_receiver_sees_its_end(body_bytes in 0_u64..5_000) {
        let mut exchange = greeted(&operation(Vec::new(), vec!["a@b.test".to_owned()], false, body_bytes));
        exchange.start();
        exchange.receive("250 ok\r\n250 ok\r\n354 go\r\n");
        let sent = exchange.sent.clone();
        let mut bytes = sent.as_bytes().iter();
        let mut message = Vec::new();
        prop_assert!(DataReceiver::new().ingest(&mut bytes, &mut message));
        prop_assert!(bytes.as_slice().is_empty());
        let mut check = crate::payload::PayloadCheck::mail();
        check.feed(&message);
        prop_assert!(matches!(check.finish(), crate::payload::Finding::Good(_)));
    }

    #[test]
    fn chunks_are_as_long_as_they_say(body_bytes in 0_u64..5_000) {
        let mut exchange = greeted(&operation(Vec::new(), vec!["a@b.test".to_owned()], true, body_bytes));
        exchange.start();
        let sent = exchange.sent.clone();
        let mut bytes = sent.as_bytes().iter();
        parse_envelope(&mut bytes, 1);
        let Ok(Request::Bdat { chunk_size, is_last }) = Request::parse(&mut bytes) else {
            panic!("no BDAT")
        };
        prop_assert!(is_last);
        prop_assert_eq!(chunk_size, bytes.as_slice().len());
        let mut message = Vec::new();
        let mut receiver = BdatReceiver::new(chunk_size, is_last);
        prop_assert!(receiver.ingest(&mut bytes, &mut message));
        let mut check = crate::payload::PayloadCheck::mail();
        check.feed(&message);
        prop_assert!(matches!(check.finish(), crate::payload::Finding::Good(_)));
    }

    #[test]
    fn replies_are_read_as_another_writes_them(
        code in 200_u16..556,
        text in "[ -~]{0,60}",
        pieces in 1_usize..20,
    ) {
        let mut bytes = Vec::new();
        let digits = [(code / 100) as u8, (code / 10 % 10) as u8, (code % 10) as u8];
        smtp_proto::Response::new(code, digits[0], digits[1], digits[2], text)
            .write(&mut bytes)
            .unwrap();
        let mut reader = super::super::reply::ReplyReader::default();
        let mut found = None;
        for piece in bytes.chunks(pieces) {
            prop_assert!(found.is_none());
            found = reader.take(piece).unwrap();
        }
        prop_assert_eq!(found.map(|(found, _)| found), Some(code));
    }
}
