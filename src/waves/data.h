/// @file
/// Functions at the nodes of pieces of a mesh, facets of the boundary or elements, for a stage: who
/// evaluates them and where the values lie. With the CUDA backend the GPU evaluates those that move
/// in time (KEDGE_EVALUATE as in equation/evaluation.h); the host does where the GPU cannot, for
/// functions of the caller, and again where a value was bad, as it can say where.
#pragma once
#include "device/backend.h"
#include "expression/function.h"
#include "mesh/mesh.h"
#include "ops/sample/at_points.h"
#include "ops/waves/stage.h"

struct kg_waves;

typedef struct kg_wave_piece {
  int32_t element;
  int32_t facet;  ///< of it; -1: the piece is all of the element
} kg_wave_piece;

/// Pieces with the same functions, one behind the other.
typedef struct kg_wave_part {
  const kg_function *function[KG_WAVE_FIELDS_MAX];  ///< borrowed
  int32_t first, n;
  bool moves;               ///< or may
  kg_point_kernel *kernel;  ///< of the GPU: this,
  kg_point_code *code;      ///< or this; both NULL: the host evaluates
  int64_t first_point;      ///< of those in device memory
} kg_wave_part;

typedef struct kg_wave_data {
  int n, n_functions;  ///< nodes of a piece, values of a node
  const char *what;    ///< format of a sentence, with the name of a function
  const char *name[KG_WAVE_FIELDS_MAX];
  int32_t n_pieces;
  kg_wave_piece *piece;  ///< [n_pieces], in the order of the parts
  int n_parts;
  kg_wave_part *part;  ///< those that move are first
  double *host;        ///< [piece][function][n]
  kg_buffer values;    ///< likewise, numbers of a state
  int64_t n_points;    ///< in `points`,
  kg_buffer points;    ///< [part][3][points] of parts that the GPU evaluates, then regions
  kg_buffer bad;       ///< 1: a value of the GPU was, since it was looked at
} kg_wave_data;

/// What is made of pieces in the order of a mesh.
typedef struct kg_wave_pieces {
  int32_t n;
  const kg_wave_piece *piece;
  const int32_t *part;  ///< [n]: of each piece; -1: none, its data are 0
  int n_parts;
  const kg_wave_part *parts;  ///< functions alone
} kg_wave_pieces;

/// Make data and evaluate them all at the time of the problem.
/// @param[in]  out    n, n_functions, what and names are set
/// @param[out] out    kg_wave_data_free(), also after a failure
/// @param[out] place  [pieces->n]: the piece among the data; -1: it has none
/// @retval KEDGE_ERR_INPUT  a value is no number
kedge_status kg_wave_data_make(const struct kg_waves *waves, const kg_wave_pieces *pieces,
                               kg_wave_data *out, int32_t *place);
/// Count the device memory that kg_wave_data_make() takes. @param[in] data  as its `out`
kedge_status kg_wave_data_bytes(const struct kg_waves *waves, const kg_wave_pieces *pieces,
                                const kg_wave_data *data, int64_t *bytes);
/// Evaluate functions at the nodes of pieces, on the host, many pieces at once.
/// @param[in]  data    n and n_functions are set
/// @param[out] values  [piece][function][n]
kedge_status kg_wave_data_evaluate(const struct kg_waves *waves, const kg_wave_data *data,
                                   const kg_function *const *functions, int32_t n,
                                   const kg_wave_piece *piece, double *values);
/// Numbers of so many pieces, and the nodes of one (waves/pieces.c).
/// @param[out] place  [dimension][n]: r, s, t
static inline int64_t kg_wave_data_numbers(const kg_wave_data *data, int32_t pieces)
{
  return (int64_t)pieces * data->n_functions * data->n;
}
void kg_wave_piece_nodes(const struct kg_waves *waves, const kg_wave_data *data,
                         const kg_wave_piece *piece, double *place);
void kg_wave_data_free(kedge_context *ctx, kg_wave_data *data);
/// Whether any moves.
static inline bool kg_wave_data_moves(const kg_wave_data *data)
{
  return data->n_parts > 0 && data->part[0].moves;
}
/// Evaluate what moves at the time of the problem. What the host evaluates is refused where it is
/// bad; what the GPU does is left to the next kg_wave_data_check().
kedge_status kg_wave_data_take(const struct kg_waves *waves, kg_wave_data *data);
/// Behind the stages of a step: wait for the GPU, and refuse what was bad in any of them.
/// @retval KEDGE_ERR_INPUT    a value is no number, with its place and time
/// @retval KEDGE_ERR_NUMERIC  the GPU cannot evaluate a function there, which the host can
kedge_status kg_wave_data_check(const struct kg_waves *waves, kg_wave_data *data);
