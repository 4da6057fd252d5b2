// Conjugate gradients with BoomerAMG, from rows of the shared system to the solution in it.
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <_hypre_parcsr_ls.h>  // levels, for their number and entries
#include <malloc.h>
#include <stdlib.h>

#include "boomeramg.h"

enum { PMIS = 8, SYMMETRIC_GAUSS_SEIDEL = 6 };

// What is not said is hypre's default: HMIS coarsening, extended+i interpolation with at most four
// entries a row, l1-Gauss-Seidel forward on the way down and backward on the way up.
const boomeramg_way boomeramg_ways[] = {
    {.name = "modes", .threshold = 0.25},
    {.name = "modes-apart", .by_mode = true, .threshold = 0.5},
    {.name = "nodes", .nodes = true, .threshold = 0.25},
    {.name = "nodes-0.5", .nodes = true, .threshold = 0.5},
    {.name = "nodes-pmis", .nodes = true, .threshold = 0.5, .coarsening = PMIS},
    {.name = "nodes-sgs", .nodes = true, .threshold = 0.5, .smoother = SYMMETRIC_GAUSS_SEIDEL},
    {.name = "nodes-aggressive", .nodes = true, .threshold = 0.25, .aggressive = 1},
    {.name = "nodes-by-edge", .nodes = true, .threshold = 0.25, .by_edge = true},
};
const int boomeramg_way_count = sizeof boomeramg_ways / sizeof *boomeramg_ways;

typedef struct hypre_system {
  HYPRE_IJMatrix ij;
  HYPRE_IJVector ij_b, ij_x;
  HYPRE_ParCSRMatrix a;
  HYPRE_ParVector b, x;
  int32_t first, n;  ///< rows of this process
  int32_t *row;      ///< their numbers
} hypre_system;

static void check(const char *doing)
{
  char text[256];
  HYPRE_DescribeError(HYPRE_GetError(), text);
  if (HYPRE_GetError()) give_up(doing, text);
}

static int32_t *numbers(int32_t n)
{
  int32_t *const out = calloc((size_t)n + 1, sizeof *out);
  if (out == NULL) give_up("numbering rows", "no memory");
  return out;
}

/// Bytes this process has allocated.
static double heap_bytes(void)
{
  const struct mallinfo2 info = mallinfo2();
  return (double)info.uordblks + (double)info.hblkhd;
}

static void open_vector(const hypre_system *h, const double *values, HYPRE_IJVector *ij,
                        HYPRE_ParVector *out)
{
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, h->first, h->first + h->n - 1, ij);
  HYPRE_IJVectorSetObjectType(*ij, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(*ij);
  HYPRE_IJVectorSetValues(*ij, h->n, h->row, values);
  HYPRE_IJVectorAssemble(*ij);
  HYPRE_IJVectorGetObject(*ij, (void **)out);
}

static void open_matrix(hypre_system *h, const shared_system *s)
{
  const int32_t last = h->first + h->n - 1, *offset = s->offset + h->first;
  int32_t *const length = numbers(h->n);
  for (int32_t i = 0; i < h->n; ++i) length[i] = offset[i + 1] - offset[i];
  HYPRE_IJMatrixCreate(MPI_COMM_WORLD, h->first, last, h->first, last, &h->ij);
  HYPRE_IJMatrixSetObjectType(h->ij, HYPRE_PARCSR);
  HYPRE_IJMatrixSetRowSizes(h->ij, length);
  HYPRE_IJMatrixInitialize(h->ij);
  HYPRE_IJMatrixSetValues(h->ij, h->n, length, h->row, s->column + offset[0], s->value + offset[0]);
  HYPRE_IJMatrixAssemble(h->ij);
  HYPRE_IJMatrixGetObject(h->ij, (void **)&h->a);
  free(length);
}

static void open_system(hypre_system *h, shared_system *s)
{
  int32_t last;
  system_rows(s, &h->first, &last);
  h->n = last - h->first;
  h->row = numbers(h->n);
  for (int32_t i = 0; i < h->n; ++i) {
    h->row[i] = h->first + i;
    s->x[h->first + i] = 0.0;
  }
  open_matrix(h, s);
  open_vector(h, s->b + h->first, &h->ij_b, &h->b);
  open_vector(h, s->x + h->first, &h->ij_x, &h->x);
  check("taking the matrix");
}

static void close_system(hypre_system *h)
{
  HYPRE_IJMatrixDestroy(h->ij);
  HYPRE_IJVectorDestroy(h->ij_b);
  HYPRE_IJVectorDestroy(h->ij_x);
  free(h->row);
}

