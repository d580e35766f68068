/* ring: glue */
#include "cli/fields.h"

#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "core/rational.h"

#define MAX_FIELDS 40

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

assay_status assay_fields_parse_plain(const assay_field *table,
                                      const char **plain, size_t max_plain,
                                      size_t *num_plain, int argc, char **argv,
                                      assay_error *err)
{
    assay_option options[MAX_FIELDS + 2];
    char names[MAX_FIELDS][40];
    size_t n = 0;
    memset(options, 0, sizeof options);
    for (; n < MAX_FIELDS && table[n].name != NULL; n++) {
        (void)snprintf(names[n], sizeof names[n], "--%s", table[n].name);
        options[n].name = names[n];
        options[n].takes_value = table[n].kind != ASSAY_FIELD_FLAG;
    }
    if (n > 0 && strcmp(table[0].name, "output") == 0) {
        options[n].name = "-o";
        options[n].takes_value = 1;
    }
    assay_status status = assay_options_parse(options, plain, max_plain,
                                              num_plain, argc, argv, err);
    for (size_t i = 0; i <= n && status == ASSAY_OK; i++) {
        if (options[i].value != NULL) {
            status = store(&table[i == n ? 0 : i], options[i].value, err);
        }
    }
    return status;
}

assay_status assay_fields_parse(const assay_field *table, int argc, char **argv,
                                assay_error *err)
{
    size_t none = 0;
    return assay_fields_parse_plain(table, NULL, 0, &none, argc, argv, err);
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
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            return 1;
        }
    }
    return 0;
}
