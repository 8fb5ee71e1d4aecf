//! `sink http|smtp`: serves until SIGTERM or Ctrl-C, then prints what it saw.
//!
//! stdout holds one JSON document a line: `{"listening":"ADDRESS:PORT"}` when ready, the counters
//! at the end, or `{"error":{...}}` if it could not start, so that an agent can pass it on.

use std::net::SocketAddr;
use std::process::ExitCode;

use serde_json::json;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use steelyard_sink::{
    HttpOptions, Protocol, SinkCounters, SinkOptions, SmtpOptions, StopHandle, Store, Sync,
};
use steelyard_wire::agent::{Failure, FailureKind};

use crate::args::{SinkArgs, SinkProtocol, StoreArg, SyncArg};
use crate::console::{Outcome, print};
use crate::failure::{bad_request, failure, from_sink, refused};

pub(crate) fn run(args: &SinkArgs) -> Outcome {
    match serve(args) {
        Ok(counters) => {
            let line = serde_json::to_string(&counters)
                .map_err(|error| failure(FailureKind::System, error.to_string(), None))?;
            print(&format!("{line}\n"))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(failure) => {
            print(&format!("{}\n", json!({ "error": failure })))?;
            Err(failure)
        }
    }
}

fn serve(args: &SinkArgs) -> Result<SinkCounters, Failure> {
    let options = options(args)?;
    let stop = StopHandle::new().map_err(|error| from_sink(&error))?;
    stop_on_signal(stop.clone())?;
    steelyard_sink::serve(&options, &stop, announce).map_err(|error| from_sink(&error))
}

fn announce(address: SocketAddr) {
    eprintln!("listening on {address}; Ctrl-C ends");
    // Nobody may be left to read it; the sink serves all the same.
    let _ = print(&format!(
        "{}\n",
        json!({ "listening": address.to_string() })
    ));
}

fn stop_on_signal(stop: StopHandle) -> Result<(), Failure> {
    let mut signals =
        Signals::new([SIGTERM, SIGINT]).map_err(|error| refused("watch for signals", &error))?;
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for _ in signals.forever() {
                stop.stop();
            }
        })
        .map_err(|error| refused("start a thread", &error))?;
    Ok(())
}

fn options(args: &SinkArgs) -> Result<SinkOptions, Failure> {
    let protocol = match args.protocol {
        SinkProtocol::Http => Protocol::Http,
        SinkProtocol::Smtp => Protocol::Smtp,
    };
    refuse_options_of_the_other(args)?;
    let http = HttpOptions::default();
    Ok(SinkOptions {
        threads: args.threads,
        delays: args.delays.clone(),
        faults: args.faults.clone(),
        seed: args.seed,
        http: HttpOptions {
            status: args.status.unwrap_or(http.status),
            body_bytes: args.body_bytes.unwrap_or(http.body_bytes),
            ..http
        },
        smtp: SmtpOptions {
            store: store(args),
            ..SmtpOptions::default()
        },
        ..SinkOptions::new(protocol, args.listen)
    })
}

fn refuse_options_of_the_other(args: &SinkArgs) -> Result<(), Failure> {
    let wrong = match args.protocol {
        SinkProtocol::Http if args.store != StoreArg::None => "--store",
        SinkProtocol::Smtp if args.body_bytes.is_some() => "--body-bytes",
        SinkProtocol::Smtp if args.status.is_some() => "--status",
        _ => return Ok(()),
    };
    Err(bad_request(
        format!("{wrong}: not for this protocol"),
        "leave it out, or choose the other protocol",
    ))
}

fn store(args: &SinkArgs) -> Store {
    match (args.store, &args.folder) {
        (StoreArg::Maildir, Some(folder)) => Store::Maildir {
            folder: folder.clone(),
            sync: match args.sync {
                SyncArg::None => Sync::None,
                SyncArg::EachMessage => Sync::EachMessage,
            },
            threads: args.store_threads,
        },
        _ => Store::None,
    }
}
