//! Messages in memory: what SMTP and LMTP deliver, POP3 and IMAP read.
//!
//! A user has one maildrop. Messages are shared, not copied: one that is in a thousand maildrops
//! takes its bytes once. All bytes together have a bound.

mod prefill;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use steelyard_net::clock::realtime_ns;

use crate::error::SinkError;
use crate::options::MailOptions;
use crate::store::inbox::{Inbox, LoopEvent};
use crate::store::{StoreError, Stored};

/// What a message or a maildrop takes beside its text.
const OVERHEAD_BYTES: u64 = 128;

/// Every maildrop of a sink.
#[derive(Debug)]
pub(crate) struct Maildrops {
    drops: RwLock<HashMap<String, Arc<Maildrop>>>,
    room: Arc<Room>,
    uid_validity: u32,
    /// Empty: anybody may.
    passwords: HashMap<String, String>,
}

/// How much may be kept, and how much is.
#[derive(Debug)]
struct Room {
    used_bytes: AtomicU64,
    most_bytes: u64,
}

impl Room {
    fn take(&self, bytes: u64) -> Result<(), StoreError> {
        // Relaxed: a balance, nothing is published with it.
        let used = self.used_bytes.fetch_add(bytes, Ordering::Relaxed);
        if used + bytes > self.most_bytes {
            self.give_back(bytes);
            return Err(StoreError::NoSpace);
        }
        Ok(())
    }

