#include "mesh/nodes.h"

#include <math.h>
#include <string.h>

#include "basis/quadrature.h"
#include "core/memory.h"

/// Numbers of Lagrange functions at nodes are 0 and 1 but for rounding.
static double rounded(double value)
{
  const double tiny = 1e-13;
  if (fabs(value) < tiny) return 0.0;
  return fabs(value - 1.0) < tiny ? 1.0 : value;
}

void kg_node_matrix_at(const kg_cell *cell, int geometry, int n, const double *r, const double *s,
                       kg_node_matrix *out)
{
  long double shape[3 * KG_NODES_MAX];
  out->rows = n;
  out->columns = cell->n_modes(geometry);
  for (int i = 0; i < n; ++i) {
    cell->map(geometry, (const long double[]){r[i], s[i]}, shape);
    for (int k = 0; k < out->columns; ++k)
      out->value[i * out->columns + k] = rounded((double)shape[k]);
  }
}

void kg_node_matrix_raise(const kg_cell *cell, int from, int to, kg_node_matrix *out)
{
  double r[KG_NODES_MAX], s[KG_NODES_MAX];
  cell->nodes(to, (double *const[]){r, s});
  kg_node_matrix_at(cell, from, cell->n_modes(to), r, s, out);
}

void kg_nodes_make(const kg_node_matrix *matrix, const double *from, double *to)
{
  const double *value = matrix->value;
  for (int i = 0; i < matrix->rows; ++i, value += matrix->columns) {
    double x = 0.0, y = 0.0;
    for (int k = 0; k < matrix->columns; ++k) {
      x += value[k] * from[2 * k];
      y += value[k] * from[2 * k + 1];
    }
    to[2 * i] = x;
    to[2 * i + 1] = y;
  }
}

/// A node in steps of 1 / order from the corner (-1, -1).
typedef struct step {
  int i, j;
} step;

static step corner_step(const kg_cell *cell, int corner, int order)
{
  return (step){cell->corner[corner][0] > 0 ? order : 0, cell->corner[corner][1] > 0 ? order : 0};
}

/// Nodes of kedge as steps. @return how many there are
static int kedge_steps(const kg_cell *cell, int order, step *out)
{
  double r[KG_NODES_MAX], s[KG_NODES_MAX];
  const int n = cell->n_modes(order);
  cell->nodes(order, (double *const[]){r, s});
  for (int k = 0; k < n; ++k)
    out[k] =
        (step){(int)lround(0.5 * order * (r[k] + 1.0)), (int)lround(0.5 * order * (s[k] + 1.0))};
  return n;
}

/// Nodes of Gmsh as steps: corners, edges along the way around, then the same of the element that
/// the nodes inside are.
static int gmsh_steps(const kg_cell *cell, int order, bool complete, step *out)
{
  const int shrinks = cell == &kg_triangle ? 3 : 2, V = cell->n_vertices;
  int n = 0;
  for (int ring = 0, p = order; p >= 0 && (ring == 0 || complete); ++ring, p -= shrinks) {
    if (p == 0) {
      out[n++] = (step){ring, ring};
      break;
    }
    step corner[KG_FACETS_MAX];
    for (int l = 0; l < V; ++l) {
      corner[l] = corner_step(cell, l, p);
      out[n++] = (step){ring + corner[l].i, ring + corner[l].j};
    }
    for (int l = 0; l < V; ++l) {
      const step a = corner[l], b = corner[(l + 1) % V];
      for (int k = 1; k < p; ++k)
        out[n++] = (step){ring + a.i + k * (b.i - a.i) / p, ring + a.j + k * (b.j - a.j) / p};
    }
  }
  return n;
}

int kg_gmsh_node_count(const kg_cell *cell, int order, bool complete)
{
  return complete ? cell->n_modes(order) : cell->n_vertices * order;
}

/// The place of a node in a list; -1: it is not there.
static int find(const step *list, int n, int i, int j)
{
  for (int k = 0; k < n; ++k)
    if (list[k].i == i && list[k].j == j) return k;
  return -1;
}

void kg_gmsh_node_order(const kg_cell *cell, int order, int *node)
{
  step ours[KG_NODES_MAX], theirs[KG_NODES_MAX];
  const int n = kedge_steps(cell, order, ours);
  gmsh_steps(cell, order, true, theirs);
  for (int k = 0; k < n; ++k) node[k] = find(ours, n, theirs[k].i, theirs[k].j);
}

/// One row of a matrix, and the nodes that its columns belong to.
typedef struct row {
  double *value;
  const step *steps;
  int n, order;
} row;

static void add(const row *to, int i, int j, double value)
{
  to->value[find(to->steps, to->n, i, j)] += value;
}

/// The node (i, j) inside a quadrilateral, from the four sides.
static void blend_quadrilateral(const row *to, int i, int j)
{
  const int k = to->order;
  const double x = (double)i / k, y = (double)j / k;
  add(to, i, 0, 1.0 - y);
  add(to, i, k, y);
  add(to, 0, j, 1.0 - x);
  add(to, k, j, x);
  add(to, 0, 0, -(1.0 - x) * (1.0 - y));
  add(to, k, 0, -x * (1.0 - y));
  add(to, k, k, -x * y);
  add(to, 0, k, -(1.0 - x) * y);
}

