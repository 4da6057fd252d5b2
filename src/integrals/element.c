#include "integrals/element.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basis/polynomials.h"
#include "basis/roughness.h"
#include "core/memory.h"
#include "problem/located.h"

enum {
  /// Points that are evaluated at once; a row, in space a layer, is not cut.
  POINTS = KG_QUADRATURE_MAX * KG_QUADRATURE_MAX,
  MODES_MAX = KG_INTEGRALS_MAX,
  COST_IN_SPACE = 4,  ///< of a part: the most work is then that of the plane
};

static size_t numbers_of(const kg_cell *cell, int rows)
{
  const size_t points = (size_t)kg_cell_rule_points(cell, rows);
  return (size_t)(cell->dimension + 1) * points + (size_t)cell->dimension * (size_t)rows;
}

/// Lay out a rule in an array. @return what is behind it
static double *lay_out(const kg_cell *cell, int rows, int order, double *at, kg_part_rule *to)
{
  *to = (kg_part_rule){.cell = cell,
                       .rows = rows,
                       .n_modes = cell->n_modes(order),
                       .n = kg_cell_rule_points(cell, rows)};
  for (int k = 0; k < cell->dimension; ++k, at += to->n) to->at[k] = at;
  to->weight = at;
  to->top = at + to->n;
  to->top_of_row = to->top + rows;
  to->top_of_layer = cell->dimension == 3 ? to->top_of_row + rows : NULL;
  return to->top + cell->dimension * rows;
}

/// Fill a rule whose arrays are there.
/// @param[in] wide  work: [dimension + 1][points]
static void fill(kg_part_rule *to, long double *wide)
{
  const int rows = to->rows, n = to->n, dimension = to->cell->dimension;
  double x[KG_GAUSS_MAX], w[KG_GAUSS_MAX];
  to->cell->rule(rows, (long double *const[]){wide, wide + n, wide + 2 * n}, wide + dimension * n);
  for (int k = 0; k < dimension; ++k) kg_round_all(n, wide + k * n, to->at[k]);
  kg_round_all(n, wide + dimension * n, to->weight);
  kg_gauss_jacobi(rows, 0, x, w);
  kg_roughness_top(rows, x, w, to->top);
  kg_gauss_jacobi(rows, to->cell == &kg_quadrilateral ? 0 : 1, x, w);
  kg_roughness_top(rows, x, w, to->top_of_row);
  if (dimension == 2) return;
  kg_gauss_jacobi(rows, 2, x, w);
  kg_roughness_top(rows, x, w, to->top_of_layer);
}

/// The numbers of the recurrence of Jacobi polynomials that follow the one of degree n.
static void put_step(int n, double alpha, double step[3])
{
  double c[4] = {1.0, 0.5 * alpha, 0.5 * (alpha + 2.0), 0.0};  // of degree 1
  if (n > 0) kg_jacobi_recurrence(n, alpha, c);
  for (int k = 0; k < 3; ++k) step[k] = c[k + 1] / c[0];
}

/// Numbers of the recurrence along s of the modes that begin with each degree along r, and norms.
static void fill_steps(int order, double (*step)[KEDGE_ORDER_MAX + 1][4])
{
  for (int i = 0; i <= order; ++i)
    for (int j = 0; i + j <= order; ++j) {
      const double alpha = 2.0 * i + 1.0;
      put_step(j, alpha, step[i][j]);
      step[i][j][3] = sqrt(0.5 * alpha * (i + j + 1));
    }
}

