// The ranges of a whole `kedge solve`, as a profiler sees them. ctest names the command
// (KEDGE_COMMAND) and the tool of nvtx_record.c (KEDGE_NVTX_TOOL).
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmocka_all.h"
#include "nvtx_events.h"

enum { ROOM = 16384, SQUARES = 6, ORDER = 2 };
static nvtx_event events[ROOM];
static int n_events;
static char folder[] = "/tmp/kedge_nvtx_XXXXXX";

static const char problem[] =
    "[mesh]\ngenerate = square 6\n[space]\norder = 2\n[equation]\nreaction = 1\n"
    "[exact]\nu = sin(2*pi*x)*sin(2*pi*y)\n"
    "[boundary left]\ntype = dirichlet\n[boundary right]\ntype = dirichlet\n"
    "[boundary bottom]\ntype = neumann\n[boundary top]\ntype = neumann\n"
    "[solver]\npreconditioner = jacobi\ntolerance = 1e-10\n";

static int make_folder(void **state)
{
  (void)state;
  char path[64];
  if (!mkdtemp(folder)) return -1;
  snprintf(path, sizeof path, "%s/square.ini", folder);
  FILE *stream = fopen(path, "w");
  if (!stream) return -1;
  fputs(problem, stream);
  return fclose(stream);
}

static int remove_folder(void **state)
{
  (void)state;
  static const char *const files[] = {"square.ini", "square.vtkhdf", "report.json", "events"};
  char path[96];
  for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
    snprintf(path, sizeof path, "%s/%s", folder, files[i]);
    unlink(path);
  }
  return rmdir(folder);
}

/// Solve with the tool watching, and read what it saw.
static void record_solve(const char *operator_name)
{
  const char *command = getenv("KEDGE_COMMAND"), *tool = getenv("KEDGE_NVTX_TOOL");
  assert_non_null(command);
  assert_non_null(tool);
  char line[2048], path[64];
  snprintf(line, sizeof line,
           "cd %s && NVTX_INJECTION64_PATH='%s' NVTX_RECORD=events '%s' solve square.ini --quiet "
           "--backend host --set solver.operator=%s --set output.file=square.vtkhdf "
           "--report report.json",
           folder, tool, command, operator_name);
  assert_int_equal(system(line), 0);
  snprintf(path, sizeof path, "%s/events", folder);
  n_events = nvtx_read_events(path, events, ROOM);
  assert_in_range(n_events, 1, ROOM - 1);
}

static long long iterations_of_report(void)
{
  char path[64], text[8192];
  snprintf(path, sizeof path, "%s/report.json", folder);
  FILE *stream = fopen(path, "r");
  assert_non_null(stream);
  const size_t n = fread(text, 1, sizeof text - 1, stream);
  fclose(stream);
  text[n] = '\0';
  const char *key = strstr(text, "\"iterations\":");
  assert_non_null(key);
  return atoll(key + strlen("\"iterations\":"));
}

static int pushes(const char *name, const char *parent)
{
  return nvtx_count(events, n_events, NVTX_PUSH, name, parent);
}

static void check_stages(bool assembled)
{
  static const char *const once[] = {"transfer", "local_matrices", "trace_solve"};
  static const char *const chunked[] = {"local_solve", "postprocess"};
  static const char *const mesh[] = {"mesh_order", "mesh_edges", "mesh_groups", "mesh_info"};
  assert_int_equal(pushes("solve", ""), 1);
  assert_int_equal(pushes("solve", NULL), 1);
  for (size_t i = 0; i < sizeof once / sizeof *once; ++i) {
    assert_int_equal(pushes(once[i], "solve"), 1);
    assert_int_equal(pushes(once[i], NULL), 1);
  }
  assert_int_equal(pushes("assembly", "solve"), assembled);
  assert_int_equal(pushes("assembly", NULL), assembled);
  for (size_t i = 0; i < sizeof chunked / sizeof *chunked; ++i) {
    assert_true(pushes(chunked[i], "solve") >= 1);
    assert_int_equal(pushes(chunked[i], NULL), pushes(chunked[i], "solve"));
  }
  assert_true(pushes("mesh", NULL) >= 1);
  for (size_t i = 0; i < sizeof mesh / sizeof *mesh; ++i) assert_int_equal(pushes(mesh[i], ""), 1);
  assert_true(pushes("output", "solve") >= 1);  // results to host memory
  assert_int_equal(pushes("output", ""), 1);    // and into the file
}