/// Lagrange function m of order k on [0, 1].
static double lagrange(int k, int m, double t)
{
  double value = 1.0;
  for (int i = 0; i <= k; ++i)
    if (i != m) value *= (k * t - i) / (m - i);
  return value;
}

/// The node (i, j) inside a triangle: its place in the straight one and what the edges add.
static void blend_triangle(const row *to, int i, int j)
{
  const int k = to->order;
  const double L[3] = {1.0 - (double)(i + j) / k, (double)i / k, (double)j / k};
  static const int corner[3][2] = {{0, 0}, {1, 0}, {0, 1}};
  for (int a = 0; a < 3; ++a) add(to, k * corner[a][0], k * corner[a][1], L[a]);
  for (int a = 0; a < 3; ++a) {
    const int b = (a + 1) % 3, *const p = corner[a], *const q = corner[b];
    const double t = 0.5 * (1.0 + L[b] - L[a]);
    for (int m = 1; m < k; ++m) {
      const double share = (double)m / k, value = L[a] * L[b] * lagrange(k, m, t) / (t * (1.0 - t));
      add(to, (k - m) * p[0] + m * q[0], (k - m) * p[1] + m * q[1], value);
      add(to, k * p[0], k * p[1], -(1.0 - share) * value);
      add(to, k * q[0], k * q[1], -share * value);
    }
  }
}

/// Nodes of kedge from those of a set of Gmsh, both of one order.
static void complete_set(const kg_cell *cell, int order, bool complete, kg_node_matrix *out)
{
  step ours[KG_NODES_MAX], theirs[KG_NODES_MAX];
  out->rows = kedge_steps(cell, order, ours);
  out->columns = gmsh_steps(cell, order, complete, theirs);
  memset(out->value, 0, (size_t)(out->rows * out->columns) * sizeof *out->value);
  for (int k = 0; k < out->rows; ++k) {
    const row to = {out->value + k * out->columns, theirs, out->columns, order};
    const int i = ours[k].i, j = ours[k].j;
    if (find(theirs, out->columns, i, j) >= 0)
      add(&to, i, j, 1.0);
    else if (cell == &kg_triangle)
      blend_triangle(&to, i, j);
    else
      blend_quadrilateral(&to, i, j);
  }
}

void kg_node_matrix_gmsh(const kg_cell *cell, int order, bool complete, int geometry,
                         kg_node_matrix *out)
{
  kg_node_matrix set, raise;
  complete_set(cell, order, complete, &set);
  kg_node_matrix_raise(cell, order, geometry, &raise);
  out->rows = raise.rows;
  out->columns = set.columns;
  for (int i = 0; i < out->rows; ++i)
    for (int k = 0; k < out->columns; ++k) {
      double sum = 0.0;
      for (int m = 0; m < raise.columns; ++m)
        sum += raise.value[i * raise.columns + m] * set.value[m * set.columns + k];
      out->value[i * out->columns + k] = sum;
    }
}

void kg_facet_nodes(const kg_cell *cell, int geometry, int l, int *node)
{
  step steps[KG_NODES_MAX];
  const int n = kedge_steps(cell, geometry, steps);
  const step a = corner_step(cell, cell->facet_corner[l][0], geometry);
  const step b = corner_step(cell, cell->facet_corner[l][1], geometry);
  for (int k = 0; k <= geometry; ++k)
    node[k] = find(steps, n, a.i + k * (b.i - a.i) / geometry, a.j + k * (b.j - a.j) / geometry);
}

void kg_turned_nodes(const kg_cell *cell, int geometry, int *node)
{
  step steps[KG_NODES_MAX];
  const int n = kedge_steps(cell, geometry, steps);
  for (int k = 0; k < n; ++k) node[k] = find(steps, n, steps[k].j, steps[k].i);
}

static void set_point(kg_curve *c, int q, long double r, long double s, long double weight)
{
  long double shape[3 * KG_NODES_MAX];
  c->cell->map(c->geometry, (const long double[]){r, s}, shape);
  c->weight[q] = (double)weight;
  for (int k = 0; k < c->n_nodes; ++k) {
    c->value[q][k] = (double)shape[k];
    c->slope[q][0][k] = (double)shape[c->n_nodes + k];
    c->slope[q][1][k] = (double)shape[2 * c->n_nodes + k];
  }
}

