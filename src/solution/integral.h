/// @file
/// The inside of an integral, and its points.
#pragma once
#include <assert.h>

#include "basis/quadrature.h"
#include "expression/expression_tree.h"
#include "kedge/integral.h"
#include "problem/located.h"
#include "problem/settings.h"
#include "solution/values.h"

struct kedge_integral {
  kedge_context *ctx;
  const kedge_mesh *mesh;
  kg_expression *of;  ///< owned; NULL: the function
  kedge_function *function;
  void *user;
  /// What has no value somewhere, as a sentence begins: "plate.ini:12: [integral heat]: of"
  char what[KG_PLACE_BYTES + 300];
  unsigned names;  ///< that the expression has: bit k for kg_integral_names[k]
  int quadrature;  ///< 0: kedge chooses
  bool on_lines;
  int32_t n;         ///< elements or sides
  int32_t *element;  ///< [n]; NULL: all of the mesh, or sides
  kg_side *side;     ///< [n]; NULL: elements
};

/// Points are taken in blocks, each of whole elements or sides.
enum { KG_INTEGRAL_BLOCK = 2048 };
static_assert(KG_INTEGRAL_BLOCK >= KG_GAUSS_MAX * KG_GAUSS_MAX, "every element fits a block");

/// The points of an integral on a solution, in the reference elements.
typedef struct kg_integral_rule {
  const kedge_integral *integral;
  const kedge_solution *solution;  ///< NULL: no field is asked for
  int rows;                        ///< points a direction
  unsigned fields;                 ///< of kedge_field: that are evaluated
  kg_element_points points;        ///< of elements; on lines those of the facets lie behind
  double t[KG_GAUSS_MAX], weight[KG_GAUSS_MAX];  ///< of a line
  int32_t *trace;  ///< [edge of the mesh]: trace edge; owned; NULL: the trace is not asked for
} kg_integral_rule;

/// Points of a block, with the values of names there. Arrays have room for KG_INTEGRAL_BLOCK.
typedef struct kg_integral_points {
  size_t n;
  double *x, *y, *weight;
  double *name[KG_NAMES];
  double *value;
  kg_located at;
} kg_integral_points;

enum { KG_INTEGRAL_ARRAYS = 4 + KG_NAMES + KG_LOCATED };  ///< of KG_INTEGRAL_BLOCK doubles

/// Make the rule, and bring to the host what it reads.
/// @param[out] rule  kg_integral_rule_close(), also after a failure
kedge_status kg_integral_rule_open(const kedge_integral *integral, const kedge_solution *solution,
                                   kg_integral_rule *rule);
void kg_integral_rule_close(kg_integral_rule *rule);
/// Points of one element, or side.
int kg_integral_points_each(const kg_integral_rule *rule);
/// Append the points of element or side i of the integral's list.
void kg_integral_points_add(const kg_integral_rule *rule, int32_t i, kg_integral_points *points);
