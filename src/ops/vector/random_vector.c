#include "ops/vector/random_vector.h"

#include "device/context.h"

KG_OPERATOR(kg_random_vector, kg_random_vector_args)
