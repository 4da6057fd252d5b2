#include "space_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grid.h"

const kg_space_material space_materials[MATERIALS] = {
    {.diffusion = {1, 0, 0, 1, 0, 1}, .reaction = 1.0, .stabilization = 1.0},
    {.diffusion = {3, 0, 0, 3, 0, 3}, .reaction = 0.0, .stabilization = 2.0},
    {.diffusion = {0.2, 0.1, 0, 0.3, -0.05, 0.1},
     .reaction = 7.0,
     .stabilization = 0.5,
     .scaling = KEDGE_SCALING_H},
    {.diffusion = {5, 0, 0, 5, 0, 5},
     .reaction = 0.3,
     .stabilization = 1.5,
     .scaling = KEDGE_SCALING_INVERSE_H},
    {.diffusion = {1e-3, 2e-4, -3e-4, 2e-3, 5e-4, 4e-3}, .stabilization = 0.7, .by_normal = true},
};

/// The determinant of the sides from vertex 0.
static double determinant(double x[4][3])
{
  double side[3][3], normal[3];
  for (int i = 0; i < 9; ++i) side[i / 3][i % 3] = x[i / 3 + 1][i % 3] - x[0][i % 3];
  kg_space_cross(side[1], side[2], normal);
  return kg_space_dot(side[0], normal);
}

void space_case_put_element(int e, double x[4][3])
{
  uint64_t seed = 77u + (unsigned)e;
  for (int v = 0; v < 4; ++v)
    for (int k = 0; k < 3; ++k) {
      const int corner = e % 2 == 1 && v > 1 ? 5 - v : v;
      x[v][k] = (corner == k + 1) + 0.2 * test_random(&seed);
      if (k == 2 && e % 4 > 1) x[v][k] *= 0.01;
      x[v][k] += 0.3 * e;
    }
  assert_true((determinant(x) < 0.0) == (e % 2 == 1));
}

void space_case_create(space_case *r, kedge_context *ctx, int order, int n_elements)
{
  const int groups = (n_elements + KG_LANES - 1) / KG_LANES, lanes = groups * KG_LANES;
  const size_t sides = 4 * (size_t)lanes;
  *r = (space_case){.memory = {.ctx = ctx},
                    .size = kg_cell_sizes_of(&kg_tetrahedron, order),
                    .n_elements = n_elements,
                    .n_groups = groups,
                    .n_facets = 4 * n_elements};
  r->x = calloc((size_t)n_elements, sizeof *r->x);
  r->index = calloc((size_t)lanes, sizeof *r->index);
  r->facet = calloc(sides, sizeof *r->facet);
  r->load = case_randoms(3, (size_t)(n_elements * r->size.n_modes));
  r->trace = case_randoms(4, (size_t)(r->n_facets * r->size.n_facet));
  int32_t *vertex = calloc(sides, sizeof *vertex);
  uint32_t *side = calloc(sides, sizeof *side);
  double *reference;
  assert_true(r->x && r->index && r->facet && vertex && side);
  for (int e = 0; e < n_elements; ++e) {
    space_case_put_element(e, r->x[e]);
    r->index[e] = e % MATERIALS;
    for (int l = 0; l < 4; ++l) {
      vertex[kg_lane_side(4, e, l)] = 4 * e + l;
      r->facet[4 * e + l] = (uint32_t)(r->n_facets - 1 - 4 * e - l);
      side[kg_lane_side(4, e, l)] = r->facet[4 * e + l] << 1;
    }
  }
  must(ctx, kg_tetrahedron_reference_create(ctx, order, &reference));
  const size_t count = kg_tetrahedron_reference_count(order);
  op_case *const m = &r->memory;
  r->elements = (kg_elements){
      .cell = &kg_tetrahedron,
      .size = r->size,
      .n_elements = n_elements,
      .tetrahedra = {.reference = kg_tetrahedron_reference_at(
                         order, case_upload(m, reference, count, sizeof(double))),
                     .n_elements = n_elements,
                     .vertices = case_upload(m, r->x, (size_t)n_elements, sizeof *r->x),
                     .vertex = case_upload(m, vertex, sides, sizeof *vertex),
                     .side_edge = case_upload(m, side, sides, sizeof *side)}};
  r->coefficient.space = (kg_space_materials){
      .table = case_upload(m, space_materials, MATERIALS, sizeof *space_materials),
      .index = case_upload(m, r->index, (size_t)lanes, sizeof *r->index)};
  free(vertex), free(side), free(reference);
}

void space_case_destroy(space_case *r)
{
  case_release(&r->memory);
  free(r->x), free(r->index), free(r->facet), free(r->load), free(r->trace);
}

/// n . K n of a facet.
static double along_normal(const space_element *e, int l)
{
  const int *const c = kg_tetrahedron.facet_corner[l];
  double a[3], b[3], n[3], turned[3];
  for (int k = 0; k < 3; ++k) {
    a[k] = e->x[c[1]][k] - e->x[c[0]][k];
    b[k] = e->x[c[2]][k] - e->x[c[0]][k];
  }
  kg_space_cross(a, b, n);
  kg_space_turn(e->diffusion, n, turned);
  return kg_space_dot(turned, n) / kg_space_dot(n, n);
}

space_element space_case_book(const space_case *r, int e)
{
  const kg_space_material *const material = &space_materials[r->index[e]];
  space_element book = {.reaction = material->reaction};
  memcpy(book.diffusion, material->diffusion, sizeof book.diffusion);
  memcpy(book.x, r->x[e], sizeof book.x);
  for (int l = 0; l < 4; ++l) {
    const double h = sqrt(2.0 * space_element_area(&book, l));
    book.tau[l] =
        material->stabilization * (material->by_normal                    ? along_normal(&book, l)
                                   : material->scaling == KEDGE_SCALING_H ? h
                                   : material->scaling == KEDGE_SCALING_INVERSE_H ? 1.0 / h
                                                                                  : 1.0);
  }
  return book;
}

