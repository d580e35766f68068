/* ring: glue */
/* Ed25519 keys in PEM files. */
#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "certificate/dsse.h"
#include "core/bytes.h"

#define MAX_KEY 65536

static assay_status write_new(const char *path, const char *text, size_t len,
                              mode_t mode, assay_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, mode);
    if (fd < 0) {
        return assay_fail(err, ASSAY_IO,
                          "'%s' cannot be created (a key is never replaced)",
                          path);
    }
    int ok = write(fd, text, len) == (ssize_t)len && fsync(fd) == 0;
    ok = close(fd) == 0 && ok;
    return ok ? ASSAY_OK
              : assay_fail(err, ASSAY_IO, "'%s' cannot be written", path);
}

/* PEM of either part, through memory. */
static assay_status pem_text(char **out, size_t *len, EVP_PKEY *key,
                             int private_part, assay_error *err)
{
    BIO *memory = BIO_new(BIO_s_mem());
    char *data = NULL;
    int ok = memory != NULL &&
             (private_part ? PEM_write_bio_PKCS8PrivateKey(memory, key, NULL,
                                                           NULL, 0, NULL, NULL)
                           : PEM_write_bio_PUBKEY(memory, key)) == 1;
    long n = ok ? BIO_get_mem_data(memory, &data) : 0;
    *out = n > 0 ? malloc((size_t)n) : NULL;
    if (*out != NULL) {
        memcpy(*out, data, (size_t)n);
        *len = (size_t)n;
    }
    BIO_free(memory);
    return *out != NULL ? ASSAY_OK
                        : assay_fail(err, ASSAY_INTERNAL,
                                     "OpenSSL cannot write the key");
}

static assay_status write_part(const char *prefix, const char *suffix,
                               EVP_PKEY *key, int private_part,
                               assay_error *err)
{
    char path[4096];
    char *text = NULL;
    size_t len = 0;
    if (snprintf(path, sizeof path, "%s%s", prefix, suffix) >=
        (int)sizeof path) {
        return assay_fail(err, ASSAY_INVALID, "the name is too long");
    }
    assay_status status = pem_text(&text, &len, key, private_part, err);
    if (status == ASSAY_OK) {
        status = write_new(path, text, len, private_part ? 0600 : 0644, err);
        OPENSSL_cleanse(text, len);
        free(text);
    }
    return status;
}

assay_status assay_key_generate(const char *prefix, char keyid[65],
                                assay_error *err)
{
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    if (key == NULL) {
        return assay_fail(err, ASSAY_ENTROPY, "OpenSSL cannot make a key");
    }
    assay_status status = assay_key_id(keyid, key, err);
    if (status == ASSAY_OK) {
        status = write_part(prefix, ".key", key, 1, err);
    }
    if (status == ASSAY_OK) {
        status = write_part(prefix, ".pub", key, 0, err);
    }
    EVP_PKEY_free(key);
    return status;
}

assay_status assay_key_write_public(const char *path, EVP_PKEY *key,
                                    assay_error *err)
{
    char *text = NULL;
    size_t len = 0;
    assay_status status = pem_text(&text, &len, key, 0, err);
    if (status == ASSAY_OK) {
        status = assay_write_file(path, text, len, err);
        free(text);
    }
    return status;
}

assay_status assay_key_id(char out[65], EVP_PKEY *key, assay_error *err)
{
    unsigned char *der = NULL;
    uint8_t digest[ASSAY_SHA256_LEN];
    int len = i2d_PUBKEY(key, &der);
    if (len <= 0) {
        return assay_fail(err, ASSAY_INTERNAL, "OpenSSL cannot encode a key");
    }
    assay_status status = assay_sha256(digest, der, (size_t)len, err);
    if (status == ASSAY_OK) {
        assay_hex(out, digest, sizeof digest);
    }
    OPENSSL_free(der);
    return status;
}

/* No pass phrases: never wait at a terminal. */
static int no_phrase(char *buffer, int size, int writing, void *data)
{
    (void)buffer;
    (void)size;
    (void)writing;
    (void)data;
    return -1;
}

static assay_status parse_key(EVP_PKEY **out, const char *text, size_t len,
                              int need_private, const char *from,
                              assay_error *err)
{
    BIO *memory = BIO_new_mem_buf(text, (int)len);
    EVP_PKEY *key = NULL;
    if (memory != NULL && !need_private) {
        key = PEM_read_bio_PUBKEY(memory, NULL, no_phrase, NULL);
        (void)BIO_reset(memory);
    }
    if (memory != NULL && key == NULL) {
        key = PEM_read_bio_PrivateKey(memory, NULL, no_phrase, NULL);
    }
    BIO_free(memory);
    if (key != NULL && EVP_PKEY_get_id(key) != EVP_PKEY_ED25519) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    if (key == NULL) {
        return assay_fail(err, ASSAY_INVALID,
                          "%s holds no %s Ed25519 key in PEM; make one with "
                          "`assay keygen`",
                          from, need_private ? "private" : "public");
    }
    *out = key;
    return ASSAY_OK;
}

static assay_status read_key(EVP_PKEY **out, const char *path, int need_private,
                             assay_error *err)
{
    char *text = NULL;
    size_t len = 0;
    assay_status status = assay_read_file(&text, &len, path, MAX_KEY, err);
    if (status == ASSAY_OK) {
        status = parse_key(out, text, len, need_private, path, err);
        OPENSSL_cleanse(text, len);
        free(text);
    }
    return status;
}

assay_status assay_key_read_private(EVP_PKEY **out, const char *path,
                                    assay_error *err)
{
    if (path != NULL) {
        return read_key(out, path, 1, err);
    }
    const char *text = getenv(ASSAY_KEY_VARIABLE);
    if (text == NULL || strlen(text) > MAX_KEY) {
        return assay_fail(
            err, ASSAY_INVALID,
            "no signing key: give --key FILE or set " ASSAY_KEY_VARIABLE
            " to its PEM text; make one with "
            "`assay keygen`");
    }
    return parse_key(out, text, strlen(text), 1, ASSAY_KEY_VARIABLE, err);
}

assay_status assay_key_read_public(EVP_PKEY **out, const char *path,
                                   assay_error *err)
{
    return read_key(out, path, 0, err);
}
