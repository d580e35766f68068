#ifndef ASSAY_FLOW_CRYPTO_H
#define ASSAY_FLOW_CRYPTO_H
#include <stddef.h>
/*@ assigns ((char *)at)[0 .. len - 1] \from \nothing; */
void OPENSSL_cleanse(void *at, size_t len);
#endif
