/// @file
/// Register code: what an expression is evaluated from, a block of points at a time.
#pragma once
#include "core/error.h"

/// One operation on registers. A register is an array of one value a point of the block.
typedef struct kg_instruction {
  int32_t op;        ///< kg_op, or one of the two of program.c
  int32_t exponent;  ///< of an integer power
  int32_t result;    ///< register; -1: the caller's value[]
  int32_t operand[3];
} kg_instruction;

/// Registers 0 and 1 are the caller's x and y; then come the constants, filled once a call; then
/// the temporaries, reused as soon as their value is dead.
typedef struct kg_program {
  int32_t n_instructions, n_constants, n_temporaries;
  kg_instruction *instructions;
  double *constants;
} kg_program;

struct kg_node;
kedge_status kg_program_compile(kedge_context *ctx, const struct kg_node *nodes, int32_t n_nodes,
                                kg_program *out);
void kg_program_free(kg_program *program);
void kg_program_run(const kg_program *program, size_t n, const double *x, const double *y,
                    double *value);
