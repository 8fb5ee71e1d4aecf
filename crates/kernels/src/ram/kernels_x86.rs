//! The loops over memory with AVX2 and with AVX-512, and their stores past the caches.

use std::arch::x86_64::{__m256i, __m512i, _mm_sfence, _mm256_stream_si256, _mm512_stream_si512};

use super::kernels::{Combining, Number, Streams, combine_words, sum_lanes};
use super::lines::{Line, bits, combine_lines};
use crate::isa::{Avx2, Avx512};

impl Streams for Avx512 {
    const STREAMING: bool = true;

    fn sum<T: Number>(self, block: &[T]) -> T {
        // SAFETY: `self` proves AVX-512F, and the function asks for nothing else.
        unsafe { sum_avx512(block) }
    }

    fn fill<T: Number>(self, block: &mut [T], value: T) {
        // SAFETY: `self` proves AVX-512F, and the function asks for nothing else.
        unsafe { fill_avx512(block, value) }
    }

    fn combine<T: Number>(self, work: Combining<'_, T>, streaming: bool) {
        // SAFETY: `self` proves AVX-512F, and the functions ask for nothing else.
        unsafe {
            if streaming {
                combine_streaming_avx512(work);
            } else {
                combine_avx512(work);
            }
        }
    }
}

#[target_feature(enable = "avx512f,fma")]
fn sum_avx512<T: Number>(block: &[T]) -> T {
    sum_lanes(block)
}

#[target_feature(enable = "avx512f,fma")]
fn fill_avx512<T: Number>(block: &mut [T], value: T) {
    block.fill(value);
}

#[target_feature(enable = "avx512f,fma")]
fn combine_avx512<T: Number>(work: Combining<'_, T>) {
    combine_words(work);
}

#[target_feature(enable = "avx512f,fma")]
fn combine_streaming_avx512<T: Number>(work: Combining<'_, T>) {
    combine_lines(work, |place, line| stream_avx512(place, line));
    _mm_sfence(); // the lines are seen by all before anybody reads the clock
}

#[inline]
#[target_feature(enable = "avx512f,fma")]
fn stream_avx512<T: Number>(place: &mut Line<T>, line: Line<T>) {
    let words = bits(&line);
    let place = std::ptr::from_mut(place).cast::<__m512i>();
    if place.is_aligned() {
        // SAFETY: 8 words of 8 bytes are a register, all of whose patterns are values; `place` is
        // 64 writable bytes that are borrowed by us alone, and aligned as the line above asked.
        unsafe { _mm512_stream_si512(place, std::mem::transmute::<[u64; 8], __m512i>(words)) };
    } else {
        // SAFETY: as above, for a store that needs no alignment.
        unsafe { place.cast::<Line<T>>().write(line) };
    }
}

impl Streams for Avx2 {
    const STREAMING: bool = true;

    fn sum<T: Number>(self, block: &[T]) -> T {
        // SAFETY: `self` proves AVX2, and the function asks for nothing else.
        unsafe { sum_avx2(block) }
    }

    fn fill<T: Number>(self, block: &mut [T], value: T) {
        // SAFETY: `self` proves AVX2, and the function asks for nothing else.
        unsafe { fill_avx2(block, value) }
    }

    fn combine<T: Number>(self, work: Combining<'_, T>, streaming: bool) {
        // SAFETY: `self` proves AVX2, and the functions ask for nothing else.
        unsafe {
            if streaming {
                combine_streaming_avx2(work);
            } else {
                combine_avx2(work);
            }
        }
    }
}

#[target_feature(enable = "avx2,fma")]
fn sum_avx2<T: Number>(block: &[T]) -> T {
    sum_lanes(block)
}

#[target_feature(enable = "avx2,fma")]
fn fill_avx2<T: Number>(block: &mut [T], value: T) {
    block.fill(value);
}

#[target_feature(enable = "avx2,fma")]
fn combine_avx2<T: Number>(work: Combining<'_, T>) {
    combine_words(work);
}

#[target_feature(enable = "avx2,fma")]
fn combine_streaming_avx2<T: Number>(work: Combining<'_, T>) {
    combine_lines(work, |place, line| stream_avx2(place, line));
    _mm_sfence(); // the lines are seen by all before anybody reads the clock
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn stream_avx2<T: Number>(place: &mut Line<T>, line: Line<T>) {
    let words = bits(&line);
    let place = std::ptr::from_mut(place).cast::<__m256i>();
    if place.is_aligned() {
        // SAFETY: 8 words of 8 bytes are two registers, all of whose patterns are values; `place`
        // is 64 writable bytes that are borrowed by us alone, and both halves are aligned to 32
        // because the first is.
        unsafe {
            let [first, second] = std::mem::transmute::<[u64; 8], [__m256i; 2]>(words);
            _mm256_stream_si256(place, first);
            _mm256_stream_si256(place.add(1), second);
        }
    } else {
        // SAFETY: as above, for a store that needs no alignment.
        unsafe { place.cast::<Line<T>>().write(line) };
    }
}
