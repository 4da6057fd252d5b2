#include "matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "device/context.h"
#include "grid.h"

void *get(size_t count, size_t size)
{
  void *memory = calloc(count + 1, size);
  assert_non_null(memory);
  return memory;
}

double *randoms(uint64_t seed, int32_t n)
{
  double *v = get((size_t)n, sizeof *v);
  for (int32_t i = 0; i < n; ++i) v[i] = test_random(&seed);
  return v;
}

/// Triangles with a number for every vertex; -1 for those of Dirichlet edges.
typedef struct triangulation {
  int n_vertices, n_triangles;
  double *vertices;    ///< [vertex][2]
  int32_t *triangles;  ///< [triangle][3]
  int32_t *number;     ///< [vertex]
} triangulation;

/// Add to the entry; new ones come last.
static void add_entry(fe_matrix *m, int32_t *length, int32_t i, int32_t j, double value)
{
  int32_t e = m->row[i];
  const int32_t end = e + length[i];
  while (e < end && m->column[e] != j) ++e;
  if (e == end) ++length[i];
  m->column[e] = j;
  m->value[e] += value;
}

static void add_element(const triangulation *t, const int32_t *v, double reaction, fe_matrix *m,
                        int32_t *length)
{
  double side[3][2];
  for (int k = 0; k < 3; ++k)
    for (int d = 0; d < 2; ++d)
      side[k][d] = t->vertices[2 * v[(k + 2) % 3] + d] - t->vertices[2 * v[(k + 1) % 3] + d];
  const double area = 0.5 * fabs(side[0][0] * side[1][1] - side[0][1] * side[1][0]);
  for (int k = 0; k < 3; ++k)
    for (int l = 0; l < 3; ++l) {
      const int32_t i = t->number[v[k]], j = t->number[v[l]];
      const double stiffness = (side[k][0] * side[l][0] + side[k][1] * side[l][1]) / (4.0 * area);
      const double mass = reaction * area * (k == l ? 2.0 : 1.0) / 12.0;
      if (i >= 0 && j >= 0) add_entry(m, length, i, j, stiffness + mass);
    }
}

/// Close the gaps that rows with too much room leave.
static void compress(fe_matrix *m, const int32_t *length)
{
  int32_t to = 0;
  for (int32_t i = 0; i < m->n; ++i) {
    const int32_t begin = m->row[i];
    m->row[i] = to;
    for (int32_t k = 0; k < length[i]; ++k, ++to) {
      m->column[to] = m->column[begin + k];
      m->value[to] = m->value[begin + k];
    }
  }
  m->row[m->n] = m->n_entries = to;
}

static void assemble(const triangulation *t, double reaction, fe_matrix *m)
{
  *m = (fe_matrix){0};
  for (int v = 0; v < t->n_vertices; ++v) m->n += t->number[v] >= 0;
  m->row = get((size_t)m->n + 1, sizeof *m->row);
  for (int k = 0; k < 3 * t->n_triangles; ++k) {
    const int32_t i = t->number[t->triangles[k]];
    if (i >= 0) m->row[i + 1] += 3;
  }
  for (int32_t i = 0; i < m->n; ++i) m->row[i + 1] += m->row[i] + 1;
  const size_t room = (size_t)m->row[m->n];
  m->column = get(room, sizeof *m->column);
  m->value = get(room, sizeof *m->value);
  int32_t *length = get((size_t)m->n, sizeof *length);
  for (int32_t i = 0; i < m->n; ++i) add_entry(m, length, i, i, 0.0);
  for (int k = 0; k < t->n_triangles; ++k)
    add_element(t, t->triangles + 3 * k, reaction, m, length);
  compress(m, length);
  free(length);
}

