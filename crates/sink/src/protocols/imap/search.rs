//! SEARCH: which messages fit all of some keys.

use std::io::Write;

use crate::counters::tally::ErrorKind;
use crate::maildrop::{Flag, Mail};
use crate::protocols::dialogue::Done;
use crate::protocols::imap::command::ImapCommand;
use crate::protocols::imap::parse::{Set, Words};
use crate::protocols::imap::session::Session;

/// One condition.
#[derive(Debug)]
enum Key {
    All,
    Has(Flag),
    Numbers(Set),
    Uids(Set),
    /// A field of the header holds a text.
    Field(String, String),
    Not(Box<Key>),
}

impl Key {
    fn read(words: &mut Words) -> Option<Self> {
        if words
            .0
            .first()
            .is_some_and(|byte| byte.is_ascii_digit() || *byte == b'*')
        {
            return words.set().map(Self::Numbers);
        }
        let not = |flag| Self::Not(Box::new(Self::Has(flag)));
        let text = |words: &mut Words| words.space().and_then(|()| words.text());
        Some(match words.word()?.to_ascii_uppercase().as_str() {
            "ALL" => Self::All,
            "SEEN" => Self::Has(Flag::Seen),
            "UNSEEN" => not(Flag::Seen),
            "DELETED" => Self::Has(Flag::Deleted),
            "UNDELETED" => not(Flag::Deleted),
            "ANSWERED" => Self::Has(Flag::Answered),
            "UNANSWERED" => not(Flag::Answered),
            "FLAGGED" => Self::Has(Flag::Flagged),
            "UNFLAGGED" => not(Flag::Flagged),
            "DRAFT" => Self::Has(Flag::Draft),
            "UNDRAFT" => not(Flag::Draft),
            "RECENT" => Self::Has(Flag::Recent),
            "OLD" => not(Flag::Recent),
            "UID" => Self::Uids(words.space().and_then(|()| words.set())?),
            "SUBJECT" => Self::Field("Subject".to_owned(), text(words)?),
            "FROM" => Self::Field("From".to_owned(), text(words)?),
            "TO" => Self::Field("To".to_owned(), text(words)?),
            "HEADER" => {
                let name = text(words)?;
                Self::Field(name, text(words)?)
            }
            "NOT" => {
                words.space()?;
                Self::Not(Box::new(Self::read(words)?))
            }
            _ => return None,
        })
    }

    fn fits(&self, place: usize, mail: &Mail, uids: &[u32]) -> bool {
        match self {
            Self::All => true,
            Self::Has(flag) => mail.flags.has(*flag),
            Self::Numbers(set) => set.has(place as u32 + 1, uids.len() as u32),
            Self::Uids(set) => set.has(mail.uid, uids.last().copied().unwrap_or_default()),
            Self::Field(name, text) => mail.content.field(name).is_some_and(|value| {
                let (value, text) = (value.to_ascii_lowercase(), text.to_ascii_lowercase());
                value.contains(&text)
            }),
            Self::Not(key) => !key.fits(place, mail, uids),
        }
    }
}

pub(super) fn search(session: &mut Session, order: &ImapCommand, out: &mut Vec<u8>) -> Done {
    let mut words = order.words;
    let Some(keys) = read_keys(&mut words) else {
        return order.refuse(ErrorKind::BadArgument, "BAD Not a key known here", out);
    };
    let (Some(drop), Some(selected)) = (&session.drop, &session.selected) else {
        return order.malformed(out);
    };
    out.extend_from_slice(b"* SEARCH");
    let held = drop.lock();
    for (place, uid) in selected.uids.iter().enumerate() {
        let fits = |mail: &Mail| keys.iter().all(|key| key.fits(place, mail, &selected.uids));
        if held.find(*uid).is_some_and(fits) {
            let number = if order.by_uid {
                *uid as usize
            } else {
                place + 1
            };
            // Writing to a Vec cannot fail.
            let _ = write!(out, " {number}");
        }
    }
    std::mem::drop(held);
    out.extend_from_slice(b"\r\n");
    super::mailbox::tell_changes(session, order.by_uid, out);
    order.good("OK SEARCH done", out)
}

fn read_keys(words: &mut Words) -> Option<Vec<Key>> {
    let mut keys = vec![Key::read(words)?];
    while !words.is_empty() {
        words.space()?;
        keys.push(Key::read(words)?);
    }
    Some(keys)
}
