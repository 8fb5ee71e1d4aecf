//! The mailbox: selected, listed, appended to, emptied, and what changed in it.

use std::io::Write;

use crate::counters::tally::ErrorKind;
use crate::maildrop::{Flag, Flags};
use crate::protocols::dialogue::Done;
use crate::protocols::imap::Verb;
use crate::protocols::imap::command::ImapCommand;
use crate::protocols::imap::parse::Words;
use crate::protocols::imap::session::{Selected, Session};

/// Every user has this one and no other.
pub(super) fn is_inbox(name: &str) -> bool {
    name.eq_ignore_ascii_case("INBOX")
}

fn no_such(order: &ImapCommand, out: &mut Vec<u8>) -> Done {
    let words = "NO [NONEXISTENT] There is INBOX only";
    order.refuse(ErrorKind::BadArgument, words, out)
}

/// SELECT and EXAMINE. Writing to a Vec cannot fail.
pub(super) fn select(session: &mut Session, order: &ImapCommand, out: &mut Vec<u8>) -> Done {
    let mut words = order.words;
    session.selected = None;
    let name = match words.text() {
        Some(name) if words.is_empty() => name,
        _ => return order.malformed(out),
    };
    let Some(drop) = session.drop.as_ref().filter(|_| is_inbox(&name)) else {
        return no_such(order, out);
    };
    let read_only = order.verb == Verb::Examine;
    let mut held = drop.lock();
    let count = held.mails.len();
    let recent = held
        .mails
        .iter()
        .filter(|mail| mail.flags.has(Flag::Recent))
        .count();
    let unseen = held
        .mails
        .iter()
        .position(|mail| !mail.flags.has(Flag::Seen));
    let _ = write!(
        out,
        "* FLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft)\r\n* {count} EXISTS\r\n\
         * {recent} RECENT\r\n"
    );
    if let Some(place) = unseen {
        let _ = write!(out, "* OK [UNSEEN {}] First unseen\r\n", place + 1);
    }
    let kept = if read_only {
        ""
    } else {
        "\\Answered \\Flagged \\Deleted \\Seen \\Draft"
    };
    let _ = write!(
        out,
        "* OK [PERMANENTFLAGS ({kept})] Kept\r\n* OK [UIDVALIDITY {}] Valid\r\n\
         * OK [UIDNEXT {}] Next\r\n",
        held.uid_validity, held.uid_next
    );
    if !read_only {
        let recent = Flags::default().with(Flag::Recent);
        for mail in &mut held.mails {
            mail.flags = mail.flags.without(recent);
        }
    }
    session.selected = Some(Selected {
        uids: held.mails.iter().map(|mail| mail.uid).collect(),
        version: held.version,
        read_only,
    });
    if read_only {
        return order.good("OK [READ-ONLY] EXAMINE done", out);
    }
    order.good("OK [READ-WRITE] SELECT done", out)
}

/// LIST and LSUB.
pub(super) fn list(order: &ImapCommand, out: &mut Vec<u8>) -> Done {
    let mut words = order.words;
    let reference = words.text();
    let pattern = words.space().and_then(|()| words.pattern());
    let (Some(reference), Some(pattern), true) = (reference, pattern, words.is_empty()) else {
        return order.malformed(out);
    };
    let kind = if order.verb == Verb::Lsub {
        "LSUB"
    } else {
        "LIST"
    };
    if pattern.is_empty() && order.verb == Verb::List {
        let _ = write!(out, "* LIST (\\Noselect) \"/\" \"\"\r\n");
    } else if matches(&format!("{reference}{pattern}")) {
        let _ = write!(out, "* {kind} (\\HasNoChildren) \"/\" INBOX\r\n");
    }
    order.good(&format!("OK {kind} done"), out)
}

/// Whether a pattern with `*` and `%` fits INBOX.
fn matches(pattern: &str) -> bool {
    fn fits(pattern: &[u8], name: &[u8]) -> bool {
        match (pattern.split_first(), name.split_first()) {
            (None, None) => true,
            (Some((b'*' | b'%', rest)), _) => {
                fits(rest, name) || (!name.is_empty() && fits(pattern, &name[1..]))
            }
            (Some((first, rest)), Some((letter, left))) => {
                first.eq_ignore_ascii_case(letter) && fits(rest, left)
            }
            _ => false,
        }
    }
    // More wildcards than letters add nothing, and would take long.
    let wild = |byte: &u8| matches!(byte, b'*' | b'%');
    pattern.len() <= 16 && fits(pattern.as_bytes(), b"INBOX")
        || !pattern.is_empty() && pattern.bytes().all(|byte| wild(&byte))
}

