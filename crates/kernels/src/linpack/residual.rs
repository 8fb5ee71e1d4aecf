//! Whether a solution is one, as HPL asks.

use super::matrix::value;

/// A residual from here on is that of a wrong answer.
pub(super) const LARGEST_RESIDUAL: f64 = 16.0;

/// `||Ax-b|| / (eps (||A|| ||x|| + ||b||) n)` in the infinity norm, of the system of `seed`; `None`
/// when it is no number.
pub(super) fn scaled_residual(seed: u64, unknowns: &[f64]) -> Option<f64> {
    let size = unknowns.len();
    let mut rest: Vec<f64> = (0..size).map(|row| -value(seed, row, size)).collect();
    let largest_right = norm(&rest);
    let mut row_sums = vec![0.0; size];
    for (column, unknown) in unknowns.iter().enumerate() {
        for (row, (rest, row_sum)) in rest.iter_mut().zip(&mut row_sums).enumerate() {
            let value = value(seed, row, column);
            *rest += value * unknown;
            *row_sum += value.abs();
        }
    }
    let scale = norm(&row_sums) * norm(unknowns) + largest_right;
    let residual = norm(&rest) / (f64::EPSILON * scale * size as f64);
    residual.is_finite().then_some(residual)
}

/// Largest magnitude; what is no number stays none.
fn norm(values: &[f64]) -> f64 {
    let larger = |most: f64, value: &f64| {
        if value.abs() <= most {
            most
        } else {
            value.abs()
        }
    };
    let most = values.iter().fold(0.0, larger);
    let all_numbers = values.iter().all(|value| !value.is_nan());
    if all_numbers { most } else { f64::NAN }
}
