/// @file
/// The arrays of a solve in device memory. Every stage declares those that it begins with; places
/// and bytes are the plan's (device/plan.h).
#pragma once
#include "device/plan.h"
#include "ops/vector/cg_state.h"
#include "ops/local/quadrature/field_sums.h"
#include "ops/sample/sample_kernel.h"
#include "ops/numbering/space.h"
#include "elliptic/shape.h"

/// NULL: this solve does not have it. m modes an edge; N modes an element; lanes are those of all
/// groups, or of a chunk of them.
typedef struct kg_arrays {
  kg_space_arrays space;
  double *reference;                                                   ///< kg_reference_at()
  uint8_t *rough;                                                      ///< [lane]: of loads
  double *point_rule[KG_SAMPLE_KINDS], *point_basis[KG_SAMPLE_KINDS];  ///< kg_points_at()
  double *cell_tables[KG_CELL_KINDS];                   ///< by shape (elliptic/cells.h)
  double *cell_points[KG_SAMPLE_KINDS][KG_CELL_KINDS];  ///< likewise
  kg_material *materials;                               ///< kg_materials.table
  int32_t *material_of;                                 ///< [group][lane]: its index
  double *material_values;                              ///< kg_cell_material.table
  double *load;                                         ///< [group][N][lane]
  double *source_values;  ///< of a chunk: [group][point of the rule][lane]

  void *local;  ///< K^e of the trace solve (kg_shape_locals())
  /// With precision = compact: load vectors, F^e, K^e and sides of a chunk, which residuals make
  /// again. Values of the source lie where K^e will.
  double *chunk_load, *chunk_condensed, *chunk_coefficients;
  void *chunk_local;
  uint32_t *chunk_sides;
  int32_t *robin_side;  ///< and what follows: see kg_cell_robin_args
  double *robin_psi, *robin_coefficient;
  double *condensed;         ///< F^e
  void *load_local;          ///< with `repeats`: K^e of a chunk, of which F^e alone is wanted
  double *b;                 ///< [free row]
  double *inverse_diagonal;  ///< [free row]: the Jacobi preconditioner

  double *full_local;  ///< kg_shape_full_local()
  int32_t *ell_column;
  double *ell_value;
  void *ell_work;
  kg_multigrid multigrid;  ///< from assembly to the end of the trace solve

  double *x;         ///< [row]: the trace
  void *r, *z, *ap;  ///< [free row], z of multigrid [row]
  void *p;           ///< [row]
  double *residual;  ///< [free row]: in double precision, where r is not
  double *room;      ///< [2 vertices], for kg_cycle.room where p has not as many bytes; or NULL
  double *halo;
  double *operator_part, *vector_part;
  kg_cg_state *state;
  kg_cg_step *steps;
  int32_t *exponent;  ///< of a cycle (kg_cycle)
  void *resident;     ///< of ops/trace/cg_resident.h

  double *nodes;                        ///< [batch][group][2][node][lane], of curved elements
  double *coefficients;                 ///< of a chunk: kg_cell_material.values
  double *error_diffusion;              ///< of a chunk: [group][3][point][lane]
  double *u, *q, *u_star, *indicator;   ///< of a chunk: [group][mode][lane]
  double *constant;                     ///< of a chunk: means of u and q
  double *exact_values;                 ///< of a chunk: [group][function][point][lane]
  kg_error_sums *error_sums;            ///< [group]
  double *flux_sums;                    ///< [group]: where the flux is not one number times q
  double *field_points[KG_CELL_KINDS];  ///< by shape: kg_field_points()
  kg_field_sums *field_sums;            ///< [kg_field_pieces()]
} kg_arrays;

/// The phase in which b is made with precision = compact; 0: with every residual, or another one.
static inline unsigned kg_phase_of_b(const kg_choice *c)
{
  if (c->residual != KG_REMADE) return 0;
  return c->repeats ? KG_IN(CONDENSE) : KG_IN(LOCAL);
}

/// Vectors of the trace solve of many right-hand sides at once, beside the arrays of a set-up.
/// NULL: it does not have them.
typedef struct kg_many_arrays {
  double *load;        ///< [vector]: load vectors, where they stay for the local solve
  double *b, *r, *ap;  ///< [free row][vector]
  double *x, *p;       ///< [row][vector]
  void *z;             ///< likewise, of the number of the cycle
  double *halo, *product_part, *part, *total;
  kg_cg_states *states;
  kg_cg_step *steps;
  int32_t *exponent;
  double *residual, *correction, *mode_value, *mode_part;  ///< of the cycle, as what follows
  void *d;
  float *cycle_r, *cycle_product, *cycle_halo;
  void *coarse_vectors;
} kg_many_arrays;

/// Whether the trace solve takes many: packed or reduced K^e of triangles, multigrid that smooths
/// by edges, an iteration in double precision.
bool kg_many_takes(kedge_context *ctx, const kg_shape *shape);
/// Whether n at once cost less than one by one: on a GPU three do, where all KG_VECTORS cost 2.3 to
/// 2.8 times as much as one (profiling/many.c). On the host the caches have what vectors share.
bool kg_many_pays(const kedge_context *ctx, int n);
void kg_many_declare(kg_plan *plan, const kg_shape *shape, kg_many_arrays *arrays);
/// Bytes of these arrays.
int64_t kg_many_bytes(const kg_shape *shape);
void kg_transfer_declare(kg_plan *plan, const kg_shape *shape, kg_arrays *arrays);
void kg_local_declare(kg_plan *plan, const kg_shape *shape, kg_arrays *arrays);
void kg_robin_declare(kg_plan *plan, const kg_shape *shape, kg_arrays *arrays);
void kg_compact_declare(kg_plan *plan, const kg_shape *shape, kg_arrays *arrays);
void kg_trace_declare(kg_plan *plan, const kg_shape *shape, kg_arrays *arrays);
void kg_recover_declare(kg_plan *plan, const kg_shape *shape, kg_arrays *arrays);
