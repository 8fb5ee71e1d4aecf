//! From the options of `imap://` to an operation.

use std::collections::BTreeMap;

use steelyard_wire::agent::Failure;
use steelyard_wire::job::{ImapCommand, ImapOperation};

use crate::failure::bad_request;
use crate::load_args::LoadArgs;

/// What one command is.
pub(super) fn operation(args: &LoadArgs) -> Result<ImapOperation, Failure> {
    let of_imap = &args.imap;
    let login = args.login.login().ok_or_else(|| {
        bad_request(
            "a mailbox needs a user",
            "name one with --user and --password",
        )
    })?;
    let usual = ImapOperation::new(login);
    Ok(ImapOperation {
        starttls: args.login.starttls(),
        mailbox: of_imap.mailbox.clone().unwrap_or(usual.mailbox),
        commands: commands(&of_imap.commands)?.unwrap_or(usual.commands),
        commands_per_connection: of_imap
            .commands_per_connection
            .unwrap_or(usual.commands_per_connection),
        append_bytes: of_imap.append_size.unwrap_or(usual.append_bytes),
        idle_ns: of_imap.idle.unwrap_or(usual.idle_ns),
        verify: args.payload.verify,
        login: usual.login,
    })
}

/// The weights that were given, if any.
fn commands(given: &[String]) -> Result<Option<BTreeMap<ImapCommand, f64>>, Failure> {
    let mut weights = BTreeMap::new();
    for text in given {
        let (word, weight) = text.split_once('=').unwrap_or((text, "1"));
        let command = ImapCommand::ALL
            .into_iter()
            .find(|command| command.word() == word);
        let (Some(command), Ok(weight)) = (command, weight.parse::<f64>()) else {
            let words = ImapCommand::ALL.map(ImapCommand::word).join(", ");
            return Err(bad_request(
                format!("{text:?} is none of {words}, with a weight"),
                "write WORD=WEIGHT, for example fetch=3",
            ));
        };
        weights.insert(command, weight);
    }
    Ok((!weights.is_empty()).then_some(weights))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(given: &[&str]) -> Result<Option<BTreeMap<ImapCommand, f64>>, Failure> {
        commands(&given.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn a_command_without_a_weight_weighs_one() {
        let read = weights(&["fetch_headers", "noop=0.5"]).unwrap().unwrap();
        assert_eq!(
            read[&ImapCommand::FetchHeaders].to_bits(),
            1.0_f64.to_bits()
        );
        assert_eq!(read[&ImapCommand::Noop].to_bits(), 0.5_f64.to_bits());
        assert_eq!(weights(&[]).unwrap(), None);
    }

    #[test]
    fn an_unknown_command_is_refused_with_the_words_there_are() {
        let refused = weights(&["fly=1"]).unwrap_err();
        assert!(refused.message.contains("fetch_headers"));
        assert!(weights(&["fetch=much"]).is_err());
    }
}
