//! `kernel linpack|ram|reference`: one run, progress on stderr, the result on stdout.

mod args;
mod text;

use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;
use serde_json::to_string;
use steelyard_kernels::KernelError;
use steelyard_kernels::linpack::{self, LinpackJob};
use steelyard_kernels::ram::{self, RamJob};
use steelyard_kernels::reference::{self, ReferenceJob};
use steelyard_wire::agent::{Failure, FailureKind};

pub(crate) use args::KernelArgs;
use args::{ElementArg, Kernel, LinpackArgs, OperationArg, RamArgs, ReferenceArgs};

use crate::console::{
    INTERRUPTED, NOT_TO_BE_USED, Outcome, clear_progress, interrupt_flag, print, show_progress,
    somebody_looks,
};
use crate::failure::failure;

pub(crate) fn run(args: &KernelArgs) -> Outcome {
    match &args.kernel {
        Kernel::Linpack(args) => run_linpack(args),
        Kernel::Ram(args) => run_ram(args),
        Kernel::Reference(args) => run_reference(args),
    }
}

fn run_reference(args: &ReferenceArgs) -> Outcome {
    let job = ReferenceJob {
        time: Duration::from_nanos(args.time),
        folder: args.folder.clone(),
    };
    let cancel = interrupt_flag()?;
    let result = reference::run(&job, &cancel).map_err(|error| from_kernel(&error))?;
    print(&if args.json {
        document(to_string(&result))?
    } else {
        text::reference(&result)
    })?;
    Ok(exit_code(result.interrupted, result.valid))
}

fn run_linpack(args: &LinpackArgs) -> Outcome {
    let job = LinpackJob {
        sizes: args.sizes.clone(),
        threads: args.threads,
        repeats: args.repeat,
        seed: args.seed,
        isa: args.isa.map(Into::into),
    };
    let cancel = interrupt_flag()?;
    let progress = Progress::new();
    let result = linpack::run(&job, &cancel, &|size, solution| {
        progress.show(&text::solution_line(size, solution));
    });
    progress.clear();
    let result = result.map_err(|error| from_kernel(&error))?;
    print(&if args.json {
        document(to_string(&result))?
    } else {
        text::linpack(&result)
    })?;
    Ok(exit_code(result.interrupted, result.valid))
}

fn run_ram(args: &RamArgs) -> Outcome {
    let job = RamJob {
        elements: all_or(&args.elements, ElementArg::value_variants()),
        operations: all_or(&args.operations, OperationArg::value_variants()),
        smallest_block_bytes: args.smallest_block,
        largest_block_bytes: args.largest_block,
        array_bytes: args.array,
        stores: args.stores.map(Into::into),
        threads: args.threads,
        repeats: args.repeat,
        isa: args.isa.map(Into::into),
    };
    let cancel = interrupt_flag()?;
    let progress = Progress::new();
    let result = ram::run(&job, &cancel, &|passes| {
        progress.show(&text::passes_line(passes));
    });
    progress.clear();
    let result = result.map_err(|error| from_kernel(&error))?;
    print(&if args.json {
        document(to_string(&result))?
    } else {
        text::ram(&result)
    })?;
    Ok(exit_code(result.interrupted, result.valid))
}

/// What was asked for, or everything there is.
fn all_or<A: Copy, B: From<A>>(asked: &[A], all: &[A]) -> Vec<B> {
    let chosen = if asked.is_empty() { all } else { asked };
    chosen.iter().map(|choice| B::from(*choice)).collect()
}

fn document(text: serde_json::Result<String>) -> Result<String, Failure> {
    text.map(|text| text + "\n")
        .map_err(|error| failure(FailureKind::System, error.to_string(), None))
}

fn exit_code(interrupted: bool, valid: bool) -> ExitCode {
    if interrupted {
        ExitCode::from(INTERRUPTED)
    } else if valid {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(NOT_TO_BE_USED)
    }
}

fn from_kernel(error: &KernelError) -> Failure {
    let kind = match error {
        KernelError::BadOption { .. } | KernelError::NoSuchIsa(_) => FailureKind::BadRequest,
        KernelError::TooLarge { .. } | KernelError::NoMemory(_) | KernelError::NoThread(_) => {
            FailureKind::ResourceLimit
        }
        KernelError::Disk { .. } => FailureKind::System,
    };
    failure(kind, error.to_string(), error.hint())
}

/// The progress line, if somebody looks.
struct Progress {
    watched: bool,
}

impl Progress {
    fn new() -> Self {
        Self {
            watched: somebody_looks(),
        }
    }

    fn show(&self, line: &str) {
        if self.watched {
            show_progress(line);
        }
    }

    fn clear(&self) {
        if self.watched {
            clear_progress();
        }
    }
}