/// Points behind the corners, which add nothing to areas.
static void set_more_points(kg_curve *c)
{
  long double r[KG_CURVE_POINTS], s[KG_CURVE_POINTS], weight[KG_CURVE_POINTS], at[2], along[2];
  c->n_all = c->n + c->cell->n_vertices;
  c->cell->rule(KG_CURVE_ROWS, (long double *const[]){r, s}, weight);
  for (int q = 0; q < KG_CURVE_ROWS * KG_CURVE_ROWS; ++q)
    set_point(c, c->n_all++, r[q], s[q], 0.0L);
  kg_wide_gauss_jacobi(KG_CURVE_ROWS, 0, r, weight);
  for (int l = 0; l < c->cell->n_facets; ++l)
    for (int i = 0; i < KG_CURVE_ROWS; ++i) {
      kg_cell_facet_point(c->cell, l, r[i], at, along);
      set_point(c, c->n_all++, at[0], at[1], 0.0L);
    }
}

static void set_facets(kg_curve *c)
{
  long double t[KG_CURVE_ROWS], weight[KG_CURVE_ROWS], shape[3 * KG_NODES_MAX], at[2], along[2];
  kg_wide_gauss_jacobi(KG_CURVE_ROWS, 0, t, weight);
  for (int i = 0; i < KG_CURVE_ROWS; ++i) c->length_weight[i] = (double)weight[i];
  for (int l = 0; l < c->cell->n_facets; ++l) {
    kg_facet_nodes(c->cell, c->geometry, l, c->facet_node[l]);
    for (int i = 0; i < KG_CURVE_ROWS; ++i) {
      kg_cell_facet_point(c->cell, l, t[i], at, along);
      c->cell->map(c->geometry, at, shape);
      for (int k = 0; k < c->n_nodes; ++k)
        c->along[l][i][k] =
            (double)(along[0] * shape[c->n_nodes + k] + along[1] * shape[2 * c->n_nodes + k]);
    }
  }
}

kedge_status kg_curves_create(kedge_context *ctx, int geometry, kg_curve **out)
{
  static const kg_cell *const cells[KG_BLOCKS_MAX] = {&kg_triangle, &kg_quadrilateral};
  long double r[KG_CURVE_POINTS], s[KG_CURVE_POINTS], weight[KG_CURVE_POINTS];
  const int rows = geometry + 2;
  KG_TRY(kg_host_calloc(ctx, KG_BLOCKS_MAX, sizeof **out, out));
  for (int b = 0; b < KG_BLOCKS_MAX; ++b) {
    const kg_cell *cell = cells[b];
    kg_curve *c = &(*out)[b];
    *c = (kg_curve){
        .cell = cell, .geometry = geometry, .n_nodes = cell->n_modes(geometry), .n = rows * rows};
    cell->rule(rows, (long double *const[]){r, s}, weight);
    for (int q = 0; q < c->n; ++q) set_point(c, q, r[q], s[q], weight[q]);
    for (int l = 0; l < cell->n_vertices; ++l)
      set_point(c, c->n + l, cell->corner[l][0], cell->corner[l][1], 0.0L);
    set_more_points(c);
    set_facets(c);
    kg_turned_nodes(cell, geometry, c->turned);
  }
  return KEDGE_OK;
}

double kg_curve_jacobian(const kg_curve *c, int q, const double *nodes)
{
  double d[2][2] = {{0.0}};
  for (int k = 0; k < c->n_nodes; ++k)
    for (int i = 0; i < 2; ++i) {
      d[i][0] += c->slope[q][i][k] * nodes[2 * k];
      d[i][1] += c->slope[q][i][k] * nodes[2 * k + 1];
    }
  return d[0][0] * d[1][1] - d[0][1] * d[1][0];
}

double kg_curve_area(const kg_curve *c, const double *nodes, double *smallest, int *where)
{
  double jacobian[KG_CURVE_POINTS], area = 0.0, all = 0.0;
  const int n = c->n + c->cell->n_vertices;
  for (int q = 0; q < n; ++q) {
    jacobian[q] = kg_curve_jacobian(c, q, nodes);
    area += c->weight[q] * jacobian[q];
    all += c->weight[q];
  }
  int least = 0;  // of an element that runs clockwise, the largest
  for (int q = 1; q < n; ++q)
    if ((jacobian[q] < jacobian[least]) == (area > 0.0)) least = q;
  const bool is_enough = (!smallest && !where) || jacobian[least] * all / area >= 0.5;
  for (int q = n; !is_enough && q < c->n_all; ++q) {
    jacobian[q] = kg_curve_jacobian(c, q, nodes);
    // By more than rounding, on which the place in a message should not depend.
    if (jacobian[q] * all / area < jacobian[least] * all / area - 1e-12) least = q;
  }
  if (where) *where = least;
  if (smallest) *smallest = jacobian[least] * all / area;
  return area;
}

double kg_curve_length(const kg_curve *c, int facet, const double *nodes)
{
  double length = 0.0;
  for (int i = 0; i < KG_CURVE_ROWS; ++i) {
    double dx = 0.0, dy = 0.0;
    for (int k = 0; k < c->n_nodes; ++k) {
      dx += c->along[facet][i][k] * nodes[2 * k];
      dy += c->along[facet][i][k] * nodes[2 * k + 1];
    }
    length += c->length_weight[i] * hypot(dx, dy);
  }
  return length;
}
