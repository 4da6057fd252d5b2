/// @file
/// The internal structure of a solution. Its fields lie where they were computed, on the device or
/// in host memory, in the mesh's order of elements; kg_solution_bring() copies them to the host.
#pragma once
#include <pthread.h>
#include <stdatomic.h>

#include "basis/cell.h"
#include "basis/reference.h"
#include "device/backend.h"
#include "kedge/solution.h"
#include "problem/problem.h"
#include "space/shared_layout.h"

/// The results in a batch, which is a range of elements of one shape (space/trace_layout.h), in
/// host memory. Each array begins at the first group of the batch; its pointer is NULL until the
/// field has been copied to the host.
typedef struct kg_results {
  const kg_cell *cell;
  kg_cell_sizes size;
  int32_t first_element, n_elements;
  int32_t first_group, n_groups;
  bool by_quadrature, keeps_gradient;
  int n_means;        ///< of `constant`
  double *indicator;  ///< [group][lane]
  /// [group][n_means][lane]: coefficients of the constant modes of u, q_x and q_y. On elements
  /// integrated by quadrature sigma_x and sigma_y follow; on tetrahedra q_z and, where coefficients
  /// vary, sigma. NULL: the solution keeps all modes instead of means.
  double *constant;
  double *u;  ///< [group][N][lane]
  /// [group][S][lane], S the number of flux coefficients. On straight triangles: q_x, then q_y, in
  /// the modes of u. On elements integrated by quadrature: the coefficients of sigma = diffusion q
  /// (ops/local/quadrature/elements.h); with keeps_gradient the array is [group][2 S][lane], and
  /// the coefficients of q as covariant gradient follow.
  double *flux;
  double *u_star;  ///< [group][N*][lane]
} kg_results;

/// The fields of a solution, each [batch] as of kg_results, the trace [trace edge][m].
typedef enum kg_held_field {
  KG_HELD_U,
  KG_HELD_FLUX,
  KG_HELD_U_STAR,
  KG_HELD_INDICATOR,
  KG_HELD_MEANS,  ///< kg_results.constant
  KG_HELD_TRACE,
  KG_HELD_FIELDS
} kg_held_field;

/// Sets of fields.
enum {
  KG_HOLDS_U = 1 << KG_HELD_U,
  KG_HOLDS_FLUX = 1 << KG_HELD_FLUX,
  KG_HOLDS_U_STAR = 1 << KG_HELD_U_STAR,
  KG_HOLDS_INDICATOR = 1 << KG_HELD_INDICATOR,
  KG_HOLDS_MEANS = 1 << KG_HELD_MEANS,
  KG_HOLDS_TRACE = 1 << KG_HELD_TRACE,
  KG_HOLDS_MODES = KG_HOLDS_U | KG_HOLDS_FLUX | KG_HOLDS_U_STAR
};

typedef enum kg_place { KG_ON_HOST, KG_ON_DEVICE } kg_place;

/// A field that a solution has.
typedef struct kg_held {
  size_t numbers, at;       ///< 0: it has none; in the block
  double *host;             ///< in host memory; NULL: nobody has asked for it
  _Atomic bool is_current;  ///< `host` has what was made last
} kg_held;

/// What the groups of the mesh say, in arrays that the report points to. Owned.
typedef struct kg_numbers {
  int n_groups, n_regions;
  kedge_group_values *group;
  kedge_region_values *region;
  const kedge_group_values **groups;
  const kedge_region_values **regions;
  int32_t n_facets;
  size_t room;    ///< numbers that `facets` has memory for
  kg_side *side;  ///< [n_facets]: of the groups of lines, as kg_grouped.side
  int32_t *edge;  ///< [n_facets]: of the mesh
  /// [n_facets][1 + m]: the flux through the facet, the modes of the trace
  double *facets;
} kg_numbers;

