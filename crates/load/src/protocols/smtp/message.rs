//! The parts of a message that differ from one to the next: envelope and first header lines.

use steelyard_wire::job::SmtpOperation;

use super::address::Addresses;
use super::bodies::{Bodies, Body};
use super::choice::{self, Chosen};
use super::date::date;
use super::mime;
use crate::error::LoadError;
use crate::payload::{MAIL_FIELD, hexadecimal, write_decimal};

/// Everything that messages are made of.
#[derive(Debug, Clone)]
pub struct Messages {
    senders: Addresses,
    recipients: Addresses,
    each: usize,
    /// From the field after `To` to the begin of the subject.
    before_subject: Vec<u8>,
    subjects: Vec<Vec<u8>>,
    /// From the end of the subject to the sender's number in the message id.
    before_id: Vec<u8>,
    /// From the end of the message id to the sender's number in the marker.
    before_marker: Vec<u8>,
    bodies: Bodies,
}

impl Messages {
    /// Those of `operation`; the time of the run tells the messages of two runs apart.
    pub fn new(operation: &SmtpOperation, run_unix_ns: u64, seed: u64) -> Result<Self, LoadError> {
        let run = String::from_utf8_lossy(&hexadecimal(run_unix_ns)).into_owned();
        let date = date(run_unix_ns / 1_000_000_000);
        let subjects = if operation.subjects.is_empty() {
            std::slice::from_ref(&operation.subject)
        } else {
            &operation.subjects
        };
        Ok(Self {
            senders: Addresses::senders(operation),
            recipients: Addresses::recipients(operation),
            each: operation.recipients_per_message as usize,
            before_subject: format!("\r\nDate: {date}\r\nSubject: ").into_bytes(),
            subjects: subjects
                .iter()
                .map(|text| mime::subject(text).into_bytes())
                .collect(),
            before_id: format!("\r\nMessage-ID: <{run}.").into_bytes(),
            before_marker: format!("@{}>\r\n{MAIL_FIELD}: v1 {run} ", operation.helo).into_bytes(),
            bodies: Bodies::new(operation, seed)?,
        })
    }

    /// Recipients of each message.
    pub fn recipients_each(&self) -> usize {
        self.each
    }

    /// All prepared bodies.
    pub fn shared(&self) -> &[u8] {
        &self.bodies.bytes
    }

    /// The body of the message that `draw` decides on.
    pub fn body(&self, draw: u64) -> &Body {
        self.bodies.choose(draw)
    }

    /// Whether any message needs a server that takes eight bits.
    pub fn any_eight_bit(&self) -> bool {
        self.bodies.any_eight_bit()
    }

    /// Appends the whole MAIL command.
    pub fn write_mail(&self, draw: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(b"MAIL FROM:<");
        self.write_sender(draw, out);
        out.extend_from_slice(if self.body(draw).eight_bit {
            b"> BODY=8BITMIME\r\n"
        } else {
            b">\r\n"
        });
    }

    /// Appends the whole RCPT command of recipient `number`, from 0.
    pub fn write_rcpt(&self, draw: u64, number: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(b"RCPT TO:<");
        self.write_recipient(draw, number, out);
        out.extend_from_slice(b">\r\n");
    }

    /// Appends the fields that stand before [`Body::range`].
    pub fn write_head(&self, draw: u64, sender: u64, sequence: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(b"From: <");
        self.write_sender(draw, out);
        for number in 0..self.each {
            out.extend_from_slice(if number == 0 {
                b">\r\nTo: <"
            } else {
                b">,\r\n <"
            });
            self.write_recipient(draw, number, out);
        }
        out.push(b'>');
        out.extend_from_slice(&self.before_subject);
        let subject = choice::index(draw, Chosen::Subject, self.subjects.len());
        out.extend_from_slice(&self.subjects[subject]);
        out.extend_from_slice(&self.before_id);
        write_decimal(sender, out);
        out.push(b'.');
        write_decimal(sequence, out);
        out.extend_from_slice(&self.before_marker);
        write_decimal(sender, out);
        out.push(b' ');
        write_decimal(sequence, out);
        out.extend_from_slice(&self.body(draw).mark);
    }

    fn write_sender(&self, draw: u64, out: &mut Vec<u8>) {
        let index = choice::index(draw, Chosen::Sender, self.senders.count());
        self.senders.write(index, out);
    }

