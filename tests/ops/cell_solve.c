#include "cell_solve.h"

#include <math.h>
#include <stdlib.h>

/// The system of the facets that are not fixed.
typedef struct dense_system {
  int n;           ///< unknowns
  int *unknown;    ///< [facet]: its first; -1: fixed
  double *matrix;  ///< packed lower
  double *rhs;
} dense_system;

static void add_element(const cell_case *c, int e, const double *local, const double *condensed,
                        const double *trace, dense_system *s)
{
  const int V = c->size.n_facets, m = c->size.n_facet, n = c->size.n_trace;
  for (int i = 0; i < n; ++i) {
    const int f = (int)(c->side[e * V + i / m] >> 1);
    if (s->unknown[f] < 0) continue;
    const int row = s->unknown[f] + i % m;
    s->rhs[row] += condensed[e * n + i];
    for (int j = 0; j < n; ++j) {
      const int g = (int)(c->side[e * V + j / m] >> 1);
      const double k = local[e * c->size.n_packed + kg_packed_entry(i, j)];
      const int column = s->unknown[g] + j % m;
      if (s->unknown[g] < 0)
        s->rhs[row] -= k * trace[g * m + j % m];
      else if (column <= row)
        s->matrix[(size_t)row * (size_t)(row + 1) / 2 + (size_t)column] += k;
    }
  }
}

/// Cholesky, then both substitutions: rhs becomes the solution.
static void solve_dense(dense_system *s)
{
  double **row = calloc((size_t)s->n, sizeof *row);
  assert_non_null(row);
  for (int i = 0; i < s->n; ++i) row[i] = s->matrix + (size_t)i * (size_t)(i + 1) / 2;
  for (int i = 0; i < s->n; ++i)
    for (int j = 0; j <= i; ++j) {
      double sum = row[i][j];
      for (int k = 0; k < j; ++k) sum -= row[i][k] * row[j][k];
      row[i][j] = i == j ? sqrt(sum) : sum / row[j][j];
    }
  for (int i = 0; i < s->n; ++i) {
    for (int k = 0; k < i; ++k) s->rhs[i] -= row[i][k] * s->rhs[k];
    s->rhs[i] /= row[i][i];
  }
  for (int i = s->n - 1; i >= 0; --i) {
    s->rhs[i] /= row[i][i];
    for (int k = 0; k < i; ++k) s->rhs[k] -= row[i][k] * s->rhs[i];
  }
  free(row);
}

void cell_case_solve(const cell_case *c, const double *local, const double *condensed,
                     const bool *fixed, const double *load, double *trace)
{
  const int m = c->size.n_facet;
  dense_system s = {.unknown = calloc((size_t)c->n_facets, sizeof *s.unknown)};
  assert_non_null(s.unknown);
  for (int f = 0; f < c->n_facets; ++f) {
    s.unknown[f] = fixed[f] ? -1 : s.n;
    if (!fixed[f]) s.n += m;
  }
  s.matrix = calloc((size_t)s.n * (size_t)(s.n + 1) / 2, sizeof *s.matrix);
  s.rhs = calloc((size_t)s.n, sizeof *s.rhs);
  assert_true(s.matrix && s.rhs);
  for (int i = 0; i < c->n_facets * m; ++i)
    if (!fixed[i / m]) s.rhs[s.unknown[i / m] + i % m] = load[i];
  for (int e = 0; e < c->n_elements; ++e) add_element(c, e, local, condensed, trace, &s);
  solve_dense(&s);
  for (int i = 0; i < c->n_facets * m; ++i)
    if (!fixed[i / m]) trace[i] = s.rhs[s.unknown[i / m] + i % m];
  free(s.unknown);
  free(s.matrix);
  free(s.rhs);
}
