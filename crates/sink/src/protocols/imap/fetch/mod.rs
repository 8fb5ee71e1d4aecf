//! FETCH and STORE: parts and flags of chosen messages.

mod items;

use std::io::Write;

use crate::counters::tally::ErrorKind;
use crate::maildrop::{Flag, Flags, Maildrop};
use crate::protocols::dialogue::Done;
use crate::protocols::imap::command::ImapCommand;
use crate::protocols::imap::fetch::items::Item;
use crate::protocols::imap::mailbox::tell_changes;
use crate::protocols::imap::parse::{Words, write_flags};
use crate::protocols::imap::session::{Selected, Session};

/// What an order names.
enum Named {
    /// Messages at these places.
    Places(Vec<usize>),
    /// A number that is not there.
    Absent,
}

/// Reads the set an order begins with, and the space behind it.
fn named(selected: &Selected, order: &ImapCommand, words: &mut Words) -> Option<Named> {
    let set = words.set()?;
    words.space()?;
    if order.by_uid {
        return Some(Named::Places(set.by_uid(&selected.uids)));
    }
    let places = set.by_number(selected.uids.len());
    Some(places.map_or(Named::Absent, Named::Places))
}

fn no_such(order: &ImapCommand, out: &mut Vec<u8>) -> Done {
    order.refuse(ErrorKind::NoSuchMessage, "BAD No such message", out)
}

pub(super) fn fetch(session: &mut Session, order: &ImapCommand, out: &mut Vec<u8>) -> Done {
    let mut words = order.words;
    let (Some(drop), Some(selected)) = (&session.drop, &session.selected) else {
        return order.malformed(out);
    };
    let Some(named) = named(selected, order, &mut words) else {
        return order.malformed(out);
    };
    let Some(mut items) = items::read(&mut words).filter(|_| words.is_empty()) else {
        return order.malformed(out);
    };
    let Named::Places(places) = named else {
        return no_such(order, out);
    };
    if order.by_uid && !items.contains(&Item::Uid) {
        items.insert(0, Item::Uid);
    }
    let marks = !selected.read_only && items.iter().any(Item::marks_seen);
    for place in places {
        fetch_one(drop, selected.uids[place], place + 1, &items, marks, out);
    }
    tell_changes(session, order.by_uid, out);
    order.good("OK FETCH done", out)
}

/// A message that went in the meantime is left out (RFC 2180, 4.1.2).
fn fetch_one(
    drop: &Maildrop,
    uid: u32,
    number: usize,
    items: &[Item],
    marks: bool,
    out: &mut Vec<u8>,
) {
    let mut held = drop.lock();
    let Some(mail) = held.find(uid) else {
        return;
    };
    let mut mail = mail.clone();
    let newly_seen = marks && !mail.flags.has(Flag::Seen);
    if newly_seen {
        mail.flags = mail.flags.with(Flag::Seen);
        if let Some(kept) = held.find_mut(uid) {
            kept.flags = mail.flags;
        }
    }
    std::mem::drop(held);
    // Writing to a Vec cannot fail.
    let _ = write!(out, "* {number} FETCH (");
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b' ');
        }
        item.write(&mail, out);
    }
    if newly_seen && !items.contains(&Item::Flags) {
        out.push(b' ');
        Item::Flags.write(&mail, out);
    }
    out.extend_from_slice(b")\r\n");
}

/// What STORE does with the flags it is given.
#[derive(Debug, Clone, Copy)]
enum Change {
    Set,
    Add,
    Remove,
}

impl Change {
    /// With whether nothing is to be said of the result.
    fn read(word: &str) -> Option<(Self, bool)> {
        let word = word.to_ascii_uppercase();
        let (name, silent) = word
            .strip_suffix(".SILENT")
            .map_or((word.as_str(), false), |name| (name, true));
        let change = match name {
            "FLAGS" => Self::Set,
            "+FLAGS" => Self::Add,
            "-FLAGS" => Self::Remove,
            _ => return None,
        };
        Some((change, silent))
    }

    fn apply(self, old: Flags, given: Flags) -> Flags {
        match self {
            Self::Set => given.and(old.only(Flags::default().with(Flag::Recent))),
            Self::Add => old.and(given),
            Self::Remove => old.without(given),
        }
    }
}

pub(super) fn store(session: &mut Session, order: &ImapCommand, out: &mut Vec<u8>) -> Done {
    let mut words = order.words;
    let (Some(drop), Some(selected)) = (&session.drop, &session.selected) else {
        return order.malformed(out);
    };
    let Some(named) = named(selected, order, &mut words) else {
        return order.malformed(out);
    };
    let change = words.word().and_then(Change::read);
    let given = words.space().and_then(|()| words.flags());
    let (Some((change, silent)), Some(given), true) = (change, given, words.is_empty()) else {
        return order.malformed(out);
    };
    if selected.read_only {
        let words = "NO [READ-ONLY] Selected with EXAMINE";
        return order.refuse(ErrorKind::BadSequence, words, out);
    }
    let Named::Places(places) = named else {
        return no_such(order, out);
    };
    let mut held = drop.lock();
    for place in places {
        let uid = selected.uids[place];
        let Some(mail) = held.find_mut(uid) else {
            continue;
        };
        mail.flags = change.apply(mail.flags, given);
        if silent {
            continue;
        }
        let _ = write!(out, "* {} FETCH (FLAGS ", place + 1);
        write_flags(mail.flags, out);
        if order.by_uid {
            let _ = write!(out, " UID {uid}");
        }
        out.extend_from_slice(b")\r\n");
    }
    std::mem::drop(held);
    tell_changes(session, order.by_uid, out);
    order.good("OK STORE done", out)
}
