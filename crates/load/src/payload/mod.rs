//! Payloads that can be checked after their journey: who sent them, which one, and a checksum.
//!
//! One line says it all: `v1 RUN SENDER SEQUENCE LENGTH CHECKSUM`. RUN and CHECKSUM are sixteen
//! hexadecimal digits, the rest decimal. Mail carries it as the field `X-Steelyard-Payload` and
//! means the body behind the header (before dots are doubled); a file as its first line
//! `steelyard-payload: ...` and means all that follows; HTTP as a field of the head and means the
//! body of the same message.

mod seen;
mod tally;

use steelyard_net::checksum::Checksum;

pub use tally::PayloadTally;

/// Name of the field in mail; HTTP writes it in small letters, field names know no case.
pub const MAIL_FIELD: &str = "X-Steelyard-Payload";

/// What stands before the marker in the first line of a file.
pub const FILE_LABEL: &str = "steelyard-payload";

/// Longest line that can be a marker with its label; longer lines are skipped unread.
const LONGEST_LINE: usize = 160;

/// What a payload says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marker {
    /// Tells runs apart.
    pub run: u64,
    /// Worker number << 20 | place of the connection.
    pub sender: u64,
    /// Counts the payloads of a sender.
    pub sequence: u64,
    /// Length of the checked part.
    pub length_bytes: u64,
    /// XXH64 of the checked part.
    pub checksum: u64,
}

impl Marker {
    /// The marker of `content`.
    pub fn of(run: u64, sender: u64, sequence: u64, content: &[u8]) -> Self {
        Self {
            run,
            sender,
            sequence,
            length_bytes: content.len() as u64,
            checksum: Checksum::of(content),
        }
    }

    /// Appends `v1 ...`, without an end of line.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"v1 ");
        out.extend_from_slice(&hexadecimal(self.run));
        for number in [self.sender, self.sequence, self.length_bytes] {
            out.push(b' ');
            write_decimal(number, out);
        }
        out.push(b' ');
        out.extend_from_slice(&hexadecimal(self.checksum));
    }

    /// Reads `v1 ...`; blanks around it do not matter.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let mut words = text.trim_ascii().split(|byte| *byte == b' ');
        let mut word = || words.next().and_then(|word| std::str::from_utf8(word).ok());
        let version = word()?;
        let marker = Self {
            run: digits(word()?, 16)?,
            sender: digits(word()?, 10)?,
            sequence: digits(word()?, 10)?,
            length_bytes: digits(word()?, 10)?,
            checksum: digits(word()?, 16)?,
        };
        (version == "v1" && word().is_none()).then_some(marker)
    }
}

/// What a payload turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// As it was sent.
    Good(Marker),
    /// Not as it was sent.
    Corrupted(Marker),
    /// It says nothing of itself.
    Unmarked,
}

/// Checks one payload, fed in any pieces.
#[derive(Debug, Clone)]
pub struct PayloadCheck {
    reading: Reading,
    form: Form,
    line: Vec<u8>,
    line_too_long: bool,
    marker: Option<Marker>,
    checksum: Checksum,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Mail,
    File,
    Body,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Lines that may hold the marker.
    Lines,
    /// The checked part.
    Content,
    /// What no one can check.
    Unchecked,
}

impl PayloadCheck {
    /// Of a mail message: the field is looked for in its header.
    pub fn mail() -> Self {
        Self::new(Form::Mail, Reading::Lines, None)
    }

    /// Of a file: the marker is its first line.
    pub fn file() -> Self {
        Self::new(Form::File, Reading::Lines, None)
    }

    /// Of a body whose marker, if any, came before it.
    pub fn body(marker: Option<Marker>) -> Self {
        let reading = marker.map_or(Reading::Unchecked, |_| Reading::Content);
        Self::new(Form::Body, reading, marker)
    }

    fn new(form: Form, reading: Reading, marker: Option<Marker>) -> Self {
        Self {
            reading,
            form,
            line: Vec::new(),
            line_too_long: false,
            marker,
            checksum: Checksum::new(),
        }
    }

    /// Takes the next piece, with lines as they came off the wire (dots not doubled).
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while self.reading == Reading::Lines {
            let Some(end) = memchr::memchr(b'\n', rest) else {
                self.keep(rest);
                return;
            };
            self.keep(&rest[..end]);
            rest = &rest[end + 1..];
            self.end_line();
        }
        if self.reading == Reading::Content {
            self.checksum.feed(rest);
        }
    }

    /// The payload is complete.
    pub fn finish(&self) -> Finding {
        match self.marker {
            None => Finding::Unmarked,
            Some(marker)
                if self.reading == Reading::Content
                    && marker.length_bytes == self.checksum.fed_bytes()
                    && marker.checksum == self.checksum.value() =>
            {
                Finding::Good(marker)
            }
            Some(marker) => Finding::Corrupted(marker),
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.line.len() + bytes.len() > LONGEST_LINE {
            self.line_too_long = true;
        } else if !self.line_too_long {
            self.line.extend_from_slice(bytes);
        }
    }

    fn end_line(&mut self) {
        let too_long = std::mem::take(&mut self.line_too_long);
        let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
        let empty = line.is_empty() && !too_long;
        let label = match self.form {
            Form::Mail => MAIL_FIELD,
            Form::File | Form::Body => FILE_LABEL,
        };
        if !too_long && self.marker.is_none() {
            self.marker = behind_label(line, label).and_then(Marker::parse);
        }
        self.line.clear();
        let over = self.form == Form::File || empty;
        if over {
            self.reading = match self.marker {
                Some(_) => Reading::Content,
                None => Reading::Unchecked,
            };
        }
    }
}

/// What follows `label:`.
fn behind_label<'a>(line: &'a [u8], label: &str) -> Option<&'a [u8]> {
    let (name, rest) = line.split_at_checked(label.len())?;
    let value = rest.strip_prefix(b":")?;
    name.eq_ignore_ascii_case(label.as_bytes()).then_some(value)
}

/// Appends `number`; as `write!`, without its machinery.
pub fn write_decimal(number: u64, out: &mut Vec<u8>) {
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    let mut rest = number;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Sixteen digits.
pub fn hexadecimal(value: u64) -> [u8; 16] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    std::array::from_fn(|i| DIGITS[(value >> (60 - 4 * i) & 15) as usize])
}

fn digits(word: &str, radix: u32) -> Option<u64> {
    let sign = word.starts_with(['+', '-']);
    let length_is_right = radix == 10 || word.len() == 16;
    u64::from_str_radix(word, radix)
        .ok()
        .filter(|_| !sign && length_is_right)
}

#[cfg(test)]
mod tests;
