//! What was done to mailboxes, and how many messages they held.

use steelyard_wire::result::{Mail, Mergeable};

/// Messages that one operation has moved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moved {
    /// Read whole.
    pub retrieved: u32,
    /// Removed for good.
    pub deleted: u32,
    /// Stored.
    pub appended: u32,
}

/// Size of the mailboxes of a worker's users, at first and at last.
#[derive(Debug, Clone, Default)]
pub struct Growth {
    seen: Vec<Option<(u32, u32)>>,
}

impl Growth {
    /// The mailbox of `user` holds `messages`.
    pub fn found(&mut self, user: u32, messages: u32) {
        let user = user as usize;
        if self.seen.len() <= user {
            self.seen.resize(user + 1, None);
        }
        let seen = &mut self.seen[user];
        *seen = Some((seen.map_or(messages, |(first, _)| first), messages));
    }

    /// Sums over the users that have found anything: messages at first, at last, users.
    pub fn sums(&self) -> (u64, u64, u64) {
        let seen = self.seen.iter().flatten();
        seen.fold((0, 0, 0), |(first, last, users), seen| {
            (
                first + u64::from(seen.0),
                last + u64::from(seen.1),
                users + 1,
            )
        })
    }
}

/// What the connections of a worker, or of several, did to mailboxes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MailFigures {
    retrieved: u64,
    deleted: u64,
    appended: u64,
    delivered: u64,
    early: u64,
    at_first: u64,
    at_last: u64,
    users: u64,
}

impl MailFigures {
    /// Adds what a good operation of the window has moved.
    #[inline]
    pub fn add_moved(&mut self, moved: Moved) {
        self.retrieved += u64::from(moved.retrieved);
        self.deleted += u64::from(moved.deleted);
        self.appended += u64::from(moved.appended);
    }

    /// Adds a message that was delivered; `early`: before the reply to its submission.
    pub fn add_delivered(&mut self, early: bool) {
        self.delivered += 1;
        self.early += u64::from(early);
    }

    /// The same with the sizes of the mailboxes.
    #[must_use]
    pub fn with(self, growth: &Growth) -> Self {
        let (at_first, at_last, users) = growth.sums();
        Self {
            at_first,
            at_last,
            users,
            ..self
        }
    }

    /// The figures of a result, which has no deliveries, with the sums behind its means.
    pub fn read(mail: &Mail, behind: &Mergeable) -> Self {
        Self {
            retrieved: mail.retrieved,
            deleted: mail.deleted,
            appended: mail.appended,
            at_first: behind.messages_at_first,
            at_last: behind.messages_at_last,
            users: behind.mailboxes,
            ..Self::default()
        }
    }

    /// The sums behind the means of the result.
    pub fn behind(self) -> Mergeable {
        Mergeable {
            mailboxes: self.users,
            messages_at_first: self.at_first,
            messages_at_last: self.at_last,
            ..Mergeable::default()
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            retrieved: self.retrieved + other.retrieved,
            deleted: self.deleted + other.deleted,
            appended: self.appended + other.appended,
            delivered: self.delivered + other.delivered,
            early: self.early + other.early,
            at_first: self.at_first + other.at_first,
            at_last: self.at_last + other.at_last,
            users: self.users + other.users,
        }
    }

    /// For the result.
    pub fn result(self) -> Mail {
        let mean = |sum: u64| (self.users > 0).then(|| sum as f64 / self.users as f64);
        Mail {
            retrieved: self.retrieved,
            deleted: self.deleted,
            appended: self.appended,
            seen_before_reply: (self.delivered > 0).then_some(self.early),
            mailbox_messages_at_first: mean(self.at_first),
            mailbox_messages_at_last: mean(self.at_last),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mailbox_remembers_its_first_and_its_last_size() {
        let mut growth = Growth::default();
        for messages in [4, 9, 2] {
            growth.found(1, messages);
        }
        growth.found(3, 5);
        assert_eq!(growth.sums(), (9, 7, 2));
    }
}
