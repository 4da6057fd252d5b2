#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "mesh/generate.h"
#include "support.h"

static kedge_mesh *generate(kedge_context *ctx, const char *words)
{
  kedge_mesh *mesh;
  assert_ok(ctx, kedge_mesh_generate(ctx, words, &mesh));
  assert_sound(mesh);
  return mesh;
}

static void assert_close(double value, double expected, int64_t roundings)
{
  assert_true(fabs(value - expected) <= (double)roundings * DBL_EPSILON * fabs(expected));
}

static void assert_group(const kedge_mesh *mesh, int dimension, const char *name, int64_t count,
                         double measure)
{
  const kedge_mesh_group group = group_named(mesh, dimension, name);
  assert_int_equal(group.count, count);
  assert_close(group.measure, measure, count + 1);
}

static void square_has_its_counts_areas_and_groups(void **state)
{
  static const struct {
    const char *words;
    int n;
  } cases[] = {{"square 1", 1}, {"  square  2 ", 2}, {"square 7", 7}, {"square\t33", 33}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const int64_t n = cases[i].n;
    kedge_mesh *mesh = generate(*state, cases[i].words);
    kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
    kedge_mesh_get_info(mesh, &info);
    assert_int_equal(info.elements, 2 * n * n);
    assert_int_equal(info.vertices, (n + 1) * (n + 1));
    assert_int_equal(info.edges, 3 * n * n + 2 * n);
    assert_int_equal(info.boundary_edges, 4 * n);
    assert_close(info.area, 1, 2 * n * n);
    assert_close(info.min_angle, 45, 100);
    assert_close(mesh->alignment, 1, 100);
    assert_close(info.min_quality, 2 * sqrt(2) - 2, 100);
    assert_int_equal(kedge_mesh_group_count(mesh), 5);
    assert_group(mesh, 1, "left", n, 1);
    assert_group(mesh, 1, "right", n, 1);
    assert_group(mesh, 1, "bottom", n, 1);
    assert_group(mesh, 1, "top", n, 1);
    assert_group(mesh, 2, "domain", 2 * n * n, 1);
    kedge_mesh_destroy(mesh);
  }
}

static void groups_of_the_square_are_where_their_names_say(void **state)
{
  kedge_mesh *mesh = generate(*state, "square 5");
  for (int32_t edge = 0; edge < mesh->n_edges; ++edge) {
    if (mesh->edge_group[edge] < 0) continue;
    int32_t ends[2];
    kg_side_ends(mesh, mesh->edge_sides[2 * edge], ends);
    const double *p = mesh->vertices + 2 * ends[0], *q = mesh->vertices + 2 * ends[1];
    const double x = (p[0] + q[0]) / 2, y = (p[1] + q[1]) / 2;
    const char *name = x == 0 ? "left" : x == 1 ? "right" : y == 0 ? "bottom" : "top";
    assert_string_equal(mesh->groups[mesh->edge_group[edge]].name, name);
    assert_true(y == 1 || name[0] != 't');
  }
  kedge_mesh_destroy(mesh);
}

static void diagonals_of_the_square_rise(void **state)
{
  kedge_mesh *mesh = generate(*state, "square 3");
  for (int32_t edge = 0; edge < mesh->n_edges; ++edge) {
    int32_t ends[2];
    kg_side_ends(mesh, mesh->edge_sides[2 * edge], ends);
    const double *p = mesh->vertices + 2 * ends[0], *q = mesh->vertices + 2 * ends[1];
    assert_true((q[0] - p[0]) * (q[1] - p[1]) >= 0);
  }
  kedge_mesh_destroy(mesh);
}

static void lshape_lacks_its_lower_right_quarter(void **state)
{
  for (int64_t n = 1; n <= 9; n += 4) {
    kedge_mesh *mesh = generate(*state, n == 1 ? "lshape 1" : n == 5 ? "lshape 5" : "lshape 9");
    assert_int_equal(mesh->info.elements, 6 * n * n);
    assert_int_equal(mesh->info.boundary_edges, 8 * n);
    assert_int_equal(mesh->info.vertices - mesh->info.edges + mesh->info.elements, 1);
    assert_close(mesh->info.area, 3, 6 * n * n);
    assert_group(mesh, 1, "boundary", 8 * n, 8);
    assert_true(mesh->info.box[0] == -1 && mesh->info.box[1] == -1);
    assert_true(mesh->info.box[2] == 1 && mesh->info.box[3] == 1);
    for (int64_t v = 0; v < mesh->n_vertices; ++v)
      assert_true(mesh->vertices[2 * v] <= 0 || mesh->vertices[2 * v + 1] >= 0);
    kedge_mesh_destroy(mesh);
  }
}