double *space_case_lanes(const space_case *r, int rows, const double *by_element)
{
  const size_t count = (size_t)(r->n_groups * rows * KG_LANES);
  double *values = malloc(count * sizeof *values);
  assert_non_null(values);
  for (size_t i = 0; i < count; ++i) values[i] = NAN;
  for (int e = 0; e < r->n_elements; ++e)
    for (int i = 0; i < rows; ++i) values[kg_cell_at(e, rows, i)] = by_element[e * rows + i];
  return values;
}

void space_case_rows(kg_cell_sizes z, int rows[OUTPUTS])
{
  const int of[OUTPUTS] = {z.n_packed, z.n_trace, z.n_modes, 3 * z.n_modes, z.n_star, 1, 4};
  memcpy(rows, of, sizeof of);
}

void space_case_run(space_case *r, const kg_elements *elements, const kg_coefficient *coefficient,
                    const double *load, double *out[OUTPUTS])
{
  op_case *const m = &r->memory;
  kedge_context *const ctx = m->ctx;
  const int lasting = m->n_lasting, groups = kg_elements_groups(elements);
  int rows[OUTPUTS];
  double *device[OUTPUTS];
  m->n_lasting = m->n_pieces;
  space_case_rows(r->size, rows);
  const double *f = case_input(m, load, (size_t)(groups * r->size.n_modes * KG_LANES));
  const double *trace = case_input(m, r->trace, (size_t)(r->n_facets * r->size.n_facet));
  for (int k = 0; k < OUTPUTS; ++k)
    device[k] = case_output(m, (size_t)(groups * rows[k] * KG_LANES));
  const kg_local local = {.data = device[LOCAL], .layout = KG_LAYOUT_PACKED, .number = KG_DOUBLE};
  const kg_form *const form = &kg_form_elliptic;
  must(ctx, form->make(ctx, elements, coefficient, f, local, device[CONDENSED]));
  must(ctx, form->recover(ctx, elements, coefficient, f, trace, device[U], device[FLUX]));
  must(ctx, form->postprocess(ctx, elements, coefficient, device[U], device[FLUX], device[U_STAR],
                              device[INDICATOR]));
  must(ctx, form->means(ctx, elements, coefficient, device[U], device[FLUX], device[MEANS]));
  for (int k = 0; k < OUTPUTS; ++k) out[k] = case_fetch(m, device[k]);
  case_release(m);
  m->n_lasting = lasting;
}

void space_case_run_all(space_case *r, double *out[OUTPUTS])
{
  double *load = space_case_lanes(r, r->size.n_modes, r->load);
  space_case_run(r, &r->elements, &r->coefficient, load, out);
  free(load);
}

void space_case_free(double *out[OUTPUTS])
{
  for (int k = 0; k < OUTPUTS; ++k) free(out[k]);
}

double *space_case_element(const double *by_lanes, int e, int rows)
{
  double *values = malloc((size_t)rows * sizeof *values);
  assert_non_null(values);
  for (int i = 0; i < rows; ++i) values[i] = by_lanes[kg_cell_at(e, rows, i)];
  return values;
}

/// A symmetric positive definite tensor, C C^T with random C.
static void put_tensor(uint64_t *seed, double k[6])
{
  double c[3][3];
  for (int i = 0; i < 9; ++i) c[i / 3][i % 3] = (i % 4 == 0) + 0.6 * test_random(seed);
  for (int i = 0, p = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j, ++p)
      k[p] = c[i][0] * c[j][0] + c[i][1] * c[j][1] + c[i][2] * c[j][2];
}

void space_tensor_create(space_tensor *t, kedge_context *ctx, int order, int e)
{
  uint64_t seed = 1000u * (unsigned)order + (unsigned)e;
  kg_space_material material = {.reaction = e == 0 ? 0.0 : 1.0 + test_random(&seed)};
  space_case_put_element(e, t->book.x);
  put_tensor(&seed, material.diffusion);
  kg_tetrahedron_factors_of(t->book.x, &material, &t->factors);
  memcpy(t->book.diffusion, material.diffusion, sizeof material.diffusion);
  t->book.reaction = material.reaction;
  for (int l = 0; l < 4; ++l) {
    t->book.tau[l] = 2.0 + test_random(&seed);
    t->factors.tau[l] = t->book.tau[l] * 0.5 * space_element_area(&t->book, l);
  }
  must(ctx, kg_tetrahedron_reference_create(ctx, order, &t->reference));
  t->ref = kg_tetrahedron_reference_at(order, t->reference);
  const size_t make = kg_tetrahedron_make_scratch(t->ref.size);
  const size_t star = kg_tetrahedron_postprocess_scratch(t->ref.size);
  t->scratch = calloc(make > star ? make : star, sizeof(double));
  assert_non_null(t->scratch);
  t->team = (kg_team){.scratch = t->scratch, .threads = 1};
}

void space_tensor_destroy(space_tensor *t)
{
  free(t->reference), free(t->scratch);
}

double *space_lane(int rows, const double *values)
{
  double *lane = calloc((size_t)(rows * KG_LANES), sizeof *lane);
  assert_non_null(lane);
  for (int i = 0; values && i < rows; ++i) lane[i * KG_LANES] = values[i];
  return lane;
}
