//! From the options of streams and of request and response to an operation.

use steelyard_wire::agent::Failure;
use steelyard_wire::job::{Direction, RequestResponseOperation, StreamOperation};

use crate::failure::bad_request;
use crate::load_args::{DirectionArg, RequestResponseArgs, StreamArgs};

/// What one exchange is.
pub(super) fn request_response(
    args: &RequestResponseArgs,
) -> Result<RequestResponseOperation, Failure> {
    let usual = RequestResponseOperation::default();
    Ok(RequestResponseOperation {
        request_bytes: size("--request-size", args.request_size)?.unwrap_or(usual.request_bytes),
        response_bytes: size("--response-size", args.response_size)?
            .unwrap_or(usual.response_bytes),
        connect_each: args.connect_each,
    })
}

/// What a stream is.
pub(super) fn operation(args: &StreamArgs) -> Result<StreamOperation, Failure> {
    Ok(StreamOperation {
        direction: match args.direction {
            None | Some(DirectionArg::Send) => Direction::Send,
            Some(DirectionArg::Receive) => Direction::Receive,
            Some(DirectionArg::Both) => Direction::Both,
        },
        block_bytes: size("--block", args.block)?.unwrap_or(0),
        bytes_per_s: args.pace.unwrap_or(0) as f64,
        socket_buffer_bytes: size("--socket-buffer", args.socket_buffer)?.unwrap_or(0),
        congestion: args.congestion.clone(),
        zero_copy: args.zero_copy,
        segment_offload: !args.no_offload,
        handshake: !args.no_handshake,
        latency_probes_per_s: args.latency_probes.unwrap_or(0.0),
    })
}

fn size(option: &str, given: Option<u64>) -> Result<Option<u32>, Failure> {
    given
        .map(|bytes| {
            u32::try_from(bytes).map_err(|_| {
                bad_request(
                    format!("{option} {bytes} is too large"),
                    "at most 4294967295 bytes",
                )
            })
        })
        .transpose()
}
