// Tetrahedra: K^e, F^e, u, q and u* are those of the equations of the method, integrated and solved
// in another way; polynomials come back; numbers of the literature of the method in space.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "compare.h"
#include "context.h"
#include "grid.h"
#include "ops/form/form.h"
#include "ops/local/tetrahedron/element.h"
#include "ops/local/tetrahedron/tetrahedron.h"
#include "space_element.h"

enum { MATERIALS = 5, OUTPUTS = 7, TENSORS = 4 };
enum { LOCAL, CONDENSED, U, FLUX, U_STAR, INDICATOR, MEANS };

/// Elements with vertices of their own, on the device of a context.
typedef struct range {
  op_case memory;  ///< of which only the pieces of device memory are used
  kg_cell_sizes size;
  int n_elements, n_groups, n_facets;
  double (*x)[4][3];
  int32_t *index;   ///< [lane]: materials
  uint32_t *facet;  ///< [element][4]
  kg_elements elements;
  kg_coefficient coefficient;
  double *load, *trace;  ///< on the host: [element][N], [facet][m]
} range;

/// Diffusion, reaction, stabilization and its scaling.
static const kg_material materials[MATERIALS] = {
    {.diffusion = 1.0, .reaction = 1.0, .stabilization = 1.0},
    {.diffusion = 3.0, .reaction = 0.0, .stabilization = 2.0},
    {.diffusion = 0.2, .reaction = 7.0, .stabilization = 0.5, .scaling = KEDGE_SCALING_H},
    {.diffusion = 5.0, .reaction = 0.3, .stabilization = 1.5, .scaling = KEDGE_SCALING_INVERSE_H},
    {.diffusion = 1e-3, .reaction = 0.0, .stabilization = 1e-3},
};

/// The element of a right corner, in other places, with random vertices, turned inside out if odd,
/// and of each four the last two with a hundredth of their height.
static void put_element(int e, double x[4][3])
{
  uint64_t seed = 77u + (unsigned)e;
  for (int v = 0; v < 4; ++v)
    for (int k = 0; k < 3; ++k) {
      const int corner = e % 2 == 1 && v > 1 ? 5 - v : v;
      x[v][k] = (corner == k + 1) + 0.2 * test_random(&seed);
      if (k == 2 && e % 4 > 1) x[v][k] *= 0.01;
      x[v][k] += 0.3 * e;
    }
}

