/* ring: glue */
#include "audit/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/bytes.h"

typedef struct saved {
    char magic[8];
    uint8_t digest[ASSAY_SHA256_LEN];
    uint64_t at;
    assay_certify z; /* what follows changes while rows are counted */
    char examples[ASSAY_MAX_EVENTS * ASSAY_AUDIT_TEXT];
} saved;

/* What must agree: claim, samples, confidence, events, the cells' number. */
static assay_status digest_of(uint8_t out[ASSAY_SHA256_LEN],
                              const assay_certify *z,
                              const assay_audit_options *o, assay_error *err)
{
    char text[2048];
    int used = snprintf(text, sizeof text, "%d %.17g %.17g %llu %.17g %zu %zu",
                        (int)o->claim.kind, o->claim.value, o->claim.delta,
                        (unsigned long long)o->samples, o->confidence,
                        z->num_events, z->cells.num);
    for (size_t k = 0; k < z->num_events && used > 0; k++) {
        const assay_audit_event *e = &z->event[k];
        used +=
            snprintf(text + used, sizeof text - (size_t)used, " [%zu %d %.9g]",
                     e->model, e->swapped, (double)e->threshold);
    }
    return assay_sha256(out, text, strlen(text), err);
}

assay_status assay_checkpoint_load(const char *path, assay_certify *z,
                                   const assay_audit_options *options,
                                   uint64_t *at, char *examples,
                                   assay_error *err)
{
    uint8_t digest[ASSAY_SHA256_LEN];
    char *bytes = NULL;
    size_t len = 0;
    if (path == NULL || access(path, F_OK) != 0) {
        return ASSAY_OK;
    }
    assay_status status =
        assay_read_file(&bytes, &len, path, sizeof(saved), err);
    if (status == ASSAY_OK) {
        status = digest_of(digest, z, options, err);
    }
    if (status == ASSAY_OK) {
        const saved *s = (const void *)bytes;
        if (len != sizeof *s || memcmp(s->magic, "assayck2", 8) != 0 ||
            memcmp(s->digest, digest, sizeof digest) != 0) {
            status = assay_fail(err, ASSAY_CORRUPT,
                                "checkpoint %s is of another audit: remove it "
                                "or name another file",
                                path);
        } else {
            *at = s->at;
            *z = s->z;
            memcpy(examples, s->examples, sizeof s->examples);
        }
    }
    free(bytes);
    return status;
}

assay_status assay_checkpoint_save(const char *path, const assay_certify *z,
                                   const assay_audit_options *options,
                                   uint64_t at, const char *examples,
                                   assay_error *err)
{
    if (path == NULL) {
        return ASSAY_OK;
    }
    saved *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "audit: out of memory");
    }
    memcpy(s->magic, "assayck2", 8);
    s->at = at;
    s->z = *z;
    memcpy(s->examples, examples, sizeof s->examples);
    assay_status status = digest_of(s->digest, z, options, err);
    if (status == ASSAY_OK) {
        status = assay_write_file(path, s, sizeof *s, err);
    }
    free(s);
    return status;
}