static void ring_has_a_hole_and_two_circles(void **state)
{
  const double pi = acos(-1.0);
  kedge_mesh *mesh = generate(*state, "ring 3 11");
  assert_int_equal(mesh->info.elements, 66);
  assert_int_equal(mesh->info.vertices, 44);
  assert_int_equal(mesh->info.vertices - mesh->info.edges + mesh->info.elements, 0);
  assert_close(mesh->info.area, 1.5 * 11 * sin(2 * pi / 11), 500);
  assert_group(mesh, 1, "inner", 11, 22 * sin(pi / 11));
  assert_group(mesh, 1, "outer", 11, 44 * sin(pi / 11));
  kedge_mesh_destroy(mesh);
  kedge_mesh_destroy(generate(*state, "ring 1 3"));
}

static void checkerboards_keep_the_squares_of_an_even_sum(void **state)
{
  for (int n = 1; n <= 6; ++n) {
    char words[16];
    snprintf(words, sizeof words, "mixed %d", n);
    kedge_mesh *mesh = generate(*state, words);
    const int64_t whole = (n * n + 1) / 2;
    assert_int_equal(mesh->info.quadrilaterals, whole);
    assert_int_equal(mesh->info.elements, whole + 2 * (n * n - whole));
    assert_int_equal(mesh->info.vertices, (n + 1) * (n + 1));
    assert_close(mesh->info.area, 1, 2 * n * n);
    assert_group(mesh, 1, "left", n, 1);
    for (int32_t e = 0; e < mesh->n_elements; ++e) {
      const kg_block *block = kg_block_of(mesh, e);
      const double *p = mesh->vertices + 2 * kg_element_vertices(mesh, e)[0];  // lower left
      const bool even = (lround(n * p[0]) + lround(n * p[1])) % 2 == 0;
      assert_int_equal(even, block->cell == &kg_quadrilateral);
    }
    kedge_mesh_destroy(mesh);
  }
}

static void quads_makes_whole_squares_of_an_l_and_of_a_ring(void **state)
{
  static const char *const words[][2] = {{"lshape 3", "lshape 3 quads"},
                                         {"ring 3 11", "ring 3 11 quads"}};
  for (int k = 0; k < 2; ++k) {
    kedge_mesh *split = generate(*state, words[k][0]), *whole = generate(*state, words[k][1]);
    assert_int_equal(2 * whole->info.elements, split->info.elements);
    assert_int_equal(whole->info.quadrilaterals, whole->info.elements);
    assert_int_equal(whole->info.vertices, split->info.vertices);
    assert_int_equal(whole->info.boundary_edges, split->info.boundary_edges);
    assert_close(whole->info.area, split->info.area, 500);
    kedge_mesh_destroy(split);
    kedge_mesh_destroy(whole);
  }
}

static void a_disk_has_layers_of_six_sectors(void **state)
{
  for (int n = 1; n <= 7; n += 3) {
    char words[16];
    snprintf(words, sizeof words, "disk %d", n);
    kedge_mesh *mesh = generate(*state, words);
    assert_int_equal(mesh->info.elements, 6 * n * n);
    assert_int_equal(mesh->info.vertices, 1 + 3 * n * (n + 1));
    assert_int_equal(mesh->info.vertices - mesh->info.edges + mesh->info.elements, 1);
    assert_close(mesh->info.area, 3 * n * sin(acos(-1) / (3 * n)), 1000);
    assert_int_equal(mesh->info.turned_elements, 0);
    assert_true(mesh->info.min_angle > 40);
    assert_group(mesh, 1, "boundary", 6 * n, 12 * n * sin(acos(-1) / (6 * n)));
    kedge_mesh_destroy(mesh);
  }
}

#define VALID                                                                             \
  "; valid are \"square N\", \"quads N\", \"mixed N\", \"lshape N [quads]\", \"ring N M " \
  "[quads]\", "                                                                           \
  "\"disk N\" and \"cube N\", N from 1, M from 3"

