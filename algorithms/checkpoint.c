/* ring: glue */
#include "algorithms/checkpoint.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"

#define MAGIC "ASSAYCP1"
#define PREFIX_LEN 16 /* magic and the header's length */
#define MAX_FILE ((size_t)1 << 33)

static void put_u64(unsigned char *to, uint64_t x)
{
    for (int i = 0; i < 8; i++) {
        to[i] = (unsigned char)(x >> (8 * i));
    }
}

static uint64_t get_u64(const unsigned char *from)
{
    uint64_t x = 0;
    for (int i = 7; i >= 0; i--) {
        x = x << 8 | from[i];
    }
    return x;
}

static void put_doubles(unsigned char *to, const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], 8);
        put_u64(to + 8 * i, bits);
    }
}

static assay_status check_finite(const double *values, size_t n,
                                 const char *path, assay_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(values[i])) {
            return assay_fail(err, ASSAY_INVALID,
                              "%s: value %zu is not a finite number; train "
                              "again or repair the file",
                              path, i);
        }
    }
    return ASSAY_OK;
}

assay_status assay_checkpoint_write(const char *path, const char *kind,
                                    json_t *header, const double *values,
                                    size_t num_values, assay_error *err)
{
    char *text;
    size_t len;
    size_t total;
    unsigned char *bytes;
    assay_status status = check_finite(values, num_values, path, err);
    if (status != ASSAY_OK) {
        return status;
    }
    (void)json_object_set_new(header, "kind", json_string(kind));
    (void)json_object_set_new(header, "version",
                              json_integer(ASSAY_CHECKPOINT_VERSION));
    (void)json_object_set_new(header, "num_values",
                              json_integer((json_int_t)num_values));
    text = json_dumps(header, JSON_COMPACT | JSON_SORT_KEYS);
    len = text == NULL ? 0 : strlen(text);
    total = PREFIX_LEN + len + 8 * num_values;
    bytes = malloc(total + ASSAY_SHA256_LEN);
    if (text == NULL || bytes == NULL) {
        free(text);
        free(bytes);
        return assay_fail(err, ASSAY_MEMORY, "no memory for %s", path);
    }
    memcpy(bytes, MAGIC, 8);
    put_u64(bytes + 8, len);
    memcpy(bytes + PREFIX_LEN, text, len);
    put_doubles(bytes + PREFIX_LEN + len, values, num_values);
    status = assay_sha256(bytes + total, bytes, total, err);
    if (status == ASSAY_OK) {
        status = assay_write_file(path, bytes, total + ASSAY_SHA256_LEN, err);
    }
    free(text);
    free(bytes);
    return status;
}

/* Magic, lengths and digest; *len is the header's length. */
static assay_status check_frame(const unsigned char *bytes, size_t total,
                                size_t *len, const char *path, assay_error *err)
{
    uint8_t digest[ASSAY_SHA256_LEN];
    uint64_t header;
    assay_status status;
    if (total < PREFIX_LEN + ASSAY_SHA256_LEN || memcmp(bytes, MAGIC, 8) != 0) {
        return assay_fail(err, ASSAY_CORRUPT, "%s is not an Assay checkpoint",
                          path);
    }
    header = get_u64(bytes + 8);
    if (header > total - PREFIX_LEN - ASSAY_SHA256_LEN ||
        (total - PREFIX_LEN - ASSAY_SHA256_LEN - header) % 8 != 0) {
        return assay_fail(err, ASSAY_CORRUPT, "%s is cut short", path);
    }
    status = assay_sha256(digest, bytes, total - ASSAY_SHA256_LEN, err);
    if (status == ASSAY_OK && memcmp(digest, bytes + total - ASSAY_SHA256_LEN,
                                     ASSAY_SHA256_LEN) != 0) {
        status = assay_fail(err, ASSAY_CORRUPT,
                            "%s was changed: its digest does not fit", path);
    }
    *len = (size_t)header;
    return status;
}

