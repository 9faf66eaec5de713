// The processor's limit for comparing float32 numbers and adding up the results: two registers of
// numbers from the first-level cache against a stream of broadcast ones, counts kept in registers.
// Prints comparisons per second of all threads, and per second of one core. Build: gcc -O3 -march=native -pthread.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef BYTES
#define BYTES 32
#endif
#define REGISTERS 8
#define OLD 512
#define PASSES 400000

typedef float numbers __attribute__((vector_size(BYTES)));
typedef int counts __attribute__((vector_size(BYTES)));

static void *count(void *result) {
    float old[OLD];
    numbers samples[REGISTERS];
    counts sums[REGISTERS] = {0};
    unsigned seed = 1;
    for (int i = 0; i < OLD; i++) old[i] = rand_r(&seed);
    for (int r = 0; r < REGISTERS; r++)
        for (int lane = 0; lane < BYTES / 4; lane++) samples[r][lane] = rand_r(&seed);
    for (int pass = 0; pass < PASSES; pass++) {
        for (int i = 0; i < OLD; i++) {
            numbers one = old[i] - (numbers){0};
            for (int r = 0; r < REGISTERS; r++) sums[r] -= samples[r] > one;
        }
        // Keeps the compiler from doing the work once for all passes.
        __asm__ volatile("" ::: "memory");
    }
    counts total = {0};
    for (int r = 0; r < REGISTERS; r++) total += sums[r];
    *(int *)result = total[0];
    return NULL;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t handles[256];
    int results[256];
    struct timespec start, end, used;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < threads; i++) pthread_create(&handles[i], NULL, count, &results[i]);
    for (int i = 0; i < threads; i++) pthread_join(handles[i], NULL);
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = end.tv_sec - start.tv_sec + 1e-9 * (end.tv_nsec - start.tv_nsec);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    double core_seconds = used.tv_sec + 1e-9 * used.tv_nsec;
    double comparisons = (double)threads * PASSES * OLD * REGISTERS * (BYTES / 4);
    printf("%.6g %.6g %d\n", comparisons / seconds, comparisons / core_seconds, results[0]);
    return 0;
}
