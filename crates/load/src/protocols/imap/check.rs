//! Jobs that make no sense.

use steelyard_wire::job::{ImapCommand, ImapOperation};

use crate::error::LoadError;

/// Refuses them.
pub(super) fn check(operation: &ImapOperation, timeout_ns: u64) -> Result<(), LoadError> {
    let mut weights = operation.commands.values();
    let sum: f64 = operation.commands.values().sum();
    if weights.any(|weight| !weight.is_finite() || *weight < 0.0) || sum <= 0.0 {
        return Err(LoadError::bad_job(
            "the weights of commands do not add up to anything",
            "give at least one command a weight above 0, and none one below",
        ));
    }
    let wanted = |command: &ImapCommand| operation.commands.get(command).is_some_and(|w| *w > 0.0);
    let several = operation
        .commands
        .values()
        .filter(|weight| **weight > 0.0)
        .count()
        > 1;
    if several && wanted(&ImapCommand::Session) {
        return Err(LoadError::bad_job(
            "a session is no command beside others",
            "leave the others out, or make two parts of a mix",
        ));
    }
    if wanted(&ImapCommand::Idle) && operation.idle_ns >= timeout_ns {
        return Err(LoadError::bad_job(
            "IDLE would last longer than the timeout",
            "raise the timeout, or let it be shorter",
        ));
    }
    let plain = |byte: u8| (0x20..0x7f).contains(&byte);
    if operation.mailbox.is_empty() || !operation.mailbox.bytes().all(plain) {
        return Err(LoadError::bad_job(
            format!("mailbox {:?} cannot be named", operation.mailbox),
            "write other letters than ASCII in modified UTF-7 (RFC 3501, 5.1.3)",
        ));
    }
    if operation.append_bytes > u64::from(u32::MAX) {
        return Err(LoadError::bad_job(
            "append_bytes is more than a literal holds",
            "at most 4294967295",
        ));
    }
    Ok(())
}
