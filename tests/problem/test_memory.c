// Every allocation fails once: an error is returned, nothing crashes, nothing leaks (seen by
// AddressSanitizer). The library's allocations come here (wrap.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/memory.h"
#include "mesh/mesh.h"
#include "expression/expression_cuda.h"
#include "problem/expression_text.h"
#include "problem/problem.h"
#include "wrap.h"

static int64_t countdown = INT64_MAX;  // allocations that still succeed

static bool fails(void *out)
{
  if (countdown-- != 0) return false;
  memset(out, 0, sizeof(void *));
  return true;
}

WRAP(kedge_status, kg_host_alloc, kedge_context *ctx, size_t count, size_t size, void *out)
{
  if (fails(out)) return KG_FAIL(ctx, KEDGE_ERR_MEMORY, "no memory left for the test");
  return REAL(kg_host_alloc)(ctx, count, size, out);
}

WRAP(kedge_status, kg_host_calloc, kedge_context *ctx, size_t count, size_t size, void *out)
{
  if (fails(out)) return KG_FAIL(ctx, KEDGE_ERR_MEMORY, "no memory left for the test");
  return REAL(kg_host_calloc)(ctx, count, size, out);
}

static void constant(void *user, const kedge_points *points, double *value)
{
  (void)user;
  for (size_t i = 0; i < points->n; ++i) value[i] = 1;
}

/// All that allocates: read, override, set, resolve with a derived source, print, emit.
static kedge_status work(void)
{
  static const char text[] =
      "[mesh]\nfile=a.msh\n[parameters]\na=2\n[space]\nstabilization=a/h\n[boundary left]\n"
      "type=neumann\nvalue=a*x\n  +y\n[boundary default]\ntype=dirichlet\n[exact]\nu=sin(x)*y\n"
      "[output]\nfile=b.vtkhdf\n";
  static const char *const overrides[] = {"mesh.generate=square 3", "space.order=4"};
  static kg_group groups[] = {{.name = "left", .tag = 1, .dimension = 1, .count = 1},
                              {.name = "top", .tag = 2, .dimension = 1, .count = 1},
                              {.name = "plate", .tag = 1, .dimension = 2, .count = 2}};
  // Two triangles apart, so that their parts are looked for: reaction is 0.
  static kg_side edge_sides[][2] = {{0, KG_NO_SIDE}, {1, KG_NO_SIDE}, {2, KG_NO_SIDE},
                                    {4, KG_NO_SIDE}, {5, KG_NO_SIDE}, {6, KG_NO_SIDE}};
  static int32_t edge_group[] = {0, 1, 0, 0, 1, 0};
  static const kedge_mesh mesh = {.dimension = 2,
                                  .n_elements = 2,
                                  .n_edges = 6,
                                  .edge_sides = edge_sides[0],
                                  .edge_group = edge_group,
                                  .info.parts = 2,
                                  .n_groups = 3,
                                  .groups = groups,
                                  .source = "a.msh"};
  kedge_problem *p;
  kg_resolved resolved = {0};
  KG_TRY(kg_problem_parse(NULL, "a.ini", text, sizeof text - 1, overrides, 2, &p));
  kedge_status status = kedge_problem_set(p, "equation", "reaction", "a - 2");
  if (status == KEDGE_OK) status = kg_problem_resolve(NULL, p, &mesh, &resolved);
  if (status == KEDGE_OK && expression_print(resolved.equation.source.expression, NULL, 0) < 0)
    status = KEDGE_ERR_MEMORY;
  if (status == KEDGE_OK) {
    const kg_function *const source = &resolved.equation.source;
    char *emitted;
    status = kg_functions_emit(NULL, 1, &source, &emitted);
    free(emitted);
  }
  kg_resolved_free(&resolved);
  if (status == KEDGE_OK)
    status = kedge_problem_set_boundary(p, "left", KEDGE_BOUNDARY_NEUMANN, constant, NULL);
  kedge_problem_destroy(p);
  return status;
}

static void every_failed_allocation_is_an_error(void **state)
{
  (void)state;
  enum { MANY = 10000 };
  int n = 0;
  kedge_status status = KEDGE_ERR_MEMORY;
  for (; n < MANY && status == KEDGE_ERR_MEMORY; ++n) {
    countdown = n;
    status = work();
  }
  countdown = INT64_MAX;
  assert_int_equal(status, KEDGE_OK);
  assert_in_range(n, 100, MANY - 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_failed_allocation_is_an_error)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
