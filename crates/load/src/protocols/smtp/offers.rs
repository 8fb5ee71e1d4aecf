//! What a server offers in its reply to EHLO (LHLO).

/// The extensions that matter here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "one for each extension")]
pub struct Offers {
    pub pipelining: bool,
    pub chunking: bool,
    pub starttls: bool,
    pub eight_bit: bool,
    pub auth_plain: bool,
    pub auth_login: bool,
}

impl Offers {
    /// From a whole reply; its first line is a greeting.
    pub fn parse(reply: &[u8]) -> Self {
        let mut offers = Self::default();
        for line in reply.split(|byte| *byte == b'\n').skip(1) {
            if let Some(text) = line.get(4..) {
                offers.line(text.trim_ascii());
            }
        }
        offers
    }

    fn line(&mut self, text: &[u8]) {
        let mut words = text.split(|byte| *byte == b' ' || *byte == b'=');
        let keyword = words.next().unwrap_or_default();
        let is = |name: &str| keyword.eq_ignore_ascii_case(name.as_bytes());
        if is("PIPELINING") {
            self.pipelining = true;
        } else if is("CHUNKING") {
            self.chunking = true;
        } else if is("STARTTLS") {
            self.starttls = true;
        } else if is("8BITMIME") {
            self.eight_bit = true;
        } else if is("AUTH") {
            for mechanism in words {
                self.auth_plain |= mechanism.eq_ignore_ascii_case(b"PLAIN");
                self.auth_login |= mechanism.eq_ignore_ascii_case(b"LOGIN");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::prelude::*;
    use smtp_proto::{
        AUTH_LOGIN, AUTH_PLAIN, EXT_8BIT_MIME, EXT_AUTH, EXT_CHUNKING, EXT_PIPELINING,
        EXT_START_TLS, EhloResponse,
    };

    use super::*;

    #[test]
    fn words_are_read_in_any_case_and_the_greeting_is_none() {
        let reply = b"250-pipelining.example PIPELINING\r\n250-Chunking\r\n250-AUTH=LOGIN\r\n250 starttls\r\n";
        let offers = Offers::parse(reply);
        let expected = Offers {
            chunking: true,
            starttls: true,
            auth_login: true,
            ..Offers::default()
        };
        assert_eq!(offers, expected);
        assert_eq!(Offers::parse(b"250 PIPELINING\r\n"), Offers::default());
    }

    const LINES: &[&str] = &[
        "PIPELINING",
        "CHUNKING",
        "STARTTLS",
        "8BITMIME",
        "AUTH PLAIN",
        "AUTH LOGIN CRAM-MD5",
        "AUTH XOAUTH2 LOGIN PLAIN",
        "SIZE 10240000",
        "DSN",
        "ENHANCEDSTATUSCODES",
        "SMTPUTF8",
    ];

    proptest! {
        #[test]
        fn another_parser_reads_the_same(
            chosen in proptest::sample::subsequence(LINES, 1..LINES.len()).prop_shuffle()
        ) {
            let mut reply = String::from("250-mx.example\r\n");
            for (index, line) in chosen.iter().enumerate() {
                let mark = if index + 1 == chosen.len() { ' ' } else { '-' };
                write!(reply, "250{mark}{line}\r\n").unwrap();
            }
            let other = EhloResponse::parse(&mut reply.as_bytes().iter()).unwrap();
            let has = |bit: u32| other.capabilities & bit != 0;
            // With several AUTH lines the other one keeps the last; compare where there is one.
            let auth_lines = chosen.iter().filter(|line| line.starts_with("AUTH")).count();
            let offers = Offers::parse(reply.as_bytes());
            prop_assert_eq!(offers.pipelining, has(EXT_PIPELINING));
            prop_assert_eq!(offers.chunking, has(EXT_CHUNKING));
            prop_assert_eq!(offers.starttls, has(EXT_START_TLS));
            prop_assert_eq!(offers.eight_bit, has(EXT_8BIT_MIME));
            if auth_lines <= 1 {
                let mechanism = |bit| has(EXT_AUTH) && other.auth_mechanisms & bit != 0;
                prop_assert_eq!(offers.auth_plain, mechanism(AUTH_PLAIN));
                prop_assert_eq!(offers.auth_login, mechanism(AUTH_LOGIN));
            }
        }

        #[test]
        fn no_bytes_make_it_stumble(bytes: Vec<u8>) {
            Offers::parse(&bytes);
        }
    }
}