static void bad_words_are_named(void **state)
{
  static const char *const cases[][2] = {
      {"sqare 4", "cannot generate a mesh \"sqare\"" VALID},
      {"", "cannot generate a mesh \"\"" VALID},
      {"square", "\"square\" lacks a number: it is \"square N\"" VALID},
      {"ring 4", "\"ring 4\" lacks a number: it is \"ring N M [quads]\"" VALID},
      {"square 0", "\"0\" in \"square 0\" is not a number from 1 to 1000000000" VALID},
      {"square -3", "\"-3\" in \"square -3\" is not a number from 1 to 1000000000" VALID},
      {"square 4x", "\"4x\" in \"square 4x\" is not a number from 1 to 1000000000" VALID},
      {"square 99999999999999999999",
       "\"99999999999999999999\" in \"square 99999999999999999999\" is not a number from 1 to "
       "1000000000" VALID},
      {"ring 1 2", "\"2\" in \"ring 1 2\" is not a number from 3 to 1000000000" VALID},
      {"lshape 4 5", "\"5\" is too much in \"lshape 4 5\": it is \"lshape N [quads]\"" VALID},
      {"square 3 quads", "\"quads\" is too much in \"square 3 quads\": it is \"square N\"" VALID},
      {"ring 3 5 quads 1",
       "\"1\" is too much in \"ring 3 5 quads 1\": it is \"ring N M [quads]\"" VALID},
      {"mixed 23171",
       "\"mixed 23171\" has more elements than kedge can number (1073739776); use smaller numbers"},
      {"square 23171",
       "\"square 23171\" has more triangles than kedge can number (1073739776); use smaller "
       "numbers"},
      {"ring 1000000000 1000000000",
       "\"ring 1000000000 1000000000\" has more triangles than kedge "
       "can number (1073739776); use smaller numbers"},
  };
  kedge_mesh *mesh;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const kedge_status status = kedge_mesh_generate(*state, cases[i][0], &mesh);
    assert_null(mesh);
    assert_refused(*state, status, KEDGE_ERR_INPUT, cases[i][1]);
  }
}

static void refining_keeps_area_and_groups_and_quarters_elements(void **state)
{
  kedge_mesh *mesh, *fine;
  assert_ok(*state, kedge_mesh_read(*state, MESHES "inclusion41.msh", &mesh));
  for (int times = 0, factor = 1; times <= 3; ++times, factor *= 2) {
    assert_ok(*state, kedge_mesh_refine(*state, mesh, times, &fine));
    assert_sound(fine);
    assert_int_equal(fine->n_elements, mesh->n_elements * factor * factor);
    assert_int_equal(fine->n_boundary_edges, mesh->n_boundary_edges * factor);
    assert_int_equal(fine->n_vertices - fine->n_edges + fine->n_elements, 1);
    assert_close(fine->info.area, mesh->info.area, fine->n_elements);
    assert_close(fine->info.min_quality, mesh->info.min_quality, 1000 * factor);
    assert_int_equal(fine->n_groups, mesh->n_groups);
    for (int i = 0; i < mesh->n_groups; ++i) {
      const kg_group *from = &mesh->groups[i];
      const int64_t each = from->dimension == 1 ? factor : factor * factor;
      assert_int_equal(fine->groups[i].tag, from->tag);
      assert_group(fine, from->dimension, from->name, from->count * each, from->measure);
      assert_int_equal(fine->groups[i].n_inner, from->n_inner * each);
      assert_close(fine->groups[i].inner_measure, from->inner_measure, fine->n_edges);
    }
    kedge_mesh_destroy(fine);
  }
  kedge_mesh_destroy(mesh);
}

static void children_lie_in_their_parent(void **state)
{
  kedge_mesh *mesh, *fine;
  assert_ok(*state, kedge_mesh_generate(*state, "ring 2 5", &mesh));
  assert_ok(*state, kedge_mesh_refine(*state, mesh, 1, &fine));
  int32_t parent_at[20];  // [caller's number]
  for (int32_t e = 0; e < 20; ++e) parent_at[mesh->element_origin[e]] = e;
  for (int32_t e = 0; e < fine->n_elements; ++e) {
    const int32_t *v = mesh->element_vertices + 3 * parent_at[fine->element_origin[e] / 4];
    const int32_t *w = fine->element_vertices + 3 * e;
    for (int l = 0; l < 3; ++l) {  // the centroid is inside of every side of the parent
      const double *p = mesh->vertices + 2 * v[l], *q = mesh->vertices + 2 * v[(l + 1) % 3];
      double c[2] = {0};
      for (int k = 0; k < 6; ++k) c[k % 2] += fine->vertices[2 * w[k / 2] + k % 2] / 3;
      assert_true((q[0] - p[0]) * (c[1] - p[1]) > (c[0] - p[0]) * (q[1] - p[1]));
    }
  }
  kedge_mesh_destroy(mesh);
  kedge_mesh_destroy(fine);
}

