//! Starting: what is refused, and what the refusal says.

use std::net::TcpListener;
use std::path::PathBuf;

use steelyard_sink::{
    Delay, Fault, Protocol, SinkError, SinkOptions, StopHandle, Store, Sync, serve,
};

use crate::running::{http, options};

fn refusal(options: &SinkOptions) -> SinkError {
    let stop = StopHandle::new().unwrap();
    serve(options, &stop, |_| panic!("it started")).unwrap_err()
}

#[test]
fn a_taken_port_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut options = options(Protocol::Http);
    options.listen = taken.local_addr().unwrap().into();
    let error = refusal(&options);
    assert!(matches!(error, SinkError::AddressInUse(ref address) if *address == options.listen));
    assert!(error.hint().unwrap().contains("another port"), "{error}");
}

#[test]
fn a_foreign_address_is_named() {
    let mut options = options(Protocol::Http);
    options.listen = "192.0.2.1:0".parse().unwrap();
    assert!(matches!(
        refusal(&options),
        SinkError::AddressNotAvailable(_)
    ));
}

#[test]
fn a_missing_folder_is_named() {
    let mut options = options(Protocol::Smtp);
    let folder = PathBuf::from("/nonexistent/mail");
    options.smtp.store = Store::Maildir {
        folder: folder.clone(),
        sync: Sync::None,
        threads: 1,
    };
    assert!(matches!(refusal(&options), SinkError::NotFound(path) if path == folder));
}

#[test]
fn an_unknown_verb_is_answered_with_those_there_are() {
    let mut faulty = options(Protocol::Http);
    faulty.faults = vec![Fault::parse("RCPT:drop").unwrap()];
    let error = refusal(&faulty).to_string();
    assert!(
        error.contains("RCPT") && error.contains("GET, HEAD, POST"),
        "{error}"
    );
    let mut delayed = options(Protocol::Smtp);
    delayed.delays = vec![Delay::parse("GET:1ms").unwrap()];
    assert!(matches!(refusal(&delayed), SinkError::UnknownVerb { .. }));
}

#[test]
fn a_reply_that_does_not_exist_cannot_be_changed() {
    let mut faulty = options(Protocol::Http);
    faulty.faults = vec![Fault::parse("CONNECT:reject").unwrap()];
    assert!(matches!(refusal(&faulty), SinkError::BadOption { .. }));
}

#[test]
fn options_out_of_range_are_named() {
    let mut none = options(Protocol::Http);
    none.threads = 0;
    let mut early = options(Protocol::Http);
    early.http.status = 100;
    let mut nameless = options(Protocol::Smtp);
    nameless.smtp.hostname = Some("two words".to_owned());
    let mut lonely = options(Protocol::Smtp);
    lonely.smtp.max_recipients = 0;
    for (options, name) in [
        (none, "threads"),
        (early, "status"),
        (nameless, "hostname"),
        (lonely, "max_recipients"),
    ] {
        let error = refusal(&options);
        assert!(matches!(error, SinkError::BadOption { option, .. } if option == name));
    }
}

#[test]
fn options_survive_json() {
    let mut all = options(Protocol::Smtp);
    all.faults = vec![Fault::parse("EOM:slow:1%").unwrap()];
    all.delays = vec![Delay::parse("RCPT:20ms").unwrap()];
    all.smtp.store = Store::Maildir {
        folder: "/var/mail".into(),
        sync: Sync::EachMessage,
        threads: 4,
    };
    let json = serde_json::to_string(&all).unwrap();
    assert!(
        json.contains("\"each message\"") && json.contains("EOM:slow:0.01"),
        "{json}"
    );
    assert_eq!(serde_json::from_str::<SinkOptions>(&json).unwrap(), all);
    let short = r#"{"protocol": "http", "listen": "127.0.0.1:0"}"#;
    let short: SinkOptions = serde_json::from_str(short).unwrap();
    assert_eq!(short, options(Protocol::Http));
    assert!(serde_json::from_str::<SinkOptions>(r#"{"protocol": "http"}"#).is_err());
}

#[test]
fn a_sink_stopped_before_it_starts_ends_at_once() {
    let stop = StopHandle::new().unwrap();
    stop.stop();
    stop.stop();
    let counters = serve(&options(Protocol::Http), &stop, |_| {}).unwrap();
    assert_eq!(counters.connections, 0);
}

#[test]
fn the_port_is_free_again_after_the_stop() {
    let sink = http();
    let address = sink.address;
    sink.finish();
    let mut again = options(Protocol::Http);
    again.listen = address.into();
    crate::running::start(again).finish();
}
