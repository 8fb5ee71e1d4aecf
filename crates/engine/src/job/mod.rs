//! From the command line to a load job.

mod find;
mod foreign;
mod ftp;
mod http;
mod imap;
mod lists;
mod pop3;
mod probe;
mod smtp;
mod stream;
mod task;
mod urls;

use clap::ArgMatches;
use clap::parser::ValueSource;
use steelyard_wire::agent::Failure;
use steelyard_wire::job::{Arrival, ConnectOperation, LoadJob, Mode, Operation, TlsOptions};

use crate::failure::bad_request;
use crate::load_args::{ArrivalArg, LoadArgs, TlsArgs};

pub(crate) use task::{Task, task};

const DEFAULT_DURATION_NS: u64 = 10_000_000_000;
const MAX_BACKLOG: u64 = 100_000;
const SERIES_INTERVAL_NS: u64 = 1_000_000_000;

/// The job that the arguments ask for.
fn job(args: &LoadArgs, matches: &ArgMatches) -> Result<LoadJob, Failure> {
    let default_duration = args.requests.is_none().then_some(DEFAULT_DURATION_NS);
    Ok(LoadJob {
        target: url(args).to_owned(),
        mode: mode(args, connections(args, matches)),
        operation: operation(args, matches)?,
        threads: args.threads,
        warmup_ns: args.warmup,
        duration_ns: args.duration.or(default_duration),
        operations: args.requests,
        operations_per_user: None,
        drain_ns: args.drain,
        timeout_ns: args.timeout,
        seed: args.seed,
        spin: !args.no_spin,
        series_interval_ns: SERIES_INTERVAL_NS,
        tls: tls(&args.tls),
        unix_socket: args.unix_socket.clone(),
        sources: args.sources.clone(),
        reset_on_close: args.reset_on_close,
        log_file: args.log_all.clone(),
        start_at_monotonic_ns: None,
        generator: None,
    })
}

/// Empty only beside `--job`, which takes another way.
fn url(args: &LoadArgs) -> &str {
    args.url.as_deref().unwrap_or_default()
}

/// As asked for; a stream has one flow unless somebody wants more.
fn connections(args: &LoadArgs, matches: &ArgMatches) -> u32 {
    let given = matches.value_source("connections") == Some(ValueSource::CommandLine);
    if url(args).starts_with("stream+") && !given {
        return 1;
    }
    args.connections
}

fn mode(args: &LoadArgs, connections: u32) -> Mode {
    match args.rate {
        None => Mode::Closed {
            users: connections,
            think_time_ns: args.think,
        },
        Some(rate_per_s) => Mode::Open {
            rate_per_s,
            arrival: match args.arrival {
                ArrivalArg::Constant => Arrival::Constant,
                ArrivalArg::Poisson => Arrival::Poisson,
            },
            connections,
            unbounded: args.unbounded,
            max_backlog: MAX_BACKLOG,
        },
    }
}

/// The protocol of the target; a scheme, the headings whose options it takes, and its operation.
fn operation(args: &LoadArgs, matches: &ArgMatches) -> Result<Operation, Failure> {
    let scheme = url(args).split_once("://").map(|(scheme, _)| scheme);
    let allowed: &[&str] = match scheme {
        Some("http") => &["HTTP", "Payload"],
        Some("https") => &["HTTP", "Payload", "TLS"],
        Some("smtp" | "smtps" | "lmtp") => &["SMTP and LMTP", "Login", "TLS"],
        Some("tcp") => &["Connect probe"],
        Some("rr+tcp" | "rr+udp") => &["Request and response"],
        Some("stream+tcp" | "stream+udp") => &["Streams"],
        Some("pop3" | "pop3s") => &["POP3", "Login", "Payload", "TLS"],
        Some("imap" | "imaps") => &["IMAP", "Login", "Payload", "TLS"],
        Some("ftp" | "ftps") => &["FTP", "Login", "Payload", "TLS"],
        _ => return Err(no_target(url(args))),
    };
    foreign::refuse(matches, allowed)?;
    match scheme {
        Some("http" | "https") => Ok(Operation::Http(http::operation(args)?)),
        Some("smtp" | "smtps" | "lmtp") => Ok(Operation::Smtp(smtp::operation(args)?)),
        Some("tcp") => Ok(Operation::Connect(ConnectOperation {
            targets: args.connect.targets.clone(),
        })),
        Some("rr+tcp" | "rr+udp") => Ok(Operation::RequestResponse(stream::request_response(
            &args.request_response,
        )?)),
        Some("stream+tcp" | "stream+udp") => {
            Ok(Operation::Stream(stream::operation(&args.stream)?))
        }
        Some("pop3" | "pop3s") => Ok(Operation::Pop3(pop3::operation(args)?)),
        Some("imap" | "imaps") => Ok(Operation::Imap(imap::operation(args)?)),
        Some("ftp" | "ftps") => Ok(Operation::Ftp(ftp::operation(args)?)),
        _ => Err(no_target(url(args))),
    }
}

