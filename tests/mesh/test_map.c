// Generated curves, and meshes whose nodes are moved by a map.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expression/function.h"
#include "support.h"

static void curved_x(void *user, const kedge_points *at, double *value)
{
  const double *size = user;
  for (size_t i = 0; i < at->n; ++i)
    value[i] = at->x[i] + *size * sin(2 * acos(-1) * at->x[i]) * sin(2 * acos(-1) * at->y[i]);
}
static void curved_y(void *user, const kedge_points *at, double *value)
{
  const double *size = user;
  for (size_t i = 0; i < at->n; ++i)
    value[i] = at->y[i] + *size * sin(2 * acos(-1) * at->x[i]) * sin(2 * acos(-1) * at->y[i]);
}
static void polar_x(void *user, const kedge_points *at, double *value)
{
  (void)user;
  for (size_t i = 0; i < at->n; ++i) value[i] = (1 + at->x[i]) * cos(acos(-1) / 2 * at->y[i]);
}
static void polar_y(void *user, const kedge_points *at, double *value)
{
  (void)user;
  for (size_t i = 0; i < at->n; ++i) value[i] = (1 + at->x[i]) * sin(acos(-1) / 2 * at->y[i]);
}
static void twice_x_plus_y(void *user, const kedge_points *at, double *value)
{
  (void)user;
  for (size_t i = 0; i < at->n; ++i) value[i] = 2 * at->x[i] + at->y[i];
}
static void minus_y(void *user, const kedge_points *at, double *value)
{
  (void)user;
  for (size_t i = 0; i < at->n; ++i) value[i] = -at->y[i];
}
static void one_over_y(void *user, const kedge_points *at, double *value)
{
  (void)user;
  for (size_t i = 0; i < at->n; ++i) value[i] = 1 / at->y[i];
}

static kg_function function_of(kedge_function *function, double *user)
{
  return (kg_function){.kind = KG_FUNCTION_CALLER, .function = function, .user = user};
}

static kedge_mesh *generate(kedge_context *ctx, const char *words, int geometry)
{
  kedge_mesh *mesh;
  assert_ok(ctx, kg_mesh_generate(ctx, words, geometry, &mesh));
  assert_sound(mesh);
  return mesh;
}

static kedge_mesh *mapped(kedge_context *ctx, const char *words, int geometry, kg_function x,
                          kg_function y)
{
  kedge_mesh *mesh = generate(ctx, words, 1), *out;
  assert_ok(ctx, kg_mesh_map(ctx, mesh, geometry, &x, &y, &out));
  assert_sound(out);
  kedge_mesh_destroy(mesh);
  return out;
}

static double area_of(kedge_context *ctx, const char *form, int n, const char *rest, int geometry)
{
  char words[64];
  snprintf(words, sizeof words, "%s %d%s", form, n, rest);
  kedge_mesh *mesh = generate(ctx, words, geometry);
  assert_int_equal(mesh->geometry, geometry);
  assert_true(mesh->info.min_jacobian > 0.5);
  const double area = mesh->info.area;
  kedge_mesh_destroy(mesh);
  return area;
}

/// Arcs are interpolated at equispaced points: the area has order g + 1, g + 2 where g is even.
static void areas_of_disks_and_rings_converge_with_their_order(void **state)
{
  const double pi = acos(-1);
  for (int g = 1; g <= KG_GEOMETRY_MAX; ++g) {
    const double expected = pow(2, g % 2 ? g + 1 : g + 2);
    const double disk =
        (area_of(*state, "disk", 1, "", g) - pi) / (area_of(*state, "disk", 2, "", g) - pi);
    const double ring = (area_of(*state, "ring 2", 8, "", g) - 3 * pi) /
                        (area_of(*state, "ring 2", 16, "", g) - 3 * pi);
    const double quads = (area_of(*state, "ring 2", 8, " quads", g) - 3 * pi) /
                         (area_of(*state, "ring 2", 16, " quads", g) - 3 * pi);
    assert_true(fabs(disk / expected - 1) < 0.1);
    assert_true(fabs(ring / expected - 1) < 0.1);
    assert_true(fabs(quads / expected - 1) < 0.1);
  }
}

static void a_disk_is_curved_at_its_boundary_alone(void **state)
{
  kedge_mesh *mesh = generate(*state, "disk 3", 4);
  for (int32_t e = 0; e < mesh->n_elements; ++e) {
    const double *nodes = kg_element_nodes(mesh, e);
    for (int l = 0; l < 3; ++l) {
      const double *p = nodes + 2 * l, *q = nodes + 2 * ((l + 1) % 3);
      const bool rim = mesh->edge_sides[2 * (kg_element_edges(mesh, e)[l] >> 1) + 1] == KG_NO_SIDE;
      for (int k = 1; k < 4; ++k) {
        const double *at = nodes + 2 * (3 + 3 * l + k - 1);
        if (rim)
          assert_true(fabs(hypot(at[0], at[1]) - 1) < 1e-15);
        else
          assert_true(hypot(at[0] - p[0] - 0.25 * k * (q[0] - p[0]),
                            at[1] - p[1] - 0.25 * k * (q[1] - p[1])) < 1e-15);
      }
    }
  }
  kedge_mesh_destroy(mesh);
}