void fe_grid_matrix(fe_grid grid, fe_matrix *out)
{
  const int row = grid.nx + 1;
  triangulation t = {row * (grid.ny + 1), 2 * grid.nx * grid.ny};
  t.vertices = get(2 * (size_t)t.n_vertices, sizeof(double));
  t.number = get((size_t)t.n_vertices, sizeof(int32_t));
  t.triangles = get(3 * (size_t)t.n_triangles, sizeof(int32_t));
  uint64_t seed = 11;
  int32_t n = 0;
  for (int v = 0; v < t.n_vertices; ++v) {
    const int i = v % row, j = v / row;
    const bool inside = i > 0 && i < grid.nx && j > 0 && j < grid.ny;
    const double move = inside ? 0.5 * grid.jitter : 0.0;
    t.vertices[2 * v] = (i + move * test_random(&seed)) / grid.nx;
    t.vertices[2 * v + 1] = (j + move * test_random(&seed)) * grid.height / grid.ny;
    t.number[v] = inside || grid.neumann ? n++ : -1;
  }
  for (int s = 0; s < grid.nx * grid.ny; ++s) {
    const int32_t v = s / grid.nx * row + s % grid.nx;
    const int32_t two[6] = {v, v + 1, v + row + 1, v, v + row + 1, v + row};
    memcpy(t.triangles + 6 * (size_t)s, two, sizeof two);
  }
  assemble(&t, grid.reaction, out);
  free(t.vertices);
  free(t.number);
  free(t.triangles);
}

void fe_mesh_matrix(const kedge_mesh *mesh, double reaction, fe_matrix *out)
{
  triangulation t = {mesh->n_vertices, mesh->n_elements, mesh->vertices, mesh->element_vertices};
  t.number = get((size_t)t.n_vertices, sizeof(int32_t));
  for (int32_t v = 0; v < mesh->n_vertices; ++v) t.number[v] = v;
  assemble(&t, reaction, out);
  free(t.number);
}

void fe_irregular_matrix(int n_triangles, fe_matrix *out)
{
  test_grid grid;
  test_grid_create(&grid, n_triangles);
  triangulation t = {grid.n_vertices, grid.n_triangles, grid.vertices, grid.triangles};
  t.number = get((size_t)t.n_vertices, sizeof(int32_t));
  char *used = get((size_t)t.n_vertices, 1);
  for (int k = 0; k < 3 * n_triangles; ++k) used[grid.triangles[k]] = 1;
  for (int k = 0; k < 2 * grid.n_lines; ++k) used[grid.lines[k]] = 0;
  int32_t n = 0;
  for (int v = 0; v < t.n_vertices; ++v) t.number[v] = used[v] ? n++ : -1;
  assemble(&t, 0.0, out);
  free(used);
  free(t.number);
  test_grid_destroy(&grid);
}

void fe_matrix_free(fe_matrix *m)
{
  free(m->row);
  free(m->column);
  free(m->value);
  *m = (fe_matrix){0};
}

void fe_matrix_round(fe_matrix *m)
{
  for (int32_t i = 0; i < m->n; ++i)
    for (int32_t e = m->row[i] + 1; e < m->row[i + 1]; ++e) {
      const double rounded = (double)(float)m->value[e];
      m->value[m->row[i]] += m->value[e] - rounded;
      m->value[e] = rounded;
    }
}

void device_matrix_plain(kedge_context *ctx, const fe_matrix *m, kg_csr_form form,
                         device_matrix *out)
{
  const size_t entries = (size_t)m->n_entries;
  float *value = get(entries, sizeof *value);
  uint16_t *part = get(entries, sizeof *part);
  for (size_t e = 0; e < entries; ++e) {
    value[e] = (float)m->value[e];
    if (form.parts) part[e] = (uint16_t)(m->value[e] * KG_CSR_PARTS);
  }
  *out = (device_matrix){0};
  must(ctx, kg_upload(ctx, m->row, (size_t)m->n + 1, sizeof *m->row, &out->row));
  must(ctx, kg_upload(ctx, m->column, entries, sizeof *m->column, &out->column));
  if (form.wide)
    must(ctx, kg_upload(ctx, m->value, entries, sizeof *m->value, &out->value));
  else if (form.parts)
    must(ctx, kg_upload(ctx, part, entries, sizeof *part, &out->value));
  else
    must(ctx, kg_upload(ctx, value, entries, sizeof *value, &out->value));
  out->csr = (kg_csr){.n_rows = m->n,
                      .n_entries = m->n_entries,
                      .row = out->row.data,
                      .column = out->column.data,
                      .value = form.wide || form.parts ? NULL : out->value.data,
                      .wide = form.wide ? out->value.data : NULL,
                      .part = form.parts ? out->value.data : NULL};
  free(value);
  free(part);
}

