#include "king.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basis/polynomials.h"
#include "basis/quadrature.h"
#include "bench.h"
#include "core/error.h"

double king_u(double x, double y)
{
  return sin(2 * M_PI * x) * sin(2 * M_PI * y);
}

double king_source(double x, double y)
{
  return (8 * M_PI * M_PI + 1) * king_u(x, y);
}

kedge_problem *king_problem(kedge_context *ctx, int order)
{
  kedge_problem *problem;
  char text[16];
  snprintf(text, sizeof text, "%d", order);
  BENCH_TRY(ctx, kedge_problem_create(ctx, &problem));
  bench_set(ctx, problem, "space", "order", text);
  bench_set(ctx, problem, "space", "stabilization", "1");
  bench_set(ctx, problem, "equation", "reaction", "1");
  bench_set(ctx, problem, "boundary default", "type", "dirichlet");
  bench_set(ctx, problem, "exact", "u", "sin(2*pi*x)*sin(2*pi*y)");
  return problem;
}

/// P_k and P_k-1 at t.
static double legendre(int k, double t, double *before)
{
  double p0 = 1, p1 = t;
  for (int i = 1; i < k; ++i) {
    const double p2 = ((2 * i + 1) * t * p1 - i * p0) / (i + 1);
    p0 = p1;
    p1 = p2;
  }
  *before = p0;
  return p1;
}

/// (t^2 - 1) P_k'(t) / k.
static double slope(int k, double t)
{
  double before;
  const double p = legendre(k, t, &before);
  return t * p - before;
}

/// The root of P_k' between two neighbouring roots of P_k.
static double root_between(int k, double low, double high)
{
  const bool rises = slope(k, high) > 0;
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    *((slope(k, middle) > 0) == rises ? &high : &low) = middle;
  }
  return 0.5 * (low + high);
}

/// Gauss-Lobatto points and weights on [-1, 1], n >= 3.
static void lobatto(int n, double *t, double *w)
{
  double gauss[KING_LINE], unused[KING_LINE], before;
  kg_gauss_jacobi(n - 1, 0, gauss, unused);
  t[0] = -1;
  t[n - 1] = 1;
  for (int i = 1; i < n - 1; ++i) t[i] = root_between(n - 1, gauss[i - 1], gauss[i]);
  for (int i = 0; i < n; ++i) {
    const double p = legendre(n - 1, t[i], &before);
    w[i] = 2 / (n * (n - 1) * p * p);
  }
}

// The Radau points are the P + 2 Lobatto points without the vertex of collapse, with their weights
// times 1 - t.
void king_make_rule(int order, king_rule *out)
{
  const int along = order + 2;
  double t[KING_LINE], w[KING_LINE];
  lobatto(along, t, w);
  out->n = 0;
  for (int j = 0; j < along - 1; ++j)  // without the vertex of collapse
    for (int i = 0; i < along; ++i) {
      const int k = out->n++;
      out->r[k] = 0.5 * (1 + t[i]) * (1 - t[j]) - 1;
      out->s[k] = t[j];
      out->w[k] = w[i] * w[j] * 0.5 * (1 - t[j]);
      kg_dubiner(order, out->r[k], out->s[k], out->phi[k], NULL, NULL);
    }
}

void king_vertices(int squares, int triangle, int32_t out[3])
{
  const int square = triangle / 2, a = square / squares * (squares + 1) + square % squares;
  const int32_t c = a + squares + 2, lower[3] = {a, a + 1, c}, upper[3] = {a, c, c - 1};
  memcpy(out, triangle % 2 ? upper : lower, sizeof lower);
}

void king_corners(int squares, int triangle, double x[3], double y[3])
{
  int32_t v[3];
  king_vertices(squares, triangle, v);
  for (int k = 0; k < 3; ++k) {
    x[k] = (double)(v[k] % (squares + 1)) / squares;
    y[k] = (double)(v[k] / (squares + 1)) / squares;
  }
}

double king_mapped(const double corner[3], double r, double s)
{
  return corner[0] + 0.5 * (1 + r) * (corner[1] - corner[0]) +
         0.5 * (1 + s) * (corner[2] - corner[0]);
}

kedge_status king_mesh(kedge_context *ctx, int squares, kedge_mesh **out)
{
  const int32_t n_vertices = (squares + 1) * (squares + 1), n_triangles = 2 * squares * squares;
  double *vertices = malloc(2 * (size_t)n_vertices * sizeof *vertices);
  int32_t *triangles = malloc(3 * (size_t)n_triangles * sizeof *triangles);
  kedge_status status =
      KG_FAIL(ctx, KEDGE_ERR_MEMORY, "no memory for a mesh of %d x %d squares", squares, squares);
  if (vertices && triangles) {
    for (int32_t v = 0; v < n_vertices; ++v) {
      vertices[2 * v] = (double)(v % (squares + 1)) / squares;
      vertices[2 * v + 1] = (double)(v / (squares + 1)) / squares;
    }
    for (int32_t e = 0; e < n_triangles; ++e) king_vertices(squares, e, triangles + 3 * (size_t)e);
    status = kedge_mesh_create(ctx,
                               &(kedge_mesh_arrays){.n_vertices = n_vertices,
                                                    .vertices = vertices,
                                                    .n_triangles = n_triangles,
                                                    .triangles = triangles},
                               out);
  }
  free(vertices);
  free(triangles);
  return status;
}

void king_invert(int n, double a[KING_MODES][KING_MODES], double inverse[KING_MODES][KING_MODES])
{
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) inverse[i][j] = i == j;
  for (int c = 0; c < n; ++c) {
    int pivot = c;
    for (int i = c + 1; i < n; ++i)
      if (fabs(a[i][c]) > fabs(a[pivot][c])) pivot = i;
    for (int j = 0; j < n; ++j) {
      const double keep = a[c][j], other = inverse[c][j];
      a[c][j] = a[pivot][j];
      a[pivot][j] = keep;
      inverse[c][j] = inverse[pivot][j];
      inverse[pivot][j] = other;
    }
    const double scale = 1 / a[c][c];
    for (int j = 0; j < n; ++j) {
      a[c][j] *= scale;
      inverse[c][j] *= scale;
    }
    for (int i = 0; i < n; ++i) {
      const double factor = i == c ? 0 : a[i][c];
      for (int j = 0; j < n && factor != 0; ++j) {
        a[i][j] -= factor * a[c][j];
        inverse[i][j] -= factor * inverse[c][j];
      }
    }
  }
}
