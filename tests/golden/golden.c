// Solves the problems of a table and prints what came out, one line "problem quantity value" each.
// Floating-point numbers are hexadecimal, hashes are of the bytes of values. The program uses the
// public API alone, so that it can be compiled against other commits.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"

enum { LINE_SIZE = 1024, SKIPPED = 77 };

/// What a solve reports, whatever the API calls it.
typedef struct summary {
  int64_t elements, edges, iterations;
  int order, restarts;
  bool converged, has_exact;
  double residual, u_l2, u_linf, q_l2, u_star_l2;
} summary;

static kedge_context *ctx;

void fail(const char *what, const char *why)
{
  fprintf(stderr, "golden: %s: %s\n", what, why);
  exit(1);
}

void must(kedge_status status, const char *what)
{
  if (status != KEDGE_OK) fail(what, kedge_context_error(ctx));
}

// The functions down to the next line of this kind hold the calls of the API that may change.

static void open_context(const char *backend)
{
  kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  options.threads = 2;
  options.bind_threads = false;
  for (int i = 0; i < KEDGE_BACKEND_COUNT; ++i)
    if (strcmp(backend, kedge_backend_name((kedge_backend)i)) == 0)
      options.backend = (kedge_backend)i;
  if (options.backend == KEDGE_BACKEND_AUTO) fail(backend, "not host, shadow or cuda");
  if (kedge_context_create(&options, &ctx) == KEDGE_OK) return;
  fprintf(stderr, "backend %s: %s\n", backend, kedge_context_error(NULL));
  const char *required = getenv("KEDGE_REQUIRE_GPU");
  exit(required && *required ? 1 : SKIPPED);
}

static summary summary_of(const kedge_solution *solution)
{
  kedge_report r = KEDGE_REPORT_INIT;
  kedge_solution_report(solution, &r);
#ifdef GOLDEN_HEAD
  if (r.extra_iterations > 0) fail("a problem takes steps to estimate errors", r.solver_note);
#endif
  return (summary){.elements = r.elements,
                   .edges = r.edges,
                   .iterations = r.iterations,
                   .order = r.order,
                   .restarts = r.refinements,
                   .converged = r.converged,
                   .has_exact = r.has_exact,
                   .residual = r.relative_residual,
                   .u_l2 = r.u_l2,
                   .u_linf = r.u_linf,
                   .q_l2 = r.q_l2,
                   .u_star_l2 = r.u_star_l2};
}

void *room_for(size_t count, size_t size)
{
  void *const room = calloc(count, size);
  if (!room) fail("values", "no memory");
  return room;
}

/// Values at the nodes of an order, of elements of any shape.
static size_t node_count(const kedge_solution *solution, int64_t elements, int order)
{
  int64_t *const offsets = room_for((size_t)elements + 1, sizeof *offsets);
  must(kedge_solution_offsets(solution, order, offsets), "offsets");
  const size_t count = (size_t)offsets[elements];
  free(offsets);
  return count;
}

static double *field_values(const kedge_solution *solution, kedge_field field, int order,
                            size_t count)
{
  double *values = room_for(count, sizeof *values);
  must(kedge_solution_values(solution, field, order, values), "values");
  return values;
}

static double *trace_modes(const kedge_solution *solution, size_t count)
{
  double *values = room_for(count, sizeof *values);
  must(kedge_solution_trace(solution, NULL, values), "trace");
  return values;
}

// Nothing below depends on more than creating, setting, solving and destroying.

/// FNV-1a of 64 bits.
static uint64_t hash_of(const double *values, size_t count)
{
  const unsigned char *bytes = (const unsigned char *)values;
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < count * sizeof *values; ++i)
    hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
  return hash;
}

void print_array(const char *problem, const char *what, double *values, size_t count)
{
  double sum = 0.0;
  for (size_t i = 0; i < count; ++i) sum += values[i] * values[i];
  printf("%s norm.%s %a\n", problem, what, sqrt(sum / (double)count));
  printf("%s hash.%s %016llx\n", problem, what, (unsigned long long)hash_of(values, count));
  free(values);
}

void print_solution(const char *problem, const char *part, const kedge_solution *solution)
{
  const summary s = summary_of(solution);
  printf("%s %siterations %lld\n", problem, part, (long long)s.iterations);
  printf("%s %srestarts %d\n", problem, part, s.restarts);
  printf("%s %sconverged %d\n", problem, part, s.converged);
  printf("%s %sresidual %a\n", problem, part, s.residual);
  if (s.has_exact && !*part)
    printf("%s error.u %a\n%s error.u_max %a\n%s error.q %a\n%s error.u_star %a\n", problem, s.u_l2,
           problem, s.u_linf, problem, s.q_l2, problem, s.u_star_l2);
  enum { QZ = 6 };  // KEDGE_FIELD_QZ, which older commits lack
  static const char *const names[] = {"u", "qx", "qy", "u_star", "qz"};
  static const kedge_field fields[] = {KEDGE_FIELD_U, KEDGE_FIELD_QX, KEDGE_FIELD_QY,
                                       KEDGE_FIELD_U_STAR, (kedge_field)QZ};
  // Tetrahedra alone have ten nodes of order 2.
  const bool in_space = node_count(solution, s.elements, 2) == 10 * (size_t)s.elements;
  for (int i = 0; i < (in_space ? 5 : 4); ++i) {
    const int order = s.order + (fields[i] == KEDGE_FIELD_U_STAR);
    const size_t count = node_count(solution, s.elements, order);
    char name[64];
    snprintf(name, sizeof name, "%s%s", part, names[i]);
    print_array(problem, name, field_values(solution, fields[i], order, count), count);
  }
  fflush(stdout);
  if (in_space) return;  // its trace follows from these
  const size_t count = (size_t)s.edges * (size_t)(s.order + 1);
  char name[64];
  snprintf(name, sizeof name, "%strace", part);
  print_array(problem, name, trace_modes(solution, count), count);
  fflush(stdout);
}

