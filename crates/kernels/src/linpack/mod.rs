//! Solves a dense system of linear equations and checks the answer.

mod blocking;
mod factor;
mod matrix;
mod packed;
mod panel;
mod residual;
mod tile;
#[cfg(target_arch = "x86_64")]
mod tile_x86;
mod triangle;
mod update;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use steelyard_wire::kernel::{Cache, Isa, LINPACK_SCHEMA, LinpackResult, Solution, Solutions};

use crate::host::{facts, refuse_threads, refuse_too_large};
use crate::isa::{Proof, with_proof};
use crate::spread::spread;
use crate::{KernelError, caches};
use blocking::Blocking;
use factor::{Factoring, Stopped};
use matrix::Equations;
use residual::{LARGEST_RESIDUAL, scaled_residual};
use tile::Tile;

/// Most unknowns: a row number must stay far below what a seeded value is made of.
const MOST_UNKNOWNS: u32 = 1_000_000;

/// What to solve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinpackJob {
    /// Numbers of unknowns, one after the other.
    pub sizes: Vec<u32>,
    /// Threads that compute.
    pub threads: u32,
    /// Solutions of each size.
    pub repeats: u32,
    /// Decides the matrix.
    pub seed: u64,
    /// `None` is the best there is.
    pub isa: Option<Isa>,
}

/// Solves every system of the job; `done` is called with each size and its solution.
///
/// # Errors
/// What is asked for makes no sense or does not fit, before any memory is taken. A wrong answer is
/// no error but a result without figure.
pub fn run(
    job: &LinpackJob,
    cancel: &AtomicBool,
    done: &dyn Fn(u32, &Solution),
) -> Result<LinpackResult, KernelError> {
    let proof = Proof::of(job.isa)?;
    let caches = caches(Path::new("/"));
    check(job)?;
    for size in &job.sizes {
        refuse_too_large(
            with_proof!(proof, tile => needed_bytes(tile, &caches, *size, job.threads)),
        )?;
    }
    let mut solutions = Vec::new();
    for size in &job.sizes {
        let progress = |solution: &Solution| done(*size, solution);
        solutions.push(
            with_proof!(proof, tile => solve_all(tile, &caches, job, *size, cancel, &progress))?,
        );
    }
    let complete = solutions
        .iter()
        .all(|found| found.repeats.len() == job.repeats as usize);
    let valid = complete
        && solutions
            .iter()
            .flat_map(|found| &found.repeats)
            .all(|repeat| repeat.valid);
    Ok(LinpackResult {
        schema: LINPACK_SCHEMA.to_owned(),
        host: facts(),
        isa: proof.isa(),
        threads: job.threads,
        seed: job.seed,
        solutions,
        interrupted: cancel.load(Ordering::Relaxed),
        valid,
    })
}

fn check(job: &LinpackJob) -> Result<(), KernelError> {
    refuse_threads(job.threads)?;
    if job.sizes.is_empty() || job.sizes.contains(&0) {
        let hint = "say --size with a number of unknowns, as 1000";
        return Err(KernelError::bad_option(
            "a system of 0 equations has no solution to time",
            hint,
        ));
    }
    if job.repeats == 0 {
        let hint = "say --repeat 1 or more";
        return Err(KernelError::bad_option("0 repeats measure nothing", hint));
    }
    match job.sizes.iter().find(|size| **size > MOST_UNKNOWNS) {
        Some(size) => Err(KernelError::bad_option(
            format!("{size} unknowns are more than {MOST_UNKNOWNS}"),
            "ask for a smaller size",
        )),
        None => Ok(()),
    }
}

fn needed_bytes<T: Tile>(_: T, caches: &[Cache], size: u32, threads: u32) -> u64 {
    let (size, threads) = (size as usize, threads as usize);
    let blocking = Blocking::of::<T>(caches, size, threads);
    (Equations::bytes(size) + Factoring::<T>::bytes(blocking, size, threads)) as u64
}

fn solve_all<T: Tile>(
    tile: T,
    caches: &[Cache],
    job: &LinpackJob,
    size: u32,
    cancel: &AtomicBool,
    done: &dyn Fn(&Solution),
) -> Result<Solutions, KernelError> {
    let (unknowns, threads) = (size as usize, job.threads as usize);
    let blocking = Blocking::of::<T>(caches, unknowns, threads);
    let mut equations = Equations::with_room(unknowns)?;
    let mut factoring = Factoring::new(tile, blocking, unknowns, threads)?;
    let mut repeats = Vec::new();
    while repeats.len() < job.repeats as usize && !cancel.load(Ordering::Relaxed) {
        equations.fill(job.seed);
        let Some(solution) = solve(&mut factoring, &mut equations, job.seed, cancel)? else {
            break;
        };
        done(&solution);
        repeats.push(solution);
    }
    Ok(Solutions {
        size,
        panel_columns: blocking.panel_columns as u32,
        gflops_per_s: spread(repeats.iter().filter_map(|repeat| repeat.gflops_per_s)),
        repeats,
    })
}

/// One timed solution; `None` when it was interrupted.
fn solve<T: Tile>(
    factoring: &mut Factoring<T>,
    equations: &mut Equations,
    seed: u64,
    cancel: &AtomicBool,
) -> Result<Option<Solution>, KernelError> {
    let mut pivots = vec![0; equations.size];
    let started = Instant::now();
    let factored = factoring.factor(equations, &mut pivots, cancel);
    let unknowns = factored.is_ok().then(|| equations.back_substitute());
    let seconds = started.elapsed().as_secs_f64();
    match factored {
        Err(Stopped::Interrupted) => Ok(None),
        Err(Stopped::NoThread(message)) => Err(KernelError::NoThread(message)),
        Err(Stopped::Singular(column)) => Ok(Some(singular(seconds, column))),
        Ok(()) => Ok(Some(judged(seed, seconds, &unknowns.unwrap_or_default()))),
    }
}

fn singular(seconds: f64, column: usize) -> Solution {
    Solution {
        seconds,
        gflops_per_s: None,
        scaled_residual: None,
        singular_column: Some(column as u32),
        valid: false,
    }
}

/// A solution with its figure, if its residual is that of a right answer.
fn judged(seed: u64, seconds: f64, unknowns: &[f64]) -> Solution {
    let scaled_residual = scaled_residual(seed, unknowns);
    let valid = scaled_residual.is_some_and(|residual| residual < LARGEST_RESIDUAL);
    Solution {
        seconds,
        gflops_per_s: valid.then(|| operations(unknowns.len()) / seconds / 1e9),
        scaled_residual,
        singular_column: None,
        valid,
    }
}

/// Operations that a solution is paid for, however many it made.
fn operations(size: usize) -> f64 {
    let n = size as f64;
    2.0 / 3.0 * n.powi(3) + 2.0 * n.powi(2)
}

#[cfg(test)]
#[path = "linpack_tests.rs"]
mod tests;
