/// @file
/// Formulas at the points of elements, by a kernel that reads them as register code: for meshes not
/// worth a kernel of their own (sample_kernel.h, cell_kernel.h). Only on a GPU; the host has
/// kg_sample().
#pragma once
#include <stdalign.h>

#include "ops/local/triangle/element.h"
#include "ops/sample/cell_values.h"
#include "ops/sample/points.h"
#include "expression/program.h"
KEDGE_BEGIN_DECLS

enum {
  KG_CODE_INSTRUCTIONS = 304,
  KG_CODE_ROWS = 128,       ///< variables, temporaries, results: values of a point that are held
  KG_CODE_CONSTANTS = 128,  ///< an operand from KG_CODE_ROWS on is a constant
};

/// An operation beside those of kg_program: the sine, and the cosine into the row of operand 1.
enum { KG_CODE_CIRCLE = KG_PROGRAM_INTEGER_POWER + 1 };

typedef struct kg_code_instruction {
  alignas(8) uint8_t op;
  int8_t exponent;
  uint8_t result, operand[3];
  uint8_t unused[2];  ///< so that one load of 8 bytes has it all
} kg_code_instruction;

/// A kg_program small enough to be an argument of a kernel (4 KiB): it needs no memory, no copy.
typedef struct kg_point_code {
  int32_t n_instructions, n_rows, n_results;
  int32_t reads_region;  ///< 1: row 2 is the region; rows 0 and 1 are x and y
  int32_t reads_z;       ///< 1: row 3 is z
  int32_t time;          ///< which of the constants is the time; -1: none
  kg_code_instruction instruction[KG_CODE_INSTRUCTIONS];
  double constant[KG_CODE_CONSTANTS];
} kg_point_code;

/// @param[in] rows  most that a point may have: kg_evaluate_rows()
/// @retval KEDGE_ERR_UNSUPPORTED  the program is too long
kedge_status kg_point_code_of(kedge_context *ctx, const kg_program *program, int rows,
                              kg_point_code *out);
/// Set the time, which is 0 at first, of what is evaluated from now on.
void kg_point_code_set_time(kg_point_code *code, double t);

typedef struct kg_evaluate_args {
  kg_batch batch;
  kg_points points;
  int32_t first_group, n_groups;  ///< the chunk of this call
  const int32_t *region;          ///< [element of the batch]; read where the code reads it
  const kg_point_code *code;      ///< in host memory
  double *values;                 ///< out: [group of the chunk][result][point][lane]
} kg_evaluate_args;

/// Rows of a point that the GPU's shared memory has room for, KG_CODE_ROWS at most. CUDA alone.
int kg_evaluate_rows(kedge_context *ctx);
/// Evaluate, with the roundings of the host's register code but for functions of the mathematical
/// library. Builds with CUDA.
kedge_status kg_evaluate(kedge_context *ctx, const kg_evaluate_args *args);
/// Wait for the last kg_evaluate(), after which nothing else has looked for bad values
/// (kg_evaluate_cells(), kg_first_bad()).
/// @param[out] bad  smallest index of `values` that is used (the first result at all points, the
///                  others not at corners) and not finite; -1: there is none
kedge_status kg_evaluate_bad(kedge_context *ctx, int64_t *bad);
/// Evaluate likewise at points of cells, and wait.
kedge_status kg_evaluate_cells(kedge_context *ctx, const kg_point_code *code,
                               const kg_cell_values_args *args, int64_t *bad);
/// The cost of values in memory. @param[in] operations  at a point
kg_cost kg_evaluate_cost(int n_results, double operations, int n_points, int64_t n_elements);

KEDGE_END_DECLS
