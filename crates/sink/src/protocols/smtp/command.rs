//! Command lines: what was asked for, or the reply that refuses it.

/// Verbs in the order of the protocol's names; the number is the verb of faults and delays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Connect,
    Helo,
    Ehlo,
    Mail,
    Rcpt,
    Data,
    Eom,
    Rset,
    Noop,
    Vrfy,
    Quit,
    Lhlo,
    StartTls,
    Auth,
    Bdat,
    Help,
    Other,
}

impl Verb {
    pub const NAMES: &'static [&'static str] = &[
        "CONNECT", "HELO", "EHLO", "MAIL", "RCPT", "DATA", "EOM", "RSET", "NOOP", "VRFY", "QUIT",
        "LHLO", "STARTTLS", "AUTH", "BDAT", "HELP", "OTHER",
    ];

    /// The verb of a line's first word; `CONNECT` and `EOM` are no words of the protocol.
    pub fn read(word: &str) -> Self {
        const WORDS: [(&str, Verb); 14] = [
            ("MAIL", Verb::Mail),
            ("RCPT", Verb::Rcpt),
            ("DATA", Verb::Data),
            ("RSET", Verb::Rset),
            ("NOOP", Verb::Noop),
            ("QUIT", Verb::Quit),
            ("EHLO", Verb::Ehlo),
            ("HELO", Verb::Helo),
            ("VRFY", Verb::Vrfy),
            ("BDAT", Verb::Bdat),
            ("AUTH", Verb::Auth),
            ("STARTTLS", Verb::StartTls),
            ("LHLO", Verb::Lhlo),
            ("HELP", Verb::Help),
        ];
        WORDS
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(word))
            .map_or(Self::Other, |(_, verb)| *verb)
    }
}

/// Arguments of MAIL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sender<'a> {
    /// Without angle brackets; empty for bounces.
    pub path: &'a str,
    /// As announced with `SIZE=`.
    pub size: Option<u64>,
}

/// A reply that refuses a command.
pub(crate) type Refusal = &'static str;

pub(crate) const SYNTAX: Refusal = "501 5.5.4 Syntax error in arguments\r\n";
const PARAMETER: Refusal = "555 5.5.4 Parameter not supported\r\n";
const BAD_MAILBOX: Refusal =
    "553 5.1.3 Local part may hold letters, digits and ._+- only, must not start with a dot\r\n";

/// Longest local part taken (RFC 5321, 4.5.3.1.1).
const MAX_LOCAL_PART: usize = 64;

/// Reads what follows `MAIL`.
pub(crate) fn sender(arguments: &str, extended: bool) -> Result<Sender<'_>, Refusal> {
    let (path, parameters) = path(arguments, "FROM:")?;
    let mut size = None;
    for parameter in parameters.split_ascii_whitespace() {
        let (name, value) = parameter.split_once('=').ok_or(PARAMETER)?;
        let body = value.eq_ignore_ascii_case("7BIT") || value.eq_ignore_ascii_case("8BITMIME");
        match name.to_ascii_uppercase().as_str() {
            "SIZE" if extended => size = Some(value.parse().map_err(|_| SYNTAX)?),
            "BODY" if extended && body => {}
            // Who the client says it was given by; no one to believe it here (RFC 4954, 5).
            "AUTH" if extended => {}
            _ => return Err(PARAMETER),
        }
    }
    Ok(Sender { path, size })
}

/// Reads what follows `RCPT`: the local part, safe as the name of a folder.
pub(crate) fn recipient(arguments: &str) -> Result<&str, Refusal> {
    let (path, parameters) = path(arguments, "TO:")?;
    if !parameters.trim_ascii().is_empty() {
        return Err(PARAMETER);
    }
    // A source route is accepted and ignored (RFC 5321, 4.1.1.3).
    let mailbox = match path.strip_prefix('@').and_then(|_| path.split_once(':')) {
        Some((_, mailbox)) => mailbox,
        None => path,
    };
    let local = mailbox.rsplit_once('@').map_or(mailbox, |(local, _)| local);
    let safe = |byte: u8| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte);
    let good = !local.is_empty()
        && local.len() <= MAX_LOCAL_PART
        && !local.starts_with('.')
        && local.bytes().all(safe);
    good.then_some(local).ok_or(BAD_MAILBOX)
}

/// The text between angle brackets after `keyword`, and what follows it.
fn path<'a>(arguments: &'a str, keyword: &str) -> Result<(&'a str, &'a str), Refusal> {
    let head = arguments.get(..keyword.len()).ok_or(SYNTAX)?;
    if !head.eq_ignore_ascii_case(keyword) {
        return Err(SYNTAX);
    }
    let rest = arguments[keyword.len()..].trim_ascii_start();
    let inner = rest.strip_prefix('<').ok_or(SYNTAX)?;
    let mut quoted = false;
    let end = inner
        .bytes()
        .position(|byte| {
            quoted ^= byte == b'"';
            byte == b'>' && !quoted
        })
        .ok_or(SYNTAX)?;
    let after = &inner[end + 1..];
    if !after.is_empty() && !after.starts_with(' ') {
        return Err(SYNTAX);
    }
    Ok((&inner[..end], after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senders_are_read_with_their_parameters() {
        let read = |text| sender(text, true).map(|sender| (sender.path, sender.size));
        assert_eq!(read("FROM:<a@b>"), Ok(("a@b", None)));
        assert_eq!(read("from: <> SIZE=12 BODY=8BITMIME"), Ok(("", Some(12))));
        assert_eq!(read("FROM:<\"a>b\"@c>"), Ok(("\"a>b\"@c", None)));
        assert_eq!(read("FROM:<a@b> SIZE=x"), Err(SYNTAX));
        assert_eq!(read("FROM:<a@b> AUTH=<>"), Ok(("a@b", None)));
        assert_eq!(read("FROM:<a@b> RET=FULL"), Err(PARAMETER));
        assert_eq!(read("FROM:a@b"), Err(SYNTAX));
        assert_eq!(read("FROM:<a@b"), Err(SYNTAX));
        assert_eq!(read("FROM:<a@b>SIZE=1"), Err(SYNTAX));
        assert_eq!(sender("FROM:<a@b> SIZE=1", false), Err(PARAMETER));
    }

    #[test]
    fn recipients_are_reduced_to_a_safe_local_part() {
        assert_eq!(recipient("TO:<user1@example.org>"), Ok("user1"));
        assert_eq!(recipient("to:<Postmaster>"), Ok("Postmaster"));
        assert_eq!(recipient("TO:<@a,@b:user+tag@c>"), Ok("user+tag"));
        assert_eq!(recipient("TO:<a@b> NOTIFY=NEVER"), Err(PARAMETER));
    }

    #[test]
    fn no_recipient_names_a_place_outside_the_folder() {
        let long = format!("TO:<{}@b>", "x".repeat(65));
        for text in [
            "TO:<../etc@b>",
            "TO:<..@b>",
            "TO:<.hidden@b>",
            "TO:<a/b@c>",
            "TO:</etc@b>",
            "TO:<>",
            "TO:<@b>",
            "TO:<a\\b@c>",
            "TO:<a b@c>",
            "TO:<\"a\"@b>",
            "TO:<ä@b>",
            "TO:<a%00@b>",
            long.as_str(),
        ] {
            assert_eq!(recipient(text), Err(BAD_MAILBOX), "{text}");
        }
    }
}
