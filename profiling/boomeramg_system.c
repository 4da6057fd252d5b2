// The trace system in memory that the processes of a host share, and its change of basis.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "basis/polynomials.h"
#include "basis/quadrature.h"
#include "boomeramg.h"

enum { MODES_MAX = KEDGE_ORDER_MAX + 1 };

static int rank_of_this(void)
{
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

_Noreturn void give_up(const char *doing, const char *why)
{
  fprintf(stderr, "boomeramg: %s: %s\n", doing, why);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

void wait_quietly(void)
{
  const struct timespec pause = {.tv_nsec = 1000000};
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; !done; nanosleep(&pause, NULL)) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

/// Columns of Dirichlet edges, whose values are zero, and missing entries are left out.
static bool is_kept(const kg_ell_matrix *ell, int64_t at)
{
  return ell->column[at] >= 0 && ell->column[at] < ell->rows;
}

static int64_t count_entries(const kg_ell_matrix *ell)
{
  int64_t entries = 0;
  for (int k = 0; k < ell->width; ++k)
    for (int64_t row = 0; row < ell->rows; ++row) entries += is_kept(ell, k * ell->stride + row);
  return entries;
}

static void fill_rows(shared_system *s, const system_source *source)
{
  const kg_ell_matrix *ell = &source->ell;
  int32_t place = 0;
  for (int64_t row = 0; row < ell->rows; ++row) {
    s->offset[row] = place;
    for (int k = 0; k < ell->width; ++k) {
      const int64_t at = k * ell->stride + row;
      if (!is_kept(ell, at)) continue;
      s->column[place] = ell->column[at];
      s->value[place++] = ell->value[at];
    }
  }
  s->offset[ell->rows] = place;
  memcpy(s->b, source->b, (size_t)ell->rows * sizeof *s->b);
}

void system_open(shared_system *s, const system_source *source, int order)
{
  const bool makes = rank_of_this() == 0;
  int64_t sizes[2] = {0};
  if (makes) {
    sizes[0] = source->ell.rows;
    sizes[1] = count_entries(&source->ell);
  }
  MPI_Bcast(sizes, 2, MPI_INT64_T, 0, MPI_COMM_WORLD);
  *s = (shared_system){.order = order, .rows = sizes[0], .entries = sizes[1]};
  if (s->entries > INT32_MAX)
    give_up("numbering entries", "more than 32 bits count: take a smaller mesh or order");
  const int64_t words = s->entries + 2 * s->rows;  // doubles first, for their alignment
  const int64_t bytes = 8 * words + 4 * (s->entries + s->rows + 1);
  void *memory;
  MPI_Win_allocate_shared(makes ? (MPI_Aint)bytes : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                          &s->window);
  MPI_Aint size;
  int unit;
  MPI_Win_shared_query(s->window, 0, &size, &unit, &memory);
  s->value = memory;
  s->b = s->value + s->entries;
  s->x = s->b + s->rows;
  s->column = (int32_t *)(s->x + s->rows);
  s->offset = s->column + s->entries;
  if (makes) fill_rows(s, source);
  MPI_Barrier(MPI_COMM_WORLD);
}

void system_close(shared_system *s)
{
  MPI_Win_free(&s->window);
}

void system_rows(const shared_system *s, int32_t *first, int32_t *last)
{
  int processes;
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  const int m = s->order + 1, rank = rank_of_this();
  const int64_t edges = s->rows / m;
  *first = (int32_t)(edges * rank / processes * m);
  *last = (int32_t)(edges * (rank + 1) / processes * m);
}

double system_residual(const shared_system *s)
{
  int32_t first, last;
  system_rows(s, &first, &last);
  double sums[2] = {0.0};  // of the residual, of b
  for (int32_t row = first; row < last; ++row) {
    double r = s->b[row];
    for (int32_t at = s->offset[row]; at < s->offset[row + 1]; ++at)
      r -= s->value[at] * s->x[s->column[at]];
    sums[0] += r * r;
    sums[1] += s->b[row] * s->b[row];
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sqrt(sums[0] / sums[1]);
}

/// C[j][q] = psi_j(t_q) w_q: modes of values at the Gauss points, exact up to the order.
static void modes_of_values(int order, double c[MODES_MAX][MODES_MAX])
{
  const int m = order + 1;
  double t[MODES_MAX], w[MODES_MAX], psi[MODES_MAX];
  kg_gauss_jacobi(m, 0, t, w);
  for (int q = 0; q < m; ++q) {
    kg_legendre(order, t[q], psi);
    for (int j = 0; j < m; ++j) c[j][q] = psi[j] * w[q];
  }
}

/// block = C^T block C; rows of a block are `stride` apart.
static void change_block(int m, double c[MODES_MAX][MODES_MAX], double *block, int32_t stride)
{
  double half[MODES_MAX][MODES_MAX];
  for (int i = 0; i < m; ++i)
    for (int q = 0; q < m; ++q) {
      half[i][q] = 0.0;
      for (int j = 0; j < m; ++j) half[i][q] += block[i * stride + j] * c[j][q];
    }
  for (int p = 0; p < m; ++p)
    for (int q = 0; q < m; ++q) {
      double sum = 0.0;
      for (int i = 0; i < m; ++i) sum += c[i][p] * half[i][q];
      block[p * stride + q] = sum;
    }
}

void system_to_nodes(shared_system *s)
{
  const int m = s->order + 1;
  double c[MODES_MAX][MODES_MAX];
  modes_of_values(s->order, c);
  int32_t first, last;
  system_rows(s, &first, &last);
  for (int32_t row = first; row < last; row += m) {
    const int32_t length = s->offset[row + 1] - s->offset[row];
    for (int32_t at = 0; at < length; at += m)
      change_block(m, c, s->value + s->offset[row] + at, length);
    double b[MODES_MAX] = {0.0};
    for (int q = 0; q < m; ++q)
      for (int j = 0; j < m; ++j) b[q] += c[j][q] * s->b[row + j];
    memcpy(s->b + row, b, (size_t)m * sizeof *b);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void system_modes_of(const shared_system *s, const double *values, double *modes)
{
  const int m = s->order + 1;
  double c[MODES_MAX][MODES_MAX];
  modes_of_values(s->order, c);
  for (int64_t row = 0; row < s->rows; row += m)
    for (int j = 0; j < m; ++j) {
      modes[row + j] = 0.0;
      for (int q = 0; q < m; ++q) modes[row + j] += c[j][q] * values[row + q];
    }
}
