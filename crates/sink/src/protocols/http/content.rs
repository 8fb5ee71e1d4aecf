//! What a reply consists of: as configured, or as the path of its request asks for.

/// How the end of a reply's body is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delimiting {
    /// `Content-Length`.
    Length,
    /// `Transfer-Encoding: chunked`.
    Chunked,
    /// The end of the connection.
    Close,
}

/// Status and body of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Content {
    pub status: u16,
    pub body_bytes: u64,
    pub delimiting: Delimiting,
}

impl Content {
    /// A status that has no body gets none.
    pub fn new(status: u16, body_bytes: u64, delimiting: Delimiting) -> Self {
        if matches!(status, 204 | 304) {
            return Self {
                status,
                body_bytes: 0,
                delimiting: Delimiting::Length,
            };
        }
        Self {
            status,
            body_bytes,
            delimiting,
        }
    }

    pub fn has_body(&self) -> bool {
        !matches!(self.status, 204 | 304)
    }

    /// What a request gets that asks for something of its own; `body_bytes` are the usual ones.
    pub fn asked(self, asked: Asked, body_bytes: u64) -> Self {
        match asked {
            Asked::Usual => self,
            Asked::Status(status) => Self::new(status, body_bytes, self.delimiting),
            Asked::Bytes(bytes) => Self::new(200, bytes, Delimiting::Length),
            Asked::Chunked(bytes) => Self::new(200, bytes, Delimiting::Chunked),
            Asked::Close(bytes) => Self::new(200, bytes, Delimiting::Close),
        }
    }

    /// As a client of HTTP/1.0 can read it: chunks came with HTTP/1.1.
    pub fn for_old(mut self) -> Self {
        if self.delimiting == Delimiting::Chunked {
            self.delimiting = Delimiting::Close;
        }
        self
    }
}

/// What a path asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    Usual,
    /// `/status/404`
    Status(u16),
    /// `/bytes/1234`
    Bytes(u64),
    /// `/chunked/1234`
    Chunked(u64),
    /// `/close/1234`
    Close(u64),
}

impl Asked {
    /// Reads a path; one that asks for nothing known, or for nonsense, gets the usual reply.
    pub fn read(path: &[u8]) -> Self {
        Self::known(path).unwrap_or(Self::Usual)
    }

    fn known(path: &[u8]) -> Option<Self> {
        let path = path.strip_prefix(b"/")?;
        let path = path.split(|byte| *byte == b'?').next()?;
        let slash = path.iter().position(|byte| *byte == b'/')?;
        let (what, number) = (&path[..slash], &path[slash + 1..]);
        let number = self::number(number)?;
        match what {
            b"status" if (200..=599).contains(&number) => Some(Self::Status(number as u16)),
            b"bytes" => Some(Self::Bytes(number)),
            b"chunked" => Some(Self::Chunked(number)),
            b"close" => Some(Self::Close(number)),
            _ => None,
        }
    }
}

/// Decimal digits and nothing else.
pub(crate) fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_asks_for_a_status_or_a_body() {
        for (path, asked) in [
            ("/status/404", Asked::Status(404)),
            ("/bytes/0", Asked::Bytes(0)),
            ("/bytes/1234?x=/close/1", Asked::Bytes(1234)),
            ("/chunked/18446744073709551615", Asked::Chunked(u64::MAX)),
            ("/close/5", Asked::Close(5)),
        ] {
            assert_eq!(Asked::read(path.as_bytes()), asked, "{path}");
        }
    }

    #[test]
    fn any_other_path_gets_the_usual_reply() {
        for path in [
            "",
            "/",
            "/status/100",
            "/status/600",
            "/bytes/",
            "/bytes/+1",
            "/bytes/1/2",
            "/bytes/18446744073709551616",
            "bytes/1",
            "*",
        ] {
            assert_eq!(Asked::read(path.as_bytes()), Asked::Usual, "{path}");
        }
    }
}