static assay_status check_header(const json_t *header, const char *kind,
                                 size_t num_values, const char *path,
                                 assay_error *err)
{
    const char *name = json_string_value(json_object_get(header, "kind"));
    json_int_t version = json_integer_value(json_object_get(header, "version"));
    json_int_t num = json_integer_value(json_object_get(header, "num_values"));
    if (name == NULL || strcmp(name, kind) != 0) {
        return assay_fail(err, ASSAY_INVALID, "%s holds a '%.20s', not a '%s'",
                          path, name == NULL ? "?" : name, kind);
    }
    if (version != ASSAY_CHECKPOINT_VERSION) {
        return assay_fail(err, ASSAY_INVALID,
                          "%s has format version %lld; this program reads %d",
                          path, (long long)version, ASSAY_CHECKPOINT_VERSION);
    }
    if (num < 0 || (uint64_t)num != num_values) {
        return assay_fail(err, ASSAY_INVALID,
                          "%s says it has %lld values and has %zu", path,
                          (long long)num, num_values);
    }
    return ASSAY_OK;
}

static assay_status get_doubles(double **out, const unsigned char *from,
                                size_t n, const char *path, assay_error *err)
{
    double *values = malloc(8 * n + 8);
    assay_status status;
    if (values == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for %s", path);
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = get_u64(from + 8 * i);
        memcpy(&values[i], &bits, 8);
    }
    status = check_finite(values, n, path, err);
    if (status != ASSAY_OK) {
        free(values);
        return status;
    }
    *out = values;
    return ASSAY_OK;
}

assay_status assay_checkpoint_read(json_t **header, double **values,
                                   size_t *num_values, const char *path,
                                   const char *kind, assay_error *err)
{
    char *bytes = NULL;
    size_t total = 0;
    size_t len = 0;
    json_t *json = NULL;
    assay_status status = assay_read_file(&bytes, &total, path, MAX_FILE, err);
    const unsigned char *at = (const unsigned char *)bytes;
    if (status != ASSAY_OK) {
        return status;
    }
    status = check_frame(at, total, &len, path, err);
    if (status == ASSAY_OK) {
        json = json_loadb(bytes + PREFIX_LEN, len, 0, NULL);
        *num_values = (total - PREFIX_LEN - ASSAY_SHA256_LEN - len) / 8;
        status = check_header(json, kind, *num_values, path, err);
    }
    if (status == ASSAY_OK) {
        status =
            get_doubles(values, at + PREFIX_LEN + len, *num_values, path, err);
    }
    free(bytes);
    if (status != ASSAY_OK) {
        json_decref(json);
        return status;
    }
    *header = json;
    return ASSAY_OK;
}

json_t *assay_checkpoint_shape(const assay_network *net)
{
    json_t *widths = json_array();
    for (size_t i = 0; i <= net->num_layers; i++) {
        (void)json_array_append_new(widths,
                                    json_integer((json_int_t)net->widths[i]));
    }
    return json_pack("{s:o, s:s}", "widths", widths, "activation",
                     net->activation == ASSAY_TANH ? "tanh" : "relu");
}

assay_status assay_checkpoint_from_shape(assay_network *net, const json_t *json,
                                         assay_error *err)
{
    const json_t *widths = json_object_get(json, "widths");
    const char *name = json_string_value(json_object_get(json, "activation"));
    size_t n = json_array_size(widths);
    size_t list[ASSAY_NETWORK_MAX_LAYERS + 1];
    memset(net, 0, sizeof *net);
    if (name == NULL || n < 2 || n > ASSAY_NETWORK_MAX_LAYERS + 1 ||
        (strcmp(name, "tanh") != 0 && strcmp(name, "relu") != 0)) {
        return assay_fail(err, ASSAY_INVALID,
                          "a network needs widths and the activation tanh or "
                          "relu");
    }
    for (size_t i = 0; i < n; i++) {
        json_int_t w = json_integer_value(json_array_get(widths, i));
        list[i] = w < 0 ? 0 : (size_t)w;
    }
    return assay_network_init(
        net, list, n - 1, strcmp(name, "tanh") == 0 ? ASSAY_TANH : ASSAY_RELU,
        err);
}
