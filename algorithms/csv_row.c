/* ring: glue */
#include "algorithms/csv_row.h"

static int digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits up to a comma or the end; moves *at behind the comma. 1 if it was a
 * whole number below 2^64 and the separator is as wanted. */
static int take_number(uint64_t *out, const char *text, size_t len, size_t *at,
                       int last)
{
    size_t i = *at;
    uint64_t value = 0;
    while (i < len && digit(text[i])) {
        uint64_t d = (uint64_t)(text[i] - '0');
        if (value > (UINT64_MAX - d) / 10) {
            return 0;
        }
        value = value * 10 + d;
        i++;
    }
    if (i == *at || (last ? i != len : (i >= len || text[i] != ','))) {
        return 0;
    }
    *out = value;
    *at = last ? i : i + 1;
    return 1;
}

/* The power of ten behind an 'e': at most three digits, at most 300. */
static int skip_power(const char *text, size_t len, size_t *at)
{
    size_t i = *at + 1;
    size_t first;
    int power = 0;
    if (i < len && (text[i] == '+' || text[i] == '-')) {
        i++;
    }
    first = i;
    while (i < len && digit(text[i]) && i - first < 3) {
        power = power * 10 + (text[i] - '0');
        i++;
    }
    *at = i;
    return i > first && power <= 300;
}

/* A finite decimal and a comma. At most 9 digits before the point keep it
 * below 10^309 even with the largest power. */
static int skip_decimal(const char *text, size_t len, size_t *at)
{
    size_t i = *at;
    size_t whole;
    size_t fraction = 0;
    if (i < len && (text[i] == '+' || text[i] == '-')) {
        i++;
    }
    for (whole = 0; i < len && digit(text[i]) && whole < 8; whole++) {
        i++;
    }
    if (i < len && text[i] == '.') {
        i++;
        while (i < len && digit(text[i])) {
            i++;
            fraction++;
        }
    }
    if (whole + fraction == 0) {
        return 0;
    }
    if (i < len && (text[i] == 'e' || text[i] == 'E') &&
        !skip_power(text, len, &i)) {
        return 0;
    }
    *at = i + 1;
    return i < len && text[i] == ',';
}

static int commas(const char *text, size_t len)
{
    int count = 0;
    for (size_t i = 0; i < len && count < 7; i++) {
        count += text[i] == ',';
    }
    return count;
}

assay_csv_fault assay_csv_row_parse(assay_csv_row *out, const char *text,
                                    size_t len)
{
    size_t at = 0;
    assay_csv_fault fault = ASSAY_CSV_FINE;
    if (!take_number(&out->user, text, len, &at, 0)) {
        fault = ASSAY_CSV_USER;
    } else if (!take_number(&out->h, text, len, &at, 0)) {
        fault = ASSAY_CSV_H;
    } else if (!take_number(&out->s, text, len, &at, 0)) {
        fault = ASSAY_CSV_S;
    } else if (!take_number(&out->a, text, len, &at, 0)) {
        fault = ASSAY_CSV_A;
    } else if (!skip_decimal(text, len, &at)) {
        fault = ASSAY_CSV_R;
    } else if (!take_number(&out->s_next, text, len, &at, 1)) {
        fault = ASSAY_CSV_S_NEXT;
    }
    if (fault != ASSAY_CSV_FINE && commas(text, len) != 5) {
        return ASSAY_CSV_FIELDS;
    }
    return fault;
}
