/// @file
/// Register code: what an expression is evaluated from, a block of points at a time.
#pragma once
#include "core/error.h"
#include "kedge/problem.h"

/// One operation on registers. A register is an array of one value a point of the block.
typedef struct kg_instruction {
  int32_t op;        ///< kg_op, or one of the two below
  int32_t exponent;  ///< of an integer power
  int32_t result;    ///< register
  int32_t operand[3];
} kg_instruction;

/// Registers 0 to 3 are the caller's x, y, region and z; then come the constants, filled once a
/// call, and among them the time, which is one number for all points of a call, and fields, filled
/// once a block; then the temporaries, reused as soon as their
/// value is dead. Register -1 - f is result f, in the caller's memory; it may be an operand once it
/// is written.
typedef struct kg_program {
  int32_t n_instructions, n_constants, n_temporaries, n_results;
  kg_instruction *instructions;
  double *constants;
  int32_t *fields;  ///< [n_constants]: the field that is there, -1: a constant; NULL: none is
  int32_t time;     ///< which of the constants is the time; -1: none
} kg_program;

enum { KG_PROGRAM_VARIABLES = 4 };

/// Operations beside those of kg_op: a result that is none itself, a power by multiplication.
enum { KG_PROGRAM_COPY = 64, KG_PROGRAM_INTEGER_POWER };

struct kg_node;
/// Nodes stand behind their operands.
/// @param[in] roots  [n_results] the node of each result
kedge_status kg_program_compile(kedge_context *ctx, const struct kg_node *nodes, int32_t n_nodes,
                                const int32_t *roots, int32_t n_results, kg_program *out);
void kg_program_free(kg_program *program);
/// @param[in]  fields  [field][points->n]; read where the program has some
/// @param[out] value   [result][points->n]
void kg_program_run(const kg_program *program, const kedge_points *points,
                    const double *const *fields, double *value);
