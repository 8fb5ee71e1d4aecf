//! The reference kernel: a fixed piece of work for processor, memory and disk.
//!
//! It is not a benchmark: the same work again and again, whose rate moves when the machine does.
//! A study takes one before each trial, and several before the first.

mod disk;
mod processor;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use steelyard_wire::kernel::{REFERENCE_SCHEMA, ReferenceResult};

use crate::KernelError;
use crate::host::facts;
use disk::Blocks;
use processor::{Copies, Mixing};

const LONGEST: Duration = Duration::from_secs(60);

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferenceJob {
    /// For all parts together; each has an equal share.
    pub time: Duration,
    /// Where to write; `None` leaves the disk out.
    pub folder: Option<PathBuf>,
}

/// Something that can be done again and again.
trait Round {
    /// Does it once; how much of its unit was done.
    fn once(&mut self) -> Result<u64, KernelError>;
}

/// Runs each part for its share of the time.
///
/// # Errors
/// The job makes no sense, or memory is refused. A disk that refuses is listed in the result.
pub fn run(job: &ReferenceJob, cancel: &AtomicBool) -> Result<ReferenceResult, KernelError> {
    check(job)?;
    let parts = if job.folder.is_some() { 3 } else { 2 };
    let share = job.time / parts;
    let (cpu_per_s, cpu_valid) = mix(share, cancel)?;
    let memory_bytes_per_s = rate(&mut Copies::new()?, share, cancel)?;
    let written = job.folder.as_ref().map(|folder| {
        Blocks::in_folder(folder).and_then(|mut blocks| rate(&mut blocks, share, cancel))
    });
    let (disk_writes_per_s, disk_refused) = match written {
        None => (None, None),
        Some(Ok(per_s)) => (per_s, None),
        Some(Err(error)) => (None, Some(error.to_string())),
    };
    let interrupted = cancel.load(Ordering::Relaxed);
    Ok(ReferenceResult {
        schema: REFERENCE_SCHEMA.to_owned(),
        host: facts(),
        cpu_per_s,
        memory_bytes_per_s,
        disk_writes_per_s,
        disk_refused,
        interrupted,
        valid: cpu_valid && !interrupted,
    })
}

fn check(job: &ReferenceJob) -> Result<(), KernelError> {
    if job.time.is_zero() || job.time > LONGEST {
        let hint = "say --time with a duration up to 1 minute, as 300ms";
        let message = "the reference kernel needs some time, and no more than a minute";
        return Err(KernelError::bad_option(message, hint));
    }
    Ok(())
}

fn mix(share: Duration, cancel: &AtomicBool) -> Result<(Option<f64>, bool), KernelError> {
    let mut mixing = Mixing::new();
    let per_s = rate(&mut mixing, share, cancel)?;
    Ok((per_s, mixing.all_alike()))
}

/// Units a second over whole rounds, at least one; `None` when it was interrupted.
fn rate(
    round: &mut impl Round,
    share: Duration,
    cancel: &AtomicBool,
) -> Result<Option<f64>, KernelError> {
    round.once()?; // what a first round costs (pages, caches, the file) is not the machine's state
    let (start, mut done) = (Instant::now(), 0_u64);
    loop {
        if cancel.load(Ordering::Relaxed) {
            return Ok(None);
        }
        done += round.once()?;
        let spent = start.elapsed();
        if spent >= share {
            return Ok(Some(done as f64 / spent.as_secs_f64()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(folder: Option<PathBuf>) -> ReferenceJob {
        ReferenceJob {
            time: Duration::from_millis(30),
            folder,
        }
    }

    #[test]
    fn every_part_has_a_rate_and_the_disk_only_where_a_folder_is_given() {
        let folder = tempfile::tempdir().unwrap();
        let all = run(&job(Some(folder.path().into())), &AtomicBool::new(false)).unwrap();
        assert!(all.valid);
        for rate in [all.cpu_per_s, all.memory_bytes_per_s, all.disk_writes_per_s] {
            assert!(rate.unwrap() > 0.0);
        }
        let without = run(&job(None), &AtomicBool::new(false)).unwrap();
        assert_eq!(without.disk_writes_per_s, None);
    }

    #[test]
    fn nothing_is_left_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        run(&job(Some(folder.path().into())), &AtomicBool::new(false)).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_interrupted_run_has_no_figures_and_does_not_count() {
        let stopped = run(&job(None), &AtomicBool::new(true)).unwrap();
        assert_eq!((stopped.cpu_per_s, stopped.valid), (None, false));
    }

    #[test]
    fn no_time_is_refused_and_a_folder_that_is_not_there_is_reported() {
        let none = ReferenceJob {
            time: Duration::ZERO,
            folder: None,
        };
        assert!(run(&none, &AtomicBool::new(false)).is_err());
        let folder = Some("/no/such/folder".into());
        let absent = run(&job(folder), &AtomicBool::new(false)).unwrap();
        assert!(absent.disk_refused.unwrap().contains("/no/such/folder"));
        assert_eq!((absent.disk_writes_per_s, absent.valid), (None, true));
    }
}
