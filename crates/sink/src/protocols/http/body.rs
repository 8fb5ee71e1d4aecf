//! Chunked request bodies, read to be thrown away (RFC 9112, 7.1).

/// Longest chunk extension or trailer section taken.
const MAX_EXTRA_BYTES: u32 = 8 * 1024;

/// Where a chunked body is between two bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chunks {
    state: State,
    /// Of the chunk: its length while that is read, then what is left of it.
    size: u64,
    extra: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    FirstDigit,
    Digits,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    TrailerStart,
    Trailer,
    TrailerLf,
    EndLf,
}

/// How far reading got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Read {
    /// All of the input is used up, the body goes on.
    More(usize),
    /// The body ended after so many bytes of the input.
    End(usize),
    /// Not a chunked body.
    Bad,
}

impl Default for Chunks {
    fn default() -> Self {
        Self {
            state: State::FirstDigit,
            size: 0,
            extra: 0,
        }
    }
}

impl Chunks {
    /// Reads on from where the last input ended.
    pub fn read(&mut self, input: &[u8]) -> Read {
        let mut at = 0;
        while at < input.len() {
            if self.state == State::Data {
                at += self.skip(input.len() - at);
                continue;
            }
            let byte = input[at];
            at += 1;
            if self.state == State::EndLf && byte == b'\n' {
                return Read::End(at);
            }
            match self.after(byte) {
                Some(state) => self.state = state,
                None => return Read::Bad,
            }
        }
        Read::More(at)
    }

    fn skip(&mut self, available: usize) -> usize {
        let used = available.min(usize::try_from(self.size).unwrap_or(usize::MAX));
        self.size -= used as u64;
        if self.size == 0 {
            self.state = State::DataCr;
        }
        used
    }

    fn after(&mut self, byte: u8) -> Option<State> {
        match (self.state, byte) {
            (State::FirstDigit | State::Digits, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                let digit = u64::from(char::from(byte).to_digit(16)?);
                self.size = self.size.checked_mul(16)?.checked_add(digit)?;
                Some(State::Digits)
            }
            (State::Digits | State::Extension, b'\r') => Some(State::SizeLf),
            (State::Digits, b';' | b' ' | b'\t') => self.more(State::Extension),
            (State::Extension, _) if byte != b'\n' => self.more(State::Extension),
            (State::SizeLf, b'\n') if self.size == 0 => Some(State::TrailerStart),
            (State::SizeLf, b'\n') => Some(State::Data),
            (State::DataCr, b'\r') => Some(State::DataLf),
            (State::DataLf, b'\n') => Some(State::FirstDigit),
            (State::TrailerStart, b'\r') => Some(State::EndLf),
            (State::Trailer, b'\r') => Some(State::TrailerLf),
            (State::TrailerStart | State::Trailer, _) if byte != b'\n' => self.more(State::Trailer),
            (State::TrailerLf, b'\n') => Some(State::TrailerStart),
            _ => None,
        }
    }

    fn more(&mut self, state: State) -> Option<State> {
        self.extra += 1;
        (self.extra <= MAX_EXTRA_BYTES).then_some(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = b"5;name=value\r\nhello\r\n0A\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n";

    #[test]
    fn a_body_ends_at_its_end_however_it_is_cut() {
        let whole = [BODY, b"GET"].concat();
        for cut in 0..BODY.len() {
            let mut chunks = Chunks::default();
            assert_eq!(chunks.read(&whole[..cut]), Read::More(cut));
            assert_eq!(
                chunks.read(&whole[cut..]),
                Read::End(BODY.len() - cut),
                "cut at {cut}"
            );
        }
    }

    #[test]
    fn what_is_no_chunked_body_is_refused() {
        for bad in [
            "x\r\n",
            "\r\n",
            "5\nhello",
            "5\r\nhelloX",
            "5\r\nhello\rX",
            "-1\r\n",
            "10000000000000000\r\n",
            "0\r\n\n",
            "1;\n",
        ] {
            assert_eq!(Chunks::default().read(bad.as_bytes()), Read::Bad, "{bad:?}");
        }
    }

    #[test]
    fn extensions_and_trailers_without_end_are_refused() {
        let endless = format!("1;{}", "x".repeat(9000));
        assert_eq!(Chunks::default().read(endless.as_bytes()), Read::Bad);
        let endless = format!("0\r\n{}", "a: b\r\n".repeat(3000));
        assert_eq!(Chunks::default().read(endless.as_bytes()), Read::Bad);
    }
}
