//! `sink`: options for every protocol, and groups of them that fit some protocols only.

mod ftp;
mod http;
mod mail;
mod smtp;
mod tls;

use clap::{Args, ValueEnum};
use steelyard_sink::{Delay, Fault, Listen, Protocol};

pub(crate) use ftp::FtpSinkArgs;
pub(crate) use http::HttpSinkArgs;
pub(crate) use mail::{MailListenArgs, MailSinkArgs};
pub(crate) use smtp::{SmtpSinkArgs, StoreArg, SyncArg};
pub(crate) use tls::TlsSinkArgs;

use crate::quantity::duration_ns;

/// What a sink speaks; `mail` is several protocols on the same mailboxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SinkProtocol {
    /// HTTP/1.1.
    Http,
    /// SMTP.
    Smtp,
    /// LMTP.
    Lmtp,
    /// POP3.
    Pop3,
    /// `IMAP4rev1`.
    Imap,
    /// FTP.
    Ftp,
    /// Sends back what it is sent.
    Echo,
    /// Reads and drops.
    Discard,
    /// Streams of `steelyard load`.
    Stream,
    /// SMTP, LMTP, POP3 and IMAP on the same mailboxes.
    Mail,
}

impl SinkProtocol {
    /// The protocol, unless it is several.
    pub(crate) fn single(self) -> Option<Protocol> {
        Some(match self {
            Self::Http => Protocol::Http,
            Self::Smtp => Protocol::Smtp,
            Self::Lmtp => Protocol::Lmtp,
            Self::Pop3 => Protocol::Pop3,
            Self::Imap => Protocol::Imap,
            Self::Ftp => Protocol::Ftp,
            Self::Echo => Protocol::Echo,
            Self::Discard => Protocol::Discard,
            Self::Stream => Protocol::Stream,
            Self::Mail => return None,
        })
    }
}

const PROTOCOLS: &str = "http|smtp|lmtp|pop3|imap|ftp|echo|discard|stream|mail";

/// `sink PROTOCOL`.
#[derive(Debug, Args)]
pub(crate) struct SinkArgs {
    /// What to speak; mail is smtp, lmtp, pop3 and imap on the same mailboxes.
    #[arg(value_enum, hide_possible_values = true, value_name = PROTOCOLS)]
    pub(crate) protocol: SinkProtocol,
    /// Where to listen, ADDRESS:PORT or unix:PATH; without a port, or with port 0, any free one
    /// [default: 127.0.0.1:0].
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<Listen>,
    /// Event loops, one thread each.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) threads: u32,
    /// Close connections that were silent for so long [default: never].
    #[arg(long, value_parser = duration_ns, value_name = "TIME")]
    pub(crate) idle_timeout: Option<u64>,
    /// Pause before replies: 1ms, or RCPT:1ms for one verb; may be given several times.
    #[arg(long = "delay", value_name = "[VERB:]TIME")]
    pub(crate) delays: Vec<Delay>,
    /// Fault to inject, as RCPT:tempfail:5% or GET:drop:1/20; may be given several times.
    #[arg(long = "fault", value_name = "VERB:KIND[:ODDS]")]
    pub(crate) faults: Vec<Fault>,
    /// Decides which commands the faults strike.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) tls: TlsSinkArgs,
    #[command(flatten)]
    pub(crate) http: HttpSinkArgs,
    #[command(flatten)]
    pub(crate) ftp: FtpSinkArgs,
    #[command(flatten)]
    pub(crate) smtp: SmtpSinkArgs,
    #[command(flatten)]
    pub(crate) mail: MailSinkArgs,
    #[command(flatten)]
    pub(crate) mail_listen: MailListenArgs,
}

impl SinkArgs {
    /// The first option that was given and means nothing for the protocol.
    pub(crate) fn foreign(&self) -> Option<&'static str> {
        use SinkProtocol::{Discard, Echo, Ftp, Http, Imap, Lmtp, Mail, Pop3, Smtp, Stream};
        let groups: [(&[SinkProtocol], Vec<&'static str>); 8] = [
            (&[Http], self.http.given()),
            (&[Ftp], self.ftp.given()),
            (&[Smtp, Lmtp, Mail], self.smtp.given()),
            (&[Smtp, Lmtp, Pop3, Imap, Mail], self.mail.given()),
            (&[Mail], self.mail_listen.given()),
            (
                &[Http, Smtp, Lmtp, Pop3, Imap, Ftp, Echo, Discard, Mail],
                self.tls.given(),
            ),
            (
                &[Smtp, Lmtp, Pop3, Imap, Ftp, Mail],
                self.tls.given_starttls(),
            ),
            (
                &[Http, Smtp, Lmtp, Pop3, Imap, Ftp, Echo, Discard, Stream],
                self.listen.iter().map(|_| "--listen").collect(),
            ),
        ];
        groups
            .into_iter()
            .filter(|(protocols, _)| !protocols.contains(&self.protocol))
            .find_map(|(_, given)| given.first().copied())
    }
}

/// Names of the options that were given.
fn named(options: &[(bool, &'static str)]) -> Vec<&'static str> {
    options
        .iter()
        .filter(|(given, _)| *given)
        .map(|(_, name)| *name)
        .collect()
}