    /// The first is drawn, the others follow it in the list: no message has one twice.
    fn write_recipient(&self, draw: u64, number: usize, out: &mut Vec<u8>) {
        let first = choice::index(draw, Chosen::Recipient, self.recipients.count());
        self.recipients.write(first + number, out);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::payload::{Finding, PayloadCheck};

    fn whole(operation: &SmtpOperation, draw: u64, sequence: u64) -> Vec<u8> {
        let messages = Messages::new(operation, 7, 1).unwrap();
        let mut bytes = Vec::new();
        messages.write_head(draw, 3, sequence, &mut bytes);
        bytes.extend_from_slice(&messages.shared()[messages.body(draw).range.clone()]);
        bytes
    }

    /// What the receiver stores.
    fn received(sent: &[u8]) -> Vec<u8> {
        let sent = sent.strip_suffix(b".\r\n").unwrap();
        sent.split_inclusive(|byte| *byte == b'\n')
            .flat_map(|line| line.strip_prefix(b".").unwrap_or(line))
            .copied()
            .collect()
    }

    fn finding(message: &[u8]) -> Finding {
        let mut check = PayloadCheck::mail();
        check.feed(message);
        check.finish()
    }

    #[test]
    fn a_message_is_lines_that_end_with_the_final_dot() {
        for body_bytes in [0, 1, 2, 77, 78, 79, 80, 81, 4096] {
            let operation = SmtpOperation {
                body_bytes,
                ..SmtpOperation::default()
            };
            let text = String::from_utf8(whole(&operation, 1, 1)).unwrap();
            assert!(text.ends_with("\r\n.\r\n"), "{body_bytes}");
            let ends = text.matches("\r\n").count();
            assert_eq!(text.matches('\n').count(), ends, "{body_bytes}");
            assert_eq!(text.matches('\r').count(), ends, "{body_bytes}");
        }
    }

    #[test]
    fn what_arrives_is_found_good_by_its_marker() {
        let folder = tempfile();
        std::fs::write(&folder, "..dots\n.\nand ünïcode\n").unwrap();
        let of_file = SmtpOperation {
            body_files: vec![folder.to_string_lossy().into_owned()],
            ..SmtpOperation::default()
        };
        let with_attachment = SmtpOperation {
            attachment_bytes: 1_000,
            body_bytes: 81,
            ..SmtpOperation::default()
        };
        for operation in [SmtpOperation::default(), of_file, with_attachment] {
            let message = received(&whole(&operation, 1, 5));
            let Finding::Good(marker) = finding(&message) else {
                panic!("{}", String::from_utf8_lossy(&message));
            };
            assert_eq!((marker.run, marker.sender, marker.sequence), (7, 3, 5));
        }
        std::fs::remove_file(&folder).unwrap();
    }

    #[test]
    fn a_chunk_is_neither_stuffed_nor_ended_with_a_dot() {
        let operation = SmtpOperation {
            chunking: true,
            ..SmtpOperation::default()
        };
        let message = whole(&operation, 1, 5);
        assert!(message.ends_with(b"ok\r\n") || !message.ends_with(b".\r\n"));
        assert!(matches!(finding(&message), Finding::Good(_)));
    }

    #[test]
    fn recipients_of_a_message_differ_from_each_other() {
        let operation = SmtpOperation {
            recipient_list: ["a@x", "b@x", "c@x", "d@x"].map(str::to_owned).to_vec(),
            recipients_per_message: 3,
            ..SmtpOperation::default()
        };
        let messages = Messages::new(&operation, 7, 1).unwrap();
        let mut firsts = BTreeSet::new();
        for draw in 0..100 {
            let commands = (0..3).map(|number| {
                let mut out = Vec::new();
                messages.write_rcpt(draw, number, &mut out);
                out
            });
            let commands: Vec<_> = commands.collect();
            firsts.insert(commands[0].clone());
            assert_eq!(commands.iter().collect::<BTreeSet<_>>().len(), 3);
        }
        assert_eq!(firsts.len(), 4);
    }

    #[test]
    fn senders_and_subjects_are_drawn_and_the_header_agrees_with_the_envelope() {
        let operation = SmtpOperation {
            senders: ["a@x", "b@x"].map(str::to_owned).to_vec(),
            subjects: ["one", "zwölf"].map(str::to_owned).to_vec(),
            ..SmtpOperation::default()
        };
        let messages = Messages::new(&operation, 7, 1).unwrap();
        let mut seen = BTreeSet::new();
        for draw in 0..100 {
            let (mut mail, mut head) = (Vec::new(), Vec::new());
            messages.write_mail(draw, &mut mail);
            messages.write_head(draw, 1, 1, &mut head);
            let (mail, head) = (
                String::from_utf8(mail).unwrap(),
                String::from_utf8(head).unwrap(),
            );
            let sender = mail.trim_end().strip_prefix("MAIL FROM:").unwrap();
            assert!(head.starts_with(&format!("From: {sender}\r\n")), "{head}");
            let subject = head
                .lines()
                .find(|line| line.starts_with("Subject"))
                .unwrap();
            seen.insert(format!("{sender} {subject}"));
        }
        assert_eq!(seen.len(), 4, "{seen:?}");
    }

    fn tempfile() -> std::path::PathBuf {
        std::env::temp_dir().join(format!("steelyard-body-{}", std::process::id()))
    }
}
