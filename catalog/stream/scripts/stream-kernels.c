/* The four kernels of STREAM (copy, scale, add, triad): stream-kernels ELEMENTS ROUNDS.
 *
 * Counts the bytes as STREAM does: each read and each write, without the reads that a cache makes before a write. The best round
 * after the first one counts. Written for Kubebench: numbers may be called "STREAM benchmark results" only if they are of
 * stream.c under its run rules (https://www.cs.virginia.edu/stream/). */
#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { COPY, SCALE, ADD, TRIAD, KERNELS };
static const char *const names[KERNELS] = {"Copy:", "Scale:", "Add:", "Triad:"};
static const int arrays[KERNELS] = {2, 2, 3, 3};
static const double SCALAR = 0.42;

static double *allocated(size_t elements) {
    double *array = NULL;
    if (posix_memalign((void **)&array, 64, elements * sizeof *array) != 0) {
        fprintf(stderr, "no memory for %zu elements\n", elements);
        exit(1);
    }
    return array;
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: stream-kernels ELEMENTS ROUNDS\n");
        return 2;
    }
    const size_t elements = strtoull(arguments[1], NULL, 10);
    const int rounds = atoi(arguments[2]);
    if (elements < 1000 || rounds < 2) {
        fprintf(stderr, "needs 1000 elements and 2 rounds or more\n");
        return 2;
    }
    double *restrict a = allocated(elements), *restrict b = allocated(elements), *restrict c = allocated(elements);
    int threads = 0;
/* Each thread writes first what it works on, so that the pages are in memory near it. */
#pragma omp parallel for reduction(max : threads)
    for (size_t i = 0; i < elements; i++) {
        a[i] = 1.0, b[i] = 2.0, c[i] = 0.0;
        threads = omp_get_num_threads();
    }
    printf("Array size = %zu elements, %.1f MiB each\n", elements, elements * sizeof *a / 1048576.0);
    printf("Number of Threads counted = %d\n", threads);
    double best[KERNELS], worst[KERNELS] = {0}, sum[KERNELS] = {0};
    for (int kernel = 0; kernel < KERNELS; kernel++) best[kernel] = DBL_MAX;
    for (int round = 0; round < rounds; round++) {
        double ends[KERNELS + 1];
        ends[0] = omp_get_wtime();
#pragma omp parallel for
        for (size_t i = 0; i < elements; i++) c[i] = a[i];
        ends[1] = omp_get_wtime();
#pragma omp parallel for
        for (size_t i = 0; i < elements; i++) b[i] = SCALAR * c[i];
        ends[2] = omp_get_wtime();
#pragma omp parallel for
        for (size_t i = 0; i < elements; i++) c[i] = a[i] + b[i];
        ends[3] = omp_get_wtime();
#pragma omp parallel for
        for (size_t i = 0; i < elements; i++) a[i] = b[i] + SCALAR * c[i];
        ends[4] = omp_get_wtime();
        for (int kernel = 0; kernel < KERNELS && round > 0; kernel++) {
            const double seconds = ends[kernel + 1] - ends[kernel];
            if (seconds < best[kernel]) best[kernel] = seconds;
            if (seconds > worst[kernel]) worst[kernel] = seconds;
            sum[kernel] += seconds;
        }
    }
    printf("Function    Best Rate MB/s  Avg time     Min time     Max time\n");
    for (int kernel = 0; kernel < KERNELS; kernel++) {
        const double megabytes = 1e-6 * arrays[kernel] * sizeof *a * elements;
        printf("%-9s %14.1f  %11.6f  %11.6f  %11.6f\n", names[kernel], megabytes / best[kernel],
               sum[kernel] / (rounds - 1), best[kernel], worst[kernel]);
    }
    double x = 1.0, y = 2.0, z = 0.0;
    for (int round = 0; round < rounds; round++) z = x, y = SCALAR * z, z = x + y, x = y + SCALAR * z;
    size_t wrong = 0;
/* Written so that a value that is no number is wrong too. */
#pragma omp parallel for reduction(+ : wrong)
    for (size_t i = 0; i < elements; i++) {
        const int right = fabs(a[i] / x - 1) < 1e-13 && fabs(b[i] / y - 1) < 1e-13 && fabs(c[i] / z - 1) < 1e-13;
        wrong += !right;
    }
    printf("Elements that are wrong = %zu\n", wrong);
    return wrong != 0;
}
