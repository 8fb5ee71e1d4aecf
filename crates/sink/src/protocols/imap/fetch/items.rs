//! What FETCH can be asked for, and how each is written.

use std::io::Write;

use crate::date::write_date;
use crate::maildrop::{Content, Mail};
use crate::protocols::imap::parse::{Words, write_flags};

/// One thing to be fetched of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    Flags,
    Uid,
    InternalDate,
    Size,
    Envelope,
    /// `BODY` or `BODYSTRUCTURE`, as asked for.
    Structure(&'static str),
    Part(Part),
}

/// Some bytes of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// As it is called in the reply.
    name: String,
    section: Section,
    /// Where it starts and how much of it.
    range: Option<(usize, usize)>,
    peek: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Section {
    Whole,
    Header,
    /// These fields, or all but these.
    Fields(Vec<String>, bool),
    Text,
}

/// Items in parentheses, one alone, or a macro.
pub(super) fn read(words: &mut Words) -> Option<Vec<Item>> {
    if words.take(b'(').is_none() {
        return item(words);
    }
    let mut items = item(words)?;
    while words.take(b')').is_none() {
        words.space()?;
        items.extend(item(words)?);
    }
    Some(items)
}

fn item(words: &mut Words) -> Option<Vec<Item>> {
    let word = words.word()?.to_ascii_uppercase();
    let whole = |name: &str, section, peek| {
        Item::Part(Part {
            name: name.to_owned(),
            section,
            range: None,
            peek,
        })
    };
    let fast = vec![Item::Flags, Item::InternalDate, Item::Size];
    Some(match word.as_str() {
        "FLAGS" => vec![Item::Flags],
        "UID" => vec![Item::Uid],
        "INTERNALDATE" => vec![Item::InternalDate],
        "RFC822.SIZE" => vec![Item::Size],
        "ENVELOPE" => vec![Item::Envelope],
        "BODYSTRUCTURE" => vec![Item::Structure("BODYSTRUCTURE")],
        "FAST" => fast,
        "ALL" => [fast, vec![Item::Envelope]].concat(),
        "FULL" => [fast, vec![Item::Envelope, Item::Structure("BODY")]].concat(),
        "RFC822" => vec![whole("RFC822", Section::Whole, false)],
        "RFC822.HEADER" => vec![whole("RFC822.HEADER", Section::Header, true)],
        "RFC822.TEXT" => vec![whole("RFC822.TEXT", Section::Text, false)],
        "BODY" if !words.next_is(b'[') => vec![Item::Structure("BODY")],
        "BODY" => vec![Item::Part(part(words, false)?)],
        "BODY.PEEK" => vec![Item::Part(part(words, true)?)],
        _ => return None,
    })
}

/// `[SECTION]<FROM.LENGTH>`.
fn part(words: &mut Words, peek: bool) -> Option<Part> {
    words.take(b'[')?;
    let word = words.word().unwrap_or_default().to_ascii_uppercase();
    let (section, label) = match word.as_str() {
        "" | "TEXT" | "HEADER" => {
            let section = match word.as_str() {
                "TEXT" => Section::Text,
                "HEADER" => Section::Header,
                _ => Section::Whole,
            };
            (section, word)
        }
        "HEADER.FIELDS" | "HEADER.FIELDS.NOT" => {
            words.space()?;
            let fields = fields(words)?;
            let label = format!("{word} ({})", fields.join(" "));
            (Section::Fields(fields, word == "HEADER.FIELDS.NOT"), label)
        }
        _ => return None,
    };
    words.take(b']')?;
    let range = if words.take(b'<').is_some() {
        let (from, length) = words.word()?.split_once('.')?;
        words.take(b'>')?;
        Some((from.parse().ok()?, length.parse().ok()?))
    } else {
        None
    };
    let name = match range {
        Some((from, _)) => format!("BODY[{label}]<{from}>"),
        None => format!("BODY[{label}]"),
    };
    Some(Part {
        name,
        section,
        range,
        peek,
    })
}

fn fields(words: &mut Words) -> Option<Vec<String>> {
    words.take(b'(')?;
    let mut fields = vec![words.text()?];
    while words.take(b')').is_none() {
        words.space()?;
        fields.push(words.text()?);
    }
    Some(fields)
}

impl Item {
    /// Reading it makes a message seen.
    pub fn marks_seen(&self) -> bool {
        matches!(self, Self::Part(part) if !part.peek)
    }

    /// Writing to a Vec cannot fail.
    pub fn write(&self, mail: &Mail, out: &mut Vec<u8>) {
        let content = &mail.content;
        let _ = match self {
            Self::Flags => {
                out.extend_from_slice(b"FLAGS ");
                write_flags(mail.flags, out);
                Ok(())
            }
            Self::Uid => write!(out, "UID {}", mail.uid),
            Self::InternalDate => write!(out, "INTERNALDATE \"{}\"", date(mail.unix_s)),
            Self::Size => write!(out, "RFC822.SIZE {}", content.text().len()),
            Self::Envelope => {
                envelope(content, out);
                Ok(())
            }
            Self::Structure(name) => {
                let body = content.body();
                let lines = memchr::memchr_iter(b'\n', body).count();
                write!(
                    out,
                    "{name} (\"TEXT\" \"PLAIN\" NIL NIL NIL \"8BIT\" {} {lines})",
                    body.len()
                )
            }
            Self::Part(part) => {
                part.write(content, out);
                Ok(())
            }
        };
    }
}

