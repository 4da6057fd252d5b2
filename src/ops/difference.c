#include "ops/difference.h"

#include "core/context.h"

KG_OPERATOR(kg_difference, kg_difference_args)
