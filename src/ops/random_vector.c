#include "ops/random_vector.h"

#include "core/context.h"

KG_OPERATOR(kg_random_vector, kg_random_vector_args)