impl Part {
    fn write(&self, content: &Content, out: &mut Vec<u8>) {
        let chosen;
        let bytes = match &self.section {
            Section::Whole => content.text(),
            Section::Header => content.head(),
            Section::Text => content.body(),
            Section::Fields(names, others) => {
                chosen = choose(content.head(), names, *others);
                &chosen
            }
        };
        let bytes = match self.range {
            Some((from, length)) => {
                let rest = &bytes[from.min(bytes.len())..];
                &rest[..length.min(rest.len())]
            }
            None => bytes,
        };
        let _ = write!(out, "{} {{{}}}\r\n", self.name, bytes.len());
        out.extend_from_slice(bytes);
    }
}

/// Fields of a header with their folded lines, and the empty line.
fn choose(head: &[u8], names: &[String], others: bool) -> Vec<u8> {
    let mut chosen = Vec::new();
    let mut taken = false;
    for line in head.split_inclusive(|byte| *byte == b'\n') {
        if !line.starts_with(b" ") && !line.starts_with(b"\t") {
            let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
            let listed = names
                .iter()
                .any(|wanted| wanted.as_bytes().eq_ignore_ascii_case(name));
            taken = listed != others && line != b"\r\n";
        }
        if taken {
            chosen.extend_from_slice(line);
        }
    }
    chosen.extend_from_slice(b"\r\n");
    chosen
}

/// `01-Jan-1970 00:00:00 +0000`.
fn date(unix_s: i64) -> String {
    let mut text = String::new();
    write_date(&mut text, unix_s);
    // "Thu, 01 Jan 1970 00:00:00"
    let words: Vec<&str> = text.split(' ').collect();
    format!("{}-{}-{} {} +0000", words[1], words[2], words[3], words[4])
}

/// Date, subject and addresses (RFC 3501, 7.4.2); of an address list the first is given.
fn envelope(content: &Content, out: &mut Vec<u8>) {
    out.extend_from_slice(b"ENVELOPE (");
    quoted(content.field("Date"), out);
    out.push(b' ');
    quoted(content.field("Subject"), out);
    let from = content.field("From");
    for value in [
        from,
        content.field("Sender").or(from),
        content.field("Reply-To").or(from),
        content.field("To"),
        content.field("Cc"),
        content.field("Bcc"),
    ] {
        out.push(b' ');
        address(value, out);
    }
    out.push(b' ');
    quoted(content.field("In-Reply-To"), out);
    out.push(b' ');
    quoted(content.field("Message-ID"), out);
    out.push(b')');
}

fn quoted(value: Option<&str>, out: &mut Vec<u8>) {
    let Some(value) = value else {
        out.extend_from_slice(b"NIL");
        return;
    };
    out.push(b'"');
    for byte in value.bytes() {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
}

fn address(value: Option<&str>, out: &mut Vec<u8>) {
    let Some(first) = value.and_then(|value| value.split(',').next()) else {
        out.extend_from_slice(b"NIL");
        return;
    };
    let (name, bare) = match first.split_once('<') {
        Some((name, rest)) => (name.trim().trim_matches('"'), rest.trim_end_matches('>')),
        None => ("", first.trim()),
    };
    let (local, host) = bare.split_once('@').unwrap_or((bare, ""));
    out.extend_from_slice(b"((");
    quoted((!name.is_empty()).then_some(name), out);
    out.extend_from_slice(b" NIL ");
    quoted(Some(local), out);
    out.push(b' ');
    quoted(Some(host), out);
    out.extend_from_slice(b"))");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_fields_keep_their_folded_lines() {
        let head = b"A: 1\r\nSubject: x\r\n y\r\nB: 2\r\n\r\n";
        let names = ["subject".to_owned()];
        assert_eq!(choose(head, &names, false), b"Subject: x\r\n y\r\n\r\n");
        assert_eq!(choose(head, &names, true), b"A: 1\r\nB: 2\r\n\r\n");
    }

    #[test]
    fn items_are_read_alone_in_lists_and_as_macros() {
        let count = |text: &str| {
            let mut words = Words(text.as_bytes());
            read(&mut words)
                .filter(|_| words.is_empty())
                .map(|items| items.len())
        };
        assert_eq!(count("FLAGS"), Some(1));
        assert_eq!(count("ALL"), Some(4));
        assert_eq!(
            count("(UID BODY.PEEK[HEADER.FIELDS (Date To)]<0.10> RFC822)"),
            Some(3)
        );
        assert_eq!(count("(UID"), None);
        assert_eq!(count("BODY[1.MIME]"), None);
    }

    #[test]
    fn dates_are_written_as_imap_has_them() {
        assert_eq!(date(951_782_400), "29-Feb-2000 00:00:00 +0000");
    }
}