static void range_create(range *r, int order, int n_elements)
{
  const int groups = (n_elements + KG_LANES - 1) / KG_LANES, lanes = groups * KG_LANES;
  const size_t sides = 4 * (size_t)lanes;
  *r = (range){.memory = {.ctx = ctx},
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
    put_element(e, r->x[e]);
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
  r->coefficient.constant =
      (kg_materials){.table = case_upload(m, materials, MATERIALS, sizeof *materials),
                     .index = case_upload(m, r->index, (size_t)lanes, sizeof *r->index)};
  free(vertex), free(side), free(reference);
}

static void range_destroy(range *r)
{
  case_release(&r->memory);
  free(r->x), free(r->index), free(r->facet), free(r->load), free(r->trace);
}

/// Element e by the book.
static space_element by_the_book(const range *r, int e)
{
  const kg_material *material = &materials[r->index[e]];
  const double k = material->diffusion;
  space_element book = {.diffusion = {k, 0, 0, k, 0, k}, .reaction = material->reaction};
  memcpy(book.x, r->x[e], sizeof book.x);
  for (int l = 0; l < 4; ++l) {
    const double h = sqrt(2.0 * space_element_area(&book, l));
    book.tau[l] =
        material->stabilization * (material->scaling == KEDGE_SCALING_H           ? h
                                   : material->scaling == KEDGE_SCALING_INVERSE_H ? 1.0 / h
                                                                                  : 1.0);
  }
  return book;
}

/// [group][rows][lane] of [element][rows], NaN in empty lanes.
static double *by_lane(const range *r, int rows, const double *by_element)
{
  const size_t count = (size_t)(r->n_groups * rows * KG_LANES);
  double *values = malloc(count * sizeof *values);
  assert_non_null(values);
  for (size_t i = 0; i < count; ++i) values[i] = NAN;
  for (int e = 0; e < r->n_elements; ++e)
    for (int i = 0; i < rows; ++i) values[kg_cell_at(e, rows, i)] = by_element[e * rows + i];
  return values;
}

static void count_rows(kg_cell_sizes z, int rows[OUTPUTS])
{
  const int of[OUTPUTS] = {z.n_packed, z.n_trace, z.n_modes, 3 * z.n_modes, z.n_star, 1, 4};
  memcpy(rows, of, sizeof of);
}

/// All that the form makes of a range of elements of `r` and of the arrays of that range, `out`
/// [group][rows][lane], to be freed.
static void run(range *r, const kg_elements *elements, const kg_coefficient *coefficient,
                const double *load, double *out[OUTPUTS])
{
  op_case *const m = &r->memory;
  const int lasting = m->n_lasting, groups = kg_elements_groups(elements);
  int rows[OUTPUTS];
  double *device[OUTPUTS];
  m->n_lasting = m->n_pieces;
  count_rows(r->size, rows);
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

static void run_all(range *r, double *out[OUTPUTS])
{
  double *load = by_lane(r, r->size.n_modes, r->load);
  run(r, &r->elements, &r->coefficient, load, out);
  free(load);
}

static void free_all(double *out[OUTPUTS])
{
  for (int k = 0; k < OUTPUTS; ++k) free(out[k]);
}

/// [rows] of element e, to be freed.
static double *of_element(const double *by_lanes, int e, int rows)
{
  double *values = malloc((size_t)rows * sizeof *values);
  assert_non_null(values);
  for (int i = 0; i < rows; ++i) values[i] = by_lanes[kg_cell_at(e, rows, i)];
  return values;
}

/// [n][n] of a packed matrix, to be freed.
static double *unpacked(int n, const double *packed)
{
  double *full = malloc((size_t)(n * n) * sizeof *full);
  assert_non_null(full);
  for (int i = 0; i < n * n; ++i) full[i] = packed[kg_packed_entry(i / n, i % n)];
  return full;
}

/// K^e and F^e of one lane are those of the book.
static void compare_local(const space_element *book, int order, const double *load,
                          const double *packed, const double *condensed)
{
  const int n = kg_cell_sizes_of(&kg_tetrahedron, order).n_trace;
  double *expected = malloc((size_t)(n * n + n) * sizeof *expected), *full = unpacked(n, packed);
  assert_non_null(expected);
  space_element_local(book, order, load, expected, expected + n * n);
  assert_close((size_t)(n * n), full, expected, 1e-12);
  assert_close((size_t)n, condensed, expected + n * n, 1e-12);
  free(expected), free(full);
}

static void local_matrices_are_those_of_the_equations(void **state)
{
  (void)state;
  static const int picked[] = {0, 1, 2, 3, 4, 6, 8, 32};  // all materials, straight and flat
  for (int order = 1; order <= KG_SPACE_ORDER_MAX; ++order) {
    range r;
    double *out[OUTPUTS];
    range_create(&r, order, 33);
    run_all(&r, out);
    const int packed = r.size.n_packed, n = r.size.n_trace;
    for (int k = 0; k < (order > 4 || test_is_quick() ? 3 : 8); ++k) {
      const int e = picked[(k + order) % 8];
      const space_element book = by_the_book(&r, e);
      double *local = of_element(out[LOCAL], e, packed), *f = of_element(out[CONDENSED], e, n);
      compare_local(&book, order, r.load + e * r.size.n_modes, local, f);
      free(local), free(f);
    }
    free_all(out);
    range_destroy(&r);
  }
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

/// One element with a tensor and a stabilization of its own on each facet, on the host.
typedef struct tensor_element {
  space_element book;
  kg_tetrahedron_factors factors;
  double *reference, *scratch;
  kg_tetrahedron_reference ref;
  kg_team team;
} tensor_element;

static void tensor_create(tensor_element *t, int order, int e)
{
  uint64_t seed = 1000u * (unsigned)order + (unsigned)e;
  kg_space_material material = {.reaction = e == 0 ? 0.0 : 1.0 + test_random(&seed)};
  put_element(e, t->book.x);
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

static void tensor_destroy(tensor_element *t)
{
  free(t->reference), free(t->scratch);
}

/// Memory of one lane, [rows][KG_LANES], with such values.
static double *lane_of(int rows, const double *values)
{
  double *lane = calloc((size_t)(rows * KG_LANES), sizeof *lane);
  assert_non_null(lane);
  for (int i = 0; values && i < rows; ++i) lane[i * KG_LANES] = values[i];
  return lane;
}

static void local_matrices_of_tensors_are_those_of_the_equations(void **state)
{
  (void)state;
  for (int order = 1; order <= KG_SPACE_ORDER_MAX; ++order)
    for (int e = order > 4 ? 2 : 0; e < TENSORS; ++e) {
      tensor_element t;
      tensor_create(&t, order, e);
      const int packed = t.ref.size.n_packed, n = t.ref.size.n_trace, N = t.ref.size.n_modes;
      double *load = case_randoms(8, (size_t)N), *f = lane_of(N, load);
      double *local = lane_of(packed, NULL), *condensed = lane_of(n, NULL);
      kg_tetrahedron_condense(&t.ref, &t.factors, t.team, t.scratch, f, local, condensed);
      double *k = of_element(local, 0, packed), *c = of_element(condensed, 0, n);
      compare_local(&t.book, order, load, k, c);
      free(load), free(f), free(local), free(condensed), free(k), free(c);
      tensor_destroy(&t);
    }
}

static void numbers_of_the_corner_element_are_known(void **state)
{
  (void)state;
  for (int order = 1; order <= 3; order += 2) {
    range r;
    double *out[OUTPUTS], trace = 0.0, sum = 0.0, square = 0.0;
    range_create(&r, order, 1);
    const double corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    r.elements.tetrahedra.vertices = case_upload(&r.memory, corner, 12, sizeof(double));
    run_all(&r, out);
    const int n = r.size.n_trace;
    double *packed = of_element(out[LOCAL], 0, r.size.n_packed), *k = unpacked(n, packed);
    for (int i = 0; i < n * n; ++i) {
      trace += i % (n + 1) == 0 ? k[i] : 0.0;
      sum += k[i];
      square += k[i] * k[i];
    }
    const double found[] = {trace, k[0], k[3], sum}, norm = sqrt(square);
    const double expected[] = {25.685760371579, 3.716401076533, -1.225531446792, 11.411011923315};
    if (order == 1)
      for (int i = 0; i < 4; ++i) assert_at_most(fabs(found[i] - expected[i]), 1e-12);
    else {
      assert_at_most(fabs(trace - 160.913923050351), 2e-12);
      assert_at_most(fabs(norm - 36.260714514011), 1e-12);
    }
    free(packed), free(k);
    free_all(out);
    range_destroy(&r);
  }
}

static void K_times_constants_is_zero_without_reaction(void **state)
{
  (void)state;
  for (int order = 1; order <= KG_SPACE_ORDER_MAX; ++order) {
    range r;
    double *out[OUTPUTS];
    range_create(&r, order, 12);
    run_all(&r, out);
    const int n = r.size.n_trace, m = r.size.n_facet, packed = r.size.n_packed;
    int without = 0;
    for (int e = 0; e < r.n_elements; ++e) {
      if (materials[r.index[e]].reaction != 0.0) continue;
      double *k = of_element(out[LOCAL], e, packed);
      for (int i = 0; i < n; ++i) {
        double sum = 0.0;
        for (int l = 0; l < 4; ++l) sum += k[kg_packed_entry(i, l * m)];
        assert_at_most(fabs(sum), 1e-12 * largest((size_t)packed, k));
      }
      free(k);
      ++without;
    }
    assert_int_equal(without, 5);
    free_all(out);
    range_destroy(&r);
  }
}

/// A polynomial and its equation.
typedef struct polynomial {
  int degree;
  double coefficient[KG_SPACE_ORDER_MAX + 1][KG_SPACE_ORDER_MAX + 1][KG_SPACE_ORDER_MAX + 1];
  double origin[3];
  space_element element;
} polynomial;

/// x^i, or its derivatives.
static long double power(long double x, int i, int derivative)
{
  long double value = 1.0L;
  for (; derivative > 0; --derivative) value *= i--;
  for (; i > 0; --i) value *= x;
  return value;
}

/// p, its gradient, and f = -div K grad p + c p.
static void polynomial_at(const void *context, const long double at[3], long double *value)
{
  const polynomial *p = context;
  const long double x = at[0] - p->origin[0], y = at[1] - p->origin[1], z = at[2] - p->origin[2];
  const double *const k = p->element.diffusion;
  static const int second[6][3] = {{2, 0, 0}, {1, 1, 0}, {1, 0, 1},
                                   {0, 2, 0}, {0, 1, 1}, {0, 0, 2}};
  for (int v = 0; v < 5; ++v) value[v] = 0.0L;
  for (int i = 0; i <= p->degree; ++i)
    for (int j = 0; i + j <= p->degree; ++j)
      for (int l = 0; i + j + l <= p->degree; ++l) {
        const long double c = p->coefficient[i][j][l];
        value[0] += c * power(x, i, 0) * power(y, j, 0) * power(z, l, 0);
        value[1] += c * power(x, i, 1) * power(y, j, 0) * power(z, l, 0);
        value[2] += c * power(x, i, 0) * power(y, j, 1) * power(z, l, 0);
        value[3] += c * power(x, i, 0) * power(y, j, 0) * power(z, l, 1);
        for (int d = 0; d < 6; ++d)
          value[4] -= (d == 0 || d == 3 || d == 5 ? 1.0L : 2.0L) * k[d] * c *
                      power(x, i, second[d][0]) * power(y, j, second[d][1]) *
                      power(z, l, second[d][2]);
      }
  value[4] += p->element.reaction * value[0];
}

static polynomial random_polynomial(int degree, const space_element *element)
{
  uint64_t seed = (unsigned)degree + 5u;
  polynomial p = {.degree = degree, .element = *element};
  for (int k = 0; k < 3; ++k) p.origin[k] = element->x[0][k];
  for (int i = 0; i <= degree; ++i)
    for (int j = 0; i + j <= degree; ++j)
      for (int l = 0; i + j + l <= degree; ++l) p.coefficient[i][j][l] = test_random(&seed);
  return p;
}

/// What the local solve and u* have to be where the solution is this polynomial.
typedef struct exact_solution {
  double *load, *trace, *u, *q, *u_star;
} exact_solution;

static exact_solution solution_of(const polynomial *p, int order)
{
  const kg_cell_sizes z = kg_cell_sizes_of(&kg_tetrahedron, order);
  const int N = z.n_modes;
  double *all = malloc((size_t)(5 * N + z.n_trace + 5 * z.n_star) * sizeof *all);
  assert_non_null(all);
  const exact_solution s = {all + 4 * N, all + 5 * N, all, all + N, all + 5 * N + z.n_trace};
  space_element_project(&p->element, order, 5, polynomial_at, p, all);
  space_element_project_trace(&p->element, order, polynomial_at, p, s.trace);
  space_element_project(&p->element, order + 1, 5, polynomial_at, p, s.u_star);
  for (int i = 0; i < N; ++i) s.load[i] *= space_element_jacobian(&p->element);
  return s;
}

/// @param[in] flat  of whose 1e-2 of height derivatives make 1e2 of rounding
static void assert_solution(const exact_solution *s, kg_cell_sizes z, bool flat, const double *u,
                            const double *q, const double *u_star)
{
  const double much = flat ? 100.0 : 1.0;
  assert_close((size_t)z.n_modes, u, s->u, 1e-12 * much);
  assert_close((size_t)(3 * z.n_modes), q, s->q, 1e-12 * much);
  assert_close((size_t)z.n_star, u_star, s->u_star, 1e-12 * much);
}

static void polynomials_come_back(void **state)
{
  (void)state;
  for (int order = 1; order <= KG_SPACE_ORDER_MAX; ++order) {
    range r;
    double *out[OUTPUTS];
    enum { ELEMENTS = 9 };
    exact_solution exact[ELEMENTS];
    range_create(&r, order, ELEMENTS);
    const int N = r.size.n_modes, m = r.size.n_facet;
    for (int e = 0; e < ELEMENTS; ++e) {
      const space_element book = by_the_book(&r, e);
      const polynomial p = random_polynomial(order, &book);
      exact[e] = solution_of(&p, order);
      memcpy(r.load + e * N, exact[e].load, (size_t)N * sizeof(double));
      for (int c = 0; c < 4 * m; ++c)
        r.trace[(int)r.facet[4 * e + c / m] * m + c % m] = exact[e].trace[c];
    }
    run_all(&r, out);
    for (int e = 0; e < ELEMENTS; ++e) {
      double *u = of_element(out[U], e, N), *q = of_element(out[FLUX], e, 3 * N);
      double *star = of_element(out[U_STAR], e, r.size.n_star);
      assert_solution(&exact[e], r.size, e % 4 > 1, u, q, star);
      assert_at_most(out[INDICATOR][e], 1e-10);
      free(u), free(q), free(star), free(exact[e].u);
    }
    free_all(out);
    range_destroy(&r);
  }
}

static void polynomials_come_back_with_tensors(void **state)
{
  (void)state;
  for (int order = 1; order <= KG_SPACE_ORDER_MAX; ++order)
    for (int e = 0; e < TENSORS; ++e) {
      tensor_element t;
      tensor_create(&t, order, e);
      const kg_cell_sizes z = t.ref.size;
      const int N = z.n_modes;
      const polynomial p = random_polynomial(order, &t.book);
      const exact_solution exact = solution_of(&p, order);
      double *f = lane_of(N, exact.load), *u = lane_of(N, NULL), *q = lane_of(3 * N, NULL);
      double *star = lane_of(z.n_star, NULL), indicator;
      memcpy(t.scratch, exact.trace, (size_t)z.n_trace * sizeof(double));
      kg_tetrahedron_solve(&t.ref, &t.factors, t.team, t.scratch, f, u, q);
      kg_tetrahedron_star(&t.ref, &t.factors, t.team, t.scratch, u, q, star, &indicator);
      double *u_e = of_element(u, 0, N), *q_e = of_element(q, 0, 3 * N);
      double *star_e = of_element(star, 0, z.n_star);
      assert_solution(&exact, z, e > 1, u_e, q_e, star_e);
      free(f), free(u), free(q), free(star), free(u_e), free(q_e), free(star_e), free(exact.u);
      tensor_destroy(&t);
    }
}

static void u_star_follows_q_and_has_the_mean_of_u(void **state)
{
  (void)state;
  for (int order = 1; order <= KG_SPACE_ORDER_MAX; ++order) {
    range r;
    double *out[OUTPUTS];
    range_create(&r, order, 5);
    run_all(&r, out);
    const int N = r.size.n_modes;
    for (int e = 0; e < r.n_elements; ++e) {
      const space_element book = by_the_book(&r, e);
      double residual, scale, difference;
      double *u = of_element(out[U], e, N), *q = of_element(out[FLUX], e, 3 * N);
      double *star = of_element(out[U_STAR], e, r.size.n_star);
      space_element_star(&book, order, u, q, star, &residual, &scale, &difference);
      assert_at_most(residual, 1e-12 * scale);
      assert_true(star[0] == u[0]);
      assert_at_most(fabs(out[INDICATOR][e] - difference), 1e-12 * difference);
      free(u), free(q), free(star);
    }
    free_all(out);
    range_destroy(&r);
  }
}

static void means_are_the_constant_modes(void **state)
{
  (void)state;
  range r;
  double *out[OUTPUTS];
  range_create(&r, 2, 33);
  run_all(&r, out);
  const int N = r.size.n_modes;
  for (int e = 0; e < r.n_elements; ++e) {
    assert_true(out[MEANS][kg_cell_at(e, 4, 0)] == out[U][kg_cell_at(e, N, 0)]);
    for (int k = 0; k < 3; ++k)
      assert_true(out[MEANS][kg_cell_at(e, 4, k + 1)] == out[FLUX][kg_cell_at(e, 3 * N, k * N)]);
  }
  free_all(out);
  range_destroy(&r);
}

static void empty_lanes_have_zero_local_matrices(void **state)
{
  (void)state;
  static const int sizes[] = {1, 33};
  for (int order = 1; order <= KG_SPACE_ORDER_MAX; ++order)
    for (int s = 0; s < 2; ++s) {
      range r;
      double *out[OUTPUTS];
      range_create(&r, order, sizes[s]);
      run_all(&r, out);
      const int packed = r.size.n_packed, n = r.size.n_trace;
      for (int lane = 0; lane < r.n_groups * KG_LANES; ++lane) {
        const bool empty = lane >= r.n_elements;
        for (int i = 0; i < packed; ++i) {
          const double entry = out[LOCAL][kg_cell_at(lane, packed, i)];
          assert_true(empty ? entry == 0.0 : isfinite(entry));
        }
        for (int i = 0; i < n; ++i) {
          const double entry = out[CONDENSED][kg_cell_at(lane, n, i)];
          assert_true(empty ? entry == 0.0 : isfinite(entry));
        }
      }
      free_all(out);
      range_destroy(&r);
    }
}

/// Lanes that have an element hold the same bits.
static void assert_same(const range *r, int first_group, double *const all[OUTPUTS],
                        double *const part[OUTPUTS])
{
  int rows[OUTPUTS];
  count_rows(r->size, rows);
  for (int k = 0; k < OUTPUTS; ++k)
    for (int e = first_group * KG_LANES; e < r->n_elements; ++e)
      for (int i = 0; i < rows[k]; ++i)
        assert_true(all[k][kg_cell_at(e, rows[k], i)] ==
                    part[k][kg_cell_at(e - first_group * KG_LANES, rows[k], i)]);
}

static void a_part_gives_what_the_whole_does_bit_for_bit(void **state)
{
  (void)state;
  for (int order = 1; order <= KG_SPACE_ORDER_MAX; ++order) {
    range r;
    double *all[OUTPUTS], *again[OUTPUTS], *part[OUTPUTS];
    range_create(&r, order, 33);
    const kg_elements second = kg_elements_part(&r.elements, 1, 5);
    kg_coefficient coefficient = r.coefficient;
    coefficient.constant.index += KG_LANES;
    assert_int_equal(second.n_elements, 1);
    assert_int_equal(second.tetrahedra.n_elements, 1);
    double *load = by_lane(&r, r.size.n_modes, r.load);
    run(&r, &r.elements, &r.coefficient, load, all);
    run(&r, &r.elements, &r.coefficient, load, again);
    run(&r, &second, &coefficient, load + r.size.n_modes * KG_LANES, part);
    assert_same(&r, 0, all, again);
    assert_same(&r, 1, all, part);
    free(load);
    free_all(all), free_all(again), free_all(part);
    range_destroy(&r);
  }
}

/// Run with another context in place of that of the tests.
static void run_elsewhere(kedge_context *other, int order, int n_elements, double *out[OUTPUTS])
{
  kedge_context *const own = ctx;
  range r;
  ctx = other;
  range_create(&r, order, n_elements);
  run_all(&r, out);
  range_destroy(&r);
  ctx = own;
}

static void one_thread_of_the_host_gives_the_same(void **state)
{
  (void)state;
  kedge_context *const host = open_backend(KEDGE_BACKEND_HOST, 1);
  for (int order = 1; order <= KG_SPACE_ORDER_MAX; ++order) {
    range r;
    double *expected[OUTPUTS], *out[OUTPUTS];
    int rows[OUTPUTS];
    range_create(&r, order, 33);
    count_rows(r.size, rows);
    run_all(&r, out);
    run_elsewhere(host, order, 33, expected);
    if (ctx->backend == KEDGE_BACKEND_HOST)
      assert_same(&r, 0, expected, out);
    else
      for (int e = 0; e < r.n_elements; ++e)
        for (int k = 0; k < OUTPUTS; ++k) {
          double *a = of_element(out[k], e, rows[k]), *b = of_element(expected[k], e, rows[k]);
          assert_close((size_t)rows[k], a, b, 1e-12);
          free(a), free(b);
        }
    free_all(out), free_all(expected);
    range_destroy(&r);
  }
  kedge_context_destroy(host);
}

static void costs_are_those_of_so_many_elements(void **state)
{
  (void)state;
  const kg_form *const form = &kg_form_elliptic;
  kg_elements one = {
      .cell = &kg_tetrahedron, .size = kg_cell_sizes_of(&kg_tetrahedron, 3), .n_elements = 1};
  kg_elements many = one;
  many.n_elements = 10;
  const kg_cost a[] = {form->make_cost(&one, KG_LAYOUT_PACKED), form->recover_cost(&one),
                       form->postprocess_cost(&one), form->means_cost(&one)};
  const kg_cost b[] = {form->make_cost(&many, KG_LAYOUT_PACKED), form->recover_cost(&many),
                       form->postprocess_cost(&many), form->means_cost(&many)};
  for (int k = 0; k < 4; ++k) {
    assert_true(a[k].bytes > 0.0 && b[k].bytes == 10.0 * a[k].bytes);
    assert_at_most(fabs(b[k].flops - 10.0 * a[k].flops), 1e-12 * b[k].flops);
  }
  assert_true(a[0].bytes >= 6560.0 && a[0].flops > 2.0 * 20 * 840);  // K^e, and its sums
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(local_matrices_are_those_of_the_equations),
      cmocka_unit_test(local_matrices_of_tensors_are_those_of_the_equations),
      cmocka_unit_test(numbers_of_the_corner_element_are_known),
      cmocka_unit_test(K_times_constants_is_zero_without_reaction),
      cmocka_unit_test(polynomials_come_back),
      cmocka_unit_test(polynomials_come_back_with_tensors),
      cmocka_unit_test(u_star_follows_q_and_has_the_mean_of_u),
      cmocka_unit_test(means_are_the_constant_modes),
      cmocka_unit_test(empty_lanes_have_zero_local_matrices),
      cmocka_unit_test(a_part_gives_what_the_whole_does_bit_for_bit),
      cmocka_unit_test(one_thread_of_the_host_gives_the_same),
      cmocka_unit_test(costs_are_those_of_so_many_elements),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
