/* ring: glue */
/**
 * Small byte and file helpers: hexadecimal, SHA-256 (OpenSSL), whole files.
 */
#ifndef ASSAY_CORE_BYTES_H
#define ASSAY_CORE_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

#define ASSAY_SHA256_LEN 32

/** `out` gets 2 * len lower-case digits and a final NUL. */
void assay_hex(char *out, const void *bytes, size_t len);

/** The inverse: exactly 2 * len digits, then the end of the text. */
assay_status assay_unhex(void *out, size_t len, const char *text,
                         assay_error *err) ASSAY_MUST_CHECK;

assay_status assay_sha256(uint8_t out[ASSAY_SHA256_LEN], const void *bytes,
                          size_t len, assay_error *err) ASSAY_MUST_CHECK;

/** The digest of a file's bytes. */
assay_status assay_sha256_file(uint8_t out[ASSAY_SHA256_LEN], const char *path,
                               assay_error *err) ASSAY_MUST_CHECK;

/** A whole file in fresh memory (free() it) with a NUL behind it; refuses one
 *  longer than `max_len`. */
assay_status assay_read_file(char **out, size_t *out_len, const char *path,
                             size_t max_len, assay_error *err) ASSAY_MUST_CHECK;

/** Writes beside `path`, syncs, renames: the file is whole or not there. */
assay_status assay_write_file(const char *path, const void *bytes, size_t len,
                              assay_error *err) ASSAY_MUST_CHECK;

/** A fresh folder of ours alone: `name` and six characters, in $TMPDIR or, if
 *  that is not set, in `otherwise`. `out` has room for `size` bytes. */
assay_status assay_temporary_folder(char *out, size_t size, const char *name,
                                    const char *otherwise,
                                    assay_error *err) ASSAY_MUST_CHECK;

#endif
