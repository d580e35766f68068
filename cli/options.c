/* ring: glue */
#include "cli/options.h"

#include <string.h>

static assay_option *find(assay_option *options, const char *name, size_t len)
{
    for (; options->name != NULL; options++) {
        if (strlen(options->name) == len &&
            strncmp(options->name, name, len) == 0) {
            return options;
        }
    }
    return NULL;
}

static assay_status take(assay_option *options, int argc, char **argv, int *at,
                         assay_error *err)
{
    const char *text = argv[*at];
    const char *equals = text[1] == '-' ? strchr(text, '=') : NULL;
    assay_option *option = find(
        options, text, equals != NULL ? (size_t)(equals - text) : strlen(text));
    if (option == NULL) {
        return assay_fail(err, ASSAY_INVALID,
                          "unknown option '%.60s'; see --help", text);
    }
    if (option->value != NULL) {
        return assay_fail(err, ASSAY_INVALID, "%s is given twice",
                          option->name);
    }
    if (!option->takes_value) {
        option->value = "";
        return equals == NULL ? ASSAY_OK
                              : assay_fail(err, ASSAY_INVALID,
                                           "%s takes no value", option->name);
    }
    if (equals == NULL && *at + 1 >= argc) {
        return assay_fail(err, ASSAY_INVALID, "%s needs a value", text);
    }
    option->value = equals != NULL ? equals + 1 : argv[++*at];
    return ASSAY_OK;
}

static int is_option(const char *text)
{
    return text[0] == '-' && text[1] != '\0' &&
           !(text[1] >= '0' && text[1] <= '9');
}

assay_status assay_options_parse(assay_option *options, const char **plain,
                                 size_t max_plain, size_t *num_plain, int argc,
                                 char **argv, assay_error *err)
{
    *num_plain = 0;
    for (int at = 1; at < argc; at++) {
        assay_status status;
        if (is_option(argv[at])) {
            status = take(options, argc, argv, &at, err);
            if (status != ASSAY_OK) {
                return status;
            }
        } else if (*num_plain == max_plain) {
            return assay_fail(err, ASSAY_INVALID,
                              "unexpected argument '%.60s'; see --help",
                              argv[at]);
        } else {
            plain[(*num_plain)++] = argv[at];
        }
    }
    return ASSAY_OK;
}
