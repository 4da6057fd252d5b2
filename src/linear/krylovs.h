/// @file
/// The methods that there are.
#pragma once
#include "linear/cg.h"

/// Room for any of them.
typedef union kg_krylovs {
  kg_krylov base;
  kg_cg cg;
} kg_krylovs;

/// The first method that takes a system; NULL: none does.
const kg_krylov_table *kg_krylov_for(const kg_linear *linear, const kg_precond *precond);
