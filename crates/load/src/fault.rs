//! The closed list of what can go wrong with an operation or a connection.

use std::collections::BTreeMap;

use rustix::io::Errno;

macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl $name {
            /// Every one, in the order of the list.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The word that results use.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),*
                }
            }
        }
    };
}

words! {
    /// Why an operation or a connection failed. One list for every protocol.
    ErrorKind {
        /// The host name has no address.
        DnsFail = "dns_fail",
        /// No local port or address left (`EADDRNOTAVAIL`).
        BindFail = "bind_fail",
        /// No file descriptor left (`EMFILE`, `ENFILE`).
        FdLimit = "fd_limit",
        /// No one listens, or the backlog sends resets.
        ConnRefused = "conn_refused",
        /// No answer to the connection request in time.
        ConnTimeout = "conn_timeout",
        /// No route to the network.
        NetUnreach = "net_unreach",
        /// No route to the host.
        HostUnreach = "host_unreach",
        /// The peer reset the connection.
        ConnReset = "conn_reset",
        /// The peer closed while an answer was due.
        PeerClosedEarly = "peer_closed_early",
        /// TLS could not be agreed on.
        TlsHandshake = "tls_handshake",
        /// The certificate does not verify.
        TlsCert = "tls_cert",
        /// The peer sent a TLS alert.
        TlsAlert = "tls_alert",
        /// The peer did not take the request in time.
        SendTimeout = "send_timeout",
        /// No complete answer in time.
        RecvTimeout = "recv_timeout",
        /// The connection ended inside a body of declared length.
        ShortRead = "short_read",
        /// The connection ended before the request was sent.
        ShortWrite = "short_write",
        /// The answer does not follow the protocol.
        BadProtocol = "bad_protocol",
        /// HTTP 3xx.
        BadStatus3xx = "bad_status_3xx",
        /// HTTP 4xx.
        BadStatus4xx = "bad_status_4xx",
        /// HTTP 5xx.
        BadStatus5xx = "bad_status_5xx",
        /// SMTP refused for now.
        Smtp4xx = "smtp_4xx",
        /// SMTP refused for good.
        Smtp5xx = "smtp_5xx",
        /// IMAP NO.
        ImapNo = "imap_no",
        /// IMAP BAD.
        ImapBad = "imap_bad",
        /// IMAP BYE.
        ImapBye = "imap_bye",
        /// POP3 -ERR.
        PopErr = "pop_err",
        /// POP3 -ERR [IN-USE]: another session holds the mailbox.
        PopInUse = "pop_in_use",
        /// FTP refused for now.
        Ftp4xx = "ftp_4xx",
        /// FTP refused for good.
        Ftp5xx = "ftp_5xx",
        /// No room: SMTP and FTP 452 and 552, IMAP NO [OVERQUOTA].
        NoRoom = "no_room",
        /// The body is not the expected one.
        BodyMismatch = "body_mismatch",
        /// The checksum inside the payload is wrong.
        ChecksumMismatch = "checksum_mismatch",
        /// HTTP/2 stream reset.
        H2Rst = "h2_rst",
        /// HTTP/2 GOAWAY.
        H2Goaway = "h2_goaway",
        /// The server does not offer what the job needs.
        CapabilityMissing = "capability_missing",
        /// Login refused.
        AuthFail = "auth_fail",
        /// The transfer went below the share of its rate that the job asks for.
        TooSlow = "too_slow",
        /// The local system forbids the connection (`EACCES`, `EPERM`).
        PermissionDenied = "permission_denied",
        /// Any other refusal of the local system.
        System = "system",
    }
}

impl ErrorKind {
    /// Whether it is what the peer said, not what happened to the connection.
    pub fn is_refusal(self) -> bool {
        matches!(
            self,
            Self::Ftp4xx | Self::Ftp5xx | Self::NoRoom | Self::AuthFail | Self::CapabilityMissing
        )
    }
}

impl From<Errno> for ErrorKind {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::ADDRNOTAVAIL | Errno::ADDRINUSE => Self::BindFail,
            Errno::MFILE | Errno::NFILE => Self::FdLimit,
            Errno::CONNREFUSED => Self::ConnRefused,
            Errno::TIMEDOUT => Self::ConnTimeout,
            Errno::NETUNREACH | Errno::NETDOWN => Self::NetUnreach,
            Errno::HOSTUNREACH | Errno::HOSTDOWN => Self::HostUnreach,
            Errno::CONNRESET | Errno::CONNABORTED => Self::ConnReset,
            Errno::PIPE => Self::ShortWrite,
            Errno::ACCESS | Errno::PERM => Self::PermissionDenied,
            _ => Self::System,
        }
    }
}

/// The first reply behind each kind of failure, by phase: what the server said about it.
#[derive(Debug, Clone, Default)]
pub struct Replies(BTreeMap<(usize, usize), String>);

