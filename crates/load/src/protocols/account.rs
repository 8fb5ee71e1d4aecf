//! Who logs in on which connection.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use steelyard_wire::job::Login;

use crate::error::LoadError;
use crate::payload::write_decimal;

/// Which connections of all a worker holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places {
    /// Number of its worker.
    pub worker: u32,
    /// Connections of the workers before it.
    pub first: u32,
    /// Connections of all workers.
    pub all: u32,
}

/// The users of a job, as one worker sees them.
///
/// Each connection has users of its own as long as there are enough: mailboxes are locked by who
/// reads them, and two connections of one user would measure each other.
#[derive(Debug, Clone)]
pub struct Accounts {
    login: Login,
    places: Places,
}

impl Accounts {
    /// The users of `login`, checked.
    pub fn new(login: &Login, places: Places) -> Result<Self, LoadError> {
        let control = |text: &str| text.chars().any(char::is_control);
        if control(&login.user) || control(&login.password) || login.user.is_empty() {
            return Err(LoadError::bad_job(
                format!("user {:?} or its password cannot be sent", login.user),
                "a name is not empty, and neither may hold control characters",
            ));
        }
        if login.users == 0 {
            return Err(LoadError::bad_job("users is 0", "ask for at least one"));
        }
        Ok(Self {
            login: login.clone(),
            places,
        })
    }

    /// The same for the connections of another worker.
    #[must_use]
    pub fn at(&self, places: Places) -> Self {
        Self {
            login: self.login.clone(),
            places,
        }
    }

    /// The user, from 1, of the connection at `place` when it logs in for time `round` (from 0).
    pub fn number(&self, place: usize, round: u32) -> u32 {
        let (users, all) = (self.login.users, self.places.all.max(1));
        let place = self.places.first + place as u32;
        if users <= all {
            return place % users + 1;
        }
        let own = (users - place % all).div_ceil(all);
        place % all + round % own * all + 1
    }

    /// Name of user `number`.
    pub fn user(&self, number: u32) -> Vec<u8> {
        filled(&self.login.user, number)
    }

    /// Password of user `number`.
    pub fn password(&self, number: u32) -> Vec<u8> {
        filled(&self.login.password, number)
    }

    /// Appends the response of SASL PLAIN (RFC 4616) in base64.
    pub fn write_plain(&self, number: u32, out: &mut Vec<u8>) {
        let mut text = vec![0];
        text.extend_from_slice(&self.user(number));
        text.push(0);
        text.extend_from_slice(&self.password(number));
        out.extend_from_slice(STANDARD.encode(text).as_bytes());
    }
}

fn filled(pattern: &str, number: u32) -> Vec<u8> {
    let mut text = Vec::with_capacity(pattern.len() + 8);
    let mut parts = pattern.split("{n}");
    text.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
    for part in parts {
        write_decimal(u64::from(number), &mut text);
        text.extend_from_slice(part.as_bytes());
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use steelyard_wire::job::Mechanism;

    use super::*;

    fn accounts(users: u32, first: u32, all: u32) -> Accounts {
        let login = Login {
            user: "u{n}".to_owned(),
            password: "p{n}{n}".to_owned(),
            users,
            mechanism: Mechanism::Plain,
        };
        let places = Places {
            worker: 0,
            first,
            all,
        };
        Accounts::new(&login, places).unwrap()
    }

    #[test]
    fn connections_never_share_a_user_while_there_are_enough() {
        for (users, all) in [(10, 3), (3, 3), (7, 2), (9, 9), (1000, 7)] {
            let accounts = accounts(users, 0, all);
            let mut met = BTreeSet::new();
            for place in 0..all as usize {
                let own: BTreeSet<u32> = (0..users).map(|n| accounts.number(place, n)).collect();
                assert!(met.is_disjoint(&own), "{users} users, {all} connections");
                met.extend(own);
            }
            assert_eq!(met, (1..=users).collect(), "everybody logs in");
        }
    }

    #[test]
    fn fewer_users_than_connections_are_shared_evenly_over_workers() {
        let numbers: Vec<u32> = (0..4)
            .map(|place| accounts(3, 2, 6).number(place, 5))
            .collect();
        assert_eq!(numbers, [3, 1, 2, 3]);
    }

    #[test]
    fn the_number_stands_wherever_the_pattern_asks_for_it() {
        let accounts = accounts(5, 0, 1);
        assert_eq!(accounts.user(4), b"u4");
        assert_eq!(accounts.password(4), b"p44");
        let mut out = Vec::new();
        accounts.write_plain(1, &mut out);
        assert_eq!(STANDARD.decode(out).unwrap(), b"\0u1\0p11");
    }

    #[test]
    fn a_name_that_would_smuggle_a_command_is_refused() {
        for user in ["", "a\r\nQUIT", "a\0b"] {
            let login = Login {
                user: user.to_owned(),
                password: String::new(),
                users: 1,
                mechanism: Mechanism::Login,
            };
            let places = Places {
                worker: 0,
                first: 0,
                all: 1,
            };
            assert!(Accounts::new(&login, places).is_err(), "{user:?}");
        }
    }
}
