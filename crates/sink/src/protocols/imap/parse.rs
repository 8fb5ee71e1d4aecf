//! Reading commands: words, strings, flags, sets of messages (RFC 3501, section 9).

use std::borrow::Cow;

use crate::maildrop::{Flag, Flags};

/// A command that is read from its front; `None` from any reader means malformed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words<'a>(pub &'a [u8]);

impl<'a> Words<'a> {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn next_is(&self, byte: u8) -> bool {
        self.0.first() == Some(&byte)
    }

    /// Takes this byte.
    pub fn take(&mut self, byte: u8) -> Option<()> {
        self.0 = self.0.strip_prefix(&[byte])?;
        Some(())
    }

    /// Takes the space between two words.
    pub fn space(&mut self) -> Option<()> {
        self.take(b' ')
    }

    /// Bytes up to a space, a bracket or a parenthesis; at least one.
    pub fn word(&mut self) -> Option<&'a str> {
        let stop = |byte: &u8| b" ()[]<>{\"\r\n".contains(byte);
        let end = self.0.iter().position(stop).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        let word = std::str::from_utf8(word).ok()?;
        (!word.is_empty()).then_some(word)
    }

    /// An atom, a quoted string or a literal.
    pub fn string(&mut self) -> Option<Cow<'a, [u8]>> {
        match self.0.first()? {
            b'"' => self.quoted().map(Cow::Owned),
            b'{' => self.literal().map(Cow::Borrowed),
            _ => self.word().map(|word| Cow::Borrowed(word.as_bytes())),
        }
    }

    /// [`Words::string`] that is text.
    pub fn text(&mut self) -> Option<String> {
        String::from_utf8(self.string()?.into_owned()).ok()
    }

    fn quoted(&mut self) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        let mut bytes = self.0.iter().enumerate().skip(1);
        loop {
            match bytes.next()? {
                (at, b'"') => {
                    self.0 = &self.0[at + 1..];
                    return Some(text);
                }
                (_, b'\\') => text.push(*bytes.next()?.1),
                (_, byte) => text.push(*byte),
            }
        }
    }

    pub fn literal(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|byte| *byte == b'\n')?;
        let length = announced(&self.0[..end])?.0;
        let length = usize::try_from(length).ok()?;
        let rest = &self.0[end + 1..];
        if rest.len() < length {
            return None;
        }
        self.0 = &rest[length..];
        Some(&rest[..length])
    }

    /// A list of mailbox names' patterns: like a string, but with `%` and `*`.
    pub fn pattern(&mut self) -> Option<String> {
        self.text()
    }

    /// Flags in parentheses, or bare.
    pub fn flags(&mut self) -> Option<Flags> {
        let list = self.take(b'(').is_some();
        let mut flags = Flags::default();
        while !self.is_empty() && !self.next_is(b')') {
            // Keywords a server does not keep are no error (RFC 3501, 2.3.2).
            flags = flag(self.word()?).map_or(flags, |flag| flags.with(flag));
            if self.space().is_none() {
                break;
            }
        }
        if list {
            self.take(b')')?;
        }
        Some(flags)
    }

    /// A set of messages, as `1:4,7,9:*`.
    pub fn set(&mut self) -> Option<Set> {
        Set::parse(self.word()?)
    }
}

fn flag(word: &str) -> Option<Flag> {
    const FLAGS: [(&str, Flag); 5] = [
        ("\\Seen", Flag::Seen),
        ("\\Answered", Flag::Answered),
        ("\\Flagged", Flag::Flagged),
        ("\\Deleted", Flag::Deleted),
        ("\\Draft", Flag::Draft),
    ];
    FLAGS
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(word))
        .map(|(_, flag)| *flag)
}

/// Writes `(\Seen \Deleted)`.
pub(super) fn write_flags(flags: Flags, out: &mut Vec<u8>) {
    const NAMES: [(Flag, &[u8]); 5] = [
        (Flag::Answered, b"\\Answered"),
        (Flag::Flagged, b"\\Flagged"),
        (Flag::Deleted, b"\\Deleted"),
        (Flag::Seen, b"\\Seen"),
        (Flag::Draft, b"\\Draft"),
    ];
    out.push(b'(');
    let start = out.len();
    for (_, name) in NAMES.iter().filter(|(flag, _)| flags.has(*flag)) {
        if out.len() > start {
            out.push(b' ');
        }
        out.extend_from_slice(name);
    }
    out.push(b')');
}

