/* ring: glue */
/**
 * Events: what was released, with exact parameters.
 *
 * An event says which mechanism ran, how often, with which noise and which
 * sensitivity. All parameters are exact rationals (1.1 is 11/10). A list of
 * events carries the neighbour relation and the unit of privacy: they are part
 * of its type, mixing them is an error, converting them is a theorem.
 *
 * The same keys are used in C, JSON and YAML:
 *   mechanism             required / optional parameters
 *   gaussian              sigma2 (or sigma) / sensitivity2 (or sensitivity)
 *   rounded-gaussian      the same
 *   discrete-gaussian     the same / dimension, or cells and entry
 *   laplace               scale / sensitivity
 *   rounded-laplace       the same
 *   discrete-laplace      the same / dimension, or cells and entry
 *   randomized-response   p / k     (with probability p answer uniformly of k)
 *   exponential           epsilon   (range-bounded: the mechanism is eps-DP)
 *   noisy-max             epsilon
 *   permute-and-flip      epsilon
 *   sparse-vector         scale, scale2 / sensitivity, k, monotone
 *   tree-laplace          scale, levels / sensitivity
 *   tree-gaussian         sigma2, levels / sensitivity2
 *   snapping              scale, bound
 *   shuffle               epsilon, population, delta (local reports, shuffled)
 *   pure                  epsilon
 *   approximate           epsilon, delta
 *   zcdp                  rho
 *   gaussian-dp           mu
 *   renyi                 curve     (list of [order, value])
 *   post-processing       nothing, and costs nothing
 *   parallel              parts     (events on disjoint parts of the data)
 *   unknown-keys          epsilon, delta (a histogram by threshold)
 * (cells: k, entry: K state that a person changes at most k coordinates, each
 * by at most K; then sensitivity2 is k K^2, or sensitivity k K.) and for every
 * one: count, group, coin, assumed, label. sampling (gaussian, laplace and
 * their discrete and rounded kin): poisson with rate, or without-replacement
 * with population and batch.
 */
#ifndef ASSAY_ACCOUNTANT_EVENT_H
#define ASSAY_ACCOUNTANT_EVENT_H

#include <gmp.h>
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

typedef enum assay_mechanism {
    ASSAY_GAUSSIAN,
    ASSAY_ROUNDED_GAUSSIAN,
    ASSAY_DISCRETE_GAUSSIAN,
    ASSAY_LAPLACE,
    ASSAY_ROUNDED_LAPLACE,
    ASSAY_DISCRETE_LAPLACE,
    ASSAY_RANDOMIZED_RESPONSE,
    ASSAY_EXPONENTIAL,
    ASSAY_NOISY_MAX,
    ASSAY_PERMUTE_AND_FLIP,
    ASSAY_SPARSE_VECTOR,
    ASSAY_TREE_LAPLACE,
    ASSAY_TREE_GAUSSIAN,
    ASSAY_SNAPPING,
    ASSAY_SHUFFLE,
    ASSAY_PURE,
    ASSAY_APPROXIMATE,
    ASSAY_ZCDP,
    ASSAY_GAUSSIAN_DP,
    ASSAY_RENYI,
    ASSAY_POST_PROCESSING,
    ASSAY_PARALLEL,
    ASSAY_UNKNOWN_KEYS,
    ASSAY_NUM_MECHANISMS
} assay_mechanism;

typedef enum assay_neighbours {
    ASSAY_ADD_REMOVE, /* one person's data is added or removed */
    ASSAY_REPLACE_ONE /* one person's data is replaced; n is public */
} assay_neighbours;

typedef enum assay_sampling {
    ASSAY_SAMPLE_ALL,
    ASSAY_SAMPLE_POISSON,
    ASSAY_SAMPLE_WITHOUT_REPLACEMENT
} assay_sampling;

#define ASSAY_MAX_COUNT ((uint64_t)1 << 62)
#define ASSAY_UNIT_LEN 48
#define ASSAY_LABEL_LEN 96

typedef struct assay_event {
    assay_mechanism mechanism;
    uint64_t count; /* the event happened this often, at least 1 */
    uint64_t group; /* for groups of this many persons, at least 1 */
    mpq_t sigma2;
    mpq_t scale;
    mpq_t scale2;       /* sparse vector: noise of the queries */
    mpq_t sensitivity;  /* l1 */
    mpq_t sensitivity2; /* l2, squared */
    mpq_t epsilon;
    mpq_t delta;
    mpq_t rho;
    mpq_t p;     /* randomized response */
    mpq_t rate;  /* Poisson */
    mpq_t coin;  /* the step runs with this probability; the coin is public */
    mpq_t bound; /* snapping */
    assay_sampling sampling;
    uint64_t population;
    uint64_t batch;
    uint64_t k;         /* answers (randomized response), positives (SVT) */
    uint64_t levels;    /* nodes of a tree that one record touches */
    uint64_t dimension; /* 0: a vector of any length; 1: one number */
    uint64_t cells;     /* counts: at most so many coordinates change, */
    uint64_t entry;     /* each by at most this; 0: not known */
    int monotone;       /* sparse vector on monotone counts */
    int assumed;        /* the user's word, not a theorem about code */
    size_t num_orders;  /* a Renyi curve: num_orders pairs */
    mpq_t *curve;       /* order, value, order, value, ... */
    size_t num_parts;
    struct assay_event *parts;
    char label[ASSAY_LABEL_LEN];
} assay_event;

