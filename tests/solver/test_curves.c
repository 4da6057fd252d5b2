// Curved elements through the public API, on meshes whose nodes a function has moved.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "mesh/mesh.h"
#include "support.h"

enum { ORDERS = 4, SQUARES = 8 };

static const char *const order_text[] = {"", "1", "2", "3", "4", "5", "6", "7", "8"};

#define WAVES  "sin(2*pi*x)*sin(2*pi*y)"
#define TENSOR "2+sin(3*x), 0.7*cos(x*y), 1.5+y^2"

typedef void moving(const double from[2], double to[2]);

static void stay(const double from[2], double to[2])
{
  to[0] = from[0];
  to[1] = from[1];
}

static void wave(const double from[2], double to[2])
{
  const double w = 0.1 * sin(2.0 * M_PI * from[0]) * sin(2.0 * M_PI * from[1]);
  to[0] = from[0] + w;
  to[1] = from[1] + w;
}

/// A quarter of a ring of radii 1 and 2.
static void ring(const double from[2], double to[2])
{
  to[0] = (1.0 + from[0]) * cos(0.5 * M_PI * from[1]);
  to[1] = (1.0 + from[0]) * sin(0.5 * M_PI * from[1]);
}

enum cut { WHOLE, CHECKERED, ALL };

/// n x n squares, of which some are cut into two triangles, with nodes of order `geometry` that are
/// moved.
static kedge_mesh *moved(int n, enum cut cut, int geometry, moving *to)
{
  const int row = n + 1;
  kg_raw_mesh raw = {.n_vertices = (int64_t)row * row, .width = cut == ALL ? 3 : 4};
  raw.vertices = calloc(2 * (size_t)raw.n_vertices, sizeof *raw.vertices);
  raw.corners = calloc(8 * (size_t)(n * n), sizeof *raw.corners);
  raw.regions = calloc(2 * (size_t)(n * n), sizeof *raw.regions);
  assert_true(raw.vertices && raw.corners && raw.regions);
  for (int v = 0; v < row * row; ++v) {
    raw.vertices[2 * v] = (double)(v % row) / n;
    raw.vertices[2 * v + 1] = (double)(v / row) / n;
  }
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const int32_t a = j * row + i, b = a + 1, d = a + row, e = d + 1;
      const bool is_cut = cut == ALL || (cut == CHECKERED && (i + j) % 2 == 1);
      const int32_t whole[2][4] = {{a, b, e, d}}, parts[2][4] = {{a, b, e, -1}, {a, e, d, -1}};
      for (int k = 0; k < (is_cut ? 2 : 1); ++k, ++raw.n_elements)
        memcpy(raw.corners + raw.width * raw.n_elements, is_cut ? parts[k] : whole[k],
               (size_t)raw.width * sizeof *raw.corners);
    }
  must(ctx, kg_raw_mesh_set_geometry(ctx, geometry, &raw));
  for (int64_t i = 0; i < raw.n_elements * kg_raw_stride(&raw); ++i) {
    const double from[2] = {raw.nodes[2 * i], raw.nodes[2 * i + 1]};
    to(from, raw.nodes + 2 * i);
  }
  for (int64_t v = 0; v < raw.n_vertices; ++v) {
    const double from[2] = {raw.vertices[2 * v], raw.vertices[2 * v + 1]};
    to(from, raw.vertices + 2 * v);
  }
  kedge_mesh *mesh;
  must(ctx, kg_mesh_build(ctx, &raw, "moved", &mesh));
  kg_raw_mesh_free(&raw);
  return mesh;
}

/// Norms of the errors of u and u* by an independent implementation with over-integrated rules.
static const struct reference {
  enum cut cut;
  int geometry;
  moving *to;
  const char *inverse, *reaction, *u;
  double norm[ORDERS + 1][2];
} references[] = {
    {ALL,
     2,
     wave,
     "exact",
     "1+x",
     WAVES "+x*y",
     {{0},
      {1.85471e-01, 2.09679e-02},
      {3.21769e-02, 1.54252e-03},
      {4.99527e-03, 2.32055e-04},
      {6.29960e-04, 2.15003e-05}}},
    {WHOLE,
     2,
     wave,
     "auto",
     "1+x",
     WAVES "+x*y",
     {{0},
      {3.07915e-02, 7.86827e-03},
      {3.43634e-03, 8.05799e-04},
      {4.57399e-04, 4.56738e-05},
      {2.42356e-05, 6.35207e-06}}},
    {ALL,
     2,
     wave,
     "adjusted",
     "1+x",
     WAVES "+x*y",
     {{0},
      {1.85241e-01, 2.06251e-02},
      {3.21652e-02, 1.54285e-03},
      {4.99406e-03, 2.31727e-04},
      {6.29718e-04, 2.14694e-05}}},
    {WHOLE,
     2,
     wave,
     "adjusted",
     "1+x",
     WAVES "+x*y",
     {{0},
      {3.08340e-02, 8.05329e-03},
      {3.43554e-03, 8.06370e-04},
      {4.57727e-04, 4.56294e-05},
      {2.42438e-05, 6.35411e-06}}},
    {CHECKERED,
     2,
     wave,
     "adjusted",
     "1+x",
     WAVES "+x*y",
     {{0},
      {1.54897e-01, 1.77183e-02},
      {1.61002e-02, 1.01015e-03},
      {4.00987e-03, 1.53375e-04},
      {4.21977e-04, 1.67443e-05}}},
    {ALL,
     3,
     ring,
     "adjusted",
     "0",
     "sin(3*x+y)*cos(2*y)",
     {{0},
      {3.77726e-02, 4.02262e-03},
      {3.23329e-03, 2.85863e-04},
      {2.81017e-04, 2.16689e-05},
      {2.10278e-05, 1.80624e-06}}},
    {WHOLE,
     3,
     ring,
     "adjusted",
     "0",
     "sin(3*x+y)*cos(2*y)",
     {{0},
      {2.01371e-02, 3.88039e-03},
      {1.73335e-03, 2.32095e-04},
      {1.10576e-04, 1.42204e-05},
      {6.86836e-06, 8.10859e-07}}},
};