/// A level's vertices are where those of the mesh are that was refined so many times less, each
/// once.
static void a_refined_mesh_has_the_vertices_of_the_meshes_before(void **state)
{
  enum { TIMES = 3 };
  kedge_mesh *mesh, *fine, *coarse;
  assert_ok(*state, kedge_mesh_read(*state, MESHES "slit.msh", &mesh));
  assert_ok(*state, kedge_mesh_refine(*state, mesh, TIMES, &fine));
  assert_int_equal(fine->levels.n, TIMES);
  const int32_t *vertex = fine->levels.vertex;
  int32_t *number = malloc((size_t)fine->n_vertices * sizeof *number);  // in the finest mesh
  assert_non_null(number);
  for (int32_t v = 0; v < fine->n_vertices; ++v) number[v] = v;
  for (int k = 0; k < TIMES; ++k) {
    const int32_t n = fine->levels.count[k];
    assert_ok(*state, kedge_mesh_refine(*state, mesh, TIMES - 1 - k, &coarse));
    assert_int_equal(n, coarse->n_vertices);
    assert_int_equal(coarse->levels.n, TIMES - 1 - k);
    int32_t *at = malloc((size_t)n * sizeof *at);  // [caller's number]
    assert_non_null(at);
    for (int32_t v = 0; v < n; ++v) at[coarse->vertex_origin[v]] = v;
    for (int32_t i = 0; i < n; ++i) {
      assert_true(i == 0 || vertex[i] > vertex[i - 1]);
      number[i] = number[vertex[i]];
      const int32_t v = at[fine->vertex_origin[number[i]]];
      assert_memory_equal(fine->vertices + 2 * (size_t)number[i], coarse->vertices + 2 * (size_t)v,
                          2 * sizeof(double));
    }
    vertex += n;
    free(at);
    kedge_mesh_destroy(coarse);
  }
  free(number);
  kedge_mesh_destroy(fine);
  kedge_mesh_destroy(mesh);
}

static void refining_nonsense_is_refused(void **state)
{
  kedge_mesh *mesh, *fine;
  assert_ok(*state, kedge_mesh_generate(*state, "square 1", &mesh));
  assert_refused(*state, kedge_mesh_refine(*state, mesh, -1, &fine), KEDGE_ERR_ARG,
                 "cannot refine a mesh -1 times");
  assert_refused(
      *state, kedge_mesh_refine(*state, mesh, 15, &fine), KEDGE_ERR_INPUT,
      "square 1: 2 triangles refined 15 times are more than kedge can number (1073739776); "
      "refine less");
  assert_refused(*state, kedge_mesh_refine(*state, mesh, 1000, &fine), KEDGE_ERR_INPUT,
                 "square 1: 2 triangles refined 1000 times are more than kedge can number "
                 "(1073739776); refine less");
  assert_null(fine);
  kedge_mesh_destroy(mesh);
}