/** A fresh event: count 1, sensitivity 1, coin 1, all else zero. */
void assay_event_init(assay_event *event, assay_mechanism mechanism);
void assay_event_clear(assay_event *event);
/** `out` is initialised by this call. */
assay_status assay_event_copy(assay_event *out, const assay_event *event,
                              assay_error *err) ASSAY_MUST_CHECK;

/** "discrete-gaussian", ...; NULL for a number that names none. */
const char *assay_mechanism_name(assay_mechanism mechanism);
assay_status assay_mechanism_parse(assay_mechanism *out, const char *name,
                                   assay_error *err) ASSAY_MUST_CHECK;
const char *assay_neighbours_name(assay_neighbours neighbours);
assay_status assay_neighbours_parse(assay_neighbours *out, const char *name,
                                    assay_error *err) ASSAY_MUST_CHECK;
const char *assay_sampling_name(assay_sampling sampling);

/**
 * Refuses nonsense by name: no noise, a rate above 1, a count of 0, a batch
 * larger than its population, sampling of a mechanism that no theorem covers.
 * Errors  ASSAY_INVALID, ASSAY_UNSUPPORTED.
 */
assay_status assay_event_validate(const assay_event *event,
                                  assay_error *err) ASSAY_MUST_CHECK;

/** The same for a list's neighbour relation: Poisson sampling needs
 *  add-remove, sampling without replacement needs replace-one. */
assay_status assay_event_validate_for(const assay_event *event,
                                      assay_neighbours neighbours,
                                      assay_error *err) ASSAY_MUST_CHECK;

/** Set one parameter by its key and exact text, as the YAML and JSON readers
 *  do: ("sigma", "1.1"), ("count", "100"), ("sampling", "poisson"). */
assay_status assay_event_set(assay_event *event, const char *key,
                             const char *text,
                             assay_error *err) ASSAY_MUST_CHECK;

/** Canonical JSON (sorted keys, defaults left out, rationals as text). */
assay_status assay_event_to_json(json_t **out, const assay_event *event,
                                 assay_error *err) ASSAY_MUST_CHECK;
/** `out` is initialised by this call, on success only. */
assay_status assay_event_from_json(assay_event *out, const json_t *json,
                                   assay_error *err) ASSAY_MUST_CHECK;
/** One line of canonical JSON in fresh memory: free() it. */
assay_status assay_event_text(char **out, const assay_event *event,
                              assay_error *err) ASSAY_MUST_CHECK;

/** 1 if the two differ at most in count and label. */
int assay_event_same_kind(const assay_event *a, const assay_event *b);

typedef struct assay_event_list {
    assay_neighbours neighbours;
    char unit[ASSAY_UNIT_LEN]; /* "person" unless said */
    size_t num_events;
    size_t capacity;
    assay_event *events;
} assay_event_list;

void assay_event_list_init(assay_event_list *list, assay_neighbours neighbours,
                           const char *unit);
void assay_event_list_clear(assay_event_list *list);
/** Copies a valid event to the end. */
assay_status assay_event_list_add(assay_event_list *list,
                                  const assay_event *event,
                                  assay_error *err) ASSAY_MUST_CHECK;
/** Appends all of `more`; refuses another neighbour relation or unit. */
assay_status assay_event_list_join(assay_event_list *list,
                                   const assay_event_list *more,
                                   assay_error *err) ASSAY_MUST_CHECK;
/**
 * Turns an add-remove list into a replace-one list: a replacement is one
 * removal and one addition, so each event holds for a group of two.
 * Theorem  replace-from-addremove.
 */
assay_status assay_event_list_replace(assay_event_list *list,
                                      assay_error *err) ASSAY_MUST_CHECK;
/** {"neighbours", "unit", "events"}. */
assay_status assay_event_list_to_json(json_t **out,
                                      const assay_event_list *list,
                                      assay_error *err) ASSAY_MUST_CHECK;
assay_status assay_event_list_from_json(assay_event_list *out,
                                        const json_t *json,
                                        assay_error *err) ASSAY_MUST_CHECK;

#endif
