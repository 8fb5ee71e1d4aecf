//! Logins as SASL writes them: PLAIN (RFC 4616) and LOGIN, in base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Text out of base64; `=` alone stands for nothing (RFC 4954, section 4).
pub(crate) fn decode(encoded: &str) -> Option<String> {
    if encoded == "=" {
        return Some(String::new());
    }
    String::from_utf8(STANDARD.decode(encoded).ok()?).ok()
}

/// Name and password out of a PLAIN response.
pub(crate) fn plain(encoded: &str) -> Option<(String, String)> {
    let text = decode(encoded)?;
    let mut parts = text.split('\0');
    let (_acts_for, name, password) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || name.is_empty() {
        return None;
    }
    Some((name.to_owned(), password.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_response_holds_three_parts_and_the_first_may_be_empty() {
        let write = |text: &str| STANDARD.encode(text);
        let good = Some(("u".to_owned(), "p".to_owned()));
        assert_eq!(plain(&write("\0u\0p")), good);
        assert_eq!(plain(&write("a\0u\0p")), good);
        for bad in ["u\0p", "\0\0p", "\0u\0p\0x", ""] {
            assert_eq!(plain(&write(bad)), None, "{bad:?}");
        }
        assert_eq!(plain("!"), None);
    }
}
