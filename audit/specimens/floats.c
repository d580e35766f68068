/* ring: glue */
#include "audit/specimens/specimens.h"
#include <stddef.h>
const assay_specimen assay_specimens_floats[] = {{.name = NULL}};
const assay_specimen assay_specimens_ldp[] = {{.name = NULL}};
const assay_specimen assay_specimens_means[] = {{.name = NULL}};
const assay_specimen assay_specimens_papers[] = {{.name = NULL}};
const assay_specimen assay_specimens_own[] = {{.name = NULL}};
