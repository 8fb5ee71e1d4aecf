//! What replies tell: where the data connection goes, and how long a file is.

use std::net::{Ipv4Addr, SocketAddr};

/// The port of a 229 reply: `(|||PORT|)` with any delimiter; the fields before it are ignored.
pub fn extended_port(text: &[u8]) -> Option<u16> {
    let opened = memchr::memchr_iter(b'(', text).map(|at| &text[at + 1..]);
    let bare = memchr::memmem::find(text, b"|||").map(|at| &text[at..]);
    opened.chain(bare).find_map(port_of_fields)
}

fn port_of_fields(fields: &[u8]) -> Option<u16> {
    let delimiter = *fields.first().filter(|byte| byte.is_ascii_punctuation())?;
    let mut parts = fields[1..].split(|byte| *byte == delimiter);
    let port = number(parts.nth(2)?)?;
    // A delimiter must follow, or the number may be cut off.
    parts.next()?;
    u16::try_from(port).ok().filter(|port| *port > 0)
}

/// The address of a 227 reply: six numbers with commas, wherever they stand.
pub fn passive_address(text: &[u8]) -> Option<SocketAddr> {
    let mut rest = text;
    while let Some(start) = rest.iter().position(u8::is_ascii_digit) {
        if let Some([a, b, c, d, high, low]) = six(&rest[start..]) {
            let port = u16::from(high) << 8 | u16::from(low);
            let address = SocketAddr::from((Ipv4Addr::new(a, b, c, d), port));
            return (port > 0).then_some(address);
        }
        let digits = rest[start..].iter().take_while(|b| b.is_ascii_digit());
        rest = &rest[start + digits.count()..];
    }
    None
}

fn six(text: &[u8]) -> Option<[u8; 6]> {
    let mut numbers = [0; 6];
    let mut parts = text.split(|byte| *byte == b',');
    for (index, place) in numbers.iter_mut().enumerate() {
        let part = parts.next()?.trim_ascii();
        // The last is followed by anything but a digit.
        let digits = part.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let part = if index == 5 { &part[..digits] } else { part };
        *place = u8::try_from(number(part)?).ok()?;
    }
    Some(numbers)
}

/// The size in a 150 reply: `(N bytes)`, as most servers write it.
pub fn announced_bytes(text: &[u8]) -> Option<u64> {
    let end = memchr::memmem::rfind(text, b" bytes)")?;
    let start = memchr::memrchr(b'(', &text[..end])? + 1;
    number(&text[start..end])
}

/// The size in a 213 reply.
pub fn file_bytes(text: &[u8]) -> Option<u64> {
    number(text.trim_ascii())
}

fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_found_between_any_delimiters() {
        for (text, port) in [
            ("Entering Extended Passive Mode (|||6446|)", Some(6446)),
            ("Entering Extended Passive Mode (|||6446|).", Some(6446)),
            ("ok (!!!21!)", Some(21)),
            ("ok |||21|", Some(21)),
            ("(|1|10.0.0.1|21|)", Some(21)),
            ("(|2|fe80::1|65535|)", Some(65535)),
            ("(|||65536|)", None),
            ("(|||0|)", None),
            ("(|||21", None),
            ("(|||-1|)", None),
            ("(|||)", None),
            ("Entering Extended Passive Mode", None),
            ("(", None),
        ] {
            assert_eq!(extended_port(text.as_bytes()), port, "{text}");
        }
    }

    #[test]
    fn an_address_is_found_with_and_without_parentheses() {
        let address = "10.1.2.3:1027".parse().ok();
        for (text, found) in [
            ("Entering Passive Mode (10,1,2,3,4,3)", address),
            ("Entering Passive Mode (10,1,2,3,4,3).", address),
            ("Entering Passive Mode 10,1,2,3,4,3", address),
            ("=10,1,2,3,4,3", address),
            ("(10, 1, 2, 3, 4, 3)", address),
            ("2 ways: 10,1,2,3,4,3;", address),
            ("(10,1,2,3,256,3)", None),
            ("(10,1,2,3,4)", None),
            ("(10,1,2,3,0,0)", None),
            ("(10,1,2,,4,3)", None),
            ("nothing", None),
        ] {
            assert_eq!(passive_address(text.as_bytes()), found, "{text}");
        }
    }

    #[test]
    fn a_size_is_believed_only_where_it_is_one_in_bytes() {
        let bytes = |text: &str| announced_bytes(text.as_bytes());
        assert_eq!(
            bytes("Opening BINARY mode data connection for a (b) (17 bytes)."),
            Some(17)
        );
        assert_eq!(bytes("0.2 kbytes to download"), None);
        assert_eq!(bytes("(about 17 bytes)"), None);
        assert_eq!(bytes("File status okay"), None);
        assert_eq!(file_bytes(b" 42\r"), Some(42));
        assert_eq!(file_bytes(b"42 bytes"), None);
    }
}
