// A complete program with kedge: heat in a square plate, without any file. docs/api.md walks
// through it.
//
//     -div grad u = f      in the unit square
//     u = 0                at the left and at the right
//     u = sin(pi x)        at the bottom
//     grad u . n = g       at the top
//
// with f and g such that u = sin(pi x) exp(y), so that the error can be told. Given a file name,
// the program writes the solution for ParaView.
//
//     cc -std=c17 poisson.c $(pkg-config --cflags --libs kedge) -lm -o poisson
//     ./poisson plate.vtkhdf
//
// Of a kedge that was installed in a place of its own, ~/.local, tell pkg-config and the loader
// before: export PKG_CONFIG_PATH=~/.local/lib/pkgconfig LD_LIBRARY_PATH=~/.local/lib
#include <kedge/kedge.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 8, ROW = CELLS + 1, BOTTOM = 1, TOP = 2 };

/// CELLS x CELLS squares, each cut into two triangles. Boundary edges that shall have a condition
/// of their own are lines with a tag and a name; the others belong to the group "default".
static kedge_status make_mesh(kedge_context *ctx, kedge_mesh **mesh)
{
  double vertices[ROW * ROW][2];
  int32_t triangles[2 * CELLS * CELLS][3], lines[2 * CELLS][2], tags[2 * CELLS];
  for (int v = 0; v < ROW * ROW; ++v) {
    vertices[v][0] = (double)(v % ROW) / CELLS;
    vertices[v][1] = (double)(v / ROW) / CELLS;
  }
  for (int cell = 0; cell < CELLS * CELLS; ++cell) {
    const int32_t a = cell / CELLS * ROW + cell % CELLS, b = a + 1, c = b + ROW, d = a + ROW;
    const int32_t corners[2][3] = {{a, b, c}, {a, c, d}};
    for (int k = 0; k < 6; ++k) triangles[2 * cell + k / 3][k % 3] = corners[k / 3][k % 3];
  }
  for (int i = 0; i < CELLS; ++i) {
    const int32_t from[2] = {i, CELLS * ROW + i};  // at the bottom, at the top
    for (int k = 0; k < 2; ++k) {
      lines[2 * i + k][0] = from[k];
      lines[2 * i + k][1] = from[k] + 1;
      tags[2 * i + k] = k == 0 ? BOTTOM : TOP;
    }
  }
  const int32_t name_tags[] = {BOTTOM, TOP};
  const char *const names[] = {"bottom", "top"};
  const kedge_mesh_arrays arrays = {.n_vertices = ROW * ROW,
                                    .vertices = vertices[0],
                                    .n_triangles = 2 * CELLS * CELLS,
                                    .triangles = triangles[0],
                                    .n_lines = 2 * CELLS,
                                    .lines = lines[0],
                                    .line_tags = tags,
                                    .n_names = 2,
                                    .name_tags = name_tags,
                                    .names = names};
  return kedge_mesh_create(ctx, &arrays, mesh);
}

/// f at n points. kedge calls this from several threads at once; `user` is what the problem was
/// given.
static void source(void *user, const kedge_points *points, double *value)
{
  const double pi = *(const double *)user;
  for (size_t i = 0; i < points->n; ++i)
    value[i] = (pi * pi - 1.0) * sin(pi * points->x[i]) * exp(points->y[i]);
}

/// Settings that are text or numbers are set as in a problem file; the source is a function of C.
static kedge_status make_problem(kedge_context *ctx, double *pi, kedge_problem **problem)
{
  static const char *const settings[][3] = {
      {"space", "order", "4"},
      {"exact", "u", "sin(pi*x)*exp(y)"},
      {"boundary bottom", "type", "dirichlet"},   // the value is that of the exact solution
      {"boundary top", "type", "neumann"},        // and here its normal derivative
      {"boundary default", "type", "dirichlet"},  // left and right
      {"boundary default", "value", "0"},
      {"solver", "tolerance", "1e-12"},
  };
  kedge_status status = kedge_problem_create(ctx, problem);
  for (size_t i = 0; status == KEDGE_OK && i < sizeof settings / sizeof *settings; ++i)
    status = kedge_problem_set(*problem, settings[i][0], settings[i][1], settings[i][2]);
  if (status == KEDGE_OK) status = kedge_problem_set_source(*problem, source, pi);
  return status;
}

/// Look at u at the nodes of every element and tell where it is largest.
static kedge_status print_hottest_point(const kedge_solution *solution, const kedge_report *report)
{
  const int order = report->order;
  const size_t n = (size_t)report->elements * (size_t)kedge_node_count(order);
  double *xy = malloc(2 * n * sizeof *xy), *u = malloc(n * sizeof *u);
  kedge_status status = xy && u ? KEDGE_OK : KEDGE_ERR_MEMORY;
  if (status == KEDGE_OK) status = kedge_solution_nodes(solution, order, xy);
  if (status == KEDGE_OK) status = kedge_solution_values(solution, KEDGE_FIELD_U, order, u);
  if (status == KEDGE_OK) {
    size_t hottest = 0;
    for (size_t i = 1; i < n; ++i)
      if (u[i] > u[hottest]) hottest = i;
    printf("hottest: u = %.6f at (%.3f, %.3f)\n", u[hottest], xy[2 * hottest], xy[2 * hottest + 1]);
  }
  free(xy);
  free(u);
  return status;
}

static void print_report(const kedge_report *report)
{
  printf("%lld triangles of order %d on %s\n", (long long)report->elements, report->order,
         report->device);
  printf("%lld iterations, residual %.1e: %s\n", (long long)report->iterations,
         report->relative_residual, report->converged ? "converged" : report->solver_note);
  printf("error of u %.2e, of q = grad u %.2e, of u* %.2e\n", report->u_l2, report->q_l2,
         report->u_star_l2);
}

int main(int argc, char **argv)
{
  double pi = acos(-1.0);
  kedge_context *ctx = NULL;
  kedge_mesh *mesh = NULL;
  kedge_problem *problem = NULL;
  kedge_solution *solution = NULL;
  kedge_report report = KEDGE_REPORT_INIT;

  kedge_status status = kedge_context_create(NULL, &ctx);  // the GPU when there is one
  if (status == KEDGE_OK) status = make_mesh(ctx, &mesh);
  if (status == KEDGE_OK) status = make_problem(ctx, &pi, &problem);
  if (status == KEDGE_OK) status = kedge_solve(ctx, mesh, problem, &solution);
  if (status == KEDGE_OK) {
    kedge_solution_report(solution, &report);
    print_report(&report);
    status = print_hottest_point(solution, &report);
  }
  if (status == KEDGE_OK && argc > 1) status = kedge_solution_write(solution, argv[1]);
  if (status != KEDGE_OK)
    fprintf(stderr, "%s: %s\n", kedge_status_text(status), kedge_context_error(ctx));

  kedge_solution_destroy(solution);  // in the reverse order; NULL is allowed
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
  kedge_context_destroy(ctx);
  return status == KEDGE_OK && report.converged ? 0 : 1;
}