static void stages_come_in_their_order_with_counts(void **state)
{
  (void)state;
  static const char *const order[] = {"transfer",    "local_matrices", "assembly", "trace_solve",
                                      "local_solve", "postprocess",    "output"};
  const char *const operators[] = {"matrix-free", "matrix-free-plain", "ell"};
  for (int k = 0; k < 3; ++k) {
    const bool assembled = k > 0;
    record_solve(operators[k]);
    check_stages(assembled);
    size_t next = 0;
    for (int i = 0; i < n_events && next < sizeof order / sizeof *order; ++i) {
      if (!assembled && strcmp(order[next], "assembly") == 0) ++next;
      if (events[i].kind == NVTX_PUSH && strcmp(events[i].name, order[next]) == 0) ++next;
    }
    assert_int_equal(next, sizeof order / sizeof *order);
    for (int i = 0; i < n_events; ++i)
      if (events[i].kind == NVTX_PUSH) assert_int_equal(events[i].elements, 2 * SQUARES * SQUARES);
  }
}

static void trace_ranges_carry_the_trace_unknowns(void **state)
{
  (void)state;
  record_solve("matrix-free");
  // 3 N^2 + 2 N edges, without the 2 N of the Dirichlet sides.
  const int unknowns = 3 * SQUARES * SQUARES * (ORDER + 1);
  for (int i = 0; i < n_events; ++i) {
    const char *name = events[i].name;
    if (events[i].kind == NVTX_PUSH &&
        (strcmp(name, "trace_apply") == 0 || strncmp(name, "cg_", 3) == 0))
      assert_int_equal(events[i].unknowns, unknowns);
  }
}

static void every_iteration_and_check_of_the_trace_solve_is_marked(void **state)
{
  (void)state;
  record_solve("matrix-free");
  const int applications = pushes("trace_apply", "cg_iterations");
  const int checks = pushes("cg_check", "trace_solve");
  assert_true(pushes("trace_apply", "trace_solve") >= 2);  // residuals from scratch
  assert_int_equal(applications + pushes("trace_apply", "trace_solve"),
                   pushes("trace_apply", NULL));
  assert_int_equal(checks, pushes("cg_check", NULL));
  assert_int_equal(checks, pushes("cg_iterations", "trace_solve"));
  assert_int_equal(checks, pushes("cg_iterations", NULL));
  assert_true(checks >= 1);
  assert_true(applications >= iterations_of_report());
  assert_true(applications >= 8 * checks);  // the host does not wait for every iteration
}

static void the_residual_is_sampled_at_every_check_and_ends_below_the_tolerance(void **state)
{
  (void)state;
  record_solve("matrix-free");
  const int checks = pushes("cg_check", NULL);
  int samples = 0;
  double last = 1.0;
  for (int i = 0; i < n_events; ++i) {
    if (strcmp(events[i].name, "relative_residual") != 0) continue;
    assert_true(events[i].parent >= 0);
    assert_string_equal(events[events[i].parent].name, "cg_check");
    last = events[i].value;
    ++samples;
  }
  assert_int_equal(samples, checks);
  assert_true(last <= 1e-10);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stages_come_in_their_order_with_counts),
      cmocka_unit_test(trace_ranges_carry_the_trace_unknowns),
      cmocka_unit_test(every_iteration_and_check_of_the_trace_solve_is_marked),
      cmocka_unit_test(the_residual_is_sampled_at_every_check_and_ends_below_the_tolerance),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
