//! The command line: what can be asked for, and how it is spelled.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use steelyard_sink::{DEFAULT_STORE_THREADS, Delay, Fault};

use crate::quantity::{duration_ns, size_bytes};

/// Load generator, sink, sampler and agent of Steelyard.
#[derive(Debug, Parser)]
#[command(
    name = "steelyard-engine",
    version,
    max_term_width = 100,
    after_help = "stdout is data, stderr is progress. Exit codes: 0 done; 1 the figures are not to \
                  be used; 2 wrong usage; 3 target or system refused; 130 interrupted."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) mode: Mode,
}

/// What the binary can be.
#[derive(Debug, Subcommand)]
pub(crate) enum Mode {
    /// Drive a server and measure it: http://HOST:PORT/PATH or smtp://HOST:PORT.
    Load(Box<LoadArgs>),
    /// Serve as a target of known behaviour.
    Sink(Box<SinkArgs>),
    /// Sample counters of this machine.
    Sample(SampleArgs),
    /// Tell the facts of this machine that could explain a difference.
    Facts(FactsArgs),
    /// Serve a controller over stdin and stdout; see docs/reference/agent.md.
    Agent,
    /// Write the JSON schemas of all documents.
    Schema(SchemaArgs),
}

/// Spacing of arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalArg {
    /// Equal gaps.
    Constant,
    /// Exponential gaps, as of many independent users.
    Poisson,
}

/// `load URL`.
#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    /// http://HOST:PORT/PATH or smtp://HOST:PORT.
    pub(crate) url: String,
    /// Connections; without --rate each is a user who waits for an answer before asking again.
    #[arg(short, long, default_value_t = 10, value_name = "N")]
    pub(crate) connections: u32,
    /// Worker threads, one event loop each.
    #[arg(short, long, default_value_t = 1, value_name = "N")]
    pub(crate) threads: u32,
    /// Length of the measuring window [default: 10s, none with --requests].
    #[arg(short, long, value_parser = duration_ns, value_name = "TIME")]
    pub(crate) duration: Option<u64>,
    /// Stop after this many operations.
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) requests: Option<u64>,
    /// Start operations at this rate a second, whether or not earlier ones are answered.
    #[arg(short = 'R', long, value_name = "PER_SECOND")]
    pub(crate) rate: Option<f64>,
    /// Spacing of arrivals with --rate.
    #[arg(long, value_enum, default_value_t = ArrivalArg::Constant, requires = "rate", hide_possible_values = true, value_name = "constant|poisson")]
    pub(crate) arrival: ArrivalArg,
    /// Pause of a user between an answer and its next operation.
    #[arg(long, value_parser = duration_ns, default_value = "0s", conflicts_with = "rate", value_name = "TIME")]
    pub(crate) think: u64,
    /// Deadline of one operation, and of one connect.
    #[arg(long, value_parser = duration_ns, default_value = "10s", value_name = "TIME")]
    pub(crate) timeout: u64,
    /// Run this long before the window; excluded from every figure.
    #[arg(long, value_parser = duration_ns, default_value = "0s", value_name = "TIME")]
    pub(crate) warmup: u64,
    /// How long operations in flight at the end may still complete.
    #[arg(long, value_parser = duration_ns, default_value = "2s", value_name = "TIME")]
    pub(crate) drain: u64,
    /// Seed of arrivals and of every random choice.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) seed: u64,
    /// Sleep up to each arrival instead of polling just before it: later, but light on the CPU.
    #[arg(long)]
    pub(crate) no_spin: bool,
    /// Print one JSON document (docs/reference/result.md) instead of text.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten, next_help_heading = "HTTP")]
    pub(crate) http: HttpArgs,
    #[command(flatten, next_help_heading = "SMTP")]
    pub(crate) smtp: SmtpArgs,
}

/// Only for `http://`.
#[derive(Debug, Args)]
pub(crate) struct HttpArgs {
    /// Header line, may be given several times.
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    pub(crate) headers: Vec<String>,
    /// Request method [default: GET, POST with a body].
    #[arg(short, long, value_name = "METHOD")]
    pub(crate) method: Option<String>,
    /// Request body, or @FILE to read it.
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) body: Option<String>,
    /// A new connection for every request.
    #[arg(long)]
    pub(crate) disable_keepalive: bool,
    /// Run the full parser on every reply, never the learned shortcut.
    #[arg(long)]
    pub(crate) strict: bool,
}

/// Only for `smtp://`.
#[derive(Debug, Args)]
pub(crate) struct SmtpArgs {
    /// Envelope sender [default: sender@steelyard.test].
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) from: Option<String>,
    /// Domain of the recipients [default: steelyard.test].
    #[arg(long, value_name = "DOMAIN")]
    pub(crate) to_domain: Option<String>,
    /// Recipients user1 .. userN, one at random for each message [default: 1].
    #[arg(long, value_name = "N")]
    pub(crate) recipients: Option<u32>,
    /// Size of the text body [default: 4KiB].
    #[arg(long, value_parser = size_bytes, value_name = "SIZE")]
    pub(crate) size: Option<u64>,
    /// Size of an attachment before encoding [default: none].
    #[arg(long, value_parser = size_bytes, value_name = "SIZE")]
    pub(crate) attachment: Option<u64>,
    /// Messages sent on one connection before QUIT; 0 for no limit [default: 0].
    #[arg(long, value_name = "N")]
    pub(crate) messages_per_connection: Option<u32>,
    /// Name given with EHLO [default: load.steelyard.test].
    #[arg(long, value_name = "NAME")]
    pub(crate) helo: Option<String>,
    /// Subject line [default: steelyard].
    #[arg(long, value_name = "TEXT")]
    pub(crate) subject: Option<String>,
}

