// What multigrid smooths with refuses a matrix that is not positive definite, by the place.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/edge_blocks.h"
#include "systems.h"

static void create(trace_system *s, kedge_smoother smoother)
{
  system_create(s, ctx,
                (system_options){.n_elements = 257,
                                 .order = 5,
                                 .boundary = CASE_MIXED,
                                 .material = {0.8, 0.3, 1.0, KEDGE_SCALING_ONE},
                                 .smoother = smoother,
                                 .smoothing_steps = 1,
                                 .solver = &exact_coarse});
}

/// K^e in device memory, multiplied by `factor` from an element's group on.
static kg_local spoilt(trace_system *s, double factor, int32_t first_group)
{
  const size_t group = (size_t)s->c.size.n_packed * KG_LANES;
  const size_t n = group * (size_t)s->c.batch.count.n_groups;
  double *local = malloc(n * sizeof *local);
  assert_non_null(local);
  for (size_t i = 0; i < n; ++i)
    local[i] = i < group * (size_t)first_group ? s->local[i] : factor * s->local[i];
  const kg_local device = {case_input(&s->c, local, n), KG_DOUBLE, KG_LOCAL_PACKED};
  free(local);
  return device;
}

static void assert_refused(kedge_status status, const char *sentence)
{
  assert_int_equal(status, KEDGE_ERR_NUMERIC);
  if (!strstr(kedge_context_error(ctx), sentence))
    fail_msg("'%s' says nothing of '%s'", kedge_context_error(ctx), sentence);
}

/// Coordinates of vertex l of an element.
static const double *corner(const trace_system *s, int32_t e, int l)
{
  return s->c.mesh->vertices + 2 * (size_t)s->c.mesh->element_vertices[3 * e + l % 3];
}

static void an_edge_whose_block_has_no_inverse_is_named(void **state)
{
  (void)state;
  const double factors[] = {-1.0, NAN, 0.0};
  for (int i = 0; i < 3; ++i) {
    trace_system s;
    create(&s, KEDGE_SMOOTHER_EDGE);
    const int32_t side = s.c.mesh->edge_sides[2 * s.c.layout.mesh_edge[0]];
    const double *from = corner(&s, side / 3, side % 3), *to = corner(&s, side / 3, side % 3 + 1);
    char sentence[128];
    snprintf(sentence, sizeof sentence, "cannot smooth on the edge from (%g, %g) to (%g, %g)",
             from[0], from[1], to[0], to[1]);
    assert_refused(kg_smoother_make(ctx, &s.multigrid.smoother, &s.c.batch,
                                    spoilt(&s, factors[i], 0), (int32_t *)case_output(&s.c, 1)),
                   sentence);
    system_destroy(&s);
  }
}

static void an_element_whose_block_has_no_inverse_is_named(void **state)
{
  (void)state;
  trace_system s;
  create(&s, KEDGE_SMOOTHER_ELEMENT);
  double centre[2] = {0.0, 0.0};
  for (int l = 0; l < 3; ++l)
    for (int k = 0; k < 2; ++k) centre[k] += corner(&s, 0, l)[k] / 3;
  char sentence[128];
  snprintf(sentence, sizeof sentence,
           "smoother = element cannot invert the block of the element around (%g, %g)", centre[0],
           centre[1]);
  assert_refused(kg_smoother_make(ctx, &s.multigrid.smoother, &s.c.batch, spoilt(&s, -1.0, 0),
                                  (int32_t *)case_output(&s.c, 1)),
                 sentence);
  system_destroy(&s);
}

/// The lowest vertex that carries an unknown and is a corner of an element of a group from `first` on.
static int32_t lowest_vertex(trace_system *s, int32_t first, const int32_t *edge_row)
{
  int32_t lowest = INT32_MAX, vertex = -1;
  for (int32_t f = 0; f < s->c.batch.count.n_free; ++f) {
    const int32_t side = s->c.mesh->edge_sides[2 * s->c.layout.mesh_edge[f]];
    const int32_t *of = s->c.mesh->element_vertices + 3 * (side / 3);
    const int32_t a = of[side % 3], b = of[(side + 1) % 3];
    for (int end = 0; end < 2; ++end) {
      const int32_t v = (a < b) == (end == 0) ? a : b;
      bool spoilt_there = false;
      for (int32_t i = 3 * KG_LANES * first; i < 3 * s->c.mesh->n_elements; ++i)
        spoilt_there = spoilt_there || s->c.mesh->element_vertices[i] == v;
      if (edge_row[2 * f + end] < 0 || edge_row[2 * f + end] >= lowest || !spoilt_there) continue;
      lowest = edge_row[2 * f + end];
      vertex = v;
    }
  }
  return vertex;
}

static void a_vertex_whose_mode_has_no_positive_energy_is_named(void **state)
{
  (void)state;
  const double factors[] = {-1e3, NAN, INFINITY};
  for (int i = 0; i < 9; ++i) {
    trace_system s;
    create(&s, KEDGE_SMOOTHER_EDGE);
    const int32_t first = i / 3 * 3;
    int32_t *edge_row = system_fetch(&s, s.multigrid.space.edge_row,
                                     2 * (size_t)s.c.batch.count.n_free * sizeof *edge_row);
    const double *at = s.c.mesh->vertices + 2 * (size_t)lowest_vertex(&s, first, edge_row);
    char sentence[128];
    snprintf(sentence, sizeof sentence, "cannot smooth at the vertex (%g, %g)", at[0], at[1]);
    const size_t groups = (size_t)s.c.batch.count.n_groups;
    assert_refused(
        kg_vertex_modes_fill(
            ctx, &(kg_vertex_modes_args){.batch = s.c.batch,
                                         .local = spoilt(&s, factors[i % 3], first),
                                         .modes = s.multigrid.modes,
                                         .element = case_output(&s.c, 3 * KG_LANES * groups),
                                         .fault = (int32_t *)case_output(&s.c, 1)}),
        sentence);
    free(edge_row);
    system_destroy(&s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_edge_whose_block_has_no_inverse_is_named),
      cmocka_unit_test(an_element_whose_block_has_no_inverse_is_named),
      cmocka_unit_test(a_vertex_whose_mode_has_no_positive_energy_is_named),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