    fn give_back(&self, bytes: u64) {
        self.used_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// The text of a message; its room is free again when no one keeps it any more.
#[derive(Debug)]
pub(crate) struct Content {
    text: Vec<u8>,
    /// Where the body starts: behind the empty line.
    body_at: usize,
    room: Arc<Room>,
}

impl Content {
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// With the empty line that ends it.
    pub fn head(&self) -> &[u8] {
        &self.text[..self.body_at]
    }

    pub fn body(&self) -> &[u8] {
        &self.text[self.body_at..]
    }

    /// The value of a field in one line, unfolded as far as its first line goes.
    pub fn field(&self, name: &str) -> Option<&str> {
        let head = std::str::from_utf8(self.head()).ok()?;
        head.lines().find_map(|line| {
            let (label, value) = line.split_once(':')?;
            label.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

impl Drop for Content {
    fn drop(&mut self) {
        self.room.give_back(self.text.len() as u64 + OVERHEAD_BYTES);
    }
}

/// What a user or server says of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flag {
    Seen,
    Answered,
    Flagged,
    Deleted,
    Draft,
    /// Not said to any session yet.
    Recent,
}

/// A set of [`Flag`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Flags(u8);

impl Flags {
    pub fn has(self, flag: Flag) -> bool {
        self.0 & 1 << flag as u8 != 0
    }

    pub fn with(self, flag: Flag) -> Self {
        Self(self.0 | 1 << flag as u8)
    }

    pub fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    pub fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Those of `self` that are in `others` too.
    pub fn only(self, others: Self) -> Self {
        Self(self.0 & others.0)
    }
}

/// One message of a maildrop.
#[derive(Debug, Clone)]
pub(crate) struct Mail {
    /// Never used twice in a maildrop; later messages have higher ones.
    pub uid: u32,
    pub flags: Flags,
    pub unix_s: i64,
    pub content: Arc<Content>,
}

/// What a maildrop holds, under its lock.
#[derive(Debug)]
pub(crate) struct Held {
    /// In the order of their uids.
    pub mails: Vec<Mail>,
    pub uid_next: u32,
    /// The same for all maildrops of a sink, another for the next sink (RFC 3501, 2.3.1.1).
    pub uid_validity: u32,
    /// Higher after every change of messages or flags.
    pub version: u64,
    /// A POP3 session has it for itself (RFC 1939, section 4).
    leased: bool,
    watchers: Vec<(Arc<Inbox>, u64)>,
}

impl Held {
    pub fn find(&self, uid: u32) -> Option<&Mail> {
        let place = self.place(uid)?;
        self.mails.get(place)
    }

    pub fn find_mut(&mut self, uid: u32) -> Option<&mut Mail> {
        let place = self.place(uid)?;
        self.version += 1;
        self.mails.get_mut(place)
    }

    fn place(&self, uid: u32) -> Option<usize> {
        self.mails.binary_search_by_key(&uid, |mail| mail.uid).ok()
    }

    /// Adds a message; its uid.
    pub fn append(&mut self, content: Arc<Content>, flags: Flags, unix_s: i64) -> u32 {
        let uid = self.uid_next;
        self.uid_next += 1;
        self.mails.push(Mail {
            uid,
            flags: flags.with(Flag::Recent),
            unix_s,
            content,
        });
        self.changed();
        uid
    }

    /// Takes messages away.
    pub fn remove(&mut self, mut goes: impl FnMut(&Mail) -> bool) {
        let before = self.mails.len();
        self.mails.retain(|mail| !goes(mail));
        if self.mails.len() != before {
            self.changed();
        }
    }

    /// Leaves word for those who watch.
    pub fn changed(&mut self) {
        self.version += 1;
        for (inbox, token) in &self.watchers {
            inbox.send(LoopEvent::Woken(*token));
        }
    }
}

/// The messages of one user.
#[derive(Debug)]
pub(crate) struct Maildrop(Mutex<Held>);

impl Maildrop {
    fn new(uid_validity: u32) -> Self {
        Self(Mutex::new(Held {
            uid_validity,
            mails: Vec::new(),
            uid_next: 1,
            version: 0,
            leased: false,
            watchers: Vec::new(),
        }))
    }

    pub fn lock(&self) -> MutexGuard<'_, Held> {
        // A poisoned lock still protects whole messages: a panic ends the process or a test.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For one session alone, until the lease is dropped; `None` while another has it.
    pub fn lease(self: &Arc<Self>) -> Option<Lease> {
        let taken = std::mem::replace(&mut self.lock().leased, true);
        (!taken).then(|| Lease(Arc::clone(self)))
    }

    /// Leaves word for this connection at every change, until the watch is dropped.
    pub fn watch(self: &Arc<Self>, inbox: &Arc<Inbox>, token: u64) -> Watch {
        self.lock().watchers.push((Arc::clone(inbox), token));
        Watch {
            drop: Arc::clone(self),
            inbox: Arc::clone(inbox),
            token,
        }
    }
}

/// A maildrop for one session alone.
#[derive(Debug)]
pub(crate) struct Lease(Arc<Maildrop>);

impl Lease {
    pub fn lock(&self) -> MutexGuard<'_, Held> {
        self.0.lock()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.0.lock().leased = false;
    }
}

/// Somebody waits for changes.
#[derive(Debug)]
pub(crate) struct Watch {
    drop: Arc<Maildrop>,
    inbox: Arc<Inbox>,
    token: u64,
}

impl Drop for Watch {
    fn drop(&mut self) {
        let (inbox, token) = (&self.inbox, self.token);
        self.drop
            .lock()
            .watchers
            .retain(|(other, name)| *name != token || !Arc::ptr_eq(other, inbox));
    }
}

impl Maildrops {
    /// With the messages asked for.
    pub fn new(options: &MailOptions) -> Result<Self, SinkError> {
        let drops = Self {
            drops: RwLock::default(),
            room: Arc::new(Room {
                used_bytes: AtomicU64::new(0),
                most_bytes: options.most_bytes,
            }),
            // Seconds since 1970 fit until 2106.
            uid_validity: (realtime_ns() / 1_000_000_000) as u32,
            passwords: options
                .users
                .iter()
                .map(|user| (user.name.clone(), user.password.clone()))
                .collect(),
        };
        prefill::fill(&drops, options)?;
        Ok(drops)
    }

    /// Whether this is somebody who may log in.
    pub fn admits(&self, name: &str, password: &str) -> bool {
        !name.is_empty()
            && (self.passwords.is_empty()
                || self
                    .passwords
                    .get(name)
                    .is_some_and(|known| known == password))
    }

    /// The maildrop of a user, or of the recipient with that local part.
    pub fn of(&self, name: &str) -> Result<Arc<Maildrop>, StoreError> {
        let local = name.split_once('@').map_or(name, |(local, _)| local);
        let known = self.drops.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(drop) = known.get(local) {
            return Ok(Arc::clone(drop));
        }
        drop(known);
        let mut drops = self.drops.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(drop) = drops.get(local) {
            return Ok(Arc::clone(drop));
        }
        self.room.take(OVERHEAD_BYTES + local.len() as u64)?;
        let drop = Arc::new(Maildrop::new(self.uid_validity));
        drops.insert(local.to_owned(), Arc::clone(&drop));
        Ok(drop)
    }

    /// A message that can be kept, if there is room for it.
    pub fn content(&self, text: Vec<u8>) -> Result<Arc<Content>, StoreError> {
        self.room.take(text.len() as u64 + OVERHEAD_BYTES)?;
        let body_at = memchr::memmem::find(&text, b"\r\n\r\n").map_or(text.len(), |at| at + 4);
        Ok(Arc::new(Content {
            text,
            body_at,
            room: Arc::clone(&self.room),
        }))
    }

    /// Gives a message to each recipient, or to none.
    pub fn deliver(
        &self,
        recipients: &[String],
        text: Vec<u8>,
        unix_s: i64,
    ) -> Result<Stored, StoreError> {
        let content = self.content(text)?;
        let drops: Vec<_> = recipients
            .iter()
            .map(|recipient| self.of(recipient))
            .collect::<Result<_, _>>()?;
        for drop in &drops {
            drop.lock()
                .append(Arc::clone(&content), Flags::default(), unix_s);
        }
        Ok(Stored {
            files: drops.len() as u64,
            bytes: content.text.len() as u64 * drops.len() as u64,
        })
    }
}

#[cfg(test)]
mod tests;
