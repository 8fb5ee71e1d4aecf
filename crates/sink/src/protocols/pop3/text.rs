//! Replies of several lines, ended by a dot.

use memchr::memmem;

/// Writes text with dots at the start of lines doubled, and the line that ends it.
pub(super) fn write(text: &[u8], out: &mut Vec<u8>) {
    if text.starts_with(b".") {
        out.push(b'.');
    }
    let mut rest = text;
    while let Some(found) = memmem::find(rest, b"\r\n.") {
        out.extend_from_slice(&rest[..found + 3]);
        out.push(b'.');
        rest = &rest[found + 3..];
    }
    out.extend_from_slice(rest);
    if !text.is_empty() && !text.ends_with(b"\r\n") {
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b".\r\n");
}

/// The front of a body, so many lines of it.
pub(super) fn lines(body: &[u8], count: usize) -> &[u8] {
    if count == 0 {
        return &[];
    }
    let mut ends = memmem::find_iter(body, b"\r\n");
    ends.nth(count - 1).map_or(body, |end| &body[..end + 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_at_line_starts_are_doubled_and_only_there() {
        for (text, wire) in [
            ("", ".\r\n"),
            ("a", "a\r\n.\r\n"),
            (".\r\n", "..\r\n.\r\n"),
            ("a.\r\n..b\r\n", "a.\r\n...b\r\n.\r\n"),
            ("a\n.b\r\n", "a\n.b\r\n.\r\n"),
            ("\r\n.\r\n.", "\r\n..\r\n..\r\n.\r\n"),
        ] {
            let mut out = Vec::new();
            write(text.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), wire, "{text:?}");
        }
    }

    #[test]
    fn lines_are_counted_from_the_front() {
        assert_eq!(lines(b"a\r\nb\r\nc", 0), b"");
        assert_eq!(lines(b"a\r\nb\r\nc", 2), b"a\r\nb\r\n");
        assert_eq!(lines(b"a\r\nb\r\nc", 9), b"a\r\nb\r\nc");
    }
}
