//! One command of IMAP as it was read, and the line that ends its reply.

use crate::counters::tally::ErrorKind;
use crate::protocols::dialogue::Done;
use crate::protocols::imap::Verb;
use crate::protocols::imap::parse::Words;

/// One command: its tag, what it is, and the words behind that.
#[derive(Debug, Clone, Copy)]
pub(super) struct ImapCommand<'a> {
    pub tag: &'a [u8],
    pub verb: Verb,
    /// Numbers are uids.
    pub by_uid: bool,
    pub words: Words<'a>,
}

impl<'a> ImapCommand<'a> {
    /// What makes no sense becomes `OTHER`, with what there is of a tag.
    pub fn read(line: &'a [u8]) -> Self {
        let mut words = Words(line);
        let tag = words.word().unwrap_or("*").as_bytes();
        let mut order = Self {
            tag,
            verb: Verb::Other,
            by_uid: false,
            words,
        };
        if words.space().is_none() {
            return order;
        }
        let mut word = words.word().unwrap_or_default();
        if word.eq_ignore_ascii_case("UID") && words.space().is_some() {
            word = words.word().unwrap_or_default();
            order.by_uid = true;
        }
        let verb = Verb::read(word);
        let has_uids = matches!(verb, Verb::Fetch | Verb::Store | Verb::Search);
        if !order.by_uid || has_uids {
            order.verb = verb;
        }
        order.words = words;
        // One space before the arguments, if there are any.
        let _ = order.words.space();
        order
    }

    /// Ends the reply well.
    pub fn good(&self, words: &str, out: &mut Vec<u8>) -> Done {
        say(self.tag, words, out);
        Done::Good
    }

    /// Ends the reply with `NO ...` or `BAD ...`.
    pub fn refuse(&self, kind: ErrorKind, words: &str, out: &mut Vec<u8>) -> Done {
        say(self.tag, words, out);
        Done::Refused(kind)
    }

    pub fn malformed(&self, out: &mut Vec<u8>) -> Done {
        self.refuse(ErrorKind::BadArgument, "BAD Malformed arguments", out)
    }
}

pub(super) fn say(tag: &[u8], words: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(tag);
    out.push(b' ');
    out.extend_from_slice(words.as_bytes());
    out.extend_from_slice(b"\r\n");
}
