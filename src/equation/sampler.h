/// @file
/// Load vectors and norms of errors, computed chunk by chunk from values of functions at the points
/// of elements (equation/evaluation.h). A kernel compiled for the functions, on straight triangles,
/// uses each value at once; in all other cases the values of a chunk are first stored in memory.
#pragma once
#include "equation/coefficients.h"
#include "ops/local/quadrature/loads.h"

/// Functions on their way to device memory. Nothing is allocated or compiled before the first run.
typedef struct kg_sampler {
  kg_evaluation evaluation;
  kg_coefficient_values *coefficients;
  kg_sample_kind kind;
  const int32_t *origin;  ///< [element] on the device: the source is gathered there; or NULL
  int evaluations;        ///< of each point, that are to be expected
  double *staging;        ///< NULL, or of the host, [group of a chunk][function][point][lane]
  uint8_t *rough;  ///< [lane of all batches] of the device: which loads are rough; NULL: not asked
  double least;    ///< for them: values that are less are rounding
} kg_sampler;

/// Return a sampler that expects to evaluate its functions once at each point (`evaluations`). It
/// owns none of the arguments, which must live as long as it does.
kg_sampler kg_sampler_of(kg_coefficient_values *coefficients, kg_sample_kind kind,
                         kg_sample_set set);
/// Release memory of the host until the next run.
void kg_sampler_rest(kg_sampler *sampler);
void kg_sampler_close(kg_sampler *sampler);

/// Compute the load vectors of groups [first, first + count) of a batch.
/// @param[in] values  work memory for values of the source, at least for one group
/// @param[out] load   [group][N][lane]
/// @retval KEDGE_ERR_INPUT     a value of the source is not finite
/// @retval KEDGE_ERR_INTERNAL  `values` is too small for a group
kedge_status kg_sampler_loads(kg_sampler *sampler, int batch, int32_t first, int32_t count,
                              kg_buffer values, double *load);

/// The solution of groups [first, first + count) of a batch, whose errors are summed.
typedef struct kg_solved_chunk {
  int batch;
  int32_t first, count;
  const double *u, *flux, *u_star;  ///< [group of these][mode][lane]
  double *exact;                    ///< work: [group of these][function][point][lane]
  double *diffusion;                ///< work: kg_coefficient_arrays.diffusion
  kg_error_sums *sums;              ///< [group of all batches]
  double *flux_sums;                ///< likewise; or NULL: they are not summed
} kg_solved_chunk;

/// @retval KEDGE_ERR_INPUT  a value is not finite
kedge_status kg_sampler_errors(kg_sampler *sampler, const kg_solved_chunk *chunk);
