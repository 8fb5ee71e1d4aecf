use proptest::prelude::*;

use super::*;
use crate::isa::{Portable, available};

const TINY: Blocking = Blocking {
    panel_columns: 16,
    block_rows: 24,
    chunk_columns: 8,
};

/// LU with partial pivoting as the textbook writes it: the upper triangle and the solved side.
fn naive(equations: &Equations) -> Vec<Vec<f64>> {
    let (size, stride) = (equations.size, equations.stride);
    let cell = |row: usize, column: usize| equations.cells[column * stride + row];
    let mut rows: Vec<Vec<f64>> = (0..size)
        .map(|row| (0..=size).map(|column| cell(row, column)).collect())
        .collect();
    for step in 0..size {
        let magnitude = |row: &usize| rows[*row][step].abs();
        let pivot = (step..size)
            .max_by(|a, b| magnitude(a).total_cmp(&magnitude(b)))
            .unwrap();
        rows.swap(step, pivot);
        let (done, below) = rows.split_at_mut(step + 1);
        for row in below {
            let factor = row[step] / done[step][step];
            for (value, above) in row.iter_mut().zip(&done[step]).skip(step) {
                *value -= factor * above;
            }
        }
    }
    rows
}

fn random(size: usize, seed: u64) -> Equations {
    let mut equations = Equations::with_room(size).unwrap();
    equations.fill(seed);
    equations
}

fn factor(
    isa: Isa,
    equations: &mut Equations,
    blocking: Blocking,
    threads: usize,
) -> Result<(), Stopped> {
    let mut pivots = vec![0; equations.size];
    let size = equations.size;
    with_proof!(Proof::of(Some(isa)).unwrap(), tile => {
        let mut factoring = Factoring::new(tile, blocking, size, threads).unwrap();
        factoring.factor(equations, &mut pivots, &AtomicBool::new(false))
    })
}

fn assert_upper_triangles_agree(found: &Equations, expected: &[Vec<f64>]) {
    let norm = expected
        .iter()
        .flatten()
        .fold(1.0_f64, |most, value| most.max(value.abs()));
    let columns = found.cells.chunks_exact(found.stride);
    for (column, cells) in columns.enumerate() {
        for (row, expected) in expected.iter().enumerate().take(column + 1) {
            let (a, b) = (cells[row], expected[column]);
            assert!(
                (a - b).abs() <= 1e-9 * norm,
                "row {row}, column {column}: {a} and {b}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_blocked_factorisation_equals_the_naive_one(size in 1_usize..90, seed: u64, threads in 1_usize..4, panel in 1_usize..5) {
        let blocking = Blocking { panel_columns: panel * 8, ..TINY };
        for isa in available() {
            let mut equations = random(size, seed);
            let expected = naive(&equations);
            prop_assert_eq!(factor(isa, &mut equations, blocking, threads), Ok(()));
            assert_upper_triangles_agree(&equations, &expected);
        }
    }
}

#[test]
fn every_instruction_set_gives_the_same_answer() {
    let solve = |isa| {
        let mut equations = random(150, 7);
        factor(isa, &mut equations, TINY, 2).unwrap();
        equations.back_substitute()
    };
    let expected = solve(Isa::Portable);
    for isa in available() {
        for (a, b) in solve(isa).iter().zip(&expected) {
            assert!(
                (a - b).abs() <= 1e-9 * b.abs().max(1.0),
                "{isa:?}: {a} and {b}"
            );
        }
    }
}

#[test]
fn a_singular_matrix_is_reported_with_its_column() {
    for isa in available() {
        let mut equations = random(40, 3);
        let stride = equations.stride;
        equations.cells[20 * stride..21 * stride].fill(0.0);
        assert_eq!(
            factor(isa, &mut equations, TINY, 2),
            Err(Stopped::Singular(20))
        );
    }
}

#[test]
fn a_matrix_with_something_that_is_no_number_is_not_solved() {
    let mut equations = random(40, 3);
    equations.cells[..40].fill(f64::INFINITY);
    assert_eq!(
        factor(Isa::Portable, &mut equations, TINY, 1),
        Err(Stopped::Singular(0))
    );
}

#[test]
fn a_right_answer_has_a_small_residual_and_a_figure() {
    let mut equations = random(200, 11);
    factor(Isa::Portable, &mut equations, TINY, 1).unwrap();
    let solution = judged(11, 0.5, &equations.back_substitute());
    assert!(solution.valid && solution.scaled_residual.unwrap() < 1.0);
    assert_eq!(solution.gflops_per_s, Some(operations(200) / 0.5 / 1e9));
}

#[test]
fn a_wrong_factorisation_is_refused_by_its_residual() {
    let mut equations = random(200, 11);
    factor(Isa::Portable, &mut equations, TINY, 1).unwrap();
    let place = 150 * equations.stride + 100;
    equations.cells[place] += 1e-6;
    let solution = judged(11, 0.5, &equations.back_substitute());
    assert!(!solution.valid && solution.scaled_residual.unwrap() > LARGEST_RESIDUAL);
    assert_eq!(solution.gflops_per_s, None);
}

#[test]
fn an_answer_that_is_no_number_has_no_residual_and_no_figure() {
    let solution = judged(11, 0.5, &[0.0, f64::NAN, 1.0]);
    assert!(
        !solution.valid && solution.scaled_residual.is_none() && solution.gflops_per_s.is_none()
    );
}

#[test]
fn an_interrupted_factorisation_says_so() {
    let mut equations = random(40, 3);
    let mut factoring = Factoring::new(Portable, TINY, 40, 1).unwrap();
    let ended = factoring.factor(&mut equations, &mut [0; 40], &AtomicBool::new(true));
    assert_eq!(ended, Err(Stopped::Interrupted));
}

fn job() -> LinpackJob {
    LinpackJob {
        sizes: vec![50],
        threads: 1,
        repeats: 2,
        seed: 1,
        isa: None,
    }
}

#[test]
fn a_run_gives_every_repeat_and_is_valid() {
    let result = run(&job(), &AtomicBool::new(false), &|_, _| ()).unwrap();
    assert!(result.valid && !result.interrupted);
    assert_eq!(result.solutions[0].repeats.len(), 2);
}

#[test]
fn an_interrupted_run_is_not_valid_and_has_no_figure() {
    let result = run(&job(), &AtomicBool::new(true), &|_, _| ()).unwrap();
    assert!(result.interrupted && !result.valid);
    assert_eq!(result.solutions[0].gflops_per_s, None);
}

#[test]
fn what_cannot_be_computed_is_refused() {
    let refused = |job: LinpackJob| run(&job, &AtomicBool::new(false), &|_, _| ()).unwrap_err();
    assert!(matches!(
        refused(LinpackJob {
            sizes: vec![0],
            ..job()
        }),
        KernelError::BadOption { .. }
    ));
    assert!(matches!(
        refused(LinpackJob {
            repeats: 0,
            ..job()
        }),
        KernelError::BadOption { .. }
    ));
    assert!(matches!(
        refused(LinpackJob {
            threads: 0,
            ..job()
        }),
        KernelError::BadOption { .. }
    ));
    assert!(matches!(
        refused(LinpackJob {
            sizes: vec![1_000_000],
            ..job()
        }),
        KernelError::TooLarge { .. }
    ));
}
