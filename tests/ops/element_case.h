/// @file
/// One element of a case: what it is by the book, and what operators computed for it.
#pragma once
#include "dense.h"
#include "operations.h"

enum { STAR = (KEDGE_ORDER_MAX + 2) * (KEDGE_ORDER_MAX + 3) / 2 };  ///< most modes of a field

/// An element: its corners, the direction of its sides, and its dense matrices.
typedef struct element {
  int32_t number;
  double corner[3][2];
  bool reversed[3];
  dense_element dense;
  double tolerance;
} element;

/// dense_free() its matrices.
void element_create(element *e, const op_case *c, int32_t number);
double element_area(const element *e);

/// Rows of an element in an array [group][row][lane].
void element_take(const op_case *c, const op_data *data, op_array array, int32_t e, double *rows);
/// (u, q_x, q_y) by the operators.
void element_take_solution(const op_case *c, const op_data *data, int32_t e, double *solution);