kedge_status kg_element_integrals_open(kedge_context *ctx, const kedge_mesh *mesh,
                                       const kg_function *function, int order,
                                       const int rows[KG_CELL_KINDS], kg_element_integrals *out)
{
  *out = (kg_element_integrals){.mesh = mesh, .function = function, .order = order};
  fill_steps(order, out->step);
  for (int i = 0; i <= order; ++i)
    for (int j = 0; i + j <= order; ++j) put_step(j, 2.0 * i + 2.0, out->step_of_layer[i][j]);
  size_t n = 0, most = 0;
  for (int b = 0; b < mesh->n_blocks; ++b) {
    const kg_cell *const cell = mesh->block[b].cell;
    const size_t numbers = numbers_of(cell, rows[kg_cell_index(cell)]);
    n += numbers;
    most = numbers > most ? numbers : most;
  }
  long double *wide;
  KG_TRY(kg_function_bring(function));
  KG_TRY(kg_host_alloc(ctx, most, sizeof *wide, &wide));
  const kedge_status status = kg_host_alloc(ctx, n, sizeof *out->memory, &out->memory);
  double *at = out->memory;
  for (int b = 0; status == KEDGE_OK && b < mesh->n_blocks; ++b) {
    const kg_cell *cell = mesh->block[b].cell;
    const int k = kg_cell_index(cell);
    if (mesh->block[b].n == 0) continue;
    at = lay_out(cell, rows[k], order, at, &out->rule[k]);
    fill(&out->rule[k], wide);
  }
  free(wide);
  return status;
}

void kg_element_integrals_close(kg_element_integrals *of)
{
  free(of->memory);
  *of = (kg_element_integrals){0};
}

/// Points of an element: where they are, and values times weights and determinants of the map.
typedef struct points {
  double r[POINTS], s[POINTS], t[POINTS];
  double x[POINTS], y[POINTS], z[POINTS], weight[POINTS];
  double located[KG_LOCATED * POINTS], value[POINTS];
} points;

/// Functions of the map of a straight element: values and derivatives, as kg_cell.map has them.
static void straight_map(bool triangle, double r, double s, double *shape)
{
  const double a = 0.5 * (1.0 + r), b = 0.5 * (1.0 + s);
  if (triangle) {
    const double values[9] = {1.0 - a - b, a, b, -0.5, 0.5, 0.0, -0.5, 0.0, 0.5};
    memcpy(shape, values, sizeof values);
    return;
  }
  const double c = 1.0 - a, d = 1.0 - b;
  const double values[12] = {c * d,   a * d,    a * b,    c * b,    -0.5 * d, 0.5 * d,
                             0.5 * b, -0.5 * b, -0.5 * c, -0.5 * a, 0.5 * a,  0.5 * c};
  memcpy(shape, values, sizeof values);
}

/// Place a point of an element. @return the determinant of its map
static double place(const kedge_mesh *mesh, const kg_cell *cell, int32_t element, double r,
                    double s, double at[2])
{
  double d[2][2] = {{0.0}}, shape[3 * KG_NODES_MAX];
  const bool curved = mesh->nodes != NULL;
  const int32_t *const vertex = kg_element_vertices(mesh, element);
  const int n = curved ? cell->n_modes(mesh->geometry) : cell->n_vertices;
  if (curved) {
    long double wide[3 * KG_NODES_MAX];
    cell->map(mesh->geometry, (const long double[]){r, s}, wide);
    kg_round_all(3 * n, wide, shape);
  } else {
    straight_map(cell == &kg_triangle, r, s, shape);
  }
  at[0] = at[1] = 0.0;
  for (int l = 0; l < n; ++l) {
    const double *const v =
        curved ? kg_element_nodes(mesh, element) + 2 * l : mesh->vertices + 2 * (size_t)vertex[l];
    for (int k = 0; k < 2; ++k) {
      at[k] += shape[l] * v[k];
      d[k][0] += shape[n + l] * v[k];
      d[k][1] += shape[2 * n + l] * v[k];
    }
  }
  return d[0][0] * d[1][1] - d[0][1] * d[1][0];
}

