/* ring: glue */
/**
 * DSSE envelopes (Dead Simple Signing Envelope, v1.0.2) with Ed25519.
 *
 * The signature covers PAE(type, payload) = "DSSEv1 " len(type) " " type " "
 * len(payload) " " payload, so the payload's bytes are signed as they are. A
 * key's name (keyid) is SHA-256 of its public part (DER, SubjectPublicKeyInfo).
 * Randomness is used for the key alone; an Ed25519 signature needs none.
 */
#ifndef ASSAY_CERTIFICATE_DSSE_H
#define ASSAY_CERTIFICATE_DSSE_H

#include <jansson.h>
#include <openssl/evp.h>

#include "core/error.h"

#define ASSAY_DSSE_TYPE "application/vnd.in-toto+json"
/** PEM text of a private key, where no file is named. */
#define ASSAY_KEY_VARIABLE "ASSAY_SIGNING_KEY"

/** PREFIX.key (mode 0600) and PREFIX.pub; refuses to replace a file. */
assay_status assay_key_generate(const char *prefix, char keyid[65],
                                assay_error *err) ASSAY_MUST_CHECK;

/** `path` NULL: the environment variable. Free with EVP_PKEY_free. */
assay_status assay_key_read_private(EVP_PKEY **out, const char *path,
                                    assay_error *err) ASSAY_MUST_CHECK;
/** A public key, or the public part of a private one. */
assay_status assay_key_read_public(EVP_PKEY **out, const char *path,
                                   assay_error *err) ASSAY_MUST_CHECK;
assay_status assay_key_write_public(const char *path, EVP_PKEY *key,
                                    assay_error *err) ASSAY_MUST_CHECK;
assay_status assay_key_id(char out[65], EVP_PKEY *key,
                          assay_error *err) ASSAY_MUST_CHECK;

/** The envelope of a payload; a new reference. */
assay_status assay_dsse_seal(json_t **out, const void *payload, size_t len,
                             EVP_PKEY *key, assay_error *err) ASSAY_MUST_CHECK;

/**
 * The payload, in fresh memory with a NUL behind it. With a `key` the envelope
 * must carry a valid signature of it; NULL reads without checking.
 * Errors  ASSAY_CORRUPT (not an envelope), ASSAY_REFUTED (signature).
 */
assay_status assay_dsse_open(char **payload, size_t *len,
                             const json_t *envelope, EVP_PKEY *key,
                             assay_error *err) ASSAY_MUST_CHECK;

#endif
