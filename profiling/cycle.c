// cycle: the algebraic multigrid of the coarse system, on the matrix of linear finite elements
// of a mesh: set-up, cycle, and the conjugate gradients that it serves.
//
//   cycle [--mesh "square 707" | FILE.msh] [--samples 21] [--backend host|cuda] [--profile]
//         > cycle.json
//
// One JSON object a line: first the machine, then the result. -div grad u, zero on the whole
// boundary. `cycle_seconds` is one of several in a recording (a CUDA graph), as in a solve; its
// floor counts every product of the cycle with the bandwidth of the same run. `levels` are rows and
// entries.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "core/clock.h"
#include "core/memory.h"
#include "precondition/amg/amg.h"
#include "precondition/amg/csr_apply.h"

/// A matrix on the host, rows with room for all their entries.
typedef struct assembly {
  int32_t n;
  int32_t *number;  ///< [vertex], -1 on the boundary
  int32_t *row, *length, *column;
  double *value;  ///< the diagonal first
} assembly;

static void *get(size_t count, size_t size)
{
  void *memory;
  BENCH_TRY(NULL, kg_host_calloc(NULL, count, size, &memory));
  return memory;
}

static void number_vertices(const kedge_mesh *mesh, assembly *a)
{
  a->number = get((size_t)mesh->n_vertices, sizeof *a->number);
  for (int32_t f = 0; f < mesh->n_edges; ++f) {
    int32_t ends[2];
    if (mesh->edge_sides[2 * (size_t)f + 1] != KG_NO_SIDE) continue;
    kg_side_ends(mesh, mesh->edge_sides[2 * (size_t)f], ends);
    a->number[ends[0]] = a->number[ends[1]] = -1;
  }
  for (int32_t v = 0; v < mesh->n_vertices; ++v)
    if (a->number[v] >= 0) a->number[v] = a->n++;
}

static void add_entry(assembly *a, int32_t i, int32_t j, double value)
{
  int32_t e = a->row[i];
  const int32_t end = e + a->length[i];
  while (e < end && a->column[e] != j) ++e;
  if (e == end) ++a->length[i];
  a->column[e] = j;
  a->value[e] += value;
}

static void add_element(const kedge_mesh *mesh, const int32_t *v, assembly *a)
{
  double side[3][2];
  for (int k = 0; k < 3; ++k)
    for (int d = 0; d < 2; ++d)
      side[k][d] = mesh->vertices[2 * (size_t)v[(k + 2) % 3] + d] -
                   mesh->vertices[2 * (size_t)v[(k + 1) % 3] + d];
  const double area = 0.5 * fabs(side[0][0] * side[1][1] - side[0][1] * side[1][0]);
  for (int k = 0; k < 3; ++k)
    for (int l = 0; l < 3; ++l) {
      const int32_t i = a->number[v[k]], j = a->number[v[l]];
      if (i >= 0 && j >= 0)
        add_entry(a, i, j, (side[k][0] * side[l][0] + side[k][1] * side[l][1]) / (4.0 * area));
    }
}

static assembly assemble(const kedge_mesh *mesh)
{
  assembly a = {0};
  const size_t corners = 3 * (size_t)mesh->n_elements;
  number_vertices(mesh, &a);
  a.row = get((size_t)a.n + 1, sizeof *a.row);
  a.length = get((size_t)a.n, sizeof *a.length);
  for (size_t k = 0; k < corners; ++k) {
    const int32_t i = a.number[mesh->element_vertices[k]];
    if (i >= 0) ++a.row[i + 1];  // as many neighbours as elements: all vertices are inside
  }
  for (int32_t i = 0; i < a.n; ++i) a.row[i + 1] += a.row[i] + 1;
  a.column = get((size_t)a.row[a.n], sizeof *a.column);
  a.value = get((size_t)a.row[a.n], sizeof *a.value);
  for (int32_t i = 0; i < a.n; ++i) add_entry(&a, i, i, 0.0);
  for (size_t k = 0; k < corners; k += 3) add_element(mesh, mesh->element_vertices + k, &a);
  // Rows next to the boundary have fewer: close the gaps.
  int32_t to = 0;
  for (int32_t i = 0; i < a.n; ++i) {
    const int32_t begin = a.row[i];
    a.row[i] = to;
    for (int32_t k = 0; k < a.length[i]; ++k, ++to) {
      a.column[to] = a.column[begin + k];
      a.value[to] = a.value[begin + k];
    }
  }
  a.row[a.n] = to;
  return a;
}

/// The solver at work.
typedef struct running {
  kedge_context *ctx;
  kg_csr matrix;
  kg_coarse_memory memory;
  kg_buffer vectors;
  kg_coarse *coarse;
  double *b, *x;
  kg_repeat repeat;
} running;