/// STATUS.
pub(super) fn status(session: &Session, order: &ImapCommand, out: &mut Vec<u8>) -> Done {
    let mut words = order.words;
    let name = words.text();
    let (Some(name), Some(())) = (name, words.space().and_then(|()| words.take(b'('))) else {
        return order.malformed(out);
    };
    let Some(drop) = session.drop.as_ref().filter(|_| is_inbox(&name)) else {
        return no_such(order, out);
    };
    let held = drop.lock();
    let with = |flag: Flag| {
        held.mails
            .iter()
            .filter(|mail| mail.flags.has(flag))
            .count()
    };
    let start = out.len();
    out.extend_from_slice(b"* STATUS INBOX (");
    let mut first = true;
    while let Some(item) = words.word() {
        let item = item.to_ascii_uppercase();
        let value = match item.as_str() {
            "MESSAGES" => held.mails.len(),
            "RECENT" => with(Flag::Recent),
            "UIDNEXT" => held.uid_next as usize,
            "UIDVALIDITY" => held.uid_validity as usize,
            "UNSEEN" => held.mails.len() - with(Flag::Seen),
            _ => {
                out.truncate(start);
                return order.malformed(out);
            }
        };
        let gap = if first { "" } else { " " };
        let _ = write!(out, "{gap}{item} {value}");
        first = false;
        let _ = words.space();
    }
    if words.take(b')').is_none() || !words.is_empty() {
        out.truncate(start);
        return order.malformed(out);
    }
    out.extend_from_slice(b")\r\n");
    order.good("OK STATUS done", out)
}

/// What APPEND gives.
#[derive(Debug)]
pub(super) struct Append<'a> {
    pub flags: Flags,
    pub text: &'a [u8],
}

impl<'a> Append<'a> {
    /// Flags and a date may be left out; the date is not kept.
    pub fn read(words: &mut Words<'a>) -> Option<Self> {
        let mut flags = Flags::default();
        if words.next_is(b'(') {
            flags = words.flags()?;
            words.space()?;
        }
        if words.next_is(b'"') {
            words.string()?;
            words.space()?;
        }
        let text = words.literal()?;
        words.is_empty().then_some(Self { flags, text })
    }
}

/// CLOSE: what is marked goes, silently.
pub(super) fn close(session: &mut Session, order: &ImapCommand, out: &mut Vec<u8>) -> Done {
    remove_marked(session);
    session.selected = None;
    order.good("OK CLOSE done", out)
}

/// EXPUNGE: what is marked goes, and each is named.
pub(super) fn expunge(session: &mut Session, order: &ImapCommand, out: &mut Vec<u8>) -> Done {
    if session
        .selected
        .as_ref()
        .is_none_or(|selected| selected.read_only)
    {
        let words = "NO [READ-ONLY] Selected with EXAMINE";
        return order.refuse(ErrorKind::BadSequence, words, out);
    }
    remove_marked(session);
    tell_changes(session, true, out);
    order.good("OK EXPUNGE done", out)
}

fn remove_marked(session: &Session) {
    if let (Some(drop), Some(selected)) = (&session.drop, &session.selected)
        && !selected.read_only
    {
        drop.lock().remove(|mail| mail.flags.has(Flag::Deleted));
    }
}

/// Says which messages went (if that may be said now) and how many there are.
pub(super) fn tell_changes(session: &mut Session, gone_too: bool, out: &mut Vec<u8>) {
    let (Some(drop), Some(selected)) = (&session.drop, &mut session.selected) else {
        return;
    };
    let held = drop.lock();
    if held.version == selected.version {
        return;
    }
    let mut number = 0;
    let mut pending = false;
    selected.uids.retain(|uid| {
        number += 1;
        if held.find(*uid).is_some() {
            return true;
        }
        pending |= !gone_too;
        if gone_too {
            let _ = write!(out, "* {number} EXPUNGE\r\n");
            // Those behind it have moved up.
            number -= 1;
        }
        !gone_too
    });
    let last = selected.uids.last().copied().unwrap_or_default();
    let new = held.mails.partition_point(|mail| mail.uid <= last);
    let fresh = &held.mails[new..];
    if !fresh.is_empty() {
        selected.uids.extend(fresh.iter().map(|mail| mail.uid));
        let count = selected.uids.len();
        let recent = fresh
            .iter()
            .filter(|mail| mail.flags.has(Flag::Recent))
            .count();
        let _ = write!(out, "* {count} EXISTS\r\n* {recent} RECENT\r\n");
    }
    if !pending {
        selected.version = held.version;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_inbox_or_not() {
        for fitting in [
            "*",
            "%",
            "INBOX",
            "inbox",
            "IN*",
            "*X",
            "%%%%%%%%%%%%%%%%%%%%",
        ] {
            assert!(matches(fitting), "{fitting}");
        }
        for other in ["", "Sent", "INBOX/*", "INBO", "*Y"] {
            assert!(!matches(other), "{other}");
        }
    }
}
