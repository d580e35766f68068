/* ring: kernel */
/**
 * Status codes. Everything that can fail returns one; ASSAY_OK is zero.
 *
 * On any error no output is written and no budget is reported as unspent.
 */
#ifndef ASSAY_CORE_STATUS_H
#define ASSAY_CORE_STATUS_H

typedef enum assay_status {
    ASSAY_OK = 0,
    ASSAY_AGAIN,       /* one bounded step was rejected: call it again     */
    ASSAY_INVALID,     /* the caller's input does not make sense            */
    ASSAY_RANGE,       /* the exact result does not fit the result type     */
    ASSAY_ENTROPY,     /* no randomness: nothing may be released            */
    ASSAY_MEMORY,      /* an allocation failed                              */
    ASSAY_IO,          /* a file could not be read or written durably       */
    ASSAY_BUDGET,      /* the privacy budget does not allow it              */
    ASSAY_UNSUPPORTED, /* no theorem covers it                              */
    ASSAY_CORRUPT,     /* stored data fails its own check                   */
    ASSAY_REFUTED,     /* an audit or a verification found a violation      */
    ASSAY_INTERNAL     /* a broken invariant: please report                 */
} assay_status;

#if defined(__GNUC__) && !defined(__FRAMAC__)
#define ASSAY_MUST_CHECK __attribute__((warn_unused_result))
#else
#define ASSAY_MUST_CHECK
#endif

#endif
