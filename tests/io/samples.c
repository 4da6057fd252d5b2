// samples vtkhdf ORDER FILE     a polynomial of degree ORDER on cells of that order
// samples mixed ORDER FILE      the same on triangles and quadrilaterals by turns
// samples quads ORDER FILE      the same on quadrilaterals
// samples lines ORDER FILE      the same on curves
// samples cells FILE            cells that share their points, with cell data
// samples report FILE           a report with an exact solution
// samples report-awkward FILE   none, with names and numbers that JSON cannot hold as they are
// samples report-empty FILE     one of no solve, that a caller has who knows fewer members
//
// Files for the checks in Python beside this program.
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basis/cell.h"
#include "elliptic/stages.h"
#include "io/vtkhdf.h"
#include "kedge/march.h"

enum { CELLS = 50, MAX_NODES = (KG_VTKHDF_ORDER_MAX + 1) * (KG_VTKHDF_ORDER_MAX + 1) };

/// The polynomial that check_vtk.py has too.
static double polynomial(int p, double x, double y)
{
  return pow(x, p) + 2 * pow(y, p) + x * pow(y, p - 1);
}

/// Corner `k` of V of cell `c`: cells overlap, are skewed, and lie within a unit square or so.
static void corner(int c, int k, int V, double xy[2])
{
  const double angle = 0.7 * c + (V == 3 ? 2.1 : 1.4) * k;
  xy[0] = 0.5 + 0.3 * cos(3.0 * c) + 0.2 * cos(angle);
  xy[1] = 0.5 + 0.3 * sin(5.0 * c) + 0.15 * sin(angle);
}

static kedge_status write_cell(kg_vtkhdf *file, int order, const kg_cell *cell, int c)
{
  const int n = cell->n_modes(order), V = cell->n_vertices;
  double r[MAX_NODES], s[MAX_NODES], v[KG_FACETS_MAX][2];
  double xyz[MAX_NODES * 3] = {0}, u[MAX_NODES], q[MAX_NODES * 3] = {0};
  cell->nodes(order, (double *const[]){r, s});
  for (int k = 0; k < V; ++k) corner(c, k, V, v[k]);
  for (int i = 0; i < n; ++i) {
    long double shape[3 * KG_FACETS_MAX];
    cell->map(1, (const long double[]){r[i], s[i]}, shape);
    double *const x = xyz + 3 * i;
    for (int k = 0; k < V; ++k)
      for (int d = 0; d < 2; ++d) x[d] += (double)shape[k] * v[k][d];
    u[i] = polynomial(order, x[0], x[1]);
    q[3 * i] = u[i];
    q[3 * i + 1] = -u[i];
  }
  const int32_t region = 100 + c;
  const double indicator = 0.5 * c;
  KG_TRY(kg_vtkhdf_write_points(file, c, 1, xyz));
  KG_TRY(kg_vtkhdf_write(file, "u", c, 1, u));
  KG_TRY(kg_vtkhdf_write(file, "q", c, 1, q));
  KG_TRY(kg_vtkhdf_write(file, "region", c, 1, &region));
  return kg_vtkhdf_write(file, "error", c, 1, &indicator);
}

/// @param[in] shapes  of the first, third, ... cell, and of the others
static kedge_status write_vtkhdf(const kg_cell *const shapes[2], int order, const char *path)
{
  bool is_quadrilateral[CELLS];
  kg_vtkhdf_cells cells = {.n = CELLS, .is_quadrilateral = is_quadrilateral};
  for (int c = 0; c < CELLS; ++c) {
    is_quadrilateral[c] = shapes[c % 2] == &kg_quadrilateral;
    cells.n_quadrilaterals += is_quadrilateral[c];
  }
  kg_vtkhdf *file;
  KG_TRY(kg_vtkhdf_create(NULL, path, order, &cells, &file));
  kg_vtkhdf_point_field(file, "u", 1);
  kg_vtkhdf_point_field(file, "q", 3);
  kg_vtkhdf_cell_field(file, "region", KG_ITEM_I32, 1);
  kg_vtkhdf_cell_field(file, "error", KG_ITEM_F64, 1);
  kg_vtkhdf_number(file, "converged", 1);
  for (int c = 0; c < CELLS; ++c) KG_TRY(write_cell(file, order, shapes[c % 2], c));
  return kg_vtkhdf_finish(file);
}

