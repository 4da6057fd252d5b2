#include "basis/halves.h"

#include <math.h>
#include <string.h>

#include "basis/hand_out.h"

/// Entries of a packed lower triangle of n rows.
static size_t triangle(int n)
{
  return (size_t)n * (size_t)(n + 1) / 2;
}

size_t kg_halves_lay_out(int order, const double *base, kg_halves *halves)
{
  const int m = order + 1;
  const kg_piece pieces[] = {
      {&halves->sums[0], triangle(kg_half_modes(m, 0) + 2 * m) * KG_HALF_TERMS},
      {&halves->sums[1], triangle(kg_half_modes(m, 1) + 2 * m) * KG_HALF_TERMS},
      {&halves->stars[0], triangle(kg_half_modes(m + 1, 0) - 1) * KG_HALF_STAR_TERMS},
      {&halves->stars[1], triangle(kg_half_modes(m + 1, 1)) * KG_HALF_STAR_TERMS},
      {&halves->root, (size_t)m + 1},
  };
  return kg_hand_out(base, sizeof pieces / sizeof *pieces, pieces);
}

enum { ROW_MAX = KEDGE_ORDER_MAX + 3 };

/// A functional of the unknowns of a half: those that it reads and their weights.
typedef struct functional {
  int n, unknown[ROW_MAX];
  long double weight[ROW_MAX];
} functional;

static void put(functional *f, int unknown, long double weight)
{
  f->unknown[f->n] = unknown;
  f->weight[f->n++] = weight;
}

/// Matrices of a half that are filled.
typedef struct half_matrix {
  int m, half;  ///< modes are of m x m
  int first;    ///< mode of the first row
  int n_modes;
  int terms;
  double *entries;
} half_matrix;

static int row_of(const half_matrix *to, int i, int j)
{
  for (int a = to->first; a < to->first + to->n_modes; ++a) {
    const kg_half_mode mode = kg_half_mode_at(to->m, to->half, a);
    if (mode.i == i && mode.j == j) return a - to->first;
  }
  return -1;
}

/// Term += f g^T + g f^T, or f f^T if both are the same object.
static void add_product(const half_matrix *to, int term, const functional *f, const functional *g)
{
  for (int k = 0; k < f->n; ++k)
    for (int l = 0; l < g->n; ++l) {
      const int x = f->unknown[k], y = g->unknown[l];
      if (f == g && y > x) continue;
      const int row = x > y ? x : y, column = x > y ? y : x;
      const long double both = f != g && x == y ? 2.0L : 1.0L;
      to->entries[(row * (row + 1) / 2 + column) * to->terms + term] +=
          (double)(both * f->weight[k] * g->weight[l]);
    }
}

static long double root(int k)
{
  return sqrtl(2.0L * k + 1.0L);
}

/// The coefficient of the weak gradient along direction d, 0: r, 1: s, in the flux function
/// L_a along it, L_b across. L_a' is the sum of root_a root_i L_i, i < a, a + i odd.
static functional weak_gradient(const half_matrix *to, int d, int a, int b)
{
  functional f = {0};
  const int m = to->m;
  for (int i = a - 1; i >= 0; i -= 2)
    put(&f, d == 0 ? row_of(to, i, b) : row_of(to, b, i), -root(a) * root(i));
  const bool is_negative = d == 1 && (b + to->half) % 2 == 1;
  put(&f, to->n_modes + (1 - d) * m + b, is_negative ? -root(a) : root(a));
  return f;
}

/// The coefficient of L_a along direction d, L_b across, in that derivative of u*.
static functional derivative(const half_matrix *to, int d, int a, int b)
{
  functional f = {0};
  for (int i = a + 1; i < to->m; i += 2)
    put(&f, d == 0 ? row_of(to, i, b) : row_of(to, b, i), root(a) * root(i));
  return f;
}

/// u - lambda in mode k of facets l and l + 2, by sqrt(2).
static functional jump(const half_matrix *to, int l, int k)
{
  functional f = {0};
  for (int j = (k + to->half) % 2; j < to->m; j += 2)
    put(&f, l == 0 ? row_of(to, k, j) : row_of(to, j, k),
        l == 0 && j % 2 == 1 ? -root(j) : root(j));
  put(&f, to->n_modes + l * to->m + k, -1.0L);
  return f;
}

typedef functional gradient(const half_matrix *to, int d, int a, int b);

/// Terms 0, 1 and 2 from all coefficients of a gradient, of `along` x `across` functions.
static void add_gradients(const half_matrix *to, gradient *of, int along, int across)
{
  for (int a = 0; a < along; ++a)
    for (int b = 0; b < across; ++b) {
      if ((a + b + to->half) % 2 == 0) continue;
      const functional r = of(to, 0, a, b), s = of(to, 1, a, b);
      add_product(to, 0, &r, &r);
      add_product(to, 2, &s, &s);
      if (a == across) continue;
      const functional same = of(to, 1, b, a);  // L_a(r) L_b(s) too
      add_product(to, 1, &r, &same);
    }
}

void kg_halves_fill(int order, const kg_halves *halves)
{
  const int m = order + 1;
  memset((double *)halves->sums[0], 0,
         kg_halves_lay_out(order, NULL, &(kg_halves){0}) * sizeof(double));
  for (int k = 0; k <= m; ++k) ((double *)halves->root)[k] = (double)root(k);
  for (int half = 0; half < KG_HALVES; ++half) {
    const int constant = 1 - half;
    const half_matrix sums = {
        m, half, 0, kg_half_modes(m, half), KG_HALF_TERMS, (double *)halves->sums[half]};
    const half_matrix stars = {m + 1,
                               half,
                               constant,
                               kg_half_modes(m + 1, half) - constant,
                               KG_HALF_STAR_TERMS,
                               (double *)halves->stars[half]};
    add_gradients(&sums, weak_gradient, m + 1, m);
    for (int k = 0; k < 2 * m; ++k) {
      const functional f = jump(&sums, k / m, k % m);
      add_product(&sums, 3 + k / m, &f, &f);
    }
    add_gradients(&stars, derivative, m + 1, m + 1);
  }
}
