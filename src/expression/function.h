/// @file
/// A function of the plane or of space as a problem file or a caller gives it.
#pragma once
#include "kedge/problem.h"
#include "expression/expression.h"
#include "expression/program.h"

struct kg_device_numbers;

/// A function of the plane or of space: nothing, a constant, an expression, the caller's function,
/// one of these in each region, one number an element in device memory, or a sum of two of these.
typedef struct kg_function {
  enum {
    KG_FUNCTION_NONE,
    KG_FUNCTION_CONSTANT,
    KG_FUNCTION_EXPRESSION,
    KG_FUNCTION_CALLER,
    KG_FUNCTION_REGIONS,
    KG_FUNCTION_DEVICE,
    KG_FUNCTION_SUM  ///< regions[0] + constant * regions[1], whose tags are not read
  } kind;
  double constant;
  kg_expression *expression;  ///< owned by whoever owns the kg_function
  kedge_function *function;
  void *user;                         ///< of DEVICE const double [element], in the caller's order
  struct kg_device_numbers *numbers;  ///< of DEVICE: shared
  int n_regions;
  struct kg_region_function *regions;  ///< [n_regions], owned likewise
  double t;  ///< the time at which it is evaluated; kg_function_set_time() sets that of parts too
} kg_function;

typedef struct kg_region_function {
  int32_t tag;
  kg_function function;  ///< of another kind
} kg_region_function;

extern const kg_function kg_function_one;  ///< the constant 1

/// @param[out] to  kg_function_free()
kedge_status kg_function_copy(kedge_context *ctx, const kg_function *from, kg_function *to);
void kg_function_free(kg_function *f);  ///< zeroes it
/// Make a + factor b. Constants and expressions stay what they are, so that the GPU evaluates them;
/// with a function of the caller, or an array, it is a sum that the host evaluates.
/// @param[out] out  kg_function_free()
kedge_status kg_function_plus(kedge_context *ctx, const kg_function *a, double factor,
                              const kg_function *b, kg_function *out);
/// Whether the caller's function is it or a part of it.
bool kg_function_of_caller(const kg_function *f);

/// One number an element of device memory of a context. @param[out] out  kg_function_free()
kedge_status kg_function_of_device(kedge_context *ctx, const double *there, int64_t n,
                                   kg_function *out);
/// Make such functions of kedge_by_element_device(), in parts too.
kedge_status kg_function_take_device(kedge_context *ctx, int64_t n, kg_function *f);
/// Whether it, or a part of it, is constant in each element by an array.
bool kg_function_by_element(const kg_function *f);

/// Copy numbers in device memory to the host, before they are evaluated. Threads may do so side by
/// side.
kedge_status kg_function_bring(const kg_function *f);

/// Set the time at which it is evaluated from now on, which is 0 at first. Nothing else changes:
/// what was compiled of it stays valid.
void kg_function_set_time(kg_function *f, double t);

/// NONE evaluates to zero. The time is the function's own, whatever points->t is.
/// @param[out] value  [points->n]
void kg_function_evaluate(const kg_function *f, const kedge_points *points, double *value);

/// Whether it, or a part of it, has `z` in it, or `t`. Nobody knows of functions of the caller:
/// these do not count.
bool kg_function_uses_z(const kg_function *f);
bool kg_function_uses_t(const kg_function *f);
/// Whether it, or a part of it, jumps at times (kg_expression_jumps_in_time()); likewise.
bool kg_function_jumps_in_time(const kg_function *f);
/// Whether it, or a part of it, may jump from a place of an element to the next, as functions of
/// the caller may, but not numbers of elements.
bool kg_function_may_jump(const kg_function *f);
/// Whether it has `region` in it; whether it may differ inside of a region and of an element.
bool kg_function_uses_region(const kg_function *f);
bool kg_function_varies(const kg_function *f);

// Functions that are evaluated together: what they share is computed once.

struct kg_expression_builder;

/// Add a function that is none of the caller to a builder.
kedge_status kg_function_import(struct kg_expression_builder *b, const kg_function *f,
                                int32_t *root);

/// Gathers the trees of functions in one builder, in which equal parts are one node.
/// @param[out] builder  opened here; the caller closes it, also after a failure
/// @param[out] roots    [n_functions]; the caller frees it
/// @retval KEDGE_ERR_UNSUPPORTED  one is the caller's function, or they are too long together
kedge_status kg_functions_gather(kedge_context *ctx, int n_functions,
                                 const kg_function *const *functions,
                                 struct kg_expression_builder *builder, int32_t **roots);

/// Instructions that all take at a point, each compiled by itself.
int kg_functions_operations(int n_functions, const kg_function *const *functions);

/// Register code whose results are the functions; all are evaluated at the time of the points.
/// @param[out] program  kg_program_free()
/// @retval KEDGE_ERR_UNSUPPORTED  as kg_functions_gather()
kedge_status kg_functions_compile(kedge_context *ctx, int n_functions,
                                  const kg_function *const *functions, kg_program *program);