static kedge_status set_up(void *user)
{
  running *r = user;
  kg_amg.destroy(r->ctx, r->coarse);
  r->coarse = NULL;
  KG_TRY(kg_amg.create(r->ctx, &r->matrix, r->memory, &r->coarse));
  return kg_amg.lend(r->ctx, r->coarse, r->vectors.data, r->vectors.bytes);
}

static kedge_status cycle(void *user)
{
  running *r = user;
  return kg_amg.solve(r->ctx, r->coarse, NULL, r->b, r->x);
}

enum { RECORDED = 10 };

static kedge_status recorded_cycles(void *user)
{
  running *r = user;
  return kg_repeat_run(r->ctx, &r->repeat, RECORDED, cycle, r);
}

/// Bytes and operations of one product.
static kg_cost product_cost(const kg_csr *matrix, kg_csr_rule rule)
{
  // Words a row: x (once, of about as many rows), y, diagonal, and what the rule reads.
  static const double words[] = {[KG_CSR_STEP] = 5.0,
                                 [KG_CSR_RESIDUAL] = 4.0,
                                 [KG_CSR_RESTRICT] = 3.0,
                                 [KG_CSR_PROLONG] = 2.0,
                                 [KG_CSR_SCALED] = 3.0};
  return (kg_cost){
      .bytes = (matrix->part ? 6.0 : 8.0) * matrix->n_entries +
               (4.0 + 8.0 * words[rule]) * matrix->n_rows,
      .flops = 2.0 * matrix->n_entries,
  };
}

/// Bytes and operations of a cycle from level l down.
static kg_cost cycle_cost(const kg_coarse *coarse, int l)
{
  const kg_amg_level *level = &coarse->level[l];
  const bool last = l + 1 == coarse->n_levels;
  const double n = level->matrix.n_rows;
  if (last && coarse->direct) return (kg_cost){8.0 * n * n, 2.0 * n * n};
  const kg_cost step = product_cost(&level->matrix, KG_CSR_STEP);
  const double steps = 2.0 * KG_AMG_DEGREE - 1.0;
  kg_cost sum = kg_cost_plus((kg_cost){0}, steps, step);
  if (last) return sum;
  const bool aggregates = l >= coarse->n_refined;
  const bool twice = aggregates && l < coarse->n_refined + coarse->n_twice &&
                     !(coarse->direct && l + 2 == coarse->n_levels);
  const kg_cost part[] = {product_cost(&level->matrix, KG_CSR_RESIDUAL),
                          product_cost(&level->restriction, KG_CSR_RESTRICT),
                          product_cost(&level->prolong, KG_CSR_PROLONG), cycle_cost(coarse, l + 1)};
  for (int k = 0; k < 4; ++k) sum = kg_cost_plus(sum, k == 3 && twice ? 2.0 : 1.0, part[k]);
  return sum;
}

/// The matrix as multigrid has it: the diagonal apart, the rest in single precision.
typedef struct device_matrix {
  kg_csr csr;
  kg_buffer row, column, value, diagonal;
} device_matrix;

static void upload_matrix(kedge_context *ctx, const assembly *a, device_matrix *out)
{
  const size_t n = (size_t)a->n, entries = (size_t)(a->row[a->n] - a->n);
  int32_t *row = get(n + 1, sizeof *row), *column = get(entries, sizeof *column);
  float *value = get(entries, sizeof *value);
  double *diagonal = get(n, sizeof *diagonal);
  for (int32_t i = 0, to = 0; i < a->n; ++i) {
    diagonal[i] = a->value[a->row[i]];
    for (int32_t e = a->row[i] + 1; e < a->row[i + 1]; ++e, ++to) {
      column[to] = a->column[e];
      value[to] = (float)a->value[e];
      diagonal[i] += a->value[e] - (double)value[to];
    }
    row[i + 1] = to;
  }
  BENCH_TRY(ctx, kg_upload(ctx, row, n + 1, sizeof *row, &out->row));
  BENCH_TRY(ctx, kg_upload(ctx, column, entries, sizeof *column, &out->column));
  BENCH_TRY(ctx, kg_upload(ctx, value, entries, sizeof *value, &out->value));
  BENCH_TRY(ctx, kg_upload(ctx, diagonal, n, sizeof *diagonal, &out->diagonal));
  out->csr = (kg_csr){.n_rows = a->n,
                      .n_entries = (int32_t)entries,
                      .row = out->row.data,
                      .column = out->column.data,
                      .value = out->value.data,
                      .diagonal = out->diagonal.data};
  free(row);
  free(column);
  free(value);
  free(diagonal);
}

static double seconds_of(running *r, kedge_status (*call)(void *), int samples)
{
  double seconds;
  BENCH_TRY(r->ctx, bench_time(r->ctx, (bench_work){call, NULL, r}, samples, &seconds));
  return seconds;
}

