/* ring: glue */
#include "certificate/canonical.h"

#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"

static int has_real(const json_t *value)
{
    if (json_is_real(value)) {
        return 1;
    }
    if (json_is_array(value)) {
        for (size_t i = 0; i < json_array_size(value); i++) {
            if (has_real(json_array_get(value, i))) {
                return 1;
            }
        }
    }
    if (json_is_object(value)) {
        const char *key;
        json_t *item;
        json_object_foreach((json_t *)(size_t)value, key, item)
        {
            if (has_real(item)) {
                return 1;
            }
        }
    }
    return 0;
}

assay_status assay_canonical_text(char **out, size_t *len, const json_t *value,
                                  assay_error *err)
{
    if (has_real(value)) {
        return assay_fail(err, ASSAY_INVALID,
                          "canonical JSON holds no floating-point number");
    }
    *out = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
    if (*out == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for JSON");
    }
    if (len != NULL) {
        *len = strlen(*out);
    }
    return ASSAY_OK;
}

assay_status assay_canonical_read(json_t **out, const char *text, size_t len,
                                  assay_error *err)
{
    json_error_t where;
    json_t *value = json_loadb(text, len, JSON_REJECT_DUPLICATES, &where);
    if (value == NULL) {
        return assay_fail(err, ASSAY_CORRUPT, "not JSON: %.200s", where.text);
    }
    char *again = NULL;
    size_t again_len = 0;
    assay_status status = assay_canonical_text(&again, &again_len, value, err);
    if (status == ASSAY_OK &&
        (again_len != len || memcmp(again, text, len) != 0)) {
        status = ASSAY_CORRUPT;
    }
    free(again);
    if (status != ASSAY_OK) {
        json_decref(value);
        return assay_fail(err, ASSAY_CORRUPT,
                          "the JSON is not in canonical form (keys re-ordered, "
                          "blanks, or a floating-point number)");
    }
    *out = value;
    return ASSAY_OK;
}

assay_status assay_canonical_digest(char out[65], const json_t *value,
                                    assay_error *err)
{
    char *text = NULL;
    size_t len = 0;
    uint8_t digest[ASSAY_SHA256_LEN];
    assay_status status = assay_canonical_text(&text, &len, value, err);
    if (status == ASSAY_OK) {
        status = assay_sha256(digest, text, len, err);
    }
    if (status == ASSAY_OK) {
        assay_hex(out, digest, sizeof digest);
    }
    free(text);
    return status;
}

const char *assay_json_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

json_t *assay_json_at(const json_t *value, const char *path)
{
    char key[128];
    while (*path != '\0' && value != NULL) {
        size_t len = strcspn(path, "/");
        if (len >= sizeof key) {
            return NULL;
        }
        memcpy(key, path, len);
        key[len] = '\0';
        value = json_is_array(value)
                    ? json_array_get(value, (size_t)strtoul(key, NULL, 10))
                    : json_object_get(value, key);
        path += len + (path[len] == '/');
    }
    return (json_t *)(size_t)value;
}