static HYPRE_Solver open_amg(const boomeramg_way *way, int modes)
{
  HYPRE_Solver amg;
  HYPRE_BoomerAMGCreate(&amg);
  HYPRE_BoomerAMGSetTol(amg, 0.0);  // as a preconditioner: one cycle
  HYPRE_BoomerAMGSetMaxIter(amg, 1);
  HYPRE_BoomerAMGSetStrongThreshold(amg, way->threshold);
  HYPRE_BoomerAMGSetAggNumLevels(amg, way->aggressive);
  HYPRE_BoomerAMGSetNodal(amg, way->by_edge);
  if (way->coarsening) HYPRE_BoomerAMGSetCoarsenType(amg, way->coarsening);
  if (way->smoother) HYPRE_BoomerAMGSetRelaxType(amg, way->smoother);
  if (way->by_mode) HYPRE_BoomerAMGSetNumFunctions(amg, modes);
  return amg;
}

static HYPRE_Solver open_pcg(HYPRE_Solver amg, double tolerance)
{
  HYPRE_Solver pcg;
  HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &pcg);
  HYPRE_PCGSetTol(pcg, tolerance);
  HYPRE_PCGSetTwoNorm(pcg, 1);
  HYPRE_PCGSetPrecond(pcg, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve,
                      (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup, amg);
  return pcg;
}

static void describe_levels(HYPRE_Solver amg, boomeramg_result *r)
{
  hypre_ParAMGData *data = (hypre_ParAMGData *)amg;
  hypre_ParCSRMatrix **level = hypre_ParAMGDataAArray(data);
  r->levels = hypre_ParAMGDataNumLevels(data);
  double entries = 0.0;
  for (int i = 0; i < r->levels; ++i) {
    hypre_ParCSRMatrixSetDNumNonzeros(level[i]);
    entries += hypre_ParCSRMatrixDNumNonzeros(level[i]);
  }
  r->operator_complexity = entries / hypre_ParCSRMatrixDNumNonzeros(level[0]);
}

/// Returns the time since *from on the slowest process, and sets *from to now.
static double lap(double *from)
{
  double seconds = MPI_Wtime() - *from;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  *from = MPI_Wtime();
  return seconds;
}

/// Iterate until the recomputed residual meets the tolerance too.
static void iterate(shared_system *s, const hypre_system *h, HYPRE_Solver pcg, double tolerance,
                    int most_iterations, boomeramg_result *r)
{
  double from = MPI_Wtime();
  HYPRE_Int n = 1;
  r->relative_residual = 1.0;
  while (n > 0 && r->relative_residual > tolerance && r->iterations < most_iterations) {
    HYPRE_PCGSetMaxIter(pcg, most_iterations - (int)r->iterations);
    HYPRE_ParCSRPCGSolve(pcg, h->a, h->b, h->x);
    HYPRE_ClearError(HYPRE_ERROR_CONV);  // the residual says it
    HYPRE_PCGGetNumIterations(pcg, &n);
    r->iterations += n;
    r->solve_seconds += lap(&from);
    HYPRE_IJVectorGetValues(h->ij_x, h->n, h->row, s->x + h->first);
    MPI_Barrier(MPI_COMM_WORLD);
    r->relative_residual = system_residual(s);
    from = MPI_Wtime();
  }
}

boomeramg_result boomeramg_solve(shared_system *s, const boomeramg_way *way, double tolerance,
                                 int most_iterations)
{
  boomeramg_result r = {.bytes = -heap_bytes()};
  hypre_system h;
  MPI_Barrier(MPI_COMM_WORLD);
  double from = MPI_Wtime();
  open_system(&h, s);
  r.matrix_seconds = lap(&from);
  HYPRE_Solver amg = open_amg(way, s->order + 1), pcg = open_pcg(amg, tolerance);
  HYPRE_ParCSRPCGSetup(pcg, h.a, h.b, h.x);
  r.set_up_seconds = lap(&from);
  check("setting up");
  r.bytes += heap_bytes();
  MPI_Allreduce(MPI_IN_PLACE, &r.bytes, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  describe_levels(amg, &r);
  iterate(s, &h, pcg, tolerance, most_iterations, &r);
  check("solving");
  HYPRE_ParCSRPCGDestroy(pcg);
  HYPRE_BoomerAMGDestroy(amg);
  close_system(&h);
  return r;
}
