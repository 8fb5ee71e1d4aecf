//! What a POP3 connection remembers.

use crate::maildrop::{Lease, Mail};

/// What the next line is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    #[default]
    Command,
    /// The rest of a line that was too long.
    SkipLine,
    /// It answers AUTH.
    Auth,
}

/// One POP3 connection.
#[derive(Debug, Default)]
pub(crate) struct Session {
    pub phase: Phase,
    pub secure: bool,
    /// As given with USER.
    pub user: String,
    /// Logged in.
    pub open: Option<Box<Open>>,
}

/// A maildrop as it was at login (RFC 1939, section 8: messages that come later are not seen).
#[derive(Debug)]
pub(crate) struct Open {
    pub lease: Lease,
    pub mails: Vec<Mail>,
    /// Marked with DELE.
    pub deleted: Vec<bool>,
}

impl Open {
    pub fn new(lease: Lease) -> Self {
        let mails = lease.lock().mails.clone();
        Self {
            deleted: vec![false; mails.len()],
            lease,
            mails,
        }
    }

    /// Those not marked, with their numbers.
    pub fn left(&self) -> impl Iterator<Item = (usize, &Mail)> {
        let marked = self.deleted.iter();
        let numbered = self.mails.iter().enumerate().zip(marked);
        numbered.filter_map(|((index, mail), deleted)| (!deleted).then_some((index + 1, mail)))
    }

    /// The place of a message that is there and not marked.
    pub fn place(&self, number: &str) -> Option<usize> {
        let place = number.parse::<usize>().ok()?.checked_sub(1)?;
        (self.deleted.get(place) == Some(&false)).then_some(place)
    }

    /// Takes away what is marked; how many that were.
    pub fn update(self) -> usize {
        let mut gone: Vec<u32> = Vec::new();
        for (mail, deleted) in self.mails.iter().zip(&self.deleted) {
            if *deleted {
                gone.push(mail.uid);
            }
        }
        if !gone.is_empty() {
            let held = &mut self.lease.lock();
            held.remove(|mail| gone.binary_search(&mail.uid).is_ok());
        }
        gone.len()
    }
}