/// Chords: both ends, then the nodes between.
static kedge_status write_lines(int order, const char *path)
{
  kg_vtkhdf *file;
  KG_TRY(kg_vtkhdf_create(NULL, path, order, &(kg_vtkhdf_cells){.n = CELLS, .lines = true}, &file));
  kg_vtkhdf_point_field(file, "u", 1);
  kg_vtkhdf_cell_field(file, "region", KG_ITEM_I32, 1);
  for (int c = 0; c < CELLS; ++c) {
    double end[2][2], xyz[3 * MAX_NODES] = {0}, u[MAX_NODES];
    const int32_t region = 100 + c;
    for (int k = 0; k < 2; ++k) corner(c, k, 3, end[k]);
    for (int i = 0; i <= order; ++i) {
      const double t = (i == 0 ? 0.0 : i == 1 ? order : i - 1) / (double)order;
      for (int d = 0; d < 2; ++d) xyz[3 * i + d] = (1.0 - t) * end[0][d] + t * end[1][d];
      u[i] = polynomial(order, xyz[3 * i], xyz[3 * i + 1]);
    }
    KG_TRY(kg_vtkhdf_write_points(file, c, 1, xyz));
    KG_TRY(kg_vtkhdf_write(file, "u", c, 1, u));
    KG_TRY(kg_vtkhdf_write(file, "region", c, 1, &region));
  }
  return kg_vtkhdf_finish(file);
}

/// A fan around point 0, on the unit circle.
static kedge_status write_cells(const char *path)
{
  double xyz[3 * (CELLS + 1)] = {0}, u[CELLS], q[3 * CELLS] = {0};
  int32_t corners[3 * CELLS] = {0}, region[CELLS];
  for (int c = 0; c < CELLS; ++c) {
    xyz[3 * (c + 1)] = cos(6.283185307179586 * c / CELLS);
    xyz[3 * (c + 1) + 1] = sin(6.283185307179586 * c / CELLS);
    corners[3 * c + 1] = c + 1;
    corners[3 * c + 2] = (c + 1) % CELLS + 1;
    u[c] = 0.5 * c;
    q[3 * c + 1] = -c;
    region[c] = 100 + c;
  }
  kg_vtkhdf *file;
  KG_TRY(kg_vtkhdf_create_shared(NULL, path, &(kg_vtkhdf_cells){.n = CELLS}, CELLS + 1, &file));
  kg_vtkhdf_cell_field(file, "u", KG_ITEM_F64, 1);
  kg_vtkhdf_cell_field(file, "q", KG_ITEM_F64, 3);
  kg_vtkhdf_cell_field(file, "region", KG_ITEM_I32, 1);
  KG_TRY(kg_vtkhdf_write_points(file, 0, CELLS + 1, xyz));
  KG_TRY(kg_vtkhdf_write_corners(file, 0, CELLS, corners));
  KG_TRY(kg_vtkhdf_write(file, "u", 0, CELLS, u));
  KG_TRY(kg_vtkhdf_write(file, "q", 0, CELLS, q));
  KG_TRY(kg_vtkhdf_write(file, "region", 0, CELLS, region));
  return kg_vtkhdf_finish(file);
}

/// A caller of an earlier version has no numbers of groups.
static kedge_status write_empty(const char *path)
{
  kedge_report report = {
      .size = offsetof(kedge_report, n_groups), .n_groups = 1, .conductance = 2.0};
  return kedge_report_write(NULL, &report, path);
}

