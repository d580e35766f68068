/* ring: glue */
/* assay keygen: a signing key. */
#include <stdio.h>
#include <string.h>

#include "certificate/dsse.h"
#include "cli/commands.h"
#include "cli/options.h"

static const char help[] =
    "usage: assay keygen -o PREFIX [--json]\n\n"
    "Makes an Ed25519 key: PREFIX.key (private, mode 0600, no pass phrase) "
    "and\n"
    "PREFIX.pub. Existing files are never replaced. Its name (keyid) is\n"
    "SHA-256 of the public part.\n\n"
    "example: assay keygen -o office\n"
    "         assay certify deployment.yaml --key office.key\n"
    "         assay verify out/certificate.dsse.json --key office.pub\n";

int assay_cli_keygen(int argc, char **argv)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_option options[] = {{"-o", 1, NULL},
                              {"--json", 0, NULL},
                              {"--help", 0, NULL},
                              {NULL, 0, NULL}};
    const char *plain[1];
    size_t num_plain = 0;
    char keyid[65];
    assay_status status =
        assay_options_parse(options, plain, 0, &num_plain, argc, argv, &err);
    if (status == ASSAY_OK && options[2].value != NULL) {
        (void)fputs(help, stdout);
        return 0;
    }
    if (status == ASSAY_OK && options[0].value == NULL) {
        status = assay_fail(&err, ASSAY_INVALID, "needs -o PREFIX");
    }
    if (status == ASSAY_OK) {
        status = assay_key_generate(options[0].value, keyid, &err);
    }
    if (status != ASSAY_OK) {
        return assay_cli_report("keygen", &err);
    }
    if (options[1].value != NULL) {
        (void)printf("{\"keyid\": \"%s\"}\n", keyid);
    } else {
        (void)printf("%s.key %s.pub: Ed25519 key %s\n", options[0].value,
                     options[0].value, keyid);
    }
    return 0;
}