static void straight_domains_have_no_curves(void **state)
{
  static const char *const words[] = {"square 2", "quads 2", "mixed 3", "lshape 2 quads"};
  for (int k = 0; k < 4; ++k) {
    kedge_mesh *mesh = generate(*state, words[k], 3);
    assert_int_equal(mesh->geometry, 1);
    kedge_mesh_destroy(mesh);
  }
}

static void a_map_moves_all_nodes_of_the_order_asked_for(void **state)
{
  double size = 0.1;
  static const char *const words[] = {"square 8", "quads 8", "mixed 8"};
  for (int k = 0; k < 15; ++k) {
    const int g = 1 + k / 3;
    kedge_mesh *mesh =
        mapped(*state, words[k % 3], g, function_of(curved_x, &size), function_of(curved_y, &size));
    assert_int_equal(mesh->geometry, g);
    assert_true(fabs(mesh->info.area - 1) < 1e-14);  // the boundary stays
    assert_int_equal(mesh->info.unused_vertices, 0);
    assert_true(mesh->info.min_jacobian > 0.1);
    assert_true(mesh->info.min_jacobian < (g == 1 && k % 3 == 0 ? 1.1 : 0.9));
    for (int j = 0; j < 4; ++j)
      assert_true(fabs(group_named(mesh, 1, j < 2 ? "left" : "top").measure - 1) < 1e-14);
    kedge_mesh_destroy(mesh);
  }
  kedge_mesh *ring =
      mapped(*state, "quads 8", 3, function_of(polar_x, NULL), function_of(polar_y, NULL));
  assert_true(fabs(ring->info.area - 0.75 * acos(-1)) < 2e-6);
  assert_string_equal(ring->source, "quads 8, mapped");
  kedge_mesh_destroy(ring);
}

static void an_affine_map_leaves_elements_straight(void **state)
{
  kedge_mesh *mesh =
      mapped(*state, "mixed 4", 3, function_of(minus_y, NULL), function_of(twice_x_plus_y, NULL));
  assert_int_equal(mesh->geometry, 1);
  assert_true(fabs(mesh->info.area - 2) < 1e-14);
  kedge_mesh_destroy(mesh);
}

static void another_order_keeps_the_curves_it_can(void **state)
{
  kedge_mesh *mesh = generate(*state, "ring 2 8", 2), *out;
  for (int g = 2; g <= KG_GEOMETRY_MAX; ++g) {
    assert_ok(*state, kg_mesh_map(*state, mesh, g, NULL, NULL, &out));
    assert_int_equal(out->geometry, g);
    assert_true(fabs(out->info.area - mesh->info.area) < 1e-13);
    assert_string_equal(out->source, mesh->source);
    kedge_mesh_destroy(out);
  }
  assert_ok(*state, kg_mesh_map(*state, mesh, 0, NULL, NULL, &out));
  assert_same_mesh(mesh, out);
  kedge_mesh_destroy(out);
  assert_ok(*state, kg_mesh_map(*state, mesh, 1, NULL, NULL, &out));
  kedge_mesh *straight = generate(*state, "ring 2 8", 1);
  assert_same_mesh(straight, out);
  kedge_mesh_destroy(out);
  kedge_mesh_destroy(straight);
  kedge_mesh_destroy(mesh);
}

static void maps_that_are_none_are_refused_with_their_place(void **state)
{
  double large = 0.4;
  const kg_function x = function_of(twice_x_plus_y, NULL), y = function_of(minus_y, NULL);
  const kg_function far = function_of(one_over_y, NULL);
  const kg_function wide = function_of(curved_x, &large), high = function_of(curved_y, &large);
  kedge_mesh *mesh = generate(*state, "quads 2", 1), *out;
  assert_int_equal(kg_mesh_map(*state, mesh, 2, &x, &y, &out), KEDGE_ERR_INPUT);
  assert_non_null(strstr(kedge_context_error(*state),
                         "quads 2: the map folds or flattens a quadrilateral at its point ("));
  assert_non_null(strstr(kedge_context_error(*state),
                         "): the determinant of the map must be positive everywhere; where it "
                         "mirrors, swap X and Y, and where it bends much, take a finer mesh"));
  assert_null(out);
  assert_refused(*state, kg_mesh_map(*state, mesh, 2, &x, &far, &out), KEDGE_ERR_INPUT,
                 "quads 2: the map takes (0, 0) to (0, inf); coordinates must be finite and below "
                 "1e150");
  assert_null(out);
  assert_int_equal(kg_mesh_map(*state, mesh, 3, &wide, &high, &out), KEDGE_ERR_INPUT);
  assert_non_null(strstr(kedge_context_error(*state),
                         "quads 2: the map folds or flattens a quadrilateral at its point ("));
  assert_null(out);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(areas_of_disks_and_rings_converge_with_their_order),
      cmocka_unit_test(a_disk_is_curved_at_its_boundary_alone),
      cmocka_unit_test(straight_domains_have_no_curves),
      cmocka_unit_test(a_map_moves_all_nodes_of_the_order_asked_for),
      cmocka_unit_test(an_affine_map_leaves_elements_straight),
      cmocka_unit_test(another_order_keeps_the_curves_it_can),
      cmocka_unit_test(maps_that_are_none_are_refused_with_their_place),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
