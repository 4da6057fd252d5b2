// The condensed system of continuous.h: numbering, assembly row by row, conjugate gradients.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "continuous.h"
#include "core/error.h"
#include "king.h"

cont_space cont_make_space(int squares, int order)
{
  const int n = squares;
  return (cont_space){.squares = n,
                      .order = order,
                      .n_triangles = 2 * n * n,
                      .n_unknowns = (n - 1) * (n - 1) + (order - 1) * (3 * n * n - 2 * n)};
}

static int32_t unknown_of_vertex(int n, int32_t v)
{
  const int32_t i = v % (n + 1), j = v / (n + 1);
  return i == 0 || j == 0 || i == n || j == n ? -1 : (j - 1) * (n - 1) + i - 1;
}

/// The edge from vertex v, its lower one, to v + step: along, up or the diagonal, counted in this
/// order without those on the boundary; -1 there.
static int32_t inner_edge(int n, int32_t v, int32_t step)
{
  const int32_t i = v % (n + 1), j = v / (n + 1);
  if (step == 1) return j == 0 || j == n ? -1 : (j - 1) * n + i;
  if (step == n + 1) return i == 0 || i == n ? -1 : (n - 1) * n + j * (n - 1) + i - 1;
  return 2 * n * (n - 1) + j * n + i;
}

void cont_unknowns(const cont_space *space, int triangle, int32_t *unknown, double *sign)
{
  const int n = space->squares, per_edge = space->order - 1;
  int32_t v[3];
  king_vertices(n, triangle, v);
  for (int l = 0; l < 3; ++l) {
    unknown[l] = unknown_of_vertex(n, v[l]);
    sign[l] = 1;
  }
  for (int l = 0, at = 3; l < 3; ++l) {
    const int32_t a = v[l], b = v[(l + 1) % 3], low = a < b ? a : b;
    const int32_t edge = inner_edge(n, low, a < b ? b - a : a - b);
    for (int k = 0; k < per_edge; ++k, ++at) {
      unknown[at] = edge < 0 ? -1 : (n - 1) * (n - 1) + edge * per_edge + k;
      sign[at] = a < b || k % 2 == 0 ? 1 : -1;
    }
  }
}

/// The triangles of each unknown: those of u are triangle[begin[u]] up to begin[u + 1], and slot
/// the outer mode there.
typedef struct owners {
  int64_t *begin;
  int32_t *triangle, *slot;
} owners;

static void free_owners(owners *o)
{
  free(o->begin);
  free(o->triangle);
  free(o->slot);
}

static bool make_owners(const cont_space *space, int n_outer, owners *out)
{
  const size_t sides = (size_t)space->n_triangles * (size_t)n_outer;
  int32_t unknown[3 * CONT_ORDER_MAX];
  double sign[3 * CONT_ORDER_MAX];
  out->begin = calloc((size_t)space->n_unknowns + 2, sizeof *out->begin);
  out->triangle = malloc(sides * sizeof *out->triangle);
  out->slot = malloc(sides * sizeof *out->slot);
  if (!out->begin || !out->triangle || !out->slot) return false;
  for (int e = 0; e < space->n_triangles; ++e) {
    cont_unknowns(space, e, unknown, sign);
    for (int i = 0; i < n_outer; ++i)
      if (unknown[i] >= 0) ++out->begin[unknown[i] + 2];
  }
  for (int u = 0; u < space->n_unknowns; ++u) out->begin[u + 2] += out->begin[u + 1];
  for (int e = 0; e < space->n_triangles; ++e) {
    cont_unknowns(space, e, unknown, sign);
    for (int i = 0; i < n_outer; ++i) {
      if (unknown[i] < 0) continue;
      const int64_t at = out->begin[unknown[i] + 1]++;
      out->triangle[at] = e;
      out->slot[at] = i;
    }
  }
  return true;
}

/// One row into column and value; returns its length. place[column] is where this row has it.
static int64_t fill_row(const cont_space *space, const owners *o, int n_outer, const double *local,
                        int32_t row, int64_t *place, int64_t begin, cont_system *out)
{
  const size_t packed = (size_t)n_outer * (size_t)(n_outer + 1) / 2;
  int32_t unknown[3 * CONT_ORDER_MAX];
  double sign[3 * CONT_ORDER_MAX];
  int64_t n = begin;
  for (int64_t at = o->begin[row]; at < o->begin[row + 1]; ++at) {
    const double *k = local + (size_t)o->triangle[at] * packed;
    const int i = o->slot[at];
    cont_unknowns(space, o->triangle[at], unknown, sign);
    for (int j = 0; j < n_outer; ++j) {
      const int32_t column = unknown[j];
      if (column < 0) continue;
      const double value =
          sign[i] * sign[j] * k[i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i];
      if (place[column] < begin) {  // not in this row yet
        place[column] = n;
        out->column[n] = column;
        out->value[n++] = 0;
      }
      out->value[place[column]] += value;
    }
  }
  return n - begin;
}

