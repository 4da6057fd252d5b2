/// @file
/// Products of the trace operator whose K^e, numbers and sums are not those of packed K^e in double
/// precision, beside those that are (operations.h).
#pragma once
#include "operations.h"
#include "ops/trace/trace_apply.h"

/// The form of K^e.
typedef struct local_form {
  kg_number number;
  kg_layout layout;  ///< all but FULL
  bool unstreamed;   ///< by a GPU that has no more shared memory than each has
} local_form;

/// y = A x and x . y.
typedef struct trace_product {
  void *y;         ///< of the form's number, as it was in device memory
  double *values;  ///< the same in double precision
  double dot;      ///< x . y
} trace_product;

/// K^e of `data` in a form, in device memory of the case.
kg_local local_in_form(op_case *c, const op_data *data, local_form form);

/// The product of OP_LOCAL and OP_TRACE of `data`, in a form. Releases what the case holds for it.
/// @param[in] open  leave the rows between patches open, and add the halo to them afterwards
trace_product multiply_in_form(op_case *c, const op_data *data, local_form form, bool open);
void trace_product_free(trace_product *product);

/// The product is that of `data` within `bound`; the same bits again, and the same bits when it is
/// left open first.
void check_form(op_case *c, const op_data *data, local_form form, double bound);

/// Rounding of a sum of `terms` products of numbers of this type, relative to its largest partial
/// sums.
double rounding_of(kg_number number, double terms);

/// Sizes about groups and patches with orders from `first` to 4 in steps of `step`.
void with_awkward_sizes(kedge_context *ctx, kg_material material, int first, int step,
                        op_check *check);