/// What a sink speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SinkProtocol {
    /// HTTP/1.1.
    Http,
    /// SMTP.
    Smtp,
}

/// Where messages go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoreArg {
    /// Read, counted, dropped.
    None,
    /// One file for each recipient.
    Maildir,
}

/// When a message counts as safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SyncArg {
    /// When the kernel has it.
    None,
    /// When file and folder are fsynced, before the reply.
    EachMessage,
}

/// `sink http|smtp`.
#[derive(Debug, Args)]
pub(crate) struct SinkArgs {
    /// What to speak: http or smtp.
    #[arg(value_enum, hide_possible_values = true, value_name = "http|smtp")]
    pub(crate) protocol: SinkProtocol,
    /// Where to listen; without a port, or with port 0, any free one.
    #[arg(long, value_parser = listen_address, default_value = "127.0.0.1:0", value_name = "ADDRESS:PORT")]
    pub(crate) listen: SocketAddr,
    /// Event loops, one thread each.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) threads: u32,
    /// Pause before replies: 1ms, or RCPT:1ms for one verb; may be given several times.
    #[arg(long = "delay", value_name = "[VERB:]TIME")]
    pub(crate) delays: Vec<Delay>,
    /// Fault to inject, as RCPT:tempfail:5% or GET:drop:1/20; may be given several times.
    #[arg(long = "fault", value_name = "VERB:KIND[:ODDS]")]
    pub(crate) faults: Vec<Fault>,
    /// Decides which commands the faults strike.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) seed: u64,
    /// Length of every HTTP body [default: 128].
    #[arg(long, value_parser = size_bytes, value_name = "SIZE", help_heading = "HTTP")]
    pub(crate) body_bytes: Option<u64>,
    /// Status of every good HTTP reply [default: 200].
    #[arg(long, value_name = "CODE", help_heading = "HTTP")]
    pub(crate) status: Option<u16>,
    /// Where messages go: dropped when read, or one file for each recipient.
    #[arg(long, value_enum, default_value_t = StoreArg::None, hide_possible_values = true, value_name = "none|maildir", help_heading = "SMTP")]
    pub(crate) store: StoreArg,
    /// Folder of the Maildir; must exist.
    #[arg(
        long,
        value_name = "FOLDER",
        required_if_eq("store", "maildir"),
        help_heading = "SMTP"
    )]
    pub(crate) folder: Option<PathBuf>,
    /// Fsync file and folder of each message before it is accepted, or leave it to the kernel.
    #[arg(long, value_enum, default_value_t = SyncArg::None, hide_possible_values = true, value_name = "none|each-message", help_heading = "SMTP")]
    pub(crate) sync: SyncArg,
    /// Messages that can be written at the same time.
    #[arg(long, default_value_t = DEFAULT_STORE_THREADS, value_name = "N", help_heading = "SMTP")]
    pub(crate) store_threads: u32,
}

/// `sample`.
#[derive(Debug, Args)]
pub(crate) struct SampleArgs {
    /// Time between rows, 100ms to 60s.
    #[arg(long, value_parser = duration_ns, default_value = "1s", value_name = "TIME")]
    pub(crate) interval: u64,
    /// How long; Ctrl-C ends earlier.
    #[arg(long, value_parser = duration_ns, default_value = "10s", value_name = "TIME")]
    pub(crate) duration: u64,
    /// Disk that holds a path, under a name; may be given several times.
    #[arg(long = "disk", value_parser = named, value_name = "NAME=PATH")]
    pub(crate) disks: Vec<(String, String)>,
    /// Process to follow, under a name; may be given several times.
    #[arg(long = "process", value_parser = named_process, value_name = "NAME=PID")]
    pub(crate) processes: Vec<(String, u32)>,
    /// Print one JSON document (docs/reference/samples.md) instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `facts`.
#[derive(Debug, Args)]
pub(crate) struct FactsArgs {
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `schema`.
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Folder for the NAME.schema.json files.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: PathBuf,
}

fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let with_any_port = || format!("{text}:0").parse();
    text.parse()
        .or_else(|_| with_any_port())
        .or_else(|_| text.parse().map(|ip| SocketAddr::new(ip, 0)))
        .map_err(|_| format!("{text:?} is no address; write 127.0.0.1:8080 or [::1]:8080"))
}

fn named(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err(format!("{text:?} is not NAME=VALUE")),
    }
}

fn named_process(text: &str) -> Result<(String, u32), String> {
    let (name, pid) = named(text)?;
    let pid = pid
        .parse()
        .map_err(|_| format!("{pid:?} is no process id"))?;
    Ok((name, pid))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn an_address_may_lack_its_port() {
        let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
        assert_eq!(listen_address("127.0.0.1"), Ok(any));
        assert_eq!(listen_address("[::1]").unwrap().port(), 0);
        assert_eq!(listen_address("127.0.0.1:25").unwrap().port(), 25);
        assert!(listen_address("localhost").is_err());
    }
}
