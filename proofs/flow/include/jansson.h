#ifndef ASSAY_FLOW_JANSSON_H
#define ASSAY_FLOW_JANSSON_H
typedef struct json_t {
    int type;
} json_t;
#endif