/// The stabilization tau of a solution, by facet: `number` times a power of its length, or, where
/// `length` is positive, the mean of n . diffusion n along it over that. Not scaled.
typedef struct kg_stabilization {
  double length, number;
  kedge_scaling scaling;
  int rows;  ///< points of a facet by which integrals along it are made
} kg_stabilization;

struct kedge_solution {
  kedge_context *ctx;
  const kedge_mesh *mesh;
  int m;          ///< modes of a facet
  kg_sizes size;  ///< of triangles
  int32_t n_groups, n_edges;
  kedge_report report;
  char note[1200];          ///< behind report.solver_note
  char evaluation[1600];    ///< behind report.evaluation
  char output_error[1024];  ///< behind report.output_error
  char probe_note[2048];    ///< behind report.probe_note
  char evaluated[3][496];   ///< where functions were evaluated, by kg_evaluated
  // The equation; it was solved with all coefficients `scale` times as large, and sigma is so too.
  kg_coefficients equation;  ///< owned
  double scale;
  kg_stabilization stabilization;
  bool only_report;  ///< it keeps no fields
  int n_batches;
  kg_results batch[KG_BATCHES_MAX];  ///< with pointers to what is in host memory
  kg_place place;                    ///< where fields are made
  kg_buffer block;                   ///< of the device, all fields one behind the other
  kg_held held[KG_HELD_FIELDS];
  pthread_mutex_t is_brought;  ///< held while fields are brought
  kg_shared_layout *cut;       ///< of the trace; NULL: there is none
  kg_numbers numbers;
};

/// @param[out] out  kedge_solution_destroy(), which takes one without fields too
kedge_status kg_solution_create(kedge_context *ctx, kedge_solution **out);

/// Whether a solution has a field.
static inline bool kg_holds(const kedge_solution *solution, kg_held_field field)
{
  return solution->held[field].numbers > 0;
}

/// Allocate memory for a set of fields; the solution's batches must be described before. Existing
/// memory is reused if it has the same layout. The contents of the fields are not valid afterwards,
/// but for the trace, which is preserved where its size stays the same.
/// @param[in] place    the wanted memory; if the device has too little, the host's is used
/// @param[in] reserve  bytes of the device that must stay free
kedge_status kg_solution_allocate(kedge_solution *solution, unsigned fields, kg_place place,
                                  int64_t reserve);
void kg_solution_free_fields(kedge_solution *solution);
/// Return the number of rows of a field of a batch: numbers per element.
size_t kg_held_rows(const kg_results *results, kg_held_field field);
/// Return how many numbers of a field lie before those of a batch.
size_t kg_solution_begin(const kedge_solution *solution, kg_held_field field, int batch);
/// kg_solution_there() returns where a field of a batch begins in the solution's device memory, or
/// NULL if the field is on the host or not kept. kg_solution_here() returns where its copy in host
/// memory begins.
double *kg_solution_there(const kedge_solution *solution, kg_held_field field, int batch);
double *kg_solution_here(const kedge_solution *solution, kg_held_field field, int batch);
/// Mark the host copies of fields on the device as out of date: a solve computes new fields.
void kg_solution_change(kedge_solution *solution);
/// Copy a set of fields from the device to host memory, unless the host copy is current. Fields
/// that the solution does not keep are skipped. Any thread may call this, and so may functions that
/// a running solve calls.
kedge_status kg_solution_bring(const kedge_solution *solution, unsigned fields);
/// Allocate host memory for a set of fields, without copying anything to it.
kedge_status kg_solution_make_room(kedge_solution *solution, unsigned fields);

/// Return the results of the batch of an element, which has its number in the mesh.
static inline const kg_results *kg_results_of(const kedge_solution *solution, int32_t element)
{
  const kg_results *results = solution->batch;
  while (element - results->first_element >= results->n_elements) ++results;
  return results;
}

/// The L2 norm of u* - u in an element.
static inline double kg_indicator_of(const kedge_solution *solution, int32_t element)
{
  const kg_results *results = kg_results_of(solution, element);
  return results->indicator[element - results->first_element];
}
