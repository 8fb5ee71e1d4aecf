//! The inner loops with AVX2 and with AVX-512.

use std::arch::x86_64::{
    __m256d, __m512d, _MM_HINT_T0, _mm_prefetch, _mm256_fmadd_pd, _mm256_loadu_pd, _mm256_set1_pd,
    _mm256_setzero_pd, _mm256_storeu_pd, _mm256_sub_pd, _mm512_fmadd_pd, _mm512_loadu_pd,
    _mm512_set1_pd, _mm512_setzero_pd, _mm512_storeu_pd, _mm512_sub_pd,
};

use super::tile::Tile;
use super::triangle::{eliminate_leaf, solve_group};
use crate::isa::{Avx2, Avx512};

/// Groups ahead of the one in use that are fetched: about the latency of the second cache.
const AHEAD: usize = 8;

/// Words that a tile of `columns` columns `stride` apart spans.
fn span(rows: usize, columns: usize, stride: usize) -> usize {
    (columns - 1) * stride + rows
}

impl Tile for Avx512 {
    const ROWS: usize = 24;
    const COLUMNS: usize = 8;

    fn subtract(self, depth: usize, a: &[f64], b: &[f64], c: &mut [f64], stride: usize) {
        assert!(a.len() >= depth * Self::ROWS && b.len() >= depth * Self::COLUMNS);
        assert!(c.len() >= span(Self::ROWS, Self::COLUMNS, stride) && stride >= Self::ROWS);
        // SAFETY: `self` proves AVX-512F and FMA; the assertions above are the lengths asked for.
        unsafe { subtract_avx512(depth, a.as_ptr(), b.as_ptr(), c.as_mut_ptr(), stride) }
    }

    fn solve(self, triangle: &[f64], b: &mut [f64]) {
        // SAFETY: `self` proves AVX-512F and FMA, and the function asks for nothing else.
        unsafe { solve_avx512(triangle, b) }
    }

    fn eliminate(
        self,
        columns: &mut [f64],
        stride: usize,
        top: usize,
        rows: usize,
        pivots: &mut [usize],
    ) -> Result<(), usize> {
        // SAFETY: `self` proves AVX-512F and FMA, and the function asks for nothing else.
        unsafe { eliminate_avx512(columns, stride, top, rows, pivots) }
    }
}

/// # Safety
/// The processor has AVX-512F and FMA; `a` is readable for `depth * 24` words, `b` for `depth * 8`;
/// `c` is readable and writable, by no one else, for 8 columns of 24 words that lie `stride` apart.
#[target_feature(enable = "avx512f,fma")]
unsafe fn subtract_avx512(depth: usize, a: *const f64, b: *const f64, c: *mut f64, stride: usize) {
    let mut sums: [[__m512d; 3]; 8] = [[_mm512_setzero_pd(); 3]; 8];
    for column in 0..8 {
        // SAFETY: inside `c` as promised; a prefetch reads nothing that the program sees.
        unsafe {
            let start = c.add(column * stride);
            _mm_prefetch::<_MM_HINT_T0>(start.cast());
            _mm_prefetch::<_MM_HINT_T0>(start.add(8).cast());
            _mm_prefetch::<_MM_HINT_T0>(start.add(23).cast());
        }
    }
    for step in 0..depth {
        // SAFETY: `step < depth`, so the groups lie inside `a` and `b` as promised. The prefetch
        // may point past the end (`wrapping_add`): it reads nothing that the program sees.
        unsafe {
            let left = a.add(step * 24);
            let right = b.add(step * 8);
            let ahead = left.wrapping_add(AHEAD * 24);
            _mm_prefetch::<_MM_HINT_T0>(ahead.cast());
            _mm_prefetch::<_MM_HINT_T0>(ahead.wrapping_add(8).cast());
            _mm_prefetch::<_MM_HINT_T0>(ahead.wrapping_add(16).cast());
            let rows = [
                _mm512_loadu_pd(left),
                _mm512_loadu_pd(left.add(8)),
                _mm512_loadu_pd(left.add(16)),
            ];
            for (column, sum) in sums.iter_mut().enumerate() {
                let factor = _mm512_set1_pd(*right.add(column));
                for (sum, row) in sum.iter_mut().zip(rows) {
                    *sum = _mm512_fmadd_pd(row, factor, *sum);
                }
            }
        }
    }
    for (column, sum) in sums.iter().enumerate() {
        for (group, sum) in sum.iter().enumerate() {
            // SAFETY: `column < 8` and `group * 8 + 8 <= 24`: inside `c` as promised.
            unsafe {
                let place = c.add(column * stride + group * 8);
                _mm512_storeu_pd(place, _mm512_sub_pd(_mm512_loadu_pd(place), *sum));
            }
        }
    }
}

