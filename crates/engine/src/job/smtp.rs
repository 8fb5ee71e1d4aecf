//! From the options of `smtp://` to an operation.

use steelyard_wire::job::SmtpOperation;

use crate::load_args::SmtpArgs;

/// What one message is.
pub(super) fn operation(args: &SmtpArgs) -> SmtpOperation {
    let usual = SmtpOperation::default();
    let text = |given: &Option<String>, usual: String| given.clone().unwrap_or(usual);
    SmtpOperation {
        helo: text(&args.helo, usual.helo),
        sender: text(&args.from, usual.sender),
        recipients: args.recipients.unwrap_or(usual.recipients),
        recipient_domain: text(&args.to_domain, usual.recipient_domain),
        subject: text(&args.subject, usual.subject),
        body_bytes: args.size.unwrap_or(usual.body_bytes),
        attachment_bytes: args.attachment.unwrap_or(usual.attachment_bytes),
        messages_per_connection: args
            .messages_per_connection
            .unwrap_or(usual.messages_per_connection),
        ..SmtpOperation::default()
    }
}