impl Replies {
    /// Bytes that are kept of a reply.
    pub const LONGEST: usize = 512;

    /// Keeps the beginning of `bytes` if it is text and the first of its phase and kind.
    pub fn keep(&mut self, phase: usize, kind: ErrorKind, bytes: &[u8]) {
        let start = &bytes[..bytes.len().min(Self::LONGEST)];
        let binary = start.iter().any(|byte| matches!(byte, 0..=8 | 14..=31));
        if !binary && !start.is_empty() {
            self.0
                .entry((phase, kind as usize))
                .or_insert_with(|| String::from_utf8_lossy(start).into_owned());
        }
    }

    /// Adds those of another worker.
    pub fn add(&mut self, other: &Self) {
        for (of, text) in &other.0 {
            self.0.entry(*of).or_insert_with(|| text.clone());
        }
    }

    /// The same among more phases, of which its own begin at `first`.
    #[must_use]
    pub fn placed(&self, first: usize) -> Self {
        let shifted = |(of, text): (&(usize, usize), &String)| ((of.0 + first, of.1), text.clone());
        Self(self.0.iter().map(shifted).collect())
    }

    /// `(phase, kind, text)` of each.
    pub fn entries(&self) -> impl Iterator<Item = (usize, ErrorKind, &str)> + '_ {
        let named = |(of, text): (&(usize, usize), _)| (of.0, ErrorKind::ALL[of.1], text);
        self.0
            .iter()
            .map(|(of, text)| (of, text.as_str()))
            .map(named)
    }
}

/// Failures by phase and kind: a fixed table, nothing is allocated while a run goes on.
#[derive(Debug, Clone)]
pub struct FaultTable {
    rows: Vec<[u64; ErrorKind::ALL.len()]>,
}

impl FaultTable {
    /// All zero, one row for each phase.
    pub fn new(phases: usize) -> Self {
        Self {
            rows: vec![[0; ErrorKind::ALL.len()]; phases],
        }
    }

    /// Counts one.
    pub fn count(&mut self, phase: usize, kind: ErrorKind) {
        self.rows[phase][kind as usize] += 1;
    }

    /// Adds the counts of another worker.
    pub fn add(&mut self, other: &Self) {
        for (row, more) in self.rows.iter_mut().zip(&other.rows) {
            for (cell, count) in row.iter_mut().zip(more) {
                *cell += count;
            }
        }
    }

    /// The same among `phases` phases, of which its own begin at `first`.
    #[must_use]
    pub fn placed(&self, first: usize, phases: usize) -> Self {
        let mut all = Self::new(phases);
        for (row, own) in all.rows[first..].iter_mut().zip(&self.rows) {
            *row = *own;
        }
        all
    }

    /// All failures.
    pub fn total(&self) -> u64 {
        self.rows.iter().flatten().sum()
    }

    /// `(phase, kind, count)` of every count above zero.
    pub fn entries(&self) -> impl Iterator<Item = (usize, ErrorKind, u64)> + '_ {
        self.rows.iter().enumerate().flat_map(|(phase, row)| {
            ErrorKind::ALL
                .iter()
                .zip(row)
                .filter(|(_, count)| **count > 0)
                .map(move |(kind, count)| (phase, *kind, *count))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_two_workers_add_up_by_phase_and_kind() {
        let mut left = FaultTable::new(2);
        let mut right = FaultTable::new(2);
        left.count(0, ErrorKind::ConnRefused);
        right.count(0, ErrorKind::ConnRefused);
        right.count(1, ErrorKind::System);
        left.add(&right);
        let entries: Vec<_> = left.entries().collect();
        assert_eq!(
            entries,
            [(0, ErrorKind::ConnRefused, 2), (1, ErrorKind::System, 1)]
        );
        assert_eq!(left.total(), 3);
    }

    #[test]
    fn the_first_reply_of_text_is_kept_by_phase_and_kind() {
        let (mut left, mut right) = (Replies::default(), Replies::default());
        left.keep(1, ErrorKind::BadStatus5xx, b"HTTP/1.1 500 no\r\n\r\nbroken");
        left.keep(1, ErrorKind::BadStatus5xx, b"HTTP/1.1 503 busy");
        left.keep(1, ErrorKind::H2Rst, b"\x00\x00\x04");
        right.keep(0, ErrorKind::Smtp4xx, &[b'4'; 600]);
        left.add(&right.placed(2));
        let texts: Vec<_> = left.entries().collect();
        assert_eq!(
            texts,
            [
                (1, ErrorKind::BadStatus5xx, "HTTP/1.1 500 no\r\n\r\nbroken"),
                (2, ErrorKind::Smtp4xx, "4".repeat(512).as_str()),
            ]
        );
    }

    #[test]
    fn every_word_of_the_list_is_unique() {
        let mut words: Vec<_> = ErrorKind::ALL.iter().map(|kind| kind.word()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), ErrorKind::ALL.len());
    }
}
