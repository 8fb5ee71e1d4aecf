//! From a job to one that sends single operations, each on a connection of its own.

use steelyard_wire::agent::Failure;
use steelyard_wire::job::{
    Arrival, HttpVersion, ImapCommand, ImapOperation, LoadJob, Mode, Operation,
};

use crate::failure::bad_request;
use crate::load_args::LoadArgs;

/// Without `--requests` and `--duration`: until somebody ends it.
const FOR_EVER_NS: u64 = 100 * 365 * 86_400 * 1_000_000_000;

/// Probes that may wait for their answers at the same time.
const MOST_AT_ONCE: u64 = 1_000;

/// The same as `load`, one operation each interval.
pub(super) fn job(args: &LoadArgs, load: LoadJob) -> Result<LoadJob, Failure> {
    let interval_ns = args.probe.interval;
    if interval_ns == 0 {
        return Err(bad_request(
            "--interval 0 is no time between probes",
            "give at least 1ms",
        ));
    }
    let unanswered = load.timeout_ns / interval_ns + 2;
    Ok(LoadJob {
        mode: Mode::Open {
            rate_per_s: 1e9 / interval_ns as f64,
            arrival: Arrival::Constant,
            connections: unanswered.min(MOST_AT_ONCE) as u32,
            unbounded: true,
            max_backlog: MOST_AT_ONCE,
        },
        duration_ns: (args.duration).or(args.requests.is_none().then_some(FOR_EVER_NS)),
        drain_ns: load.timeout_ns,
        operation: alone(args, load.operation)?,
        ..load
    })
}

/// One operation a connection, where the protocol can do that.
fn alone(args: &LoadArgs, operation: Operation) -> Result<Operation, Failure> {
    Ok(match operation {
        Operation::Http(mut http) => {
            refuse_several(Some(http.requests_at_once), "--pipeline or --streams")?;
            http.keep_alive = http.version == HttpVersion::Http2;
            Operation::Http(http)
        }
        Operation::Smtp(mut smtp) => {
            refuse_several(
                args.smtp.messages_per_connection,
                "--messages-per-connection",
            )?;
            smtp.messages_per_connection = 1;
            Operation::Smtp(smtp)
        }
        Operation::Ftp(mut ftp) => {
            refuse_several(
                args.ftp.transfers_per_connection,
                "--transfers-per-connection",
            )?;
            ftp.transfers_per_connection = 1;
            Operation::Ftp(ftp)
        }
        Operation::Imap(imap) if args.imap.commands.is_empty() => Operation::Imap(ImapOperation {
            commands: [(ImapCommand::Session, 1.0)].into(),
            ..imap
        }),
        Operation::RequestResponse(mut exchange) => {
            let datagrams = super::url(args).starts_with("rr+udp");
            exchange.connect_each = !datagrams;
            Operation::RequestResponse(exchange)
        }
        other => other,
    })
}

fn refuse_several(given: Option<u32>, option: &str) -> Result<(), Failure> {
    match given {
        None | Some(1) => Ok(()),
        Some(_) => Err(bad_request(
            format!("{option}: a probe is one operation on a connection of its own"),
            "leave it out",
        )),
    }
}
