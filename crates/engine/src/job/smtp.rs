//! From the options of `smtp://` to an operation.

use steelyard_wire::agent::Failure;
use steelyard_wire::job::{Pipelining, SmtpOperation};

use super::lists;
use crate::load_args::{LoadArgs, PipeliningArg};

/// What one message is.
pub(super) fn operation(args: &LoadArgs) -> Result<SmtpOperation, Failure> {
    let of_smtp = &args.smtp;
    let usual = SmtpOperation::default();
    let text = |given: &Option<String>, usual: String| given.clone().unwrap_or(usual);
    let sizes = of_smtp.size.as_ref().map_or(&[][..], |sizes| &sizes.0);
    let mut attachment_files = of_smtp.attachments.clone();
    attachment_files.extend(lists::files(of_smtp.attachment_folder.as_ref())?);
    Ok(SmtpOperation {
        helo: text(&of_smtp.helo, usual.helo),
        sender: text(&of_smtp.from, usual.sender),
        senders: lists::lines(of_smtp.sender_list.as_ref())?,
        recipients: of_smtp.recipients.unwrap_or(usual.recipients),
        recipient_domain: text(&of_smtp.to_domain, usual.recipient_domain),
        recipient_list: lists::lines(of_smtp.recipient_list.as_ref())?,
        recipients_per_message: of_smtp
            .recipients_per_message
            .unwrap_or(usual.recipients_per_message),
        subject: text(&of_smtp.subject, usual.subject),
        subjects: lists::lines(of_smtp.subject_list.as_ref())?,
        body_bytes: match sizes {
            [(bytes, _)] => *bytes,
            _ => usual.body_bytes,
        },
        body_sizes: match sizes {
            [_] => Vec::new(),
            several => several.to_vec(),
        },
        body_files: lists::files(of_smtp.body_folder.as_ref())?,
        attachment_bytes: of_smtp.attachment_size.unwrap_or(usual.attachment_bytes),
        attachment_files,
        messages_per_connection: of_smtp
            .messages_per_connection
            .unwrap_or(usual.messages_per_connection),
        pipelining: match of_smtp.smtp_pipelining {
            None | Some(PipeliningArg::None) => Pipelining::None,
            Some(PipeliningArg::Envelope) => Pipelining::Envelope,
            Some(PipeliningArg::Message) => Pipelining::Message,
        },
        chunking: of_smtp.chunking,
        starttls: args.login.starttls(),
        tls_share: of_smtp.tls_share.unwrap_or(usual.tls_share),
        login: args.login.login(),
    })
}