static void errors_are_those_of_another_implementation(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof references / sizeof *references; ++k)
    for (int order = 1; order <= ORDERS; ++order) {
      const struct reference *ref = &references[k];
      kedge_mesh *mesh = moved(SQUARES, ref->cut, ref->geometry, ref->to);
      mesh->info.area = 1.0;  // L of the reference is 1 on the ring too
      char rows[8];
      snprintf(rows, sizeof rows, "%d", order + 6);
      const kedge_report r = report_of(
          ctx, mesh,
          SETTINGS({"space", "order", order_text[order]}, {"equation", "diffusion", TENSOR},
                   {"space", "quadrature", rows}, {"space", "inverse", ref->inverse},
                   {"equation", "reaction", ref->reaction}, {"exact", "u", ref->u},
                   {"boundary default", "type", "dirichlet"}, {"solver", "tolerance", "1e-12"},
                   {"solver", "preconditioner", "multigrid"}));
      assert_true(r.converged);
      assert_in_range(r.iterations, 1, 30);
      assert_at_most(fabs(r.u_l2 / ref->norm[order][0] - 1.0), 1e-5);
      assert_at_most(fabs(r.u_star_l2 / ref->norm[order][1] - 1.0), 1e-5);
      kedge_mesh_destroy(mesh);
    }
}

/// Nodes on a ring, of which a linear function is no polynomial of order P < g on an element.
static void linear_functions_are_exact_up_to_the_order_of_the_map(void **state)
{
  (void)state;
  static const enum cut cuts[] = {ALL, WHOLE, CHECKERED};
  for (int geometry = 2; geometry <= 5; ++geometry)
    for (int k = 0; k < 3; ++k) {
      kedge_mesh *mesh = moved(4, cuts[k], geometry, k == 2 ? wave : ring);
      for (int order = geometry; order <= 6; order += 2) {
        const kedge_report r = report_of(
            ctx, mesh,
            SETTINGS({"space", "order", order_text[order]}, {"equation", "diffusion", "2, 0.5, 1"},
                     {"equation", "reaction", "1.5"}, {"exact", "u", "0.3+x-0.5*y"},
                     {"space", "quadrature", "10"}, {"boundary default", "type", "dirichlet"},
                     {"solver", "preconditioner", "multigrid"}, {"solver", "tolerance", "1e-13"}));
        assert_true(r.converged);
        assert_at_most(r.u_l2, 1e-12);
        assert_at_most(r.q_l2, 1e-11);
        assert_at_most(r.u_star_l2, 1e-12);
      }
      kedge_mesh_destroy(mesh);
    }
}

/// The nodes of a curved mesh in the places of a straight one.
static void nodes_that_stay_make_a_straight_mesh(void **state)
{
  (void)state;
  kedge_mesh *mesh = moved(4, CHECKERED, 3, stay);
  kedge_mesh_info info;
  kedge_mesh_get_info(mesh, &info);
  assert_int_equal(info.geometry, 1);
  assert_null(mesh->nodes);
  kedge_mesh_destroy(mesh);
}

static void neumann_data_are_integrated_along_the_curve(void **state)
{
  (void)state;
  static const enum cut cuts[] = {ALL, WHOLE};
  for (int k = 0; k < 2; ++k)
    for (int order = 3; order <= 5; ++order) {
      kedge_mesh *mesh = moved(4, cuts[k], 3, ring);
      const kedge_report r = report_of(
          ctx, mesh,
          SETTINGS({"space", "order", order_text[order]}, {"equation", "diffusion", "2, 0.5, 1"},
                   {"equation", "reaction", "1.5"}, {"exact", "u", "0.3+x-0.5*y"},
                   {"space", "quadrature", "10"}, {"boundary default", "type", "neumann"},
                   {"solver", "preconditioner", "multigrid"}, {"solver", "tolerance", "1e-13"}));
      assert_true(r.converged);
      assert_at_most(r.u_l2, 1e-11);
      assert_at_most(r.q_l2, 1e-10);
      kedge_mesh_destroy(mesh);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_are_those_of_another_implementation),
      cmocka_unit_test(linear_functions_are_exact_up_to_the_order_of_the_map),
      cmocka_unit_test(nodes_that_stay_make_a_straight_mesh),
      cmocka_unit_test(neumann_data_are_integrated_along_the_curve),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