kedge_status cont_assemble(kedge_context *ctx, const cont_space *space, int n_outer,
                           const double *local, const double *load, cont_system *out)
{
  owners o = {0};
  const size_t rows = (size_t)space->n_unknowns;
  *out = (cont_system){.n = space->n_unknowns};
  int64_t *place = malloc((rows + 1) * sizeof *place);
  bool there = make_owners(space, n_outer, &o) && place;
  const size_t most = there ? (size_t)o.begin[rows] * (size_t)n_outer : 0;
  out->begin = malloc((rows + 1) * sizeof *out->begin);
  out->column = malloc((most + 1) * sizeof *out->column);
  out->value = malloc((most + 1) * sizeof *out->value);
  out->b = calloc(rows + 1, sizeof *out->b);
  there = there && out->begin && out->column && out->value && out->b;
  int32_t unknown[3 * CONT_ORDER_MAX];
  double sign[3 * CONT_ORDER_MAX];
  for (size_t u = 0; there && u < rows; ++u) place[u] = -1;
  if (there) out->begin[0] = 0;
  for (int32_t row = 0; there && row < out->n; ++row)
    out->begin[row + 1] =
        out->begin[row] + fill_row(space, &o, n_outer, local, row, place, out->begin[row], out);
  for (int e = 0; there && e < space->n_triangles; ++e) {
    cont_unknowns(space, e, unknown, sign);
    for (int i = 0; i < n_outer; ++i)
      if (unknown[i] >= 0)
        out->b[unknown[i]] += sign[i] * load[(size_t)e * (size_t)n_outer + (size_t)i];
  }
  free_owners(&o);
  free(place);
  if (there) return KEDGE_OK;
  cont_free(out);
  return KG_FAIL(ctx, KEDGE_ERR_MEMORY, "no memory for a condensed system of %zu rows", rows);
}

void cont_free(cont_system *system)
{
  free(system->begin);
  free(system->column);
  free(system->value);
  free(system->b);
  *system = (cont_system){0};
}

/// y = A x; returns x . y.
static double multiply(const cont_system *a, const double *x, double *y)
{
  double dot = 0;
#pragma omp parallel for schedule(static) reduction(+ : dot)
  for (int32_t row = 0; row < a->n; ++row) {
    double sum = 0;
    for (int64_t k = a->begin[row]; k < a->begin[row + 1]; ++k)
      sum += a->value[k] * x[a->column[k]];
    y[row] = sum;
    dot += x[row] * sum;
  }
  return dot;
}

/// x += alpha p, r -= alpha y; returns r . z with z = r / diagonal, and r . r.
static double step(const cont_system *a, double alpha, const double *p, const double *y,
                   const double *diagonal, double *x, double *r, double *norm)
{
  double rz = 0, rr = 0;
#pragma omp parallel for schedule(static) reduction(+ : rz, rr)
  for (int32_t i = 0; i < a->n; ++i) {
    x[i] += alpha * p[i];
    r[i] -= alpha * y[i];
    rz += r[i] * r[i] / diagonal[i];
    rr += r[i] * r[i];
  }
  *norm = sqrt(rr);
  return rz;
}

int cont_solve(const cont_system *a, double tolerance, int most, double *x, double *residual)
{
  const size_t n = (size_t)a->n;
  double *work = calloc(4 * n + 1, sizeof *work), norm, first;
  if (!work) return -1;
  double *r = work, *p = work + n, *y = work + 2 * n, *diagonal = work + 3 * n;
  memcpy(r, a->b, n * sizeof *r);
  memset(x, 0, n * sizeof *x);
  for (int32_t row = 0; row < a->n; ++row)
    for (int64_t k = a->begin[row]; k < a->begin[row + 1]; ++k)
      if (a->column[k] == row) diagonal[row] = a->value[k];
  double rz = step(a, 0, p, y, diagonal, x, r, &first), beta = 0;
  int done = 0;
  for (norm = first; done < most && norm > tolerance * first; ++done) {
    for (size_t i = 0; i < n; ++i) p[i] = r[i] / diagonal[i] + beta * p[i];
    const double alpha = rz / multiply(a, p, y), before = rz;
    rz = step(a, alpha, p, y, diagonal, x, r, &norm);
    beta = rz / before;
  }
  multiply(a, x, y);
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += (a->b[i] - y[i]) * (a->b[i] - y[i]);
  *residual = sqrt(sum) / first;
  free(work);
  return done;
}
