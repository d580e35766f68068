/* ring: glue */
#include "certificate/dsse.h"

#include <stdlib.h>
#include <string.h>

#include "certificate/canonical.h"
#include "certificate/text.h"

#define MAX_PAYLOAD ((size_t)64 << 20)
#define SIGNATURE_LEN 64

static void encode_pae(assay_text *out, const void *payload, size_t len)
{
    assay_text_printf(out, "DSSEv1 %zu %s %zu ", strlen(ASSAY_DSSE_TYPE),
                      ASSAY_DSSE_TYPE, len);
    assay_text_add_bytes(out, payload, len);
}

/* Standard base64 with padding, in fresh memory. */
static char *encode64(const void *bytes, size_t len)
{
    char *out = malloc(4 * ((len + 2) / 3) + 1);
    if (out != NULL) {
        (void)EVP_EncodeBlock((unsigned char *)out, bytes, (int)len);
    }
    return out;
}

/* The inverse; the text must be exactly what encode64 writes. */
static char *decode64(const char *text, size_t *len)
{
    size_t n = strlen(text);
    if (n % 4 != 0 || n == 0 || n > 2 * MAX_PAYLOAD) {
        return NULL;
    }
    char *out = malloc(n / 4 * 3 + 1);
    int size = out == NULL
                   ? -1
                   : EVP_DecodeBlock((unsigned char *)out,
                                     (const unsigned char *)text, (int)n);
    if (size < 0) {
        free(out);
        return NULL;
    }
    *len = (size_t)size - (text[n - 1] == '=') - (text[n - 2] == '=');
    out[*len] = '\0';
    char *again = encode64(out, *len);
    int same = again != NULL && strcmp(again, text) == 0;
    free(again);
    if (!same) {
        free(out);
        return NULL;
    }
    return out;
}

static assay_status sign(unsigned char out[SIGNATURE_LEN], const void *payload,
                         size_t len, EVP_PKEY *key, assay_error *err)
{
    assay_text pae = ASSAY_TEXT_INIT;
    size_t out_len = SIGNATURE_LEN;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    encode_pae(&pae, payload, len);
    int ok = !pae.failed && context != NULL &&
             EVP_DigestSignInit(context, NULL, NULL, NULL, key) == 1 &&
             EVP_DigestSign(context, out, &out_len,
                            (const unsigned char *)pae.bytes, pae.len) == 1 &&
             out_len == SIGNATURE_LEN;
    EVP_MD_CTX_free(context);
    assay_text_clear(&pae);
    return ok ? ASSAY_OK
              : assay_fail(err, ASSAY_INTERNAL, "OpenSSL cannot sign");
}

static int signature_holds(const char *text, const void *payload, size_t len,
                           EVP_PKEY *key)
{
    assay_text pae = ASSAY_TEXT_INIT;
    size_t sig_len = 0;
    char *sig = text != NULL ? decode64(text, &sig_len) : NULL;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    encode_pae(&pae, payload, len);
    int ok = sig != NULL && !pae.failed && context != NULL &&
             EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1 &&
             EVP_DigestVerify(context, (const unsigned char *)sig, sig_len,
                              (const unsigned char *)pae.bytes, pae.len) == 1;
    EVP_MD_CTX_free(context);
    assay_text_clear(&pae);
    free(sig);
    return ok;
}

assay_status assay_dsse_seal(json_t **out, const void *payload, size_t len,
                             EVP_PKEY *key, assay_error *err)
{
    unsigned char signature[SIGNATURE_LEN];
    char keyid[65];
    if (len > MAX_PAYLOAD) {
        return assay_fail(err, ASSAY_RANGE, "the payload is too long");
    }
    assay_status status = assay_key_id(keyid, key, err);
    if (status == ASSAY_OK) {
        status = sign(signature, payload, len, key, err);
    }
    if (status != ASSAY_OK) {
        return status;
    }
    char *body = encode64(payload, len);
    char *sig = encode64(signature, sizeof signature);
    *out = body == NULL || sig == NULL
               ? NULL
               : json_pack("{s:s,s:s,s:[{s:s,s:s}]}", "payload", body,
                           "payloadType", ASSAY_DSSE_TYPE, "signatures",
                           "keyid", keyid, "sig", sig);
    free(body);
    free(sig);
    return *out != NULL ? ASSAY_OK
                        : assay_fail(err, ASSAY_MEMORY, "no memory for JSON");
}

static assay_status check_signature(const json_t *envelope, const char *payload,
                                    size_t len, EVP_PKEY *key, assay_error *err)
{
    char keyid[65];
    const json_t *one = assay_json_at(envelope, "signatures/0");
    const char *named = assay_json_text(one, "keyid");
    assay_status status = assay_key_id(keyid, key, err);
    if (status != ASSAY_OK) {
        return status;
    }
    if (named == NULL || strcmp(named, keyid) != 0) {
        return assay_fail(err, ASSAY_REFUTED,
                          "signed by another key: %.16s, not %.16s",
                          named != NULL ? named : "(none)", keyid);
    }
    if (!signature_holds(assay_json_text(one, "sig"), payload, len, key)) {
        return assay_fail(err, ASSAY_REFUTED,
                          "the signature does not fit the payload: it was "
                          "changed after signing");
    }
    return ASSAY_OK;
}

assay_status assay_dsse_open(char **payload, size_t *len,
                             const json_t *envelope, EVP_PKEY *key,
                             assay_error *err)
{
    const char *type = assay_json_text(envelope, "payloadType");
    const char *body = assay_json_text(envelope, "payload");
    if (type == NULL || body == NULL || json_object_size(envelope) != 3 ||
        json_array_size(json_object_get(envelope, "signatures")) != 1 ||
        json_object_size(assay_json_at(envelope, "signatures/0")) != 2) {
        return assay_fail(err, ASSAY_CORRUPT,
                          "not a DSSE envelope with one signature");
    }
    if (strcmp(type, ASSAY_DSSE_TYPE) != 0) {
        return assay_fail(err, ASSAY_CORRUPT,
                          "the payload type is '%.80s', not " ASSAY_DSSE_TYPE,
                          type);
    }
    *payload = decode64(body, len);
    if (*payload == NULL) {
        return assay_fail(err, ASSAY_CORRUPT,
                          "the payload is not strict base64: truncated or "
                          "changed");
    }
    assay_status status =
        key != NULL ? check_signature(envelope, *payload, *len, key, err)
                    : ASSAY_OK;
    if (status != ASSAY_OK) {
        free(*payload);
        *payload = NULL;
    }
    return status;
}
