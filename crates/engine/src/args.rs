//! The command line: what can be asked for, and how it is spelled.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use steelyard_wire::sample::ThreadsJob;

use crate::kernel::KernelArgs;
use crate::load_args::LoadArgs;
use crate::quantity::duration_ns;
use crate::sink_args::SinkArgs;

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
    /// Measure processor and memory alone: linpack, ram.
    Kernel(KernelArgs),
    /// Sample counters of this machine.
    Sample(SampleArgs),
    /// Print the facts of this machine that could explain a difference.
    Facts(FactsArgs),
    /// Serve a controller over stdin and stdout; see docs/reference/agent.md.
    Agent,
    /// Join stdin and stdout to a unix socket, such as the serial port of a guest.
    Join(JoinArgs),
    /// Holds one process of an agent and all that comes of it; started by the agent alone.
    #[command(hide = true)]
    Hold(HoldArgs),
    /// Write the JSON schemas of all documents.
    Schema(SchemaArgs),
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
    /// Control group to follow, by its folder, under a name; may be given several times.
    #[arg(long = "cgroup", value_parser = named, value_name = "NAME=FOLDER")]
    pub(crate) cgroups: Vec<(String, String)>,
    /// Threads of a process to follow together, under a name; may be given several times.
    #[arg(long = "threads", value_parser = named_threads, value_name = "NAME=PID/TID,...")]
    pub(crate) threads: Vec<(String, ThreadsJob)>,
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

/// `join`.
#[derive(Debug, Args)]
pub(crate) struct JoinArgs {
    /// Where it listens, as `unix:PATH`.
    #[arg(value_parser = unix_path, value_name = "unix:PATH")]
    pub(crate) socket: PathBuf,
}

fn unix_path(text: &str) -> Result<PathBuf, String> {
    match text.strip_prefix("unix:") {
        Some(path) if !path.is_empty() => Ok(PathBuf::from(path)),
        _ => Err("write it as unix:PATH".to_owned()),
    }
}

/// `hold`.
#[derive(Debug, Args)]
pub(crate) struct HoldArgs {
    /// Descriptor of the socket to the agent.
    #[arg(long)]
    pub(crate) control: i32,
    /// `CLOCK_MONOTONIC` when the program is to start.
    #[arg(long)]
    pub(crate) start_at: Option<u64>,
    /// The program and its arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    pub(crate) argv: Vec<OsString>,
}

/// `schema`.
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Folder for the NAME.schema.json files.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: PathBuf,
}

fn named(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err(format!("{text:?} is not NAME=VALUE")),
    }
}

fn named_threads(text: &str) -> Result<(String, ThreadsJob), String> {
    let (name, threads) = named(text)?;
    let wrong = || format!("{threads:?} is not PID/TID,...");
    let (process, ids) = threads.split_once('/').ok_or_else(wrong)?;
    let ids: Result<Vec<u32>, _> = ids.split(',').map(str::parse).collect();
    let (process, ids) = process.parse().ok().zip(ids.ok()).ok_or_else(wrong)?;
    Ok((name, ThreadsJob { process, ids }))
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
}
