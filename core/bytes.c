/* ring: glue */
#include "core/bytes.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void assay_hex(char *out, const void *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *b = bytes;
    for (size_t i = 0; i < len; i++) {
        out[2 * i] = digits[b[i] >> 4];
        out[2 * i + 1] = digits[b[i] & 15];
    }
    out[2 * len] = '\0';
}

static int nibble(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return -1;
}

assay_status assay_unhex(void *out, size_t len, const char *text,
                         assay_error *err)
{
    uint8_t *b = out;
    if (strlen(text) != 2 * len) {
        return assay_fail(err, ASSAY_INVALID, "expected %zu hex digits",
                          2 * len);
    }
    for (size_t i = 0; i < len; i++) {
        int high = nibble(text[2 * i]);
        int low = nibble(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return assay_fail(err, ASSAY_INVALID, "not a hex digit: '%.2s'",
                              text + 2 * i);
        }
        b[i] = (uint8_t)(high * 16 + low);
    }
    return ASSAY_OK;
}

assay_status assay_sha256(uint8_t out[ASSAY_SHA256_LEN], const void *bytes,
                          size_t len, assay_error *err)
{
    unsigned got = 0;
    if (EVP_Digest(bytes, len, out, &got, EVP_sha256(), NULL) != 1 ||
        got != ASSAY_SHA256_LEN) {
        return assay_fail(err, ASSAY_INTERNAL, "OpenSSL cannot do SHA-256");
    }
    return ASSAY_OK;
}

static assay_status digest_stream(EVP_MD_CTX *ctx, FILE *file, uint8_t *out)
{
    uint8_t buffer[65536];
    unsigned got = 0;
    size_t n;
    if (EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) != 1) {
        return ASSAY_INTERNAL;
    }
    while ((n = fread(buffer, 1, sizeof buffer, file)) > 0) {
        if (EVP_DigestUpdate(ctx, buffer, n) != 1) {
            return ASSAY_INTERNAL;
        }
    }
    if (ferror(file)) {
        return ASSAY_IO;
    }
    return EVP_DigestFinal_ex(ctx, out, &got) == 1 ? ASSAY_OK : ASSAY_INTERNAL;
}

assay_status assay_sha256_file(uint8_t out[ASSAY_SHA256_LEN], const char *path,
                               assay_error *err)
{
    FILE *file = fopen(path, "rb");
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    assay_status status = ASSAY_IO;
    if (file != NULL && ctx != NULL) {
        status = digest_stream(ctx, file, out);
    }
    if (status != ASSAY_OK) {
        (void)assay_fail(err, status, "%s: cannot be read: %s", path,
                         strerror(errno));
    }
    EVP_MD_CTX_free(ctx);
    if (file != NULL) {
        (void)fclose(file);
    }
    return status;
}

static assay_status read_all(char **out, size_t *out_len, FILE *file,
                             size_t max_len)
{
    size_t room = 65536;
    size_t len = 0;
    char *text = malloc(room + 1);
    while (text != NULL) {
        size_t n = fread(text + len, 1, room - len, file);
        char *more;
        len += n;
        if (n == 0 || len > max_len) {
            break;
        }
        if (len == room) {
            room *= 2;
            more = realloc(text, room + 1);
            if (more == NULL) {
                free(text);
            }
            text = more;
        }
    }
    if (text == NULL) {
        return ASSAY_MEMORY;
    }
    if (ferror(file) || len > max_len) {
        free(text);
        return len > max_len ? ASSAY_INVALID : ASSAY_IO;
    }
    text[len] = '\0';
    *out = text;
    *out_len = len;
    return ASSAY_OK;
}

assay_status assay_read_file(char **out, size_t *out_len, const char *path,
                             size_t max_len, assay_error *err)
{
    FILE *file = fopen(path, "rb");
    assay_status status;
    if (file == NULL) {
        return assay_fail(err, ASSAY_IO, "%s: cannot be opened: %s", path,
                          strerror(errno));
    }
    status = read_all(out, out_len, file, max_len);
    (void)fclose(file);
    if (status == ASSAY_INVALID) {
        return assay_fail(err, status, "%s: longer than %zu bytes", path,
                          max_len);
    }
    if (status != ASSAY_OK) {
        return assay_fail(err, status, "%s: cannot be read", path);
    }
    return ASSAY_OK;
}

static int write_and_sync(const char *path, const void *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");
    int ok;
    if (file == NULL) {
        return 0;
    }
    ok = fwrite(bytes, 1, len, file) == len && fflush(file) == 0 &&
         fsync(fileno(file)) == 0;
    return fclose(file) == 0 && ok;
}

assay_status assay_write_file(const char *path, const void *bytes, size_t len,
                              assay_error *err)
{
    size_t room = strlen(path) + 16;
    char *beside = malloc(room);
    assay_status status = ASSAY_OK;
    if (beside == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "out of memory");
    }
    (void)snprintf(beside, room, "%s.part", path);
    if (!write_and_sync(beside, bytes, len) || rename(beside, path) != 0) {
        status = assay_fail(err, ASSAY_IO, "%s: cannot be written: %s", path,
                            strerror(errno));
        (void)remove(beside);
    }
    free(beside);
    return status;
}

assay_status assay_temporary_folder(char *out, size_t size, const char *name,
                                    const char *otherwise, assay_error *err)
{
    const char *base = getenv("TMPDIR");
    if (base == NULL || base[0] != '/') {
        base = otherwise;
    }
    int len = snprintf(out, size, "%s/%s-XXXXXX", base, name);
    if (len < 0 || (size_t)len >= size || mkdtemp(out) == NULL) {
        out[0] = '\0';
        return assay_fail(err, ASSAY_IO, "no temporary folder in %.200s", base);
    }
    return ASSAY_OK;
}