void device_matrix_create(kedge_context *ctx, const fe_matrix *m, device_matrix *out)
{
  const size_t n = (size_t)m->n, entries = (size_t)m->n_entries;
  double *diagonal = get(n, sizeof *diagonal);
  fe_matrix beside = {m->n, 0, get(n + 1, sizeof *beside.row), get(entries, sizeof *beside.column),
                      get(entries, sizeof *beside.value)};
  for (int32_t i = 0; i < m->n; ++i) {
    diagonal[i] = m->value[m->row[i]];
    for (int32_t e = m->row[i] + 1; e < m->row[i + 1]; ++e) {
      beside.column[beside.n_entries] = m->column[e];
      beside.value[beside.n_entries++] = m->value[e];
      diagonal[i] += m->value[e] - (double)(float)m->value[e];
    }
    beside.row[i + 1] = beside.n_entries;
  }
  device_matrix_plain(ctx, &beside, (kg_csr_form){0}, out);
  must(ctx, kg_upload(ctx, diagonal, n, sizeof *diagonal, &out->diagonal));
  out->csr.diagonal = out->diagonal.data;
  fe_matrix_free(&beside);
  free(diagonal);
}

void device_matrix_destroy(kedge_context *ctx, device_matrix *m)
{
  kg_free(ctx, &m->row);
  kg_free(ctx, &m->column);
  kg_free(ctx, &m->value);
  kg_free(ctx, &m->diagonal);
}

/// Device memory in fresh host memory.
static void *fetched(kedge_context *ctx, const void *device, size_t count, size_t size)
{
  void *const host = get(count, size);
  must(ctx, kg_copy_out(ctx, host, device, count * size));
  must(ctx, kg_sync(ctx));
  return host;
}

void fe_matrix_fetch(kedge_context *ctx, const kg_csr *csr, fe_matrix *out)
{
  const size_t entries = (size_t)csr->n_entries, rows = (size_t)csr->n_rows;
  const int first = csr->diagonal != NULL;
  int32_t *row = fetched(ctx, csr->row, rows + 1, sizeof *row);
  int32_t *column = fetched(ctx, csr->column, entries, sizeof *column);
  void *value = csr->wide   ? fetched(ctx, csr->wide, entries, sizeof(double))
                : csr->part ? fetched(ctx, csr->part, entries, sizeof(uint16_t))
                            : fetched(ctx, csr->value, entries, sizeof(float));
  double *diagonal = first ? fetched(ctx, csr->diagonal, rows, sizeof *diagonal) : NULL;
  const kg_csr host = {
      .value = value, .wide = csr->wide ? value : NULL, .part = csr->part ? value : NULL};
  const size_t all = entries + (first ? rows : 0);
  *out = (fe_matrix){csr->n_rows, (int32_t)all, row, get(all, sizeof *out->column),
                     get(all, sizeof *out->value)};
  for (int32_t i = 0, to = 0, e = 0; i < csr->n_rows; ++i) {
    if (first) {
      out->column[to] = i;
      out->value[to++] = diagonal[i];
    }
    const int32_t end = row[i + 1];
    if (i > 0) row[i] += i * first;
    for (; e < end; ++e, ++to) {
      out->column[to] = column[e];
      out->value[to] = kg_csr_value(&host, e);
    }
  }
  row[csr->n_rows] = (int32_t)all;
  free(column);
  free(value);
  free(diagonal);
}

void fe_multiply(const fe_matrix *m, const double *x, double *y)
{
  for (int32_t i = 0; i < m->n; ++i) {
    y[i] = 0.0;
    for (int32_t e = m->row[i]; e < m->row[i + 1]; ++e) y[i] += m->value[e] * x[m->column[e]];
  }
}

