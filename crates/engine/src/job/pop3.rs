//! From the options of `pop3://` to an operation.

use steelyard_wire::agent::Failure;
use steelyard_wire::job::Pop3Operation;

use crate::failure::bad_request;
use crate::load_args::LoadArgs;

/// What one session is.
pub(super) fn operation(args: &LoadArgs) -> Result<Pop3Operation, Failure> {
    let of_pop3 = &args.pop3;
    let login = args.login.login().ok_or_else(|| {
        bad_request(
            "a mailbox needs a user",
            "name one with --user and --password",
        )
    })?;
    Ok(Pop3Operation {
        login,
        starttls: args.login.starttls(),
        uidl: !of_pop3.sizes,
        retrieve_share: of_pop3.retrieve.unwrap_or(1.0),
        delete_share: of_pop3.delete.unwrap_or(0.0),
        most_messages: of_pop3.most_messages.unwrap_or(0),
        pipelining: of_pop3.pipeline_messages,
        verify: args.payload.verify,
        expect_all: args.pop3.expect_all,
    })
}
