//! From the command line to a load job.

use std::path::Path;

use steelyard_wire::agent::Failure;
use steelyard_wire::job::{Arrival, HttpOperation, LoadJob, Mode, Operation, SmtpOperation};

use crate::failure::{bad_request, refused_path};
use crate::load_args::{ArrivalArg, HttpArgs, LoadArgs, SmtpArgs};

const DEFAULT_DURATION_NS: u64 = 10_000_000_000;
const MAX_BACKLOG: u64 = 100_000;
const SERIES_INTERVAL_NS: u64 = 1_000_000_000;

/// The job that the arguments ask for.
pub(crate) fn job(args: &LoadArgs) -> Result<LoadJob, Failure> {
    let default_duration = args.requests.is_none().then_some(DEFAULT_DURATION_NS);
    Ok(LoadJob {
        target: args.url.clone(),
        mode: mode(args),
        operation: operation(args)?,
        threads: args.threads,
        warm_up_ns: args.warmup,
        duration_ns: args.duration.or(default_duration),
        operations: args.requests,
        drain_ns: args.drain,
        timeout_ns: args.timeout,
        seed: args.seed,
        spin: !args.no_spin,
        series_interval_ns: SERIES_INTERVAL_NS,
    })
}

fn mode(args: &LoadArgs) -> Mode {
    match args.rate {
        None => Mode::Closed {
            users: args.connections,
            think_time_ns: args.think,
        },
        Some(rate_per_s) => Mode::Open {
            rate_per_s,
            arrival: match args.arrival {
                ArrivalArg::Constant => Arrival::Constant,
                ArrivalArg::Poisson => Arrival::Poisson,
            },
            connections: args.connections,
            max_backlog: MAX_BACKLOG,
        },
    }
}

fn operation(args: &LoadArgs) -> Result<Operation, Failure> {
    let scheme = args.url.split_once("://").map(|(scheme, _)| scheme);
    match scheme {
        Some("http") => {
            refuse("SMTP", &given_for_smtp(&args.smtp))?;
            Ok(Operation::Http(http(&args.http)?))
        }
        Some("smtp") => {
            refuse("HTTP", &given_for_http(&args.http))?;
            Ok(Operation::Smtp(smtp(&args.smtp)))
        }
        _ => Err(bad_request(
            format!("{:?} is no target", args.url),
            "write http://HOST:PORT/PATH or smtp://HOST:PORT",
        )),
    }
}

fn refuse(protocol: &str, given: &[&str]) -> Result<(), Failure> {
    if given.is_empty() {
        return Ok(());
    }
    let options = given.join(", ");
    Err(bad_request(
        format!("{options}: only for {protocol}"),
        "leave it out, or choose a target of that protocol",
    ))
}

fn given_for_http(args: &HttpArgs) -> Vec<&'static str> {
    let given = [
        ("--header", !args.headers.is_empty()),
        ("--method", args.method.is_some()),
        ("--body", args.body.is_some()),
        ("--disable-keepalive", args.disable_keepalive),
        ("--strict", args.strict),
    ];
    names(&given)
}

fn given_for_smtp(args: &SmtpArgs) -> Vec<&'static str> {
    let given = [
        ("--from", args.from.is_some()),
        ("--to-domain", args.to_domain.is_some()),
        ("--recipients", args.recipients.is_some()),
        ("--size", args.size.is_some()),
        ("--attachment", args.attachment.is_some()),
        (
            "--messages-per-connection",
            args.messages_per_connection.is_some(),
        ),
        ("--helo", args.helo.is_some()),
        ("--subject", args.subject.is_some()),
    ];
    names(&given)
}

fn names(given: &[(&'static str, bool)]) -> Vec<&'static str> {
    let there = given.iter().filter(|(_, there)| *there);
    there.map(|(name, _)| *name).collect()
}

fn http(args: &HttpArgs) -> Result<HttpOperation, Failure> {
    let headers = args.headers.iter().map(|line| header(line));
    let body = args.body.as_deref().map_or(Ok(String::new()), body)?;
    let usual = if body.is_empty() { "GET" } else { "POST" };
    Ok(HttpOperation {
        method: args.method.clone().unwrap_or_else(|| usual.to_owned()),
        headers: headers.collect::<Result<_, _>>()?,
        body,
        keep_alive: !args.disable_keepalive,
        strict: args.strict,
    })
}

fn header(line: &str) -> Result<(String, String), Failure> {
    match line.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(bad_request(
            format!("{line:?} is no header"),
            "write it as 'Name: value'",
        )),
    }
}

fn body(text: &str) -> Result<String, Failure> {
    let Some(path) = text.strip_prefix('@').map(Path::new) else {
        return Ok(text.to_owned());
    };
    std::fs::read_to_string(path).map_err(|error| refused_path("read", path, &error))
}

fn smtp(args: &SmtpArgs) -> SmtpOperation {
    let usual = SmtpOperation::default();
    let text = |given: &Option<String>, usual: String| given.clone().unwrap_or(usual);
    SmtpOperation {
        helo: text(&args.helo, usual.helo),
        sender: text(&args.from, usual.sender),
        recipients: args.recipients.unwrap_or(usual.recipients),
        recipient_domain: text(&args.to_domain, usual.recipient_domain),
        subject: text(&args.subject, usual.subject),
        body_bytes: args.size.unwrap_or(usual.body_bytes),
        attachment_bytes: args.attachment.unwrap_or(usual.attachment_bytes),
        messages_per_connection: args
            .messages_per_connection
            .unwrap_or(usual.messages_per_connection),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{self, Cli};

    fn read(words: &[&str]) -> Result<LoadJob, Failure> {
        let words = ["engine", "load"].iter().chain(words);
        match Cli::try_parse_from(words).unwrap().mode {
            args::Mode::Load(args) => job(&args),
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
    fn a_count_of_requests_needs_no_duration() {
        assert_eq!(read(&["http://h:1/", "-n", "5"]).unwrap().duration_ns, None);
        let usual = read(&["http://h:1/"]).unwrap().duration_ns;
        assert_eq!(usual, Some(DEFAULT_DURATION_NS));
    }

    #[test]
    fn a_body_makes_the_method_post_unless_one_is_named() {
        let method = |words: &[&str]| match read(words).unwrap().operation {
            Operation::Http(http) => http.method,
            Operation::Smtp(_) => unreachable!(),
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
    fn a_target_without_a_known_scheme_is_refused() {
        assert!(read(&["localhost:80"]).is_err());
        assert!(read(&["ftp://h:1/"]).is_err());
    }
}