static void null_arguments_are_refused(void **state)
{
  kedge_mesh *mesh, *out;
  const kedge_mesh_arrays none = {0};
  assert_ok(*state, kedge_mesh_generate(*state, "square 1", &mesh));
  assert_int_equal(kedge_mesh_generate(NULL, "square 1", &out), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(NULL), "kedge_mesh_generate: ctx or words is NULL");
  assert_int_equal(kedge_mesh_read(NULL, "a.msh", &out), KEDGE_ERR_ARG);
  assert_int_equal(kedge_mesh_create(NULL, &none, &out), KEDGE_ERR_ARG);
  assert_int_equal(kedge_mesh_refine(NULL, mesh, 1, &out), KEDGE_ERR_ARG);
  assert_int_equal(kedge_mesh_write(NULL, mesh, "a.msh", false), KEDGE_ERR_ARG);
  assert_refused(*state, kedge_mesh_generate(*state, NULL, &out), KEDGE_ERR_ARG,
                 "kedge_mesh_generate: ctx or words is NULL");
  assert_refused(*state, kedge_mesh_generate(*state, "square 1", NULL), KEDGE_ERR_ARG,
                 "kedge_mesh_generate: out is NULL");
  assert_refused(*state, kedge_mesh_read(*state, NULL, &out), KEDGE_ERR_ARG,
                 "kedge_mesh_read: ctx or path is NULL");
  assert_refused(*state, kedge_mesh_read(*state, "a.msh", NULL), KEDGE_ERR_ARG,
                 "kedge_mesh_read: out is NULL");
  assert_refused(*state, kedge_mesh_create(*state, NULL, &out), KEDGE_ERR_ARG,
                 "kedge_mesh_create: ctx or arrays is NULL");
  assert_refused(*state, kedge_mesh_create(*state, &none, NULL), KEDGE_ERR_ARG,
                 "kedge_mesh_create: out is NULL");
  assert_refused(*state, kedge_mesh_refine(*state, NULL, 1, &out), KEDGE_ERR_ARG,
                 "kedge_mesh_refine: ctx or mesh is NULL");
  assert_refused(*state, kedge_mesh_refine(*state, mesh, 1, NULL), KEDGE_ERR_ARG,
                 "kedge_mesh_refine: out is NULL");
  assert_refused(*state, kedge_mesh_write(*state, NULL, "a.msh", false), KEDGE_ERR_ARG,
                 "kedge_mesh_write: ctx, mesh or path is NULL");
  assert_refused(*state, kedge_mesh_write(*state, mesh, NULL, false), KEDGE_ERR_ARG,
                 "kedge_mesh_write: ctx, mesh or path is NULL");
  assert_null(out);
  kedge_mesh_destroy(mesh);
}

static void counts_are_known_without_the_mesh(void **state)
{
  static const char *const words[] = {"square 1", "square 14", "quads 9",         "mixed 6",
                                      "mixed 7",  "lshape 5",  "lshape 4 quads",  "ring 3 7",
                                      "ring 9 3", "disk 1",    "ring 2 11 quads", "disk 6"};
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
    kedge_mesh *mesh = generate(*state, words[i]);
    kg_form_size size;
    assert_ok(*state, kg_form_count(*state, words[i], &size));
    const int32_t wide = kg_mesh_quadrilaterals(mesh);
    assert_int_equal(size.elements[0], mesh->n_elements - wide);
    assert_int_equal(size.elements[1], wide);
    for (int g = 0; g < mesh->n_groups; ++g)
      if (mesh->groups[g].dimension == 1) assert_int_equal(mesh->groups[g].count % size.rim, 0);
    kedge_mesh_destroy(mesh);
  }
}

static void smaller_forms_keep_their_proportions(void **state)
{
  static const struct {
    const char *words;
    int times;
    const char *smaller;
  } cases[] = {{"square 6000", 4, "square 375"},
               {" lshape  33 quads ", 2, "lshape 8 quads"},
               {"ring 400 1000", 2, "ring 100 250"},
               {"ring 10 1000", 2, "ring 3 300"},
               {"ring 4000 3", 2, "ring 500 3"},
               {"ring 1 4000 quads", 3, "ring 1 124 quads"},
               {"disk 1", 5, "disk 1"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char smaller[KG_FORM_WORDS];
    assert_ok(*state, kg_form_smaller(*state, cases[i].words, cases[i].times, smaller));
    assert_string_equal(smaller, cases[i].smaller);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(square_has_its_counts_areas_and_groups),
      cmocka_unit_test(groups_of_the_square_are_where_their_names_say),
      cmocka_unit_test(diagonals_of_the_square_rise),
      cmocka_unit_test(lshape_lacks_its_lower_right_quarter),
      cmocka_unit_test(ring_has_a_hole_and_two_circles),
      cmocka_unit_test(checkerboards_keep_the_squares_of_an_even_sum),
      cmocka_unit_test(quads_makes_whole_squares_of_an_l_and_of_a_ring),
      cmocka_unit_test(a_disk_has_layers_of_six_sectors),
      cmocka_unit_test(counts_are_known_without_the_mesh),
      cmocka_unit_test(smaller_forms_keep_their_proportions),
      cmocka_unit_test(bad_words_are_named),
      cmocka_unit_test(null_arguments_are_refused),
      cmocka_unit_test(refining_keeps_area_and_groups_and_quarters_elements),
      cmocka_unit_test(children_lie_in_their_parent),
      cmocka_unit_test(a_refined_mesh_has_the_vertices_of_the_meshes_before),
      cmocka_unit_test(refining_nonsense_is_refused),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