fn no_target(url: &str) -> Failure {
    bad_request(
        format!("{url:?} is no target"),
        "write SCHEME://HOST:PORT, for example http://127.0.0.1:8080/",
    )
}

fn tls(args: &TlsArgs) -> TlsOptions {
    TlsOptions {
        insecure: args.insecure,
        ca_file: args.cacert.clone(),
        server_name: args.servername.clone(),
        resume: args.tls_resume,
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, FromArgMatches};

    use super::*;
    use crate::args::{self, Cli};

    fn read(words: &[&str]) -> Result<LoadJob, Failure> {
        let words = ["engine", "load"].iter().chain(words);
        let matches = Cli::command().try_get_matches_from(words).unwrap();
        let of_load = matches.subcommand().unwrap().1;
        match Cli::from_arg_matches(&matches).unwrap().mode {
            args::Mode::Load(args) => job(&args, of_load),
            _ => unreachable!(),
        }
    }

    #[test]
    fn a_rate_makes_the_run_open() {
        let job = read(&["http://h:1/", "-R", "0.5", "--arrival", "poisson"]).unwrap();
        assert!(matches!(
            job.mode,
            Mode::Open {
                arrival: Arrival::Poisson,
                ..
            }
        ));
        let job = read(&["http://h:1/", "-c", "3", "--think", "1ms"]).unwrap();
        let closed = Mode::Closed {
            users: 3,
            think_time_ns: 1_000_000,
        };
        assert_eq!(job.mode, closed);
    }

    #[test]
    fn mail_takes_lists_and_weights() {
        let words = [
            "smtp://h:1",
            "--size",
            "1k:30,10k:70",
            "--pipelining",
            "message",
            "--user",
            "u{n}",
            "--starttls",
            "--tls-share",
            "0.5",
            "-R",
            "120/min",
        ];
        let job = read(&words).unwrap();
        assert!(
            matches!(job.mode, Mode::Open { rate_per_s, .. } if (rate_per_s - 2.0).abs() < 1e-9)
        );
        let Operation::Smtp(smtp) = job.operation else {
            unreachable!()
        };
        assert_eq!(smtp.body_sizes, [(1_024, 30.0), (10_240, 70.0)]);
        assert_eq!(smtp.pipelining, steelyard_wire::job::Pipelining::Message);
        assert_eq!((smtp.tls_share, smtp.login.unwrap().users), (0.5, 1));
        assert!(read(&["lmtp://h:1", "--recipient-list", "/nowhere"]).is_err());
    }

    #[test]
    fn a_count_of_requests_needs_no_duration() {
        assert_eq!(read(&["http://h:1/", "-n", "5"]).unwrap().duration_ns, None);
        let usual = read(&["http://h:1/"]).unwrap().duration_ns;
        assert_eq!(usual, Some(DEFAULT_DURATION_NS));
    }

    #[test]
    fn a_body_makes_the_method_post_unless_one_is_named() {
        let method = |words: &[&str]| match read(words).unwrap().operation {
            Operation::Http(http) => http.method,
            _ => unreachable!(),
        };
        assert_eq!(method(&["http://h:1/", "-b", "x"]), "POST");
        assert_eq!(method(&["http://h:1/", "-b", "x", "-m", "PUT"]), "PUT");
    }

    #[test]
    fn options_of_the_other_protocol_are_refused_by_name() {
        let refused = read(&["http://h:1/", "--size", "1k", "--helo", "me"]).unwrap_err();
        assert!(
            refused.message.contains("--size, --helo"),
            "{}",
            refused.message
        );
        let refused = read(&["smtp://h:1", "--strict"]).unwrap_err();
        assert!(refused.message.contains("--strict"), "{}", refused.message);
    }

    #[test]
    fn a_connect_probe_takes_further_targets() {
        let job = read(&["tcp://h:1", "--target", "i:2", "--target", "j:3"]).unwrap();
        let targets = vec!["i:2".to_owned(), "j:3".to_owned()];
        assert_eq!(
            job.operation,
            Operation::Connect(ConnectOperation { targets })
        );
        assert!(read(&["http://h:1/", "--target", "i:2"]).is_err());
    }

    #[test]
    fn a_target_without_a_known_scheme_is_refused() {
        assert!(read(&["localhost:80"]).is_err());
        assert!(read(&["gopher://h:1/"]).is_err());
    }
}