#[target_feature(enable = "avx512f,fma")]
fn solve_avx512(triangle: &[f64], b: &mut [f64]) {
    solve_group::<8, true>(triangle, b);
}

#[target_feature(enable = "avx512f,fma")]
fn eliminate_avx512(
    columns: &mut [f64],
    stride: usize,
    top: usize,
    rows: usize,
    pivots: &mut [usize],
) -> Result<(), usize> {
    eliminate_leaf::<true>(columns, stride, top, rows, pivots)
}

impl Tile for Avx2 {
    /// With 8 x 6 one register is left over; with 12 x 4 none is, and sums are spilled.
    const ROWS: usize = 8;
    const COLUMNS: usize = 6;

    fn subtract(self, depth: usize, a: &[f64], b: &[f64], c: &mut [f64], stride: usize) {
        assert!(a.len() >= depth * Self::ROWS && b.len() >= depth * Self::COLUMNS);
        assert!(c.len() >= span(Self::ROWS, Self::COLUMNS, stride) && stride >= Self::ROWS);
        // SAFETY: `self` proves AVX2 and FMA; the assertions above are the lengths asked for.
        unsafe { subtract_avx2(depth, a.as_ptr(), b.as_ptr(), c.as_mut_ptr(), stride) }
    }

    fn solve(self, triangle: &[f64], b: &mut [f64]) {
        // SAFETY: `self` proves AVX2 and FMA, and the function asks for nothing else.
        unsafe { solve_avx2(triangle, b) }
    }

    fn eliminate(
        self,
        columns: &mut [f64],
        stride: usize,
        top: usize,
        rows: usize,
        pivots: &mut [usize],
    ) -> Result<(), usize> {
        // SAFETY: `self` proves AVX2 and FMA, and the function asks for nothing else.
        unsafe { eliminate_avx2(columns, stride, top, rows, pivots) }
    }
}

/// # Safety
/// The processor has AVX2 and FMA; `a` is readable for `depth * 8` words, `b` for `depth * 6`;
/// `c` is readable and writable, by no one else, for 6 columns of 8 words that lie `stride` apart.
#[target_feature(enable = "avx2,fma")]
unsafe fn subtract_avx2(depth: usize, a: *const f64, b: *const f64, c: *mut f64, stride: usize) {
    let mut sums: [[__m256d; 2]; 6] = [[_mm256_setzero_pd(); 2]; 6];
    for column in 0..6 {
        // SAFETY: inside `c` as promised; a prefetch reads nothing that the program sees.
        unsafe {
            let start = c.add(column * stride);
            _mm_prefetch::<_MM_HINT_T0>(start.cast());
            _mm_prefetch::<_MM_HINT_T0>(start.add(7).cast());
        }
    }
    for step in 0..depth {
        // SAFETY: `step < depth`, so the groups lie inside `a` and `b` as promised.
        unsafe {
            let left = a.add(step * 8);
            let right = b.add(step * 6);
            let rows = [_mm256_loadu_pd(left), _mm256_loadu_pd(left.add(4))];
            for (column, sum) in sums.iter_mut().enumerate() {
                let factor = _mm256_set1_pd(*right.add(column));
                for (sum, row) in sum.iter_mut().zip(rows) {
                    *sum = _mm256_fmadd_pd(row, factor, *sum);
                }
            }
        }
    }
    for (column, sum) in sums.iter().enumerate() {
        for (group, sum) in sum.iter().enumerate() {
            // SAFETY: `column < 6` and `group * 4 + 4 <= 8`: inside `c` as promised.
            unsafe {
                let place = c.add(column * stride + group * 4);
                _mm256_storeu_pd(place, _mm256_sub_pd(_mm256_loadu_pd(place), *sum));
            }
        }
    }
}

#[target_feature(enable = "avx2,fma")]
fn solve_avx2(triangle: &[f64], b: &mut [f64]) {
    solve_group::<6, true>(triangle, b);
}

#[target_feature(enable = "avx2,fma")]
fn eliminate_avx2(
    columns: &mut [f64],
    stride: usize,
    top: usize,
    rows: usize,
    pivots: &mut [usize],
) -> Result<(), usize> {
    eliminate_leaf::<true>(columns, stride, top, rows, pivots)
}
