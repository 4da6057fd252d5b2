#include "ops/vector/difference.h"

#include "device/context.h"

KG_OPERATOR(kg_difference, kg_difference_args)
