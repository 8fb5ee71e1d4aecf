//! From the command line to a search.

use steelyard_wire::find::{FindJob, Over};
use steelyard_wire::job::{Arrival, LoadJob, Mode};

use super::MAX_BACKLOG;
use crate::load_args::{ArrivalArg, FindArg, LoadArgs};

/// The search for the largest `over` of `load`.
pub(super) fn job(args: &LoadArgs, over: FindArg, mut load: LoadJob) -> FindJob {
    if over == FindArg::Rate {
        load.mode = Mode::Open {
            rate_per_s: args.find.least,
            arrival: match args.arrival {
                ArrivalArg::Constant => Arrival::Constant,
                ArrivalArg::Poisson => Arrival::Poisson,
            },
            connections: args.connections,
            unbounded: args.unbounded,
            max_backlog: MAX_BACKLOG,
        };
    }
    FindJob {
        load,
        over: match over {
            FindArg::Rate => Over::Rate,
            FindArg::Users => Over::Users,
        },
        from: args.find.least,
        to: args.find.most,
        limits: args.find.limits.clone(),
        precision_ratio: args.find.precision,
        settle_ns: SETTLE_NS,
    }
}

const SETTLE_NS: u64 = 500_000_000;
