/* The triad a[i] = b[i] + q * c[i] over arrays beyond the last cache, as any C program writes it.
 *
 * usage: triad BYTES_OF_EACH_ARRAY REPEATS; prints the seconds of each repeat, one a line, and
 * ends with 1 when a word is not what it must be. Built by bench/kernels_against_peers.py with
 * gcc -O3 -march=native -fopenmp-simd.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double *array(size_t bytes) {
    double *memory = aligned_alloc(2 << 20, (bytes + (2 << 20) - 1) / (2 << 20) * (2 << 20));
    if (memory == NULL) {
        perror("triad");
        exit(2);
    }
    madvise(memory, bytes, MADV_HUGEPAGE); /* as the kernel under comparison does */
    return memory;
}

static __attribute__((noinline)) void triad(double *restrict a, const double *restrict b,
                                            const double *restrict c, double q, size_t words) {
#pragma omp simd
    for (size_t i = 0; i < words; i++)
        a[i] = b[i] + q * c[i];
}

int main(int count, char **words_given) {
    if (count != 3)
        return fprintf(stderr, "usage: triad BYTES REPEATS\n"), 2;
    size_t bytes = strtoull(words_given[1], NULL, 10), words = bytes / sizeof(double);
    int repeats = atoi(words_given[2]);
    double *a = array(bytes), *b = array(bytes), *c = array(bytes);
    for (size_t i = 0; i < words; i++)
        a[i] = 0, b[i] = (double)(i % 7 + 1), c[i] = (double)(i % 5 + 2);
    triad(a, b, c, 1.0, words);
    for (int repeat = 0; repeat < repeats; repeat++) {
        double started = now();
        triad(a, b, c, 3.0, words);
        printf("%.9f\n", now() - started);
    }
    for (size_t i = 0; i < words; i++)
        if (a[i] != b[i] + 3.0 * c[i])
            return fprintf(stderr, "triad: word %zu is wrong\n", i), 1;
    return 0;
}