/// Solve a problem that was read from the table, if there is one, and destroy it. Returns how many.
static int finish(const char *name, golden_ways ways, kedge_problem **problem)
{
  if (!*problem) return 0;
  kedge_mesh *mesh;
  must(kedge_problem_mesh(*problem, &mesh), name);
  kedge_solution *solution;
  must(kedge_solve(ctx, mesh, *problem, &solution), name);
  print_solution(name, "", solution);
  kedge_solution_destroy(solution);
  print_plans(ctx, name, mesh, *problem);
  if (ways != GOLDEN_NONE)
    solve_with_solver(ctx, name, mesh, *problem, ways,
                      kedge_context_backend(ctx) == KEDGE_BACKEND_CUDA);
  kedge_mesh_destroy(mesh);
  kedge_problem_destroy(*problem);
  *problem = NULL;
  return 1;
}

void set(kedge_problem *problem, const char *name, const char *setting)
{
  char line[LINE_SIZE];
  snprintf(line, sizeof line, "%s", setting);
  char *value = strstr(line, " = ");
  if (!value) fail(name, line);
  *value = '\0';
  char *key = strrchr(line, '.');
  if (!key) fail(name, line);
  *key = '\0';
  must(kedge_problem_set(problem, line, key + 1, value + 3), name);
}

/// The setting in a line of the table; NULL when it is a comment, empty, or of the other spelling.
static char *setting_in(char *line, const char *spelling)
{
  if (*line == '#' || *line == '\0') return NULL;
  static const char *const spellings[] = {"base", "head"};
  for (int i = 0; i < 2; ++i) {
    if (strncmp(line, spellings[i], 4) != 0 || strncmp(line + 4, ": ", 2) != 0) continue;
    return strcmp(spelling, spellings[i]) == 0 ? line + 6 : NULL;
  }
  return line;
}

/// Whether a problem is among those that were asked for; without any, all are.
static bool is_asked(const char *name, int n_asked, char *const *asked)
{
  for (int i = 0; i < n_asked; ++i)
    if (strcmp(name, asked[i]) == 0) return true;
  return n_asked == 0;
}

static golden_ways ways_named(const char *problem, const char *word)
{
  if (strcmp(word, "all") == 0) return GOLDEN_ALL;
  if (strcmp(word, "few") != 0) fail(problem, word);
  return GOLDEN_FEW;
}

/// Solve what is asked for and return the number of problems solved.
static int solve_table(FILE *table, const char *spelling, int n_asked, char *const *asked)
{
  static const char HEAD[] = "problem ", SOLVER[] = "solver: ", ONLY[] = "only: head";
  char line[LINE_SIZE], name[LINE_SIZE] = "";
  kedge_problem *problem = NULL;
  golden_ways ways = GOLDEN_NONE;
  int n_solved = 0;
  while (fgets(line, sizeof line, table)) {
    line[strcspn(line, "\n")] = '\0';
    char *setting = setting_in(line, spelling);
    if (strncmp(line, HEAD, sizeof HEAD - 1) == 0) {
      n_solved += finish(name, ways, &problem);
      ways = GOLDEN_NONE;
      strcpy(name, line + sizeof HEAD - 1);
      if (is_asked(name, n_asked, asked)) must(kedge_problem_create(ctx, &problem), name);
    } else if (strncmp(line, SOLVER, sizeof SOLVER - 1) == 0) {
      ways = ways_named(name, line + sizeof SOLVER - 1);
    } else if (strcmp(line, ONLY) == 0) {
      if (strcmp(spelling, "head") == 0) continue;
      kedge_problem_destroy(problem);
      problem = NULL;
    } else if (setting && problem) {
      set(problem, name, setting);
    }
  }
  return n_solved + finish(name, ways, &problem);
}

int main(int argc, char **argv)
{
  if (argc < 4) fail("usage", "golden TABLE host|shadow|cuda base|head [PROBLEM...]");
  if (strcmp(argv[3], "base") != 0 && strcmp(argv[3], "head") != 0)
    fail(argv[3], "not base or head");
  FILE *table = fopen(argv[1], "r");
  if (!table) fail(argv[1], strerror(errno));
  open_context(argv[2]);
  const int n_solved = solve_table(table, argv[3], argc - 4, argv + 4);
  fclose(table);
  kedge_context_destroy(ctx);
  if (n_solved < (argc > 4 ? argc - 4 : 1))
    fail(argv[1], "has not all problems that were asked for");
  return 0;
}
