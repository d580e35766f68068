/* ring: glue */
/* assay verify: check a certificate again. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "certificate/verify.h"
#include "cli/commands.h"
#include "cli/options.h"

static const char help[] =
    "usage: assay verify CERTIFICATE [--key KEY] [--outputs DIR] [options]\n\n"
    "Checks the signature, the digests of the outputs, the chain of the "
    "ledger,\n"
    "and derives every number again with a second implementation.\n\n"
    "  --key FILE      the signer's public key; without it the key beside the\n"
    "                  certificate is used, which only shows that nothing was\n"
    "                  changed since it was signed, not by whom\n"
    "  --outputs DIR   where the certified files are (default: beside it)\n"
    "  --ledger FILE   the ledger (default: ledger.db among the outputs)\n"
    "  --source DIR    compare the proved sources (default: . if it has "
    "proofs)\n"
    "  --coq           prove the guarantee again in Coq\n"
    "  --json          print the findings as JSON\n\n"
    "Exit code 0 if everything holds, 4 if something does not.\n\n"
    "example: assay verify out/certificate.dsse.json --key office.pub --coq\n";

enum { KEY, OUTPUTS, LEDGER, SOURCE, COQ, JSON, HELP };

static void print(const json_t *findings, int json)
{
    if (json) {
        (void)json_dumpf(findings, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
        (void)putchar('\n');
        return;
    }
    for (size_t i = 0; i < json_array_size(findings); i++) {
        const json_t *one = json_array_get(findings, i);
        (void)printf("%-12s %-11s %s\n",
                     json_string_value(json_object_get(one, "check")),
                     json_string_value(json_object_get(one, "result")),
                     json_string_value(json_object_get(one, "detail")));
    }
}

static int run(const char *path, const assay_option *o)
{
    assay_error err = ASSAY_ERROR_INIT;
    json_t *findings = json_array();
    const char *source = o[SOURCE].value;
    if (source == NULL && access("proofs/results.tsv", R_OK) == 0) {
        source = ".";
    }
    assay_verify_options options = {.path = path,
                                    .key = o[KEY].value,
                                    .outputs = o[OUTPUTS].value,
                                    .ledger = o[LEDGER].value,
                                    .source = source,
                                    .coq = o[COQ].value != NULL};
    assay_status status = assay_verify(findings, NULL, &options, &err);
    print(findings, o[JSON].value != NULL);
    json_decref(findings);
    return status == ASSAY_OK ? 0 : assay_cli_report("verify", &err);
}

int assay_cli_verify(int argc, char **argv)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_option o[] = {{"--key", 1, NULL},    {"--outputs", 1, NULL},
                        {"--ledger", 1, NULL}, {"--source", 1, NULL},
                        {"--coq", 0, NULL},    {"--json", 0, NULL},
                        {"--help", 0, NULL},   {NULL, 0, NULL}};
    const char *plain[1] = {NULL};
    size_t num_plain = 0;
    assay_status status =
        assay_options_parse(o, plain, 1, &num_plain, argc, argv, &err);
    if (status == ASSAY_OK && o[HELP].value != NULL) {
        (void)fputs(help, stdout);
        return 0;
    }
    if (status == ASSAY_OK && num_plain != 1) {
        status = assay_fail(&err, ASSAY_INVALID,
                            "needs one certificate; see --help");
    }
    return status == ASSAY_OK ? run(plain[0], o)
                              : assay_cli_report("verify", &err);
}
