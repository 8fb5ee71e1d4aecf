//! Starting a process that cannot outlive the agent.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::io::Errno;
use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal, setsid};
use steelyard_wire::agent::{Failure, FailureKind};

use crate::failure::{bad_request, failure, hint_for, refused, refused_path};

/// First word of an argv that stands for this binary.
const ENGINE: &str = "@engine";

/// Starts `argv` in a session of its own, its output in pipes.
///
/// The kernel kills the process when the calling thread ends: it must live as long.
pub(super) fn launch(
    argv: &[String],
    environment: &BTreeMap<String, String>,
    directory: Option<&str>,
    stdin: Stdio,
) -> Result<Child, Failure> {
    let Some((program, arguments)) = argv.split_first() else {
        return Err(bad_request("argv is empty", "name a program"));
    };
    let mut command = if program == ENGINE {
        Command::new(std::env::current_exe().map_err(|e| refused("find the engine", &e))?)
    } else {
        Command::new(program)
    };
    command.args(arguments).envs(environment);
    if let Some(directory) = directory {
        check_directory(Path::new(directory))?;
        command.current_dir(directory);
    }
    command
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let agent = getpid();
    let bind_to_agent = move || -> io::Result<()> {
        setsid()?;
        set_parent_process_death_signal(Some(Signal::KILL))?;
        if getppid() == Some(agent) {
            Ok(())
        } else {
            Err(Errno::SRCH.into()) // the agent ended before the line above: nobody would kill us
        }
    };
    // SAFETY: between fork and exec the closure only makes system calls (setsid, prctl, getppid)
    // through rustix, which calls the kernel directly; it neither allocates nor takes a lock, and
    // its errors are plain numbers.
    unsafe { command.pre_exec(bind_to_agent) };
    command
        .spawn()
        .map_err(|error| not_started(program, &error))
}

fn check_directory(directory: &Path) -> Result<(), Failure> {
    match std::fs::metadata(directory) {
        Ok(data) if data.is_dir() => Ok(()),
        Ok(_) => Err(bad_request(
            format!("{} is no folder", directory.display()),
            "name a folder to work in",
        )),
        Err(error) => Err(refused_path("work in", directory, &error)),
    }
}

fn not_started(program: &str, error: &io::Error) -> Failure {
    let failed = refused(&format!("start {program}"), error);
    match Errno::from_io_error(error) {
        Some(Errno::NOEXEC) => {
            let kind = FailureKind::BadRequest;
            let hint = "it is no program for this machine";
            failure(kind, failed.message, hint)
        }
        Some(Errno::TOOBIG) => failure(
            FailureKind::BadRequest,
            failed.message,
            "pass less by argument and environment",
        ),
        _ => failure(failed.kind, failed.message, hint_for(failed.kind)),
    }
}