/// The length of the literal a line announces at its end, and whether the sender does not wait.
pub(super) fn announced(line: &[u8]) -> Option<(u64, bool)> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let inner = line.strip_suffix(b"}")?;
    let start = inner.iter().rposition(|byte| *byte == b'{')?;
    let digits = &inner[start + 1..];
    let (digits, at_once) = digits
        .strip_suffix(b"+")
        .map_or((digits, false), |digits| (digits, true));
    let length = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some((length, at_once))
}

/// Ranges of numbers; `*` is the largest there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Set(Vec<(u32, u32)>);

/// Stands for `*`.
const LAST: u32 = u32::MAX;

impl Set {
    fn parse(text: &str) -> Option<Self> {
        let number = |part: &str| match part {
            "*" => Some(LAST),
            _ => part.parse().ok().filter(|number| *number > 0),
        };
        let range = |part: &str| match part.split_once(':') {
            Some((from, to)) => Some((number(from)?, number(to)?)),
            None => number(part).map(|one| (one, one)),
        };
        text.split(',')
            .map(range)
            .collect::<Option<Vec<_>>>()
            .map(Self)
    }

    /// Places of the messages with these sequence numbers; `None` if one of them is not there.
    pub fn by_number(&self, count: usize) -> Option<Vec<usize>> {
        let count = u32::try_from(count).unwrap_or(LAST);
        let there = |number: u32| match number {
            LAST => Some(count),
            number => (number <= count).then_some(number),
        };
        let mut places = Vec::new();
        for (from, to) in &self.0 {
            let (from, to) = (there(*from)?, there(*to)?);
            if count == 0 {
                return None;
            }
            places.extend((from.min(to)..=from.max(to)).map(|number| number as usize - 1));
        }
        Some(once(places))
    }

    /// Whether it names this number; `last` is the largest there is.
    pub fn has(&self, number: u32, last: u32) -> bool {
        let real = |end: u32| if end == LAST { last } else { end };
        self.0.iter().any(|(from, to)| {
            let (from, to) = (real(*from), real(*to));
            (from.min(to)..=from.max(to)).contains(&number)
        })
    }

    /// Places of the messages with these uids; those that are not there are left out.
    pub fn by_uid(&self, uids: &[u32]) -> Vec<usize> {
        let last = uids.last().copied().unwrap_or_default();
        let mut places = Vec::new();
        for (from, to) in &self.0 {
            let real = |uid: u32| if uid == LAST { last } else { uid };
            let (from, to) = (real(*from).min(real(*to)), real(*from).max(real(*to)));
            let start = uids.partition_point(|uid| *uid < from);
            let end = uids.partition_point(|uid| *uid <= to);
            places.extend(start..end);
        }
        once(places)
    }
}

fn once(mut places: Vec<usize>) -> Vec<usize> {
    places.sort_unstable();
    places.dedup();
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> Set {
        Set::parse(text).unwrap()
    }

    #[test]
    fn sets_name_places_once_and_in_order() {
        assert_eq!(set("3,1:2,2").by_number(3), Some(vec![0, 1, 2]));
        assert_eq!(set("*").by_number(3), Some(vec![2]));
        assert_eq!(set("*:2").by_number(3), Some(vec![1, 2]));
        assert_eq!(set("4").by_number(3), None);
        assert_eq!(set("*").by_number(0), None);
        assert!(Set::parse("0").is_none() && Set::parse("1:").is_none());
    }

    #[test]
    fn uids_that_are_gone_are_left_out_and_a_star_is_the_last_there_is() {
        let uids = [2, 5, 9];
        assert_eq!(set("1:5").by_uid(&uids), [0, 1]);
        assert_eq!(set("6").by_uid(&uids), [] as [usize; 0]);
        assert_eq!(set("100:*").by_uid(&uids), [2]);
        assert_eq!(set("*").by_uid(&[]), [] as [usize; 0]);
    }

    #[test]
    fn strings_come_in_three_spellings() {
        let read = |text: &str| Words(text.as_bytes()).text();
        assert_eq!(read("atom x").unwrap(), "atom");
        assert_eq!(read("\"a \\\"b\\\\\" x").unwrap(), "a \"b\\");
        assert_eq!(read("{3}\r\na\rb x").unwrap(), "a\rb");
        assert_eq!(read("{3+}\r\nabc").unwrap(), "abc");
        assert_eq!(read("\"open"), None);
        assert_eq!(read("{9}\r\nshort"), None);
    }

    #[test]
    fn flags_are_read_and_written() {
        let flags = Words(b"(\\Seen \\Deleted Junk)").flags().unwrap();
        let mut out = Vec::new();
        write_flags(flags, &mut out);
        assert_eq!(out, b"(\\Deleted \\Seen)");
        assert!(Words(b"(\\Seen").flags().is_none());
    }
}
