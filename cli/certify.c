/* ring: glue */
/* assay certify: a deployment to a signed certificate and a report. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certificate/certify.h"
#include "certificate/manifest.h"
#include "certificate/shape.h"
#include "cli/commands.h"
#include "cli/options.h"

static const char help[] =
    "usage: assay certify DEPLOYMENT.yaml --key KEY [-o DIR] [options]\n"
    "       assay certify DEPLOYMENT.yaml --check\n"
    "       assay certify --schema\n\n"
    "Runs the deployment through a fresh ledger, accounts for what ran, "
    "attacks\n"
    "the mechanism, looks at the proofs, and signs a certificate if all of it\n"
    "holds. DIR gets the outputs, ledger.db, report.html and, if it passed,\n"
    "certificate.dsse.json, certificate.pub and guarantee.v.\n\n"
    "  --key FILE      private key (assay keygen); or its PEM text in the\n"
    "                  environment variable ASSAY_SIGNING_KEY\n"
    "  -o DIR          instead of the manifest's output\n"
    "  --ledger FILE   charge an existing ledger; all of it is certified\n"
    "  --source DIR    the source tree with the proof results (default: .)\n"
    "  --check         only read the manifest\n"
    "  --schema        print the JSON Schema of manifests\n"
    "  --json          print the outcome as JSON\n\n"
    "Exit code 0 only if the guarantee fits the budget, no attack refuted it\n"
    "and the proofs are fresh; otherwise 4, and the report says why.\n\n"
    "examples:\n"
    "  assay keygen -o office\n"
    "  assay certify examples/clinic/deployment.yaml --key office.key -o out\n"
    "  assay verify out/certificate.dsse.json --key office.pub\n";

enum { KEY, OUT, LEDGER, SOURCE, CHECK, SCHEMA, JSON, HELP };

static void say(const char *line)
{
    (void)fprintf(stderr, "assay certify: %s\n", line);
}

static int print_schema(void)
{
    json_t *schema = assay_manifest_schema();
    int bad = schema == NULL ||
              json_dumpf(schema, stdout, JSON_INDENT(2) | JSON_SORT_KEYS) != 0;
    (void)putchar('\n');
    json_decref(schema);
    return bad;
}

static int check(const char *path)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_manifest manifest;
    if (assay_manifest_read(&manifest, path, &err) != ASSAY_OK) {
        return assay_cli_report("certify", &err);
    }
    (void)printf("%s: a valid manifest, sha256 %s\n", path, manifest.digest);
    assay_manifest_clear(&manifest);
    return 0;
}

static void print_outcome(const json_t *failures, const char *folder, int json)
{
    size_t n = json_array_size(failures);
    if (json) {
        json_t *all = json_pack("{s:b,s:s,s:O}", "certified", n == 0, "folder",
                                folder, "failures", failures);
        (void)json_dumpf(all, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
        (void)putchar('\n');
        json_decref(all);
        return;
    }
    if (n == 0) {
        (void)printf("certified: %s/certificate.dsse.json\n"
                     "report:    %s/report.html\n",
                     folder, folder);
        return;
    }
    (void)printf("refused; the report says why: %s/report.html\n", folder);
    for (size_t i = 0; i < n; i++) {
        (void)printf("  %s\n", json_string_value(json_array_get(failures, i)));
    }
}

static int run(const char *path, const assay_option *o)
{
    assay_error err = ASSAY_ERROR_INIT;
    json_t *failures = json_array();
    char *folder = NULL;
    assay_certify_options options = {.manifest = path,
                                     .folder = o[OUT].value,
                                     .key = o[KEY].value,
                                     .ledger = o[LEDGER].value,
                                     .source = o[SOURCE].value,
                                     .say = say};
    assay_status status = assay_certify(failures, &folder, &options, &err);
    int code = 0;
    if (status == ASSAY_OK || json_array_size(failures) > 0) {
        print_outcome(failures, folder, o[JSON].value != NULL);
        code = assay_status_exit_code(status);
    } else {
        code = assay_cli_report("certify", &err);
    }
    json_decref(failures);
    free(folder);
    return code;
}

int assay_cli_certify(int argc, char **argv)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_option o[] = {
        {"--key", 1, NULL},    {"-o", 1, NULL},      {"--ledger", 1, NULL},
        {"--source", 1, NULL}, {"--check", 0, NULL}, {"--schema", 0, NULL},
        {"--json", 0, NULL},   {"--help", 0, NULL},  {NULL, 0, NULL}};
    const char *plain[1] = {NULL};
    size_t num_plain = 0;
    assay_status status =
        assay_options_parse(o, plain, 1, &num_plain, argc, argv, &err);
    if (status == ASSAY_OK && o[HELP].value != NULL) {
        (void)fputs(help, stdout);
        return 0;
    }
    if (status == ASSAY_OK && o[SCHEMA].value != NULL) {
        return print_schema();
    }
    if (status == ASSAY_OK && num_plain != 1) {
        status =
            assay_fail(&err, ASSAY_INVALID, "needs one manifest; see --help");
    }
    if (status != ASSAY_OK) {
        return assay_cli_report("certify", &err);
    }
    return o[CHECK].value != NULL ? check(plain[0]) : run(plain[0], o);
}
