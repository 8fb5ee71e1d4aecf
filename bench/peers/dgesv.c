/* Solves n equations with the dgesv of the LAPACK that it is linked with (OpenBLAS).
 *
 * usage: dgesv N REPEATS; prints the seconds of each repeat, one a line, and ends with 1 when
 * LAPACK says that it failed. Built by bench/kernels_against_peers.py.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

extern void dgesv_(int *n, int *sides, double *a, int *lda, int *pivots, double *b, int *ldb,
                   int *info);

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fill(double *cells, size_t count, uint64_t state) {
    for (size_t i = 0; i < count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        cells[i] = (double)(state >> 11) / 9007199254740992.0 - 0.5;
    }
}

int main(int count, char **words) {
    if (count != 3)
        return fprintf(stderr, "usage: dgesv N REPEATS\n"), 2;
    int n = atoi(words[1]), repeats = atoi(words[2]), sides = 1, info = 0;
    size_t cells = (size_t)n * (size_t)n, huge = 2 << 20;
    double *a = aligned_alloc(huge, (cells * sizeof(double) + huge - 1) / huge * huge);
    double *b = malloc((size_t)n * sizeof(double));
    int *pivots = malloc((size_t)n * sizeof(int));
    if (a == NULL || b == NULL || pivots == NULL)
        return perror("dgesv"), 2;
    madvise(a, cells * sizeof(double), MADV_HUGEPAGE); /* as the kernel under comparison does */
    for (int repeat = 0; repeat < repeats; repeat++) {
        fill(a, cells, 1);
        fill(b, (size_t)n, 2);
        double started = now();
        dgesv_(&n, &sides, a, &n, pivots, b, &n, &info);
        printf("%.9f\n", now() - started);
        if (info != 0)
            return fprintf(stderr, "dgesv: info %d\n", info), 1;
    }
    return 0;
}
