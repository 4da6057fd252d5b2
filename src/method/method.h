/// @file
/// A numerical method as the code that runs it sees it: a name and a list of stages. A method
/// solves one kind of equation.
#pragma once
#include "kedge/base.h"

typedef struct kg_method_stage {
  const char *name;  ///< in reports, plans, messages of progress and NVTX ranges
  int phase;         ///< of the memory's plan, with which it begins
  int again;         ///< likewise in the solves of a set-up that stands
  unsigned phases;   ///< all that it goes through; 0: it has no device memory
} kg_method_stage;

typedef struct kg_method {
  const char *name;
  int n_stages;  ///< at most KEDGE_STAGES_MAX
  const kg_method_stage *stage;
} kg_method;