/// Put point i of a tetrahedron, that of its rule in a part.
static void put_in_space(const kg_element_integrals *of, const kg_part_rule *rule, int32_t element,
                         const kg_part *part, int q, int i, const kg_located *located, points *p)
{
  const double(*const c)[3] = part->corner;
  double to[3][3], at[3], x[3];
  for (int k = 0; k < 3; ++k) {
    at[k] = c[0][k];
    for (int l = 0; l < 3; ++l) {
      to[l][k] = c[l + 1][k] - c[0][k];
      at[k] += 0.5 * (1.0 + rule->at[l][q]) * to[l][k];
    }
  }
  const double share = 0.125 * fabs(to[0][0] * (to[1][1] * to[2][2] - to[1][2] * to[2][1]) +
                                    to[0][1] * (to[1][2] * to[2][0] - to[1][0] * to[2][2]) +
                                    to[0][2] * (to[1][0] * to[2][1] - to[1][1] * to[2][0]));
  kg_tetrahedron_point(of->mesh, element, at, x);
  kg_locate_at(located, (size_t)i, of->mesh, element, at);
  p->r[i] = at[0], p->s[i] = at[1], p->t[i] = at[2];
  p->x[i] = x[0], p->y[i] = x[1], p->z[i] = x[2];
  p->weight[i] = rule->weight[q] * share;
}

/// Put point i of an element of the plane.
static void put_in_plane(const kg_element_integrals *of, const kg_part_rule *rule, int32_t element,
                         const kg_part *part, int q, int i, const kg_located *located, points *p)
{
  const double(*const c)[3] = part->corner;
  const double a = 0.5 * (1.0 + rule->at[0][q]), b = 0.5 * (1.0 + rule->at[1][q]);
  const double to_r[2] = {c[1][0] - c[0][0], c[1][1] - c[0][1]};
  const double to_s[2] = {c[2][0] - c[0][0], c[2][1] - c[0][1]};
  double xy[2];
  p->r[i] = c[0][0] + a * to_r[0] + b * to_s[0];
  p->s[i] = c[0][1] + a * to_r[1] + b * to_s[1];
  const double share = 0.25 * fabs(to_r[0] * to_s[1] - to_r[1] * to_s[0]);
  p->weight[i] =
      rule->weight[q] * share * place(of->mesh, rule->cell, element, p->r[i], p->s[i], xy);
  p->x[i] = xy[0];
  p->y[i] = xy[1];
  kg_locate(located, (size_t)i, of->mesh, element, p->r[i], p->s[i]);
}

/// Points [first, first + n) of all parts' rules, one behind the other.
static void put_points(const kg_element_integrals *of, const kg_part_rule *rule, int32_t element,
                       const kg_part *part, int first, int n, points *p)
{
  const bool in_space = kg_mesh_in_space(of->mesh);
  const double jacobian =
      in_space ? kg_space_volume(of->mesh, element) / kg_tetrahedron.measure : 1.0;
  const kg_located at = kg_located_in(p->located, POINTS);
  for (int i = 0; i < n; ++i) {
    const int q = (first + i) % rule->n;
    const kg_part *const here = &part[(first + i) / rule->n];
    (in_space ? put_in_space : put_in_plane)(of, rule, element, here, q, i, &at, p);
    if (in_space) p->weight[i] *= jacobian;
  }
  kedge_points seen = kg_located_points(&at, of->mesh, (size_t)n, p->x, p->y);
  if (in_space) seen.z = p->z;
  kg_function_evaluate(of->function, &seen, p->value);
  for (int i = 0; i < n; ++i) p->value[i] *= p->weight[i];
}

/// The modes of a triangle at a point. Powers of 1 - s are taken into the polynomials, so that the
/// corner where rows end is a point as others are.
static void triangle_modes(const kg_element_integrals *of, double r, double s, double *phi)
{
  const int order = of->order;
  const double t = 0.5 * (1.0 + 2.0 * r + s), u = 0.25 * (1.0 - s) * (1.0 - s);
  double before = 0.0, legendre = 1.0;
  for (int i = 0; i <= order; ++i) {
    double last = 0.0, jacobi = 1.0;
    for (int j = 0; i + j <= order; ++j) {
      const double *const c = of->step[i][j];
      phi[(i + j) * (i + j + 1) / 2 + i] = c[3] * legendre * jacobi;
      const double next = (c[0] + c[1] * s) * jacobi - c[2] * last;
      last = jacobi;
      jacobi = next;
    }
    const double next = ((2 * i + 1) * t * legendre - i * u * before) / (i + 1);
    before = legendre;
    legendre = next;
  }
}