double *fe_dense(const fe_matrix *m, int32_t n_columns)
{
  double *dense = get((size_t)m->n * (size_t)n_columns, sizeof *dense);
  for (int32_t i = 0; i < m->n; ++i)
    for (int32_t e = m->row[i]; e < m->row[i + 1]; ++e)
      dense[(size_t)i * (size_t)n_columns + (size_t)m->column[e]] += m->value[e];
  return dense;
}

static void solve(kedge_context *ctx, const kg_coarse_table *solver, kg_coarse *coarse, bool well,
                  int32_t n, const double *b, double *x)
{
  kg_buffer device_b, device_x, room;
  const size_t bytes = (size_t)n * sizeof *x;
  must(ctx, kg_upload(ctx, b, (size_t)n, sizeof *b, &device_b));
  must(ctx, kg_alloc(ctx, 2 * (size_t)n, sizeof *x, &room));
  must(ctx, kg_zero(ctx, room.data, 2 * bytes));
  must(ctx, kg_alloc(ctx, (size_t)n, sizeof *x, &device_x));
  must(ctx, solver->solve(ctx, coarse, well ? room.data : NULL, device_b.data, device_x.data));
  must(ctx, kg_copy_out(ctx, x, device_x.data, bytes));
  double *rest = get(2 * (size_t)n, sizeof *rest);
  must(ctx, kg_copy_out(ctx, rest, room.data, 2 * bytes));
  must(ctx, kg_sync(ctx));
  for (int32_t i = 0; i < 2 * n; ++i) assert_true(rest[i] == 0.0);
  free(rest);
  kg_free(ctx, &device_b);
  kg_free(ctx, &device_x);
  kg_free(ctx, &room);
}

void solve_on_device(kedge_context *ctx, const kg_coarse_table *solver, kg_coarse *coarse,
                     int32_t n, const double *b, double *x)
{
  solve(ctx, solver, coarse, false, n, b, x);
}

void solve_well_on_device(kedge_context *ctx, const kg_coarse_table *solver, kg_coarse *coarse,
                          int32_t n, const double *b, double *x)
{
  solve(ctx, solver, coarse, true, n, b, x);
}

static double dot(int32_t n, const double *a, const double *b)
{
  double sum = 0.0;
  for (int32_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

/// Iterations; v: vectors r, z, p, A p.
static int iterate(kedge_context *ctx, const kg_coarse_table *solver, const fe_matrix *m,
                   kg_coarse *coarse, double *const v[4])
{
  double *const r = v[0], *const z = v[1], *const p = v[2], *const ap = v[3];
  const double target = 1e-20 * dot(m->n, r, r);
  solve_on_device(ctx, solver, coarse, m->n, r, z);
  memcpy(p, z, (size_t)m->n * sizeof *p);
  double rz = dot(m->n, r, z);
  for (int k = 1; k < 100; ++k) {
    fe_multiply(m, p, ap);
    const double alpha = rz / dot(m->n, p, ap);
    for (int32_t i = 0; i < m->n; ++i) r[i] -= alpha * ap[i];
    if (dot(m->n, r, r) <= target) return k;
    solve_on_device(ctx, solver, coarse, m->n, r, z);
    const double rz_next = dot(m->n, r, z);
    for (int32_t i = 0; i < m->n; ++i) p[i] = z[i] + rz_next / rz * p[i];
    rz = rz_next;
  }
  return 100;
}

int coarse_iterations(kedge_context *ctx, const kg_coarse_table *solver, const fe_matrix *m)
{
  device_matrix device;
  kg_coarse *coarse;
  double *v[4];
  uint64_t seed = 5;
  for (int k = 0; k < 4; ++k) v[k] = get((size_t)m->n, sizeof(double));
  for (int32_t i = 0; i < m->n; ++i) v[0][i] = test_random(&seed);
  device_matrix_create(ctx, m, &device);
  must(ctx, solver->create(ctx, &device.csr, (kg_coarse_memory){0}, &coarse));
  must(ctx, solver->lend(ctx, coarse, NULL, 0));
  const int iterations = iterate(ctx, solver, m, coarse, v);
  solver->destroy(ctx, coarse);
  device_matrix_destroy(ctx, &device);
  for (int k = 0; k < 4; ++k) free(v[k]);
  return iterations;
}