static void print_levels(const kg_coarse *coarse)
{
  double entries = 0.0;
  printf(",\"levels\":[");
  for (int l = 0; l < coarse->n_levels; ++l) {
    const kg_csr *matrix = &coarse->level[l].matrix;
    printf("%s[%d,%d]", l ? "," : "", (int)matrix->n_rows, (int)matrix->n_entries);
    entries += matrix->n_entries;
  }
  printf("]");
  const int32_t first = coarse->level[0].matrix.n_entries;
  bench_print_number("operator_complexity", first > 0 ? entries / first : 1.0);
}

static void measure(const bench_settings *settings, const bench_machine *m, running *r)
{
  BENCH_TRY(m->ctx, set_up(r));
  const kg_coarse_bytes given = kg_amg.bytes(r->matrix.n_rows, r->matrix.n_entries, 0);
  const size_t kept = r->coarse->arena.most + r->coarse->vectors.most;
  const double set_up_seconds = seconds_of(r, set_up, 5);
  const double plain = seconds_of(r, cycle, settings->samples);
  const double recorded = seconds_of(r, recorded_cycles, settings->samples) / RECORDED;
  const double floor_seconds = bench_floor(&m->roof, cycle_cost(r->coarse, 0));
  printf("{\"elements\":%d,\"rows\":%d,\"entries\":%d,\"samples\":%d", m->mesh->n_elements,
         r->matrix.n_rows, r->matrix.n_entries, settings->samples);
  bench_print_number("set_up_seconds", set_up_seconds);
  bench_print_number("cycle_seconds", recorded);
  bench_print_number("cycle_launched_seconds", plain);
  bench_print_number("cycle_floor_seconds", floor_seconds);
  bench_print_number("share_of_floor", floor_seconds / recorded);
  bench_print_number("kept_bytes", (double)kept);
  bench_print_number("given_bytes", (double)(given.kept + given.vectors));
  bench_print_number("work_bytes", (double)given.work);
  print_levels(r->coarse);
  printf("}\n");
  fprintf(stderr, "%d rows: set-up %.3f ms, cycle %.1f us (launched %.1f us), floor %.1f us\n",
          r->matrix.n_rows, 1e3 * set_up_seconds, 1e6 * recorded, 1e6 * plain, 1e6 * floor_seconds);
}

int main(int argc, char **argv)
{
  const bench_settings settings = bench_parse(argc, argv, KEDGE_BACKEND_AUTO);
  bench_machine m;
  bench_machine_open(&settings, &m);
  bench_print_machine(&settings, &m);
  printf("}\n");
  const assembly a = assemble(m.mesh);
  device_matrix matrix;
  kg_buffer b, x, stop, kept, vectors, work;
  const size_t n = (size_t)a.n;
  upload_matrix(m.ctx, &a, &matrix);
  const kg_coarse_bytes bytes = kg_amg.bytes(a.n, matrix.csr.n_entries, 0);
  BENCH_TRY(m.ctx, kg_alloc(m.ctx, (size_t)bytes.kept, 1, &kept));
  BENCH_TRY(m.ctx, kg_alloc(m.ctx, (size_t)bytes.vectors, 1, &vectors));
  BENCH_TRY(m.ctx, kg_alloc(m.ctx, (size_t)bytes.work, 1, &work));
  BENCH_TRY(m.ctx, kg_upload(m.ctx, a.value, n, sizeof(double), &b));
  BENCH_TRY(m.ctx, kg_alloc(m.ctx, n, sizeof(double), &x));
  BENCH_TRY(m.ctx, kg_alloc(m.ctx, 1, sizeof(int32_t), &stop));
  BENCH_TRY(m.ctx, kg_zero(m.ctx, stop.data, sizeof(int32_t)));
  running r = {.ctx = m.ctx,
               .matrix = matrix.csr,
               .memory = {kept.data, work.data, kept.bytes, work.bytes},
               .vectors = vectors,
               .b = b.data,
               .x = x.data,
               .repeat = {.stop = stop.data}};
  if (settings.profile) {
    BENCH_TRY(m.ctx, set_up(&r));
    if (bench_wants(&settings, "set_up"))
      BENCH_TRY(m.ctx, bench_profile(m.ctx, (bench_work){set_up, NULL, &r}, "set_up"));
    if (bench_wants(&settings, "cycle"))
      BENCH_TRY(m.ctx, bench_profile(m.ctx, (bench_work){cycle, NULL, &r}, "cycle"));
  } else {
    measure(&settings, &m, &r);
  }
  kg_repeat_free(m.ctx, &r.repeat);
  kg_amg.destroy(m.ctx, r.coarse);
  kg_buffer *const buffers[] = {
      &matrix.row, &matrix.column, &matrix.value, &matrix.diagonal, &b,
      &x,          &stop,          &kept,         &vectors,         &work};
  for (size_t k = 0; k < sizeof buffers / sizeof *buffers; ++k) kg_free(m.ctx, buffers[k]);
  void *const arrays[] = {a.number, a.row, a.length, a.column, a.value};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k) free(arrays[k]);
  bench_machine_close(&m);
  return 0;
}