static kedge_status write_report(bool awkward, const char *path)
{
  const kedge_group_values hot = {sizeof hot, "hot", 3, false, 12, 2.5, 5.0, 2.0, -0.75};
  const kedge_group_values cut = {sizeof cut, "a \"cut\"", 4, true, 2, 1.0, 0.0, 0.0, NAN};
  const kedge_region_values iron = {.size = sizeof iron,
                                    .name = "iron",
                                    .tag = 7,
                                    .elements = 800,
                                    .area = 4.0,
                                    .integral = 2.0,
                                    .mean = 0.5,
                                    .energy = 8.0,
                                    .source = 1.0,
                                    .reaction = 0.5,
                                    .least = -1.0,
                                    .most = 3.0,
                                    .least_at = {0.25, 0.5},
                                    .most_at = {1.0, 0.1 + 0.2},
                                    .storage = 0.125};
  const kedge_group_values *const groups[] = {&hot, &cut};
  const kedge_region_values *const regions[] = {&iron};
  const kedge_integral_value heat = {sizeof heat, "heat", 2.5};
  const kedge_integral_value nothing = {sizeof nothing, "a \"name\"", NAN};
  const kedge_integral_value *const integrals[] = {&heat, &nothing};
  const kedge_marched marched = {.size = sizeof marched,
                                 .rejected = 4,
                                 .change = 0.125,
                                 .is_steady = true,
                                 .scheme = "trbdf2",
                                 .t = 0.75,
                                 .step = 0.25,
                                 .steps = 3,
                                 .solves = 6,
                                 .iterations = 60,
                                 .set_ups = 2,
                                 .converged = true,
                                 .end = 1.0,
                                 .seconds = 0.5,
                                 .note = "step 1: a note"};
  kedge_report report = {.size = sizeof report,
                         .integrals = integrals,
                         .n_integrals = 2,
                         .n_stages = KG_STAGE_COUNT,
                         .dimension = 2,
                         .elements = 800,
                         .edges = 1240,
                         .vertices = 441,
                         .boundary_edges = 80,
                         .order = 4,
                         .trace_unknowns = 5800,
                         .element_unknowns = 12000,
                         .backend = "host",
                         .device = "a CPU",
                         .operator_name = "matrix-free",
                         .preconditioner = "multigrid",
                         .precision = "mixed",
                         .smoother = "edge",
                         .smoothing_steps = 2,
                         .multigrid_levels = 5,
                         .setup_seconds = 0.25,
                         .start_residual = 1.5,
                         .iterations = 321,
                         .refinements = 3,
                         .tolerance = 1e-12,
                         .relative_residual = 0.1 + 0.2,
                         .rounding_residual = 0.0625,
                         .stop = KEDGE_STOP_ROUNDING,
                         .converged = true,
                         .solver_note = "",
                         .evaluation = "host",
                         .probe_note = "a.csv: 1 of 2 points",
                         .has_exact = true,
                         .u_l2 = 1e-9,
                         .u_linf = 2e-9,
                         .q_l2 = 3e-9,
                         .sigma_l2 = 6e-9,
                         .triangle_inverse = "",
                         .quadrilateral_inverse = "exact",
                         .stabilization_length = 0.5,
                         .iteration_u = 1e-6,
                         .iteration_u_star = 2e-6,
                         .iteration_q = NAN,
                         .iteration_sigma = 0.5,
                         .extra_iterations = 12,
                         .needed_tolerance = 1e-13,
                         .refined_elements = 34,
                         .refined_facets = 5,
                         .n_groups = 2,
                         .n_regions = 1,
                         .groups = groups,
                         .regions = regions,
                         .balance = {1.0, 0.5, -0.75, 0.25},
                         .storage = 0.0625,
                         .conductance = 9.5,
                         .energy_conductance = 9.25,
                         .u_star_l2 = 4e-11,
                         .peak_device_bytes = 5000000000,
                         .predicted_device_bytes = 5000000001,
                         .local_matrices_bytes = 7,
                         .operator_bytes = 8};
  for (int s = 0; s < KG_STAGE_COUNT; ++s)
    report.stages[s] =
        (kedge_stage_report){kg_stage_name((kg_stage)s), 0.5 * s, 1e9 * s + 0.25, 1e10 * s};
  if (awkward) {
    report.device = "a \"CPU\" \\ \n\t\x01 \xFF \xC3\xA9";
    report.has_exact = false;
    report.converged = false;
    report.relative_residual = NAN;
    report.solver_note = "the residual is not finite";
    report.conductance = report.energy_conductance = NAN;
    report.stages[0].flops = INFINITY;
    report.march = &marched;
  }
  return kedge_report_write(NULL, &report, path);
}

int main(int argc, char **argv)
{
  kedge_status status = KEDGE_ERR_ARG;
  static const struct {
    const char *name;
    const kg_cell *shapes[2];
  } kinds[] = {{"vtkhdf", {&kg_triangle, &kg_triangle}},
               {"mixed", {&kg_triangle, &kg_quadrilateral}},
               {"quads", {&kg_quadrilateral, &kg_quadrilateral}}};
  for (int k = 0; k < 3; ++k)
    if (argc == 4 && strcmp(argv[1], kinds[k].name) == 0)
      status = write_vtkhdf(kinds[k].shapes, atoi(argv[2]), argv[3]);
  if (argc == 4 && strcmp(argv[1], "lines") == 0) status = write_lines(atoi(argv[2]), argv[3]);
  if (argc == 3 && strcmp(argv[1], "cells") == 0)
    status = write_cells(argv[2]);
  else if (argc == 3 && strcmp(argv[1], "report-empty") == 0)
    status = write_empty(argv[2]);
  else if (argc == 3 && strncmp(argv[1], "report", 6) == 0)
    status = write_report(strcmp(argv[1], "report-awkward") == 0, argv[2]);
  if (status != KEDGE_OK) fprintf(stderr, "samples: %s\n", kedge_context_error(NULL));
  return status != KEDGE_OK;
}