/// The modes of a tetrahedron at a point, likewise: basis/tetrahedron.c has them with the powers
/// that are taken in here, g and h.
static void tetrahedron_modes(const kg_element_integrals *of, double r, double s, double t,
                              double *phi)
{
  const int order = of->order;
  const double g = -0.5 * (s + t), h = 0.5 * (1.0 - t), ag = 1.0 + r - g, bh = 1.0 + s - h;
  double before = 0.0, legendre = 1.0;
  for (int i = 0; i <= order; ++i) {
    double last = 0.0, middle = 1.0;
    for (int j = 0; i + j <= order; ++j) {
      const double along = legendre * middle;
      double under = 0.0, jacobi = 1.0;
      for (int k = 0; i + j + k <= order; ++k) {
        const double *const c = of->step_of_layer[i + j][k];
        const int d = i + j + k, e = i + j;
        const double norm = 0.125 * (2 * i + 1) * (2 * e + 2) * (2 * d + 3);
        phi[d * (d + 1) * (d + 2) / 6 + e * (e + 1) / 2 + i] = sqrt(norm) * along * jacobi;
        const double next = (c[0] + c[1] * t) * jacobi - c[2] * under;
        under = jacobi;
        jacobi = next;
      }
      const double *const c = of->step[i][j];
      const double next = (c[0] * h + c[1] * bh) * middle - c[2] * h * h * last;
      last = middle;
      middle = next;
    }
    const double next = ((2 * i + 1) * ag * legendre - i * g * g * before) / (i + 1);
    before = legendre;
    legendre = next;
  }
}

/// Add point i to the integrals.
static void add_modes(const kg_element_integrals *of, const kg_part_rule *rule, const points *p,
                      int i, double *sums)
{
  const int n = rule->n_modes;
  double phi[MODES_MAX];
  if (p->value[i] == 0.0) return;
  if (rule->cell == &kg_triangle) {
    triangle_modes(of, p->r[i], p->s[i], phi);
  } else if (rule->cell == &kg_tetrahedron) {
    tetrahedron_modes(of, p->r[i], p->s[i], p->t[i], phi);
  } else {
    long double wide[MODES_MAX];
    rule->cell->modes(of->order, (const long double[]){p->r[i], p->s[i]}, wide, NULL);
    kg_round_all(n, wide, phi);
  }
  for (int k = 0; k < n; ++k) sums[k] += phi[k] * p->value[i];
}

static const kg_part_rule *rule_of(const kg_element_integrals *of, int32_t element)
{
  return &of->rule[kg_cell_index(kg_block_of(of->mesh, element)->cell)];
}

/// The number of integrals: modes of the shape that has more.
static int count_integrals(const kg_element_integrals *of)
{
  int n = 0;
  for (int k = 0; k < KG_CELL_KINDS; ++k)
    if (of->rule[k].cell && of->rule[k].n_modes > n) n = of->rule[k].n_modes;
  return n;
}

/// Add a row of a rule, in space a layer. @param[in] first  the point where it begins
static void add_strip(const kg_part_rule *rule, int first, const double *weighted, kg_roughness *to)
{
  const int rows = rule->rows;
  if (rule->top_of_layer)
    kg_roughness_add_layer(rows, rule->top, rule->top_of_row,
                           rule->top_of_layer[first / (rows * rows)], weighted, to);
  else
    kg_roughness_add(rows, rule->top, rule->top_of_row[first / rows], weighted, 1, to);
}

