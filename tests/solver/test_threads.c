// How many threads solves start: no loop of a small one is worth a team.
#include <dirent.h>

#include "backend.h"
#include "device/loop.h"
#include "support.h"

static int count_threads(void)
{
  DIR *tasks = opendir("/proc/self/task");
  assert_non_null(tasks);
  int n = 0;
  for (const struct dirent *entry; (entry = readdir(tasks)) != NULL;) n += entry->d_name[0] != '.';
  closedir(tasks);
  return n;
}

/// Solve at order 1 on n x n squares with three threads, but loops of less work with one.
static fields solve_square(int n, int64_t work_of_a_team)
{
  kedge_context *ctx = open_backend(KEDGE_BACKEND_HOST, 3);
  ctx->work_of_a_team = work_of_a_team;
  kedge_mesh *mesh = square_mesh(ctx, n);
  kedge_solution *solution = solve(
      ctx, mesh,
      SETTINGS({"space", "order", "1"}, {"equation", "source", "sin(3*x + y)"},
               {"boundary default", "value", "x"}, {"boundary default", "type", "dirichlet"}));
  fields values = fields_of(ctx, solution);
  kedge_solution_destroy(solution);
  kedge_mesh_destroy(mesh);
  kedge_context_destroy(ctx);
  return values;
}

/// First in this process: threads stay until it ends.
static void a_small_solve_starts_no_thread_and_a_larger_one_does(void **state)
{
  (void)state;
  assert_int_equal(count_threads(), 1);
  fields alone = solve_square(8, KG_WORK_OF_A_TEAM);
  assert_int_equal(count_threads(), 1);
  fields larger = solve_square(60, KG_WORK_OF_A_TEAM);
  assert_int_equal(count_threads(), 3);
  fields_free(&larger);
  fields together = solve_square(8, 0);
  assert_same_bits(&alone, &together);
  fields_free(&alone);
  fields_free(&together);
}

static void loops_by_one_and_by_all_threads_give_the_same_bits(void **state)
{
  (void)state;
  fields some = solve_square(60, KG_WORK_OF_A_TEAM);
  fields all = solve_square(60, 0);
  fields none = solve_square(60, INT64_MAX);
  assert_same_bits(&some, &all);
  assert_same_bits(&some, &none);
  fields_free(&some);
  fields_free(&all);
  fields_free(&none);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_small_solve_starts_no_thread_and_a_larger_one_does),
      cmocka_unit_test(loops_by_one_and_by_all_threads_give_the_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
