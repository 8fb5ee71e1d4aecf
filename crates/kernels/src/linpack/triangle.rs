//! The two loops that are not a product: solving with a packed triangle, and eliminating a few
//! columns. Plain code, compiled once for each instruction set by its callers.

#![allow(
    clippy::inline_always,
    reason = "must be compiled with the instructions of its caller"
)]

/// Rows that are solved together, so that their sums stay in registers.
pub(super) const SOLVED_TOGETHER: usize = 8;

/// Words of a packed unit lower triangle of `depth` rows; `depth` is a multiple of
/// [`SOLVED_TOGETHER`].
pub(super) fn triangle_words(depth: usize) -> usize {
    let blocks = depth / SOLVED_TOGETHER;
    blocks * (blocks + 1) / 2 * SOLVED_TOGETHER * SOLVED_TOGETHER
}

/// Packs the strictly lower triangle of the first `width` rows of `columns` (`stride` apart,
/// beginning at row `top`): for each [`SOLVED_TOGETHER`] rows, column by column up to the diagonal.
/// What is on and above the diagonal, and beyond `width`, becomes 0.
pub(super) fn pack_triangle(
    columns: &[f64],
    stride: usize,
    top: usize,
    width: usize,
    packed: &mut [f64],
) {
    let mut place = 0;
    for first in (0..width).step_by(SOLVED_TOGETHER) {
        for column in 0..first + SOLVED_TOGETHER {
            for row in first..first + SOLVED_TOGETHER {
                let inside = column < row && row < width;
                packed[place] = if inside {
                    columns[column * stride + top + row]
                } else {
                    0.0
                };
                place += 1;
            }
        }
    }
}

/// `b = L^-1 b` for a group of `COLUMNS` columns, packed row by row; `L` has a unit diagonal and is
/// packed by [`pack_triangle`].
#[inline(always)]
pub(super) fn solve_group<const COLUMNS: usize, const FUSED: bool>(
    triangle: &[f64],
    b: &mut [f64],
) {
    let (b, _) = b.as_chunks_mut::<COLUMNS>();
    let (triangle, _) = triangle.as_chunks::<SOLVED_TOGETHER>();
    let mut rest = triangle;
    for first in (0..b.len()).step_by(SOLVED_TOGETHER) {
        let (known, unknown) = b.split_at_mut(first);
        let (Some(unknown), Some((factors, later))) = (
            unknown.first_chunk_mut::<SOLVED_TOGETHER>(),
            rest.split_at_checked(first + SOLVED_TOGETHER),
        ) else {
            return;
        };
        let (outside, diagonal) = factors.split_at(first);
        subtract_known::<COLUMNS, FUSED>(outside, known, unknown);
        solve_diagonal::<COLUMNS, FUSED>(diagonal, unknown);
        rest = later;
    }
}

#[inline(always)]
fn subtract_known<const COLUMNS: usize, const FUSED: bool>(
    factors: &[[f64; SOLVED_TOGETHER]],
    known: &[[f64; COLUMNS]],
    unknown: &mut [[f64; COLUMNS]; SOLVED_TOGETHER],
) {
    let mut sums = *unknown;
    for (factors, known) in factors.iter().zip(known) {
        for row in 0..SOLVED_TOGETHER {
            for column in 0..COLUMNS {
                sums[row][column] = fused::<FUSED>(-factors[row], known[column], sums[row][column]);
            }
        }
    }
    *unknown = sums;
}

#[inline(always)]
fn solve_diagonal<const COLUMNS: usize, const FUSED: bool>(
    factors: &[[f64; SOLVED_TOGETHER]],
    unknown: &mut [[f64; COLUMNS]; SOLVED_TOGETHER],
) {
    let mut sums = *unknown;
    for (solved, factors) in factors.iter().enumerate().take(SOLVED_TOGETHER) {
        let known = sums[solved];
        for row in solved + 1..SOLVED_TOGETHER {
            for column in 0..COLUMNS {
                sums[row][column] = fused::<FUSED>(-factors[row], known[column], sums[row][column]);
            }
        }
    }
    *unknown = sums;
}

/// Factorises columns `stride` apart from row `top` to `rows`, with partial pivoting among these
/// columns. A pivot is the row that row `top + column` was swapped with.
///
/// # Errors
/// The number of the first column without a pivot other than 0.
#[inline(always)]
pub(super) fn eliminate_leaf<const FUSED: bool>(
    columns: &mut [f64],
    stride: usize,
    top: usize,
    rows: usize,
    pivots: &mut [usize],
) -> Result<(), usize> {
    for (column, pivot) in pivots.iter_mut().enumerate() {
        let diagonal = top + column;
        let candidates = &columns[column * stride + diagonal..column * stride + rows];
        let chosen = diagonal + largest(candidates).ok_or(column)?;
        for other in columns.chunks_mut(stride) {
            other.swap(diagonal, chosen);
        }
        *pivot = chosen;
        let (done, later) = columns.split_at_mut((column + 1) * stride);
        let (head, below) =
            done[column * stride + diagonal..column * stride + rows].split_at_mut(1);
        scale(below, 1.0 / head[0]);
        for target in later.chunks_mut(stride) {
            let target = &mut target[diagonal..rows];
            let (factor, target) = target.split_at_mut(1);
            subtract_scaled::<FUSED>(target, below, factor[0]);
        }
    }
    Ok(())
}

#[inline(always)]
fn scale(values: &mut [f64], factor: f64) {
    for value in values {
        *value *= factor;
    }
}

#[inline(always)]
fn subtract_scaled<const FUSED: bool>(target: &mut [f64], column: &[f64], factor: f64) {
    for (target, value) in target.iter_mut().zip(column) {
        *target = fused::<FUSED>(-factor, *value, *target);
    }
}

/// Where the largest magnitude stands, exactly; `None` when it is 0 or not finite.
#[inline(always)]
#[expect(
    clippy::float_cmp,
    reason = "the largest is one of them, to the last bit"
)]
fn largest(values: &[f64]) -> Option<usize> {
    const LANES: usize = 32;
    let mut most = [0.0_f64; LANES];
    let (groups, rest) = values.as_chunks::<LANES>();
    for group in groups {
        for (most, value) in most.iter_mut().zip(group) {
            let size = value.abs();
            *most = if size > *most { size } else { *most };
        }
    }
    let in_groups = most.iter().copied().fold(0.0, f64::max);
    let most = rest
        .iter()
        .map(|value| value.abs())
        .fold(in_groups, f64::max);
    if most == 0.0 || !most.is_finite() {
        return None;
    }
    values.iter().position(|value| value.abs() == most)
}

/// `a b + c`, rounded once where that is an instruction.
#[inline(always)]
pub(super) fn fused<const FUSED: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}
