/* ring: glue */
/* libFuzzer: any bytes as a feature file and as an episode file. The readers
 * never crash, and what they accept keeps its bounds. */
#define _GNU_SOURCE /* memfd_create */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "algorithms/episodes.h"
#include "algorithms/features.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_features(const char *path)
{
    const assay_shape shape = {1, 2, 1};
    assay_features *f = NULL;
    if (assay_features_read(&f, path, &shape, NULL) != ASSAY_OK) {
        return;
    }
    for (size_t row = 0; row < f->num_rows; row++) {
        int64_t sum = 0;
        for (size_t i = 0; i < f->dim; i++) {
            sum +=
                assay_features_row(f, row)[i] * assay_features_row(f, row)[i];
        }
        if (sum > ASSAY_FEATURE_ONE * ASSAY_FEATURE_ONE) {
            abort();
        }
    }
    assay_features_free(f);
}

static void read_episodes(const char *path)
{
    assay_episodes *e = NULL;
    if (assay_episodes_read(&e, path, 3, 2.0, NULL) != ASSAY_OK) {
        return;
    }
    for (size_t t = 0; t < e->num_steps; t++) {
        if (e->at[t] >= 3 || !(e->weight[t] >= 0.0 && e->weight[t] <= 2.0)) {
            abort();
        }
    }
    assay_episodes_free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = memfd_create("features", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
        abort();
    }
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    read_features(path);
    read_episodes(path);
    (void)close(fd);
    return 0;
}
