/// @file
/// The operator on the trace in its three forms, over operators of ops/ that know nothing of it:
/// element matrices patch by patch, full ones gathered edge by edge, an ELL matrix.
#pragma once
#include "linear/linear.h"
#include "ops/assembled/ell.h"
#include "ops/trace/trace_apply.h"
#include "ops/trace/trace_gather.h"
KEDGE_BEGIN_DECLS

typedef struct kg_patches {
  kg_linear base;
  kg_trace_product_args args;  ///< without x, y and pass
  size_t one_kernel_bytes;     ///< work of kg_cg_one_kernel; 0: it does not take these
} kg_patches;

typedef struct kg_gather {
  kg_linear base;
  kg_batch batch;
  kg_locals made;  ///< PACKED, for setup alone
  kg_local full;   ///< of the lanes of all of them
} kg_gather;

typedef struct kg_ell {
  kg_linear base;
  kg_batch batch;
  kg_locals locals;  ///< for setup alone
  kg_ell_matrix matrix;
  void *work;  ///< for setup alone
  size_t work_bytes;
} kg_ell;

/// Room for the operator in any of its forms.
typedef union kg_linears {
  kg_linear base;
  kg_patches patches;
  kg_gather gather;
  kg_ell ell;
} kg_linears;

extern const kg_linear_table kg_patches_table, kg_gather_table, kg_ell_table;

/// Counts of a batch; symmetric, of one right-hand side.
kg_linear kg_linear_of(const kg_linear_table *table, const kg_batch *batch, kg_number number);
kg_patches kg_patches_of(const kg_trace_product_args *args);

KEDGE_END_DECLS
