//! What was done to mailboxes, and how many messages they held.

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

/// Size of the mailboxes of a worker's connections, at first and at last.
#[derive(Debug, Clone, Default)]
pub struct Growth {
    seen: Vec<Option<(u32, u32)>>,
}

impl Growth {
    /// The mailbox of `place` holds `messages`.
    pub fn found(&mut self, place: u32, messages: u32) {
        let place = place as usize;
        if self.seen.len() <= place {
            self.seen.resize(place + 1, None);
        }
        let seen = &mut self.seen[place];
        *seen = Some((seen.map_or(messages, |(first, _)| first), messages));
    }

    /// Sums over the places that have found anything: messages at first, at last, places.
    pub fn sums(&self) -> (u64, u64, u64) {
        let seen = self.seen.iter().flatten();
        seen.fold((0, 0, 0), |(first, last, places), seen| {
            (
                first + u64::from(seen.0),
                last + u64::from(seen.1),
                places + 1,
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_remembers_its_first_and_its_last_size() {
        let mut growth = Growth::default();
        for messages in [4, 9, 2] {
            growth.found(1, messages);
        }
        growth.found(3, 5);
        assert_eq!(growth.sums(), (9, 7, 2));
    }
}
