/* What the in-process fuzz targets share. Each is one file with libFuzzer's entry, LLVMFuzzerTestOneInput, which prints
 * nothing unless it finds something, and frees everything. A finding is a crash, a sanitizer's report, or FUZZ_CHECK.
 * In a build without libFuzzer the targets are linked with replay.c, which runs stored inputs. */
#ifndef DPC_FUZZ_H
#define DPC_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define FUZZ_CHECK(holds, ...)                                                                                         \
    do {                                                                                                               \
        if (!(holds)) {                                                                                                \
            fprintf(stderr, "FOUND (%s): ", #holds);                                                                   \
            fprintf(stderr, __VA_ARGS__);                                                                              \
            fputc('\n', stderr);                                                                                       \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/* Runs f on a stack as large as dpc's own: the passes recurse as deep as the parser lets through. */
void fuzz_on_big_stack(void *(*f)(void *), void *argument);

#endif
