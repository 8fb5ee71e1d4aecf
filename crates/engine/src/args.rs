//! The command line: what can be asked for, and how it is spelled.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use steelyard_sink::{DEFAULT_STORE_THREADS, Delay, Fault};

use crate::load_args::LoadArgs;
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
    /// Drive a server and measure it: web, mail, FTP, connects, streams.
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
