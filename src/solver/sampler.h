/// @file
/// Load vectors and errors, made chunk by chunk from values of functions at the points of elements.
/// On the CUDA backend the GPU evaluates expressions: it interprets them, and the values lie in
/// memory for the kernel that uses them; or, where there are so many points that compiling pays,
/// and NVRTC is there, it evaluates them in a kernel made for them. Else the host evaluates and the
/// values are copied. A solve says in its report which it was.
///
/// KEDGE_EVALUATE=host, =interpret or =compile in the environment takes the choice away, where
/// there is one.
#pragma once
#include "device/backend.h"
#include "ops/sample/evaluate.h"
#include "ops/sample/sample_kernel.h"
#include "problem/problem.h"
#include "solver/sampling.h"

typedef struct kg_pipeline kg_pipeline;

/// Functions on their way to device memory. Nothing is allocated or compiled before the first run.
typedef struct kg_sampler {
  kg_pipeline *pipeline;
  kg_sample_set set;
  kg_sample_kind kind;
  int evaluations;  ///< of each point, that are to be expected
  bool ready;
  kg_sample_kernel *kernel;  ///< NULL: values lie in memory
  kg_point_code *code;       ///< NULL: not interpreted
  double *staging;           ///< NULL, or of the host, [group of a chunk][function][point][lane]
} kg_sampler;

/// Read KEDGE_EVALUATE; NULL: it is not set.
/// @retval KEDGE_ERR_INPUT  KEDGE_EVALUATE is a word without meaning
kedge_status kg_sampler_wish(kedge_context *ctx, const char **wish);
/// All is borrowed. Every point once.
kg_sampler kg_sampler_of(kg_pipeline *p, kg_sample_kind kind, kg_sample_set set);
/// Release memory of the host until the next run.
void kg_sampler_rest(kg_sampler *sampler);
void kg_sampler_close(kg_sampler *sampler);

/// Load vectors of groups [first, first + count) of a batch.
/// @param[in] values  work: room for values of the source, of one group at least
/// @param[out] load   [group of these][N][lane]
/// @retval KEDGE_ERR_INPUT     a value is not finite
/// @retval KEDGE_ERR_INTERNAL  there is no room for a group
kedge_status kg_sampler_loads(kg_sampler *sampler, int batch, int32_t first, int32_t count,
                              kg_buffer values, double *load);
/// Errors of the solution of a chunk, which is there; they count after kg_sampler_settle().
/// @retval KEDGE_ERR_INPUT  a value is not finite
kedge_status kg_sampler_errors(kg_sampler *sampler, int batch, int32_t first, int32_t count);
/// Wait for errors that a compiled kernel makes. Where it did not know a value those of this chunk,
/// whose solution is there still, are made in another way.
/// @retval KEDGE_ERR_INPUT  a value is not finite
kedge_status kg_sampler_settle(kg_sampler *sampler, int batch, int32_t first, int32_t count);