static void sum(const void *user, int32_t item, int n_parts, const kg_part *parts, double *sums,
                double *size, double *rough)
{
  const kg_element_integrals *const of = user;
  const kg_part_rule *const rule = rule_of(of, item);
  const int of_part = rule->n, n = n_parts * of_part;
  const int strip = rule->top_of_layer ? rule->rows * rule->rows : rule->rows;
  const int at_once = POINTS / strip * strip, n_sums = count_integrals(of);
  kg_roughness of_parts[KG_PARTS_MAX] = {{0}};
  points p;
  memset(sums, 0, (size_t)(n_parts * n_sums) * sizeof *sums);
  for (int first = 0; first < n; first += at_once) {
    const int count = n - first < at_once ? n - first : at_once;
    put_points(of, rule, item, parts, first, count, &p);
    for (int i = 0; i < count; i += strip)
      add_strip(rule, (first + i) % of_part, p.value + i, &of_parts[(first + i) / of_part]);
    for (int i = 0; i < count; ++i)
      add_modes(of, rule, &p, i, sums + (first + i) / of_part * n_sums);
  }
  for (int k = 0; k < n_parts; ++k) {
    size[k] = of_parts[k].size;
    rough[k] = of_parts[k].along + fabs(of_parts[k].across);
  }
}

static kg_part_shape shape_of(const void *user, int32_t item)
{
  const kg_element_integrals *const of = user;
  const kg_cell *const cell = rule_of(of, item)->cell;
  if (cell == &kg_tetrahedron) return KG_PART_TETRAHEDRON;
  return cell == &kg_triangle ? KG_PART_TRIANGLE : KG_PART_SQUARE;
}

static int neighbours(const void *user, int32_t item, int32_t to[KG_FACETS_MAX])
{
  const kedge_mesh *const mesh = ((const kg_element_integrals *)user)->mesh;
  const int n_facets = kg_block_of(mesh, item)->cell->n_facets;
  const uint32_t *const edge = kg_element_edges(mesh, item);
  int n = 0;
  for (int l = 0; l < n_facets; ++l) {
    const kg_side *const side = mesh->edge_sides + 2 * (int64_t)(edge[l] >> 1);
    for (int k = 0; k < 2; ++k)
      if (side[k] != KG_NO_SIDE && kg_side_element(side[k]) != item)
        to[n++] = kg_side_element(side[k]);
  }
  return n;
}

kg_refining kg_element_refining(const kg_element_integrals *of)
{
  return (kg_refining){.integrand = {count_integrals(of), shape_of, sum, of},
                       .n_items = of->mesh->n_elements,
                       .least = kg_least_move(of->order),
                       .cost = kg_mesh_in_space(of->mesh) ? COST_IN_SPACE : 1,
                       .user = of,
                       .neighbours = neighbours};
}

double kg_element_integral(const kg_element_integrals *of, int32_t element, double *sums,
                           bool *is_rough)
{
  double size, rough;
  const kg_part whole = kg_whole_part(shape_of(of, element));
  sum(of, element, 1, &whole, sums, &size, &rough);
  const kg_roughness seen = {.size = size, .along = rough};
  if (is_rough) *is_rough = kg_is_rough(&seen, 0.0);
  return size;
}

void kg_exact_rounding(const kedge_mesh *mesh, const kg_function *u,
                       const kg_coefficients *equation, double to[2])
{
  enum { SAMPLES = 256 };
  const double part = 1e-9;  // far more than formulas of second derivatives round
  double x[3 * SAMPLES], memory[KG_LOCATED * SAMPLES], value[SAMPLES];
  double k[KG_COEFFICIENTS_MAX * SAMPLES];
  const int32_t n = mesh->n_elements < SAMPLES ? mesh->n_elements : SAMPLES;
  const kg_located at = kg_located_in(memory, SAMPLES);
  for (int32_t i = 0; i < n; ++i)
    kg_locate_middle(&at, (size_t)i, SAMPLES, mesh, (int32_t)((int64_t)i * mesh->n_elements / n),
                     x);
  const kedge_points seen = kg_located_at(&at, mesh, (size_t)n, x, SAMPLES);
  kg_function_evaluate(u, &seen, value);
  kg_coefficients_evaluate(equation, &seen, k);
  to[0] = to[1] = 0.0;
  for (int32_t i = 0; i < n; ++i) {
    const double size = part * fabs(value[i]);
    const double flux = size * kg_largest_entry(equation, k + i, (size_t)n);
    if (!isfinite(size) || !isfinite(flux)) continue;
    to[0] = fmax(to[0], size);
    to[1] = fmax(to[1], flux / kg_mesh_length(mesh));
  }
}
