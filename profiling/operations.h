/// @file
/// The operators that the program `operators` measures, in the order in which one makes what the
/// next works on.
#pragma once
#include <stddef.h>

#include "bench.h"

enum { OPERATIONS = 20 };
#define OPERATION_Y SIZE_MAX

typedef struct operation {
  const char *name;
  kedge_status (*call)(bench *b);
  kg_cost (*cost)(const bench *b);
  size_t
      result;  ///< compared with the host's: where its pointer is in kg_arrays; OPERATION_Y: b->y
  size_t (*count)(const bench *b);  ///< of the numbers that are compared, of the first chunk alone
  bool makes_local;                 ///< K^e, which all that follow work on
  bool reduced;                     ///< the result is b->reduced in double precision
  bool alone;                       ///< no other works on what it makes
  bool ell, formula;                ///< works on the ELL matrix; evaluates a formula
  bool many;                        ///< works on many vectors, up to KG_MANY_MODES_MAX of a facet
} operation;

extern const operation operations[OPERATIONS];
