//! `sink`: serves until SIGTERM or Ctrl-C, then prints what it saw.
//!
//! stdout holds one JSON document a line: `{"listening":"ADDRESS:PORT"}` when ready, the counters
//! at the end, or `{"error":{...}}` if it could not start, so that an agent can pass it on.

use std::net::Ipv4Addr;
use std::process::ExitCode;

use serde_json::{Value, json};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use steelyard_sink::{
    DEFAULT_STORE_THREADS, Listen, MailOptions, Protocol, SinkOptions, SmtpOptions, StopHandle,
    Store, Sync, TlsServerOptions, serve_together,
};
use steelyard_wire::agent::Failure;

use crate::console::{Outcome, print};
use crate::failure::{bad_request, from_sink, refused};
use crate::sink_args::{MailSinkArgs, SinkArgs, SinkProtocol, StoreArg, SyncArg};

pub(crate) fn run(args: &SinkArgs) -> Outcome {
    match serve(args) {
        Ok(counters) => {
            print(&format!("{counters}\n"))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(failure) => {
            print(&format!("{}\n", json!({ "error": failure })))?;
            Err(failure)
        }
    }
}

/// The counters as JSON: of the sink, or of each protocol by its name.
fn serve(args: &SinkArgs) -> Result<Value, Failure> {
    refuse_foreign_options(args)?;
    let any = args.listen.clone().unwrap_or_else(any_port);
    let stop = StopHandle::new().map_err(|error| from_sink(&error))?;
    let Some(protocol) = args.protocol.single() else {
        return serve_mail(args, &any, &stop);
    };
    let options = options(args, protocol, any)?;
    stop_on_signal(stop.clone())?;
    let counters = steelyard_sink::serve(&options, &stop, |at| announce(&at));
    counters
        .map(|counters| json!(counters))
        .map_err(|error| from_sink(&error))
}

fn serve_mail(args: &SinkArgs, any: &Listen, stop: &StopHandle) -> Result<Value, Failure> {
    let listeners = args.mail_listen.listeners(any);
    let options = listeners
        .into_iter()
        .map(|(protocol, listen)| options(args, protocol, listen))
        .collect::<Result<Vec<_>, _>>()?;
    stop_on_signal(stop.clone())?;
    let counters = serve_together(&options, stop, announce_all);
    let by_name =
        |(protocol, counters): (Protocol, _)| (protocol.name().to_owned(), json!(counters));
    counters
        .map(|counters| Value::Object(counters.into_iter().map(by_name).collect()))
        .map_err(|error| from_sink(&error))
}

/// The first address also stands alone, for those who need only one.
fn announce_all(all: Vec<(Protocol, Listen)>) {
    let first = all.first().map(|(_, at)| at.to_string());
    let mut listeners = serde_json::Map::new();
    for (protocol, at) in all {
        eprintln!("{} listens on {at}", protocol.name());
        listeners.insert(protocol.name().to_owned(), json!(at.to_string()));
    }
    // No one may be left to read it; the sink serves all the same.
    let _ = print(&format!(
        "{}\n",
        json!({ "listening": first, "listeners": listeners })
    ));
}

fn any_port() -> Listen {
    Listen::Tcp((Ipv4Addr::LOCALHOST, 0).into())
}

fn announce(at: &Listen) {
    eprintln!("listening on {at}; Ctrl-C ends");
    // No one may be left to read it; the sink serves all the same.
    let _ = print(&format!("{}\n", json!({ "listening": at.to_string() })));
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

fn options(args: &SinkArgs, protocol: Protocol, listen: Listen) -> Result<SinkOptions, Failure> {
    Ok(SinkOptions {
        tls: tls(args)?,
        idle_timeout_ns: args.idle_timeout,
        threads: args.threads,
        delays: args.delays.clone(),
        faults: args.faults.clone(),
        seed: args.seed,
        http: args.http.options(),
        ftp: args.ftp.options(),
        smtp: SmtpOptions {
            store: store(args),
            ..SmtpOptions::default()
        },
        mail: mail(&args.mail),
        ..SinkOptions::new(protocol, listen)
    })
}

fn refuse_foreign_options(args: &SinkArgs) -> Result<(), Failure> {
    args.foreign().map_or(Ok(()), |name| {
        Err(bad_request(
            format!("{name}: not for this protocol"),
            "leave it out, or choose another protocol",
        ))
    })
}

fn tls(args: &SinkArgs) -> Result<Option<TlsServerOptions>, Failure> {
    args.tls.options().map_err(|name| {
        bad_request(
            format!("{name}: TLS was not asked for"),
            "add --tls or --starttls",
        )
    })
}

fn mail(args: &MailSinkArgs) -> MailOptions {
    let default = MailOptions::default();
    MailOptions {
        mailboxes: args.mailboxes.unwrap_or(default.mailboxes),
        messages: args.messages.unwrap_or(default.messages),
        message_bytes: args.message_size.unwrap_or(default.message_bytes),
        most_bytes: args.mail_memory.unwrap_or(default.most_bytes),
        users: args.users.clone(),
    }
}

fn store(args: &SinkArgs) -> Store {
    let smtp = &args.smtp;
    match (smtp.store, &smtp.folder) {
        (Some(StoreArg::Maildir), Some(folder)) => Store::Maildir {
            folder: folder.clone(),
            sync: match smtp.sync {
                Some(SyncArg::EachMessage) => Sync::EachMessage,
                Some(SyncArg::None) | None => Sync::None,
            },
            threads: smtp.store_threads.unwrap_or(DEFAULT_STORE_THREADS),
        },
        (Some(StoreArg::Memory), _) => Store::Memory,
        (None, _) if args.protocol == SinkProtocol::Mail => Store::Memory,
        _ => Store::None,
    }
}
