//! Whether an SMTP operation makes sense, before anything is prepared.

use steelyard_wire::job::{SmtpOperation, StartTls};

use super::Dialect;
use crate::error::LoadError;

/// More recipients than this in one message no server takes (RFC 5321 asks for 100).
const MOST_RECIPIENTS_EACH: u32 = 10_000;

/// Refuses what cannot be sent.
pub fn operation(operation: &SmtpOperation, dialect: Dialect) -> Result<(), LoadError> {
    let senders = operation.senders.iter().chain([&operation.sender]);
    let recipients = &operation.recipient_list;
    for address in senders.chain(recipients) {
        word("address", address)?;
    }
    word("helo", &operation.helo)?;
    word("recipient_domain", &operation.recipient_domain)?;
    let subjects = operation.subjects.iter().chain([&operation.subject]);
    for subject in subjects {
        if subject.chars().any(char::is_control) {
            return Err(LoadError::bad_job(
                format!("subject {subject:?} does not fit into a line"),
                "leave control characters out",
            ));
        }
    }
    numbers(operation)?;
    tls(operation, dialect)?;
    login(operation)
}

fn word(name: &str, value: &str) -> Result<(), LoadError> {
    let fits = |c: char| c.is_ascii_graphic() && !matches!(c, '<' | '>');
    if value.chars().all(fits) && value.len() <= 320 {
        return Ok(());
    }
    Err(LoadError::bad_job(
        format!("{name} {value:?} does not fit an SMTP command"),
        "write it without blanks and angle brackets, in ASCII",
    ))
}

fn numbers(operation: &SmtpOperation) -> Result<(), LoadError> {
    let known = match operation.recipient_list.len() {
        0 => operation.recipients as usize,
        listed => listed,
    };
    if known == 0 {
        return Err(LoadError::bad_job(
            "recipients is 0",
            "ask for at least one",
        ));
    }
    let each = operation.recipients_per_message;
    if each == 0 || each > MOST_RECIPIENTS_EACH || each as usize > known {
        return Err(LoadError::bad_job(
            format!("{each} recipients of each message, out of {known}"),
            "at least 1, at most 10000, and no more than there are",
        ));
    }
    let weights = || operation.body_sizes.iter().map(|(_, weight)| *weight);
    let usable = weights().all(|weight| weight.is_finite() && weight >= 0.0);
    let some = operation.body_sizes.is_empty() || weights().sum::<f64>() > 0.0;
    if !usable || !some {
        return Err(LoadError::bad_job(
            "the weights of the sizes make no distribution",
            "each at least 0, and one of them above",
        ));
    }
    Ok(())
}

fn tls(operation: &SmtpOperation, dialect: Dialect) -> Result<(), LoadError> {
    if dialect == Dialect::Smtps && operation.starttls == StartTls::Require {
        return Err(LoadError::bad_job(
            "STARTTLS inside TLS",
            "smtps:// is secured from the first byte; use smtp:// for STARTTLS",
        ));
    }
    if !(0.0..=1.0).contains(&operation.tls_share) {
        return Err(LoadError::bad_job(
            format!("a share of {} of the connections", operation.tls_share),
            "tls_share lies between 0 and 1",
        ));
    }
    Ok(())
}

fn login(operation: &SmtpOperation) -> Result<(), LoadError> {
    let Some(login) = &operation.login else {
        return Ok(());
    };
    if login.users == 0 || login.user.is_empty() || login.user.contains('\0') {
        return Err(LoadError::bad_job(
            "a login without a user",
            "name a user, and at least 1 of them",
        ));
    }
    Ok(())
}
