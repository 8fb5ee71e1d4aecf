//! Mailboxes in memory, their users, and where `sink mail` listens.

use clap::Args;
use steelyard_sink::{Listen, Protocol, User};

use crate::quantity::size_bytes;

#[derive(Debug, Args)]
#[command(next_help_heading = "Mailboxes (smtp, lmtp, pop3, imap, mail)")]
pub(crate) struct MailSinkArgs {
    /// Mailboxes user1 to userN from the start; others appear when first used [default: 0].
    #[arg(long, value_name = "N")]
    pub(crate) mailboxes: Option<u32>,
    /// Messages in each of them at the start [default: 0].
    #[arg(long, value_name = "N")]
    pub(crate) messages: Option<u32>,
    /// Size of each of these messages [default: 4KiB].
    #[arg(long, value_parser = size_bytes, value_name = "SIZE")]
    pub(crate) message_size: Option<u64>,
    /// Most memory for messages; what would exceed it is refused [default: 1GiB].
    #[arg(long, value_parser = size_bytes, value_name = "SIZE")]
    pub(crate) mail_memory: Option<u64>,
    /// Who may log in; may be given several times [default: anybody].
    #[arg(long = "user", value_parser = user, value_name = "NAME:PASSWORD")]
    pub(crate) users: Vec<User>,
}

impl MailSinkArgs {
    pub(crate) fn given(&self) -> Vec<&'static str> {
        super::named(&[
            (self.mailboxes.is_some(), "--mailboxes"),
            (self.messages.is_some(), "--messages"),
            (self.message_size.is_some(), "--message-size"),
            (self.mail_memory.is_some(), "--mail-memory"),
            (!self.users.is_empty(), "--user"),
        ])
    }
}

/// Where each protocol of `sink mail` listens.
#[allow(
    clippy::struct_field_names,
    reason = "the names of options on the command line"
)]
#[derive(Debug, Args)]
#[command(next_help_heading = "Listeners of sink mail (none given: all four, on free ports)")]
pub(crate) struct MailListenArgs {
    /// Where SMTP listens.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen_smtp: Option<Listen>,
    /// Where LMTP listens.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen_lmtp: Option<Listen>,
    /// Where POP3 listens.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen_pop3: Option<Listen>,
    /// Where IMAP listens.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen_imap: Option<Listen>,
}

impl MailListenArgs {
    pub(crate) fn given(&self) -> Vec<&'static str> {
        super::named(&[
            (self.listen_smtp.is_some(), "--listen-smtp"),
            (self.listen_lmtp.is_some(), "--listen-lmtp"),
            (self.listen_pop3.is_some(), "--listen-pop3"),
            (self.listen_imap.is_some(), "--listen-imap"),
        ])
    }

    /// Those that were asked for; all of them on free ports if none was.
    pub(crate) fn listeners(&self, any: &Listen) -> Vec<(Protocol, Listen)> {
        let all = [
            (Protocol::Smtp, &self.listen_smtp),
            (Protocol::Lmtp, &self.listen_lmtp),
            (Protocol::Pop3, &self.listen_pop3),
            (Protocol::Imap, &self.listen_imap),
        ];
        let every = self.given().is_empty();
        all.into_iter()
            .filter_map(|(protocol, listen)| {
                let default = every.then(|| any.clone());
                Some((protocol, listen.clone().or(default)?))
            })
            .collect()
    }
}

fn user(text: &str) -> Result<User, String> {
    match text.split_once(':') {
        Some((name, password)) if !name.is_empty() => Ok(User {
            name: name.to_owned(),
            password: password.to_owned(),
        }),
        _ => Err(format!("{text:?} is not NAME:PASSWORD")),
    }
}
