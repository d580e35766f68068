/* ring: glue */
#include "cli/fields.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "core/rational.h"

#define MAX_OPTIONS 32

static assay_status store_real(double *at, const char *text, const char *name,
                               assay_error *err)
{
    mpq_t exact;
    assay_status status;
    mpq_init(exact);
    status = assay_rational_parse(exact, text, name, err);
    if (status == ASSAY_OK) {
        *at = mpq_get_d(exact);
    }
    mpq_clear(exact);
    return status;
}

static assay_status store(const assay_field *option, const char *value,
                          assay_error *err)
{
    switch (option->kind) {
    case ASSAY_FIELD_NUMBER:
        return assay_u64_parse(option->at, value, option->name, err);
    case ASSAY_FIELD_REAL:
        return store_real(option->at, value, option->name, err);
    case ASSAY_FIELD_FLAG:
        *(int *)option->at = 1;
        return ASSAY_OK;
    default:
        *(const char **)option->at = value;
        return ASSAY_OK;
    }
}

static void fill_names(struct option *names, const assay_field *table)
{
    for (int i = 0; i < MAX_OPTIONS && table[i].name != NULL; i++) {
        names[i].name = table[i].name;
        names[i].has_arg =
            table[i].kind == ASSAY_FIELD_FLAG ? no_argument : required_argument;
        names[i].val = 1;
    }
}

assay_status assay_fields_parse(const assay_field *table, int argc, char **argv,
                                assay_error *err)
{
    struct option names[MAX_OPTIONS + 1];
    assay_status status = ASSAY_OK;
    int at = 0;
    memset(names, 0, sizeof names);
    fill_names(names, table);
    opterr = 0;
    optind = 1;
    while (status == ASSAY_OK) {
        int c = getopt_long(argc, argv, "o:", names, &at);
        if (c == -1) {
            break;
        }
        if (c == '?') {
            return assay_fail(err, ASSAY_INVALID,
                              "unknown or incomplete option '%.40s'",
                              argv[optind - 1]);
        }
        status = store(c == 'o' ? &table[0] : &table[at], optarg, err);
    }
    if (status == ASSAY_OK && optind != argc) {
        status =
            assay_fail(err, ASSAY_INVALID, "what is '%.40s'?", argv[optind]);
    }
    return status;
}

assay_status assay_fields_word(int *out, const char *text, const char *what,
                               const char *const *words, assay_error *err)
{
    char list[200] = "";
    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], text) == 0) {
            *out = i;
            return ASSAY_OK;
        }
        (void)snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s",
                       i == 0 ? "" : ", ", words[i]);
    }
    return assay_fail(err, ASSAY_INVALID, "%s: one of %s, not '%.40s'", what,
                      list, text);
}

int assay_fields_help(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            return 1;
        }
    }
    return 0;
}
