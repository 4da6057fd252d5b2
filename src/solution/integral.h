/// @file
/// The inside of an integral, and its points.
#pragma once
#include <assert.h>
#include <pthread.h>

#include "basis/quadrature.h"
#include "expression/expression_tree.h"
#include "kedge/integral.h"
#include "problem/located.h"
#include "problem/settings.h"
#include "solution/gather.h"
#include "solution/values.h"

/// The points of an integral in the reference elements, for solutions of one order.
typedef struct kg_integral_rule {
  int order;                 ///< 0: there is none yet
  int rows;                  ///< points a direction
  kg_element_points points;  ///< of elements; on lines those of the facets lie behind
  double t[KG_GAUSS_MAX], weight[KG_GAUSS_MAX];  ///< of a line
  // The points of a face in space; owned
  double *face;  ///< [point]: weights, then [point][m]: the modes of the trace
  /// The rule by which the method integrates coefficients that vary, of as many points a direction
  kg_element_points method;
  int method_rows;  ///< 0: there is none yet
} kg_integral_rule;

/// The elements, or trace edges, of sides.
typedef struct kg_integral_read {
  int32_t n, *number;  ///< [n], ascending
  int32_t *place;      ///< [side]: of its own among them
} kg_integral_read;

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
  int32_t n;                  ///< elements or sides
  int32_t *element;           ///< [n]; NULL: all of the mesh, or sides
  kg_side *side;              ///< [n]; NULL: elements
  kg_integral_read elements;  ///< of the sides
  // What evaluations make and keep; `evaluates` is held by the one that goes on.
  pthread_mutex_t evaluates;
  kg_integral_rule rule;
  kg_shared_layout *cut;  ///< that `edges` are of; NULL: there are none yet
  kg_integral_read edges;
};

/// Points are taken in blocks, each of whole elements or sides: of so many, or those of one.
enum { KG_INTEGRAL_BLOCK = 2048 };

/// What an evaluation reads of a solution.
typedef struct kg_integral_reading {
  const kedge_integral *integral;
  const kedge_solution *solution;  ///< NULL: no field is asked for
  unsigned fields;                 ///< of kedge_field: that are evaluated
  /// [KG_HELD_U .. KG_HELD_U_STAR]: of the integral's elements; without `of`: all are in the
  /// solution's memory of the host
  kg_gathered held[KG_HELD_U_STAR + 1];
  kg_gathered trace;  ///< of the sides' edges
} kg_integral_reading;

/// Points of a block, with the values of names there. Arrays have room for those of a block.
typedef struct kg_integral_points {
  size_t n;
  double *x[3], *weight;
  double *name[KG_NAMES];
  double *value;
  kg_located at;
} kg_integral_points;

enum { KG_INTEGRAL_ARRAYS = 5 + KG_NAMES + KG_LOCATED };  ///< of doubles

/// Find which elements the sides of an integral on lines belong to.
kedge_status kg_integral_find_read(kedge_integral *integral);
void kg_integral_read_free(kg_integral_read *read);
/// Say in the context of the integral what a solution has said in its own.
kedge_status kg_integral_pass_on(const kedge_integral *integral, const kedge_context *from,
                                 kedge_status status);
/// Make what depends on the solution's order, unless the last evaluation has made it, and bring to
/// the host what is read.
/// @param[in]  solution  NULL: none
/// @param[out] reading   kg_integral_reading_close(), also after a failure
kedge_status kg_integral_reading_open(kedge_integral *integral, const kedge_solution *solution,
                                      kg_integral_reading *reading);
void kg_integral_reading_close(kg_integral_reading *reading);
void kg_integral_rule_free(kg_integral_rule *rule);
/// Points of one element, or side.
int kg_integral_points_each(const kedge_integral *integral);
/// Append the points of element or side i of the integral's list.
void kg_integral_points_add(const kg_integral_reading *reading, int32_t i,
                            kg_integral_points *points);
